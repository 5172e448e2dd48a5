// How much memory and how many processes a jail holds, summed from outside. Supervisor; for machines and users without a cgroup.
#ifndef CELLBLOCK_SUPERVISE_MEMORY_WATCH_H_
#define CELLBLOCK_SUPERVISE_MEMORY_WATCH_H_

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "supervise/helpers.h"
#include "sys/proc_reader.h"

namespace cellblock::supervise {

struct MemorySample {
  int64_t bytes = 0;            // an upper bound (resident sizes) unless it came near the limit; then shares (PSS), tmpfs included
  int64_t processes = 0;        // and threads
  std::vector<pid_t> pids;      // the worker's and programs' descendants
};

// Sums resident sizes; only when those reach `limit_bytes` are the exact shares read, which is dear.
MemorySample SampleMemory(const Jail& jail, sys::ProcReader* worker, int64_t limit_bytes);

// Whether the jail holds nothing but its init and the worker: cheap, for the end of every call. `threads`: the worker's, beyond the
// main one.
bool HasNoOthers(Jail& jail, sys::ProcReader* worker, int64_t* threads);

struct DiskUse {
  int64_t used_bytes = 0;
  bool workspace_full = false;
  bool inodes_full = false;
};
DiskUse ReadDiskUse(const Jail& jail);  // of the three tmpfs

}  // namespace cellblock::supervise

#endif  // CELLBLOCK_SUPERVISE_MEMORY_WATCH_H_
