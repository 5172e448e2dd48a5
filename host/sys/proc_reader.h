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
  int64_t AnonymousBytes();              // RssAnon and RssShmem: readable whatever the process does; 0 when it has ended
  // What it holds alone and its share of what it holds with others, from smaps_rollup: dear (about 1 ms). False when that is closed to
  // this user (the process made itself non-dumpable), or older than Linux 5.9.
  struct Shares {
    int64_t anonymous = 0;
    int64_t shared_memory = 0;           // shmem: mapped files of a tmpfs, and memory shared without a name
  };
  bool ReadShares(Shares* shares);
  // Of that shared memory what lies in none of the file systems `devices`; the maps are read one by one, which is dearer still. All of it
  // when they are too many to read.
  int64_t SharedMemoryOutside(const std::vector<dev_t>& devices, int64_t otherwise);
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
