// The supervisor's end of one worker: its channel, its output pipes, its process. Supervisor. Everything that comes over the channel
// and the pipes is hostile. Used by one thread at a time, except Interrupt().
#ifndef CELLBLOCK_SUPERVISE_WORKER_H_
#define CELLBLOCK_SUPERVISE_WORKER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/unique_fd.h"
#include "cellblock/policy.h"
#include "confine/confine.h"
#include "supervise/helpers.h"
#include "sys/proc_reader.h"
#include "wire/frame.h"
#include "wire/messages.h"

namespace cellblock::supervise {

struct WorkerOptions {
  confine::Spec spec;
  wire::StartSession start;
  int seccomp_fd = -1;             // memfd of the program
  size_t bundle_bytes_max = 0;     // of one frame: limits.result_bytes with room for its fields
  std::vector<UniqueFd> entrances;      // of its cgroup (sys::Cgroup)
  std::function<absl::Status(pid_t)> attach;  // where there are none: puts the worker into its cgroup, while it locks itself
};

// How its process ended, as the zygote's wait4 saw it.
struct WorkerExit {
  bool known = false;              // false: the zygote ended too
  bool exited = false;
  int exit_code = 0;
  int signal = 0;
  absl::Duration cpu;
  int64_t resident_peak_bytes = 0;
};

class Worker {
 public:
  // Forks it from `zygote` into `jail` and returns once it is attached, locked and ready. kFailedPrecondition names the step of the
  // lock-down that failed.
  static absl::StatusOr<std::unique_ptr<Worker>> Start(std::shared_ptr<Zygote> zygote, Jail& jail, const WorkerOptions& options);
  ~Worker();  // kills and waits

  // Tells a worker that was made ahead what session it is for, without waiting for its answer: that comes before the first call's frames,
  // and whoever reads those asks IsReadyAtLast() of it.
  absl::Status Begin(const wire::StartSession& start, size_t bundle_bytes_max);
  bool is_beginning() const { return is_beginning_; }
  // Whether `frame` is that answer, which comes once. kFailedPrecondition: the worker could not begin, and ends.
  absl::StatusOr<bool> IsReadyAtLast(const wire::Frame& frame);

  // Ctrl-C: SIGINT to the worker and its process group, as a terminal would.
  void Interrupt();
  void Kill();
  // With all that it and the jail's init have started: what shares its CPU quota keeps it from ending. How many others that were, with
  // those of earlier times. Not atomic: what a fork bomb starts meanwhile, the jail's init ends after the call.
  int64_t KillAll();
  WorkerExit WaitForExit();        // after Kill, or after pidfd became readable

  // Queues a frame; Flush sends what fits without blocking. An error from Flush: the worker reads no more, and what was queued is dropped.
  void Queue(wire::FrameType type, uint64_t nonce, absl::string_view body);
  bool wants_write() const { return !outgoing_.empty(); }
  size_t queued_bytes() const { return outgoing_.size(); }
  absl::Status Flush();
  // Reads without blocking what has come. kUnavailable at end of file, kInvalidArgument when it is not a frame.
  absl::Status Receive();
  absl::StatusOr<std::optional<wire::Frame>> NextFrame() { return parser_.Next(); }

  int channel_fd() const { return channel_.get(); }
  int output_fd() const { return output_.get(); }
  int errors_fd() const { return errors_.get(); }
  int pidfd() const { return pidfd_.get(); }
  pid_t pid_in_jail() const { return pid_in_jail_; }
  uint64_t zygote_data_bytes() const { return zygote_->data_bytes; }
  bool zygote_lives() const { return !sys::HasEnded(zygote_->pidfd.get()); }
  sys::ProcReader& process() { return *process_; }
  const confine::Report& report() const { return report_; }
  absl::Duration fork_took() const { return fork_took_; }
  absl::Duration lock_down_took() const { return lock_down_took_; }  // by its own account, before any user code
  int64_t zygote_sharers() const { return zygote_.use_count(); }  // the zygote (for the Host's own hold) and its workers

 private:
  Worker(std::shared_ptr<Zygote> zygote, Jail& jail, size_t bundle_bytes_max) : zygote_(std::move(zygote)), jail_(jail), parser_(bundle_bytes_max) {}
  absl::Status Fork(const WorkerOptions& options);
  absl::Status WaitReady();

  std::shared_ptr<Zygote> zygote_;
  Jail& jail_;
  UniqueFd channel_, output_, errors_, pidfd_;
  uint64_t id_ = 0;                // pid in the nest: the zygote's name for it
  pid_t pid_in_jail_ = 0;
  bool is_beginning_ = false;
  std::optional<sys::ProcReader> process_;
  wire::FrameParser parser_;
  std::string outgoing_;
  std::set<std::pair<pid_t, uint64_t>> killed_;  // by KillAll: number and start, since one that is killed may take long to end
  confine::Report report_;
  absl::Duration fork_took_, lock_down_took_;
  std::optional<WorkerExit> exit_;
};

}  // namespace cellblock::supervise

#endif  // CELLBLOCK_SUPERVISE_WORKER_H_
