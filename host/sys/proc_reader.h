// Cheap observation of one process through /proc: CPU time, memory, threads, children. Supervisor. The numbers are the kernel's;
// nothing the process says is used.
#ifndef CELLBLOCK_SYS_PROC_READER_H_
#define CELLBLOCK_SYS_PROC_READER_H_

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/unique_fd.h"

namespace cellblock::sys {

// Holds /proc/<pid> open, so that a reused number is never mistaken for the process. Not thread-safe.
class ProcReader {
 public:
  static absl::StatusOr<ProcReader> Create(pid_t pid);

  struct Stat {
    int64_t threads = 0;
    absl::Duration reaped_children_cpu;  // of children it has waited for, with theirs
  };
  absl::StatusOr<Stat> ReadStat();
  absl::Duration CpuTime() const;        // of the process, all threads, exact; zero when it has ended
  int64_t ResidentBytes();               // 0 when it has ended
  int64_t ResidentPeakBytes();           // VmHWM
  int64_t ProportionalBytes();           // PSS from smaps_rollup: dear (about 1 ms); 0 when it cannot be read
  // Direct children of every thread; at most 4096.
  std::vector<pid_t> Children(int64_t threads);
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  UniqueFd directory_;
  UniqueFd stat_;
  UniqueFd children_;  // of the main thread
};

// Every descendant of `roots`, themselves left out; at most 65536.
std::vector<pid_t> Descendants(const std::vector<pid_t>& roots);

}  // namespace cellblock::sys

#endif  // CELLBLOCK_SYS_PROC_READER_H_
