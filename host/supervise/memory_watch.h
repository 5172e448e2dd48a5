// How much memory and how many processes a jail holds, summed from outside. Supervisor; for machines and users without a cgroup.
#ifndef CELLBLOCK_SUPERVISE_MEMORY_WATCH_H_
#define CELLBLOCK_SUPERVISE_MEMORY_WATCH_H_

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "supervise/helpers.h"
#include "sys/proc_reader.h"

namespace cellblock::supervise {

// What a worker held when it was ready: nearly all of it the zygote's, shared by every session, and not counted for any.
struct Baseline : sys::ProcReader::Usage {
  uint64_t stack_start = 0;     // the zygote's: sys::ProcReader::Stat
};
Baseline BaselineOf(sys::ProcReader& worker);  // before any user code

struct MemorySample {
  int64_t bytes = 0;            // an upper bound: resident sizes and page tables; files in memory included
  int64_t page_tables = 0;      // of these: nobody else's, and exact
  int64_t files = 0;            // exact too
  int64_t processes = 0;        // and threads
  std::vector<pid_t> pids;      // the worker's and programs' descendants
};

// Cheap: one read of `status` for each process, and a few more for the worker alone. What has ended counts for nothing.
MemorySample SampleMemory(Jail& jail, sys::ProcReader& worker, const Baseline& baseline);

// The processor time of one closer look. Beyond it, the rest is counted by resident sizes: too high, and so to the disadvantage of who
// made looking dear. 128 processes (the default limit) of 100 MB each take 300 ms.
inline constexpr absl::Duration kCloserLookCpuMax = absl::Milliseconds(400);

// What the sample's processes hold by exact shares, which is dear. Ends early once it is past `limit_bytes`. `sharers`: the zygote and
// its workers, among whom the zygote's pages are divided.
int64_t CloserLook(const Jail& jail, sys::ProcReader& worker, const Baseline& baseline, int64_t sharers, const MemorySample& sample, int64_t limit_bytes,
                   absl::Duration cpu_max = kCloserLookCpuMax);

// Whether the jail holds nothing but its init and the worker: cheap, for the end of every call. `threads`: the worker's, beyond the
// main one.
bool HasNoOthers(Jail& jail, sys::ProcReader* worker, int64_t* threads);

struct DiskUse {
  int64_t used_bytes = 0;          // files in memory
  bool workspace_full = false;
  bool inodes_full = false;        // of the workspace
  bool tmp_full = false;
  bool shm_full = false;
};
DiskUse ReadDiskUse(const Jail& jail);  // of the three tmpfs

}  // namespace cellblock::supervise

#endif  // CELLBLOCK_SUPERVISE_MEMORY_WATCH_H_
