// The supervisor's ends of its helper processes: the nest (jail maker), zygotes, jails' inits, and the broom. Each request is
// answered in order on a socket of its own; the answers come from processes that never run user code. Supervisor. Thread-safe.
#ifndef CELLBLOCK_SUPERVISE_HELPERS_H_
#define CELLBLOCK_SUPERVISE_HELPERS_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/unique_fd.h"
#include "sys/files.h"
#include "sys/proc_reader.h"
#include "sys/process.h"
#include "sys/sockets.h"
#include "wire/messages.h"

namespace cellblock::supervise {

inline constexpr absl::Duration kHelperDeadline = absl::Seconds(30);   // for an answer; a helper that is silent for longer is broken
inline constexpr absl::Duration kZygoteDeadline = absl::Seconds(120);  // for its preload, on a cold and busy disk

// Requests and answers on a SEQPACKET socket, with ProcessExited messages that may come in between kept for whoever waits for them.
class HelperSocket {
 public:
  explicit HelperSocket(UniqueFd socket) : socket_(std::move(socket)) {}

  // kUnavailable when the helper has ended; kDeadlineExceeded when it is silent. After any such failure an answer that comes late
  // could be taken for the next one's, so the socket is shut down, which ends the helper, and every later request is kUnavailable.
  absl::StatusOr<sys::Message> Ask(absl::string_view request, const std::vector<int>& descriptors, absl::Duration deadline, uint64_t* value = nullptr);
  absl::StatusOr<sys::Message> Greeting(absl::Duration deadline, uint64_t* value = nullptr);
  absl::Status Tell(absl::string_view message);
  // The end of process `id` that this helper started. Each is given once.
  absl::StatusOr<wire::ProcessExited> WaitForExit(uint64_t id, absl::Duration deadline);
  // Nobody will wait for this one: forgets its end now or when it comes.
  void Forget(uint64_t id);
  int fd() const { return socket_.get(); }
  // Reads what has come, without blocking; for a caller that polls fd().
  std::optional<wire::ProcessExited> PollForExit(uint64_t id);

 private:
  absl::StatusOr<sys::Message> ReceiveReply(absl::Time deadline, uint64_t* value);
  absl::StatusOr<sys::Message> ReceiveAnswer(absl::Time deadline);
  absl::Status ReceiveOne(absl::Time deadline, std::optional<sys::Message>* reply);

  UniqueFd socket_;
  std::mutex mutex_;
  std::map<uint64_t, wire::ProcessExited> exits_;  // at most one for each live process of the helper
  std::set<uint64_t> forgotten_;
};

inline constexpr absl::Duration kJailEndDeadline = absl::Seconds(5);   // for the kernel to end every process of a killed jail

// A jail's PID 1. Destroying it ends the jail, and waits until its last process is gone.
struct Jail {
  std::unique_ptr<HelperSocket> init;
  UniqueFd pidfd;
  pid_t host_pid = -1;
  uint32_t user_id = 0;           // outside, of its user, as root; 0: the supervisor's own
  std::optional<sys::ProcReader> process;  // the init's
  ino_t pid_namespace = 0;        // 0: closed to this user
  UniqueFd workspace, tmp, shm;   // folders, for statfs, uploads and artifacts
  std::vector<UniqueFd> network;  // sockets in its network namespace (jail/network.h), for the egress proxy; else none
  ~Jail();
};

// The two pipes for a process's output: read without blocking, and the jail's user's own, so that it can open /dev/stdout again.
struct OutputPipes {
  sys::PipePair output, errors;
};
absl::StatusOr<OutputPipes> MakeOutputPipes(const Jail& jail);

struct Zygote {
  std::unique_ptr<HelperSocket> socket;
  UniqueFd pidfd;
  uint64_t data_bytes = 0;        // its VmData: what a worker starts from
};

struct NestOptions {
  std::string init_path;          // cellblock-init
  uint32_t first_user_id = 0;
  uint32_t user_id_count = 0;
};

// PID 1 of the nest and its socket. Destroying it ends every helper, worker and program.
class Nest {
 public:
  // Must be called on a thread that outlives the nest: its parent-death signal is tied to the thread (prctl(2), PR_SET_PDEATHSIG).
  static absl::StatusOr<std::unique_ptr<Nest>> Create(const NestOptions& options);
  ~Nest();

  absl::Status PrepareRoot(const wire::PrepareRoot& request);
  // `usual`: what a session that asks for nothing special will be told.
  absl::StatusOr<std::unique_ptr<Zygote>> StartZygote(const wire::StartZygote& request, const wire::StartSession& usual);
  // Its init enters the cgroup through `entrances` (sys::Cgroup).
  absl::StatusOr<std::unique_ptr<Jail>> MakeJail(const wire::MakeJail& request, const std::vector<UniqueFd>& entrances);
  bool as_root() const { return as_root_; }
  bool alive() const { return !sys::HasEnded(pidfd_.get()); }

 private:
  Nest() = default;
  std::unique_ptr<HelperSocket> socket_;
  UniqueFd pidfd_;
  pid_t pid_ = -1;
  bool as_root_ = false;
};

// Removes registered folders should the supervisor be killed.
class Broom {
 public:
  static absl::StatusOr<std::unique_ptr<Broom>> Create(const std::string& init_path);
  ~Broom();
  void Register(const std::string& folder);
  void Forget(const std::string& folder);

 private:
  UniqueFd socket_;
  pid_t pid_ = -1;
};

}  // namespace cellblock::supervise

#endif  // CELLBLOCK_SUPERVISE_HELPERS_H_
