// Every message between our processes, each listing its fields once: the same list writes, reads and refuses unknown, missing,
// repeated or over-long fields. All processes. Decoding is total: any bytes give a value or an error.
#ifndef CELLBLOCK_WIRE_MESSAGES_H_
#define CELLBLOCK_WIRE_MESSAGES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "wire/fields.h"

namespace cellblock::wire {

inline constexpr size_t kListEntriesMax = 4096;  // of one repeated field

// ---- supervisor → nest (cellblock-init as PID 1 of the nest) ----

// Build a read-only root once; jails and zygotes name it by id.
struct PrepareRoot {
  static constexpr uint64_t kType = 1;
  uint64_t root_id = 0;
  std::string environment;             // host folder, appears at /opt/cellblock/env
  std::string guest;                   // host folder, appears at /opt/cellblock/guest
  std::string guest_binary;            // host file, appears at /opt/cellblock/libexec/cellblock-guest
  std::string root_directory;          // empty: the host's /usr
  std::vector<std::string> mounts;     // source, target, source, target, …
  template <typename A>
  void Fields(A& a) {
    a(1, root_id), a(2, environment), a(3, guest), a(4, guest_binary), a(5, root_directory), a(6, mounts);
  }
};

// Start a zygote in a root. Descriptor: its control socket.
struct StartZygote {
  static constexpr uint64_t kType = 2;
  uint64_t root_id = 0;
  uint64_t user_id = 0;                // in the nest's user namespace
  std::vector<std::string> environment;  // NAME=value
  std::vector<std::string> preload;
  template <typename A>
  void Fields(A& a) {
    a(1, root_id), a(2, user_id), a(3, environment), a(4, preload);
  }
};

// Make a jail. Descriptors: the jail's control socket, and entrances of its cgroup. Answered with the jail's pidfd.
struct MakeJail {
  static constexpr uint64_t kType = 3;
  uint64_t root_id = 0;
  uint64_t user_id = 0;                // in the nest's user namespace
  uint64_t workspace_bytes = 0;
  uint64_t workspace_inodes = 0;
  uint64_t tmp_bytes = 0;
  uint64_t shm_bytes = 0;
  uint64_t network_namespace = 1;
  std::vector<std::string> attached;   // pairs: a file of the host, its path below /workspace
  uint64_t has_network = 0;            // a way out through the egress proxy; then the sockets (jail/network.h) stand behind the folders
  std::vector<std::string> ports;      // of allowed hosts
  std::string certificates;            // PEM, to be trusted besides the system's; empty: none
  template <typename A>
  void Fields(A& a) {
    a(1, root_id), a(2, user_id), a(3, workspace_bytes), a(4, workspace_inodes), a(5, tmp_bytes), a(6, shm_bytes), a(7, network_namespace), a(8, attached), a(9, has_network), a(10, ports),
        a(11, certificates);
  }
};

// The answer to any request, and a zygote's or jail's own greeting.
struct Reply {
  static constexpr uint64_t kType = 4;
  uint64_t code = 0;                   // absl::StatusCode
  std::string message;
  uint64_t value = 0;                  // what the request says
  template <typename A>
  void Fields(A& a) {
    a(1, code), a(2, message), a(3, value);
  }
};

// ---- supervisor → jail's init ----

// Run a program in the jail, locked down. Descriptors: standard output, standard error, seccomp program, and optionally a script that
// the program reads as /proc/self/fd/3. Answered by a Reply with the pid in the jail, which is also its process group.
struct RunProgram {
  static constexpr uint64_t kType = 16;
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  std::string spec;                    // confine::EncodeSpec
  template <typename A>
  void Fields(A& a) {
    a(1, arguments), a(2, environment), a(3, spec);
  }
};

// Kill everything in the jail but its init and the worker. Answered by a Reply with the count.
struct KillOthers {
  static constexpr uint64_t kType = 17;
  uint64_t worker_pid = 0;             // as seen in the jail; 0: none
  template <typename A>
  void Fields(A& a) {
    a(1, worker_pid);
  }
};

// Signal a process group. Answered once it is sent.
struct SignalGroup {
  static constexpr uint64_t kType = 18;
  uint64_t group = 0;
  uint64_t signal = 0;
  template <typename A>
  void Fields(A& a) {
    a(1, group), a(2, signal);
  }
};

// A program or worker has ended: from the jail's init or the zygote, which reaped it.
struct ProcessExited {
  static constexpr uint64_t kType = 19;
  uint64_t id = 0;                     // the pid that the start was answered with
  uint64_t wait_status = 0;            // as wait4(2) gave it
  uint64_t cpu_microseconds = 0;
  uint64_t resident_peak_bytes = 0;
  template <typename A>
  void Fields(A& a) {
    a(1, id), a(2, wait_status), a(3, cpu_microseconds), a(4, resident_peak_bytes);
  }
};

// ---- supervisor → zygote ----

// Fork a worker into a jail. Descriptors: the jail's pidfd, the worker's channel, standard output, standard error, seccomp program,
// and entrances of its cgroup. Answered by a Reply with the pid in the nest and, as its descriptor, the worker's pidfd.
struct ForkWorker {
  static constexpr uint64_t kType = 32;
  std::string spec;                    // confine::EncodeSpec
  template <typename A>
  void Fields(A& a) {
    a(1, spec);
  }
};

// ---- supervisor ↔ worker, as frame bodies ----

// Answered by WorkerReady. Once; or twice, for a worker that is made ahead of its session: as its kind needs, then as the session does.
struct StartSession {
  static constexpr uint64_t kType = 48;
  uint64_t has_seed = 0;
  uint64_t seed = 0;
  uint64_t table_width = 0;
  uint64_t table_columns = 0;
  uint64_t figure_dpi = 0;
  uint64_t figure_svg = 0;
  uint64_t cpus = 0;
  uint64_t memory_bytes = 0;
  uint64_t result_bytes = 0;           // the largest bundle the supervisor takes
  std::string time_zone;
  std::vector<std::string> environment;  // NAME=value
  std::string network;                   // "off", "rules", or "packages": rules, and an index to install from
  uint64_t made_ahead = 0;               // another one follows, when the session is known
  uint64_t open_files = 0;               // these four as in confine::Spec
  uint64_t file_bytes = 0;
  uint64_t processes = 0;
  uint64_t data_bytes = 0;
  template <typename A>
  void Fields(A& a) {
    a(1, has_seed), a(2, seed), a(3, table_width), a(4, table_columns), a(5, figure_dpi), a(6, figure_svg), a(7, cpus), a(8, memory_bytes), a(9, result_bytes),
        a(10, time_zone), a(11, environment), a(12, network), a(13, made_ahead), a(14, open_files), a(15, file_bytes), a(16, processes), a(17, data_bytes);
  }
};

struct ExecuteCell {
  static constexpr uint64_t kType = 49;
  std::string code;
  std::string file_name;
  std::vector<std::string> arguments;
  uint64_t call = 0;
  std::vector<std::string> environment;  // NAME=value, for this cell only
  std::string inspect;                   // not empty: no cell but a question, and `code` is its argument
  template <typename A>
  void Fields(A& a) {
    a(1, code), a(2, file_name), a(3, arguments), a(4, call), a(5, environment), a(6, inspect);
  }
};

struct WorkerReady {
  static constexpr uint64_t kType = 64;
  uint64_t pid = 0;                    // in the jail
  std::string report;                  // confine::Report, as it is
  uint64_t lock_down_microseconds = 0; // from its first instruction until it was locked down
  template <typename A>
  void Fields(A& a) {
    a(1, pid), a(2, report), a(3, lock_down_microseconds);
  }
};

struct WorkerFailed {
  static constexpr uint64_t kType = 65;
  std::string step;
  uint64_t error_number = 0;
  template <typename A>
  void Fields(A& a) {
    a(1, step), a(2, error_number);
  }
};

// A display, an update of one, or the cell's value. `mime` holds type, flags ("t" text, "j" JSON, "b" bytes), data, type, …
struct GuestOutput {
  static constexpr uint64_t kType = 66;
  std::vector<std::string> mime;
  std::string metadata;
  std::string display_id;
  template <typename A>
  void Fields(A& a) {
    a(1, mime), a(2, metadata), a(3, display_id);
  }
};

struct GuestClear {
  static constexpr uint64_t kType = 67;
  uint64_t wait = 0;
  template <typename A>
  void Fields(A& a) {
    a(1, wait);
  }
};

struct GuestError {
  static constexpr uint64_t kType = 68;
  std::string name;
  std::string value;
  std::string traceback;
  std::string hint;
  uint64_t line = 0;
  uint64_t column = 0;
  template <typename A>
  void Fields(A& a) {
    a(1, name), a(2, value), a(3, traceback), a(4, hint), a(5, line), a(6, column);
  }
};

struct CellDone {
  static constexpr uint64_t kType = 69;
  uint64_t ending = 0;                 // CellEnding
  uint64_t has_exit_code = 0;
  uint64_t exit_code = 0;              // as int64
  uint64_t threads = 0;                // live beyond the main one, as Python counts
  template <typename A>
  void Fields(A& a) {
    a(1, ending), a(2, has_exit_code), a(3, exit_code), a(4, threads);
  }
};
enum class CellEnding : uint64_t { kOk = 0, kError = 1, kExited = 2, kInterrupted = 3 };

// ---- coding ----

constexpr uint16_t kTypeTag = 0;  // control messages start with their type; frames carry it in the header

namespace internal {

struct Encoder {
  FieldWriter writer;
  void operator()(uint16_t tag, uint64_t& value) { writer.U64(tag, value); }
  void operator()(uint16_t tag, std::string& value) { writer.Bytes(tag, value); }
  void operator()(uint16_t tag, std::vector<std::string>& values) {
    for (const std::string& value : values) writer.Bytes(tag, value);
  }
};

class Decoder {
 public:
  static absl::StatusOr<Decoder> Parse(absl::string_view bytes, uint64_t expected_type, bool has_type);
  void operator()(uint16_t tag, uint64_t& value);
  void operator()(uint16_t tag, std::string& value);
  void operator()(uint16_t tag, std::vector<std::string>& values);
  absl::Status Finish() const;  // every field was asked for

 private:
  const absl::string_view* Single(uint16_t tag);
  std::vector<std::pair<uint16_t, absl::string_view>> fields_;
  size_t used_ = 0;
  absl::Status status_;
};

}  // namespace internal

// The type of a control message; 0 when there is none.
uint64_t MessageType(absl::string_view bytes);

template <typename M>
std::string EncodeBody(M message) {
  internal::Encoder encoder;
  message.Fields(encoder);
  return encoder.writer.Take();
}
template <typename M>
std::string EncodeMessage(M message) {
  internal::Encoder encoder;
  encoder.writer.U64(kTypeTag, M::kType);
  message.Fields(encoder);
  return encoder.writer.Take();
}
template <typename M>
absl::StatusOr<M> Decode(absl::string_view bytes, bool has_type) {
  absl::StatusOr<internal::Decoder> decoder = internal::Decoder::Parse(bytes, M::kType, has_type);
  if (!decoder.ok()) return decoder.status();
  M message;
  message.Fields(*decoder);
  absl::Status finished = decoder->Finish();
  if (!finished.ok()) return finished;
  return message;
}
template <typename M>
absl::StatusOr<M> DecodeBody(absl::string_view bytes) {
  return Decode<M>(bytes, false);
}
template <typename M>
absl::StatusOr<M> DecodeMessage(absl::string_view bytes) {
  return Decode<M>(bytes, true);
}

Reply ReplyFor(const absl::Status& status, uint64_t value = 0);
absl::Status StatusOf(const Reply& reply);

}  // namespace cellblock::wire

#endif  // CELLBLOCK_WIRE_MESSAGES_H_
