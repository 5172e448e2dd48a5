// How much CPU time a session's processes have used since the call began, ended ones included: from the cgroup where one counts it,
// else summed up from outside. Supervisor; the numbers are the kernel's. Not thread-safe.
#ifndef CELLBLOCK_SUPERVISE_CPU_METER_H_
#define CELLBLOCK_SUPERVISE_CPU_METER_H_

#include <map>
#include <vector>

#include "absl/time/time.h"
#include "sys/cgroup.h"
#include "sys/proc_reader.h"

namespace cellblock::supervise {

// Without a cgroup every process below the roots is looked at: its own time, and that of the children it has waited for. A process that
// is gone has been added to another one's children, or to nobody's (a parent that ignores SIGCHLD); what was added nowhere is kept here
// at its last known value. So a process that lives between two looks and is added nowhere is not seen.
class CpuMeter {
 public:
  // `roots`: the processes that the session's others descend from; both must outlive the meter. `cgroup` may be null.
  CpuMeter(const std::vector<sys::ProcReader*>& roots, const sys::Cgroup* cgroup);
  // The next call begins, and counts from the last Read: for a session that did nothing since, which needs no look.
  void BeginCall();
  // Since the call began, or the meter was made. Never less than before.
  absl::Duration Read();
  // A root has ended; `cpu` is what wait4 said of it, the children that it had waited for included.
  void RootEnded(const sys::ProcReader& root, absl::Duration cpu);

 private:
  struct Root {
    sys::ProcReader* reader;
    sys::CpuUse use;
    bool ended = false;
  };
  struct Known {
    sys::CpuUse use;
    bool fresh = true;  // not looked at yet
  };
  // Parents before their children.
  struct ByAge {
    bool operator()(const sys::ProcessId& a, const sys::ProcessId& b) const { return a.start_ticks != b.start_ticks ? a.start_ticks < b.start_ticks : a.pid < b.pid; }
  };
  // What one look found: `gone` was last known of those that are gone, `reaped` was added to those that are there.
  struct Look {
    absl::Duration gone;
    absl::Duration reaped;
  };
  void LookNow();
  absl::Duration Count();
  bool LookOnce(Look& look);
  static void LookAtRoot(Root& root, Look& look);
  absl::Duration Visible() const;

  const sys::Cgroup* cgroup_;
  std::vector<Root> roots_;
  std::map<sys::ProcessId, Known, ByAge> known_;
  absl::Duration cgroup_before_, before_;          // when the call began
  absl::Duration cgroup_last_, last_;              // when last read
  absl::Duration kept_;      // of processes that are gone and were added to nobody's children
  absl::Duration surplus_;   // added to a parent before the process was missed: no more than ticks explain
  absl::Duration highest_;
};

}  // namespace cellblock::supervise

#endif  // CELLBLOCK_SUPERVISE_CPU_METER_H_
