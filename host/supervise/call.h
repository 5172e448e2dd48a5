// One call from its first frame to its classified end: clocks, output, interrupt then kill, and what the supervisor itself saw of
// it. Supervisor; runs on the caller's thread, which also reads the reply.
#ifndef CELLBLOCK_SUPERVISE_CALL_H_
#define CELLBLOCK_SUPERVISE_CALL_H_

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "capture/redact.h"
#include "cellblock/host.h"
#include "cellblock/policy.h"
#include "cellblock/record.h"
#include "supervise/cpu_meter.h"
#include "supervise/egress.h"
#include "supervise/output_pump.h"
#include "supervise/worker.h"
#include "sys/cgroup.h"

namespace cellblock::supervise {

// What is known of the session's memory from outside, fed by the Host's watch.
struct MemorySignals {
  std::atomic<int64_t> now_bytes = 0;        // without a cgroup: as the watch last saw it
  std::atomic<int64_t> peak_bytes = 0;       // since the call began
  std::atomic<int64_t> processes_peak = 0;
  std::atomic<bool> killed = false;          // the watch killed the session for memory
};

struct CallOptions {
  ExecuteOptions execute;
  int64_t number = 0;
  std::string inspect;                       // see wire::ExecuteCell
  absl::Duration timeout;
  int interrupt_fd = -1;                     // eventfd, readable when the caller interrupts
  std::string late_output, late_errors;      // what stood in the pipes between calls
  std::shared_ptr<const capture::RedactionSet> redact;
  WholeText on_whole_text;                   // see OutputPump; may be null
  int64_t out_of_memory_kills_before = 0;
};

// The parts of a session that a call works on.
struct CallParties {
  const Policy& policy;
  Jail& jail;
  Worker* worker = nullptr;                  // bash can do without
  sys::Cgroup* cgroup = nullptr;
  MemorySignals& memory;
  CpuMeter& cpu;                             // begun for this call
  EgressLink* egress = nullptr;              // null: no network
};

// Why the supervisor stopped a call.
enum class Stop { kNone, kTimeout, kCpu, kInterrupt, kProtocol };

// The clocks of a call: when to interrupt, when to kill.
class StopClock {
 public:
  StopClock(const Limits& limits, absl::Duration timeout, absl::Time start) : limits_(limits), deadline_(start + timeout) {}
  enum class Act { kNothing, kInterrupt, kKill };
  // `cpu`: what the call has used so far.
  Act Tick(absl::Time now, absl::Duration cpu);
  Act Request(absl::Time now);  // the caller wants it interrupted; a second time, killed
  Stop stop() const { return stop_; }
  void Force(Stop stop) { stop_ = stop_ == Stop::kNone ? stop : stop_; }  // the first reason stands
  absl::Duration UntilNext(absl::Time now) const;

 private:
  Act Begin(Stop stop, absl::Time now);
  const Limits& limits_;
  absl::Time deadline_;
  Stop stop_ = Stop::kNone;
  absl::Time kill_at_ = absl::InfiniteFuture();
  absl::Time again_at_ = absl::InfiniteFuture();
};

// Fills everything of `record` but artifacts, id and limits. The Status is about the host alone.
absl::Status RunPythonCall(const CallParties& parties, absl::string_view code, CallOptions options, Record& record);
absl::Status RunBashCall(const CallParties& parties, absl::string_view code, const confine::Spec& spec, int seccomp_fd, const std::vector<std::string>& environment, CallOptions options,
                         Record& record);

}  // namespace cellblock::supervise

#endif  // CELLBLOCK_SUPERVISE_CALL_H_
