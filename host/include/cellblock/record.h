// What one call did: the one internal record that every front door renders. Plain values, made by the supervisor. Facts about
// status, time, memory, exit and artifacts are the supervisor's own observation; text, bundles and error come from the guest and
// are bounded, valid UTF-8 (bytes replaced where they were not), and otherwise to be treated as untrusted.
#ifndef CELLBLOCK_RECORD_H_
#define CELLBLOCK_RECORD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace cellblock {

// How the guest ended. A limit that code can survive (MemoryError, ENOSPC, EAGAIN, cut output) is no status: see limits_hit.
enum class CallStatus {
  kOk,
  kError,        // uncaught exception, or bash ended non-zero
  kExited,       // exit() or sys.exit()
  kInterrupted,  // the caller interrupted it
  kTimeout,      // limits.wall passed
  kCpuLimit,     // limits.cpu passed
  kOutOfMemory,  // killed for memory
  kKilled,       // ended by a signal
  kRejected,     // never started
  kLost,         // started, ending unknown
};
absl::string_view CallStatusName(CallStatus status);  // "ok", "error", … as in the JSON record

enum class SessionState { kKept, kRestarted, kGone };  // did the variables survive?
absl::string_view SessionStateName(SessionState state);

enum class Language { kPython, kBash };

// One representation of a value. Text types hold UTF-8; others (image/png, application/pdf) raw bytes, base64 only in JSON.
struct MimeData {
  std::string type;
  std::string data;
  bool is_text = true;
  bool is_json = false;         // application/json and +json: `data` is JSON text, checked by the supervisor
};

struct Result {
  std::vector<MimeData> mime;   // text/plain is always present
  std::string metadata_json;    // a JSON object, "{}" when none
  bool is_value = false;        // the cell's value (last expression), not a display()
  std::string display_id;       // empty when none
};

struct ErrorInfo {
  std::string name;             // exception class name
  std::string value;            // str(exception), cut at 64 KiB
  std::string traceback;        // trimmed to the user's code
  int64_t line = 0;             // in the submitted code, from 1; 0 unknown
  int64_t column = 0;           // from 1; 0 unknown
  std::string hint;             // how to repair it; empty when none can be given
};

struct Event {
  enum class Type { kStdout, kStderr, kDisplay, kUpdate, kClear, kResult, kError, kEgress };
  Type type = Type::kStdout;
  absl::Duration time;          // since the call's start
  std::string text;             // kStdout, kStderr
  bool late = false;            // written by an earlier call's threads, or after its end
  size_t result = 0;            // kDisplay, kUpdate, kResult: index into Record::results; kEgress: into Record::egress
  bool wait = false;            // kClear: wait for the next output
};
absl::string_view EventTypeName(Event::Type type);

struct Artifact {
  std::string id;
  std::string path;             // relative to /workspace, escaped to valid UTF-8 without control characters
  int64_t size_bytes = 0;
  std::string mime;             // by content
  std::string sha256;           // hex
  bool created = true;          // else modified
  int64_t call = 0;
  std::optional<std::pair<int64_t, int64_t>> image_size;  // width, height
  std::string stored_at;        // host path of the collected copy
};

struct Layer {
  std::string name;             // "seccomp", "landlock", "memory", …
  std::string state;            // "enforced", "watched" or "off"
  std::string detail;           // "ABI 7", "cgroup v1", why it is off
};

struct LimitHit {
  std::string name;             // the policy key without its group: "memory", "output", "processes", "workspace", "file_size", "wall", "cpu", …; or "artifacts"
  std::string detail;           // one sentence with the limit and what was asked for
};

struct Receipt {
  absl::Duration wall;
  absl::Duration cpu;
  int64_t memory_peak_bytes = 0;
  int64_t written_bytes = 0;    // growth of workspace, /tmp and /dev/shm plus what was sent out
  int64_t output_bytes = 0;     // stdout and stderr as written, before any cut
  int64_t egress_bytes = 0;
  int64_t processes_peak = 0;
  int64_t processes_killed = 0; // left over at the call's end and killed
  int64_t threads_kept = 0;     // alive in the worker after the call, beyond the main one
  std::vector<std::pair<std::string, std::string>> limits;  // name → value with unit, as they applied
  std::vector<LimitHit> limits_hit;
  std::vector<Layer> layers;
};

struct Denial {
  std::string kind;             // "syscall", "file", "network", "package"
  std::string subject;          // what was asked for
  std::string rule;             // the rule that refused it
  int64_t count = 1;
};

// One lookup that was refused, connection or request to the world outside, as the egress proxy decided it.
struct Egress {
  std::string protocol;         // "dns", "http", "https" (the proxy saw the request), "tls" (passed on), "tcp"
  std::string host;
  int64_t port = 0;             // 0: none, of a lookup
  std::string method;           // of a request; else empty
  std::string path;             // of a request, without its query
  bool allowed = false;
  std::string rule;             // "network.allow[2]: *.example.com"; of a refusal the key or limit that refused it
  std::string reason;           // why it was refused or failed, one sentence; empty when it went well
  int64_t status = 0;           // of the response; 0: none
  int64_t sent_bytes = 0;       // by the code, with heads
  int64_t received_bytes = 0;
  absl::Duration time;          // since the call's start
  std::optional<absl::Duration> wall;  // of the whole; none: it had not ended when the call did
  std::vector<std::string> secrets;    // names of the secrets that were put in
};

struct StreamTruncation {
  int64_t head_bytes = 0;
  int64_t tail_bytes = 0;
  int64_t dropped_bytes = 0;
  std::string artifact_id;      // of the whole text, where the policy keeps it (artifacts.full_output)
};

inline constexpr size_t kEgressMax = 500;  // of one call

struct Record {
  std::string id;
  std::string session_id;
  int64_t call = 0;             // 1, 2, …
  CallStatus status = CallStatus::kLost;
  std::string reason;           // one sentence for a person: which limit or rule ended it, and what to do; empty when ok
  std::optional<int> exit_code;
  std::optional<int> signal;
  SessionState session_state = SessionState::kKept;
  absl::Time started_at;
  std::string stdout_text;
  std::string stderr_text;
  std::vector<Event> events;
  std::vector<Result> results;
  std::optional<ErrorInfo> error;
  std::vector<Artifact> artifacts;
  Receipt receipt;
  std::vector<Denial> denials;
  std::vector<Egress> egress;   // in the order in which they were decided; at most kEgressMax
  int64_t egress_left_out = 0;  // more of them
  std::optional<StreamTruncation> stdout_truncation;
  std::optional<StreamTruncation> stderr_truncation;
};

}  // namespace cellblock

#endif  // CELLBLOCK_RECORD_H_
