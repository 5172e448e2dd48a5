// How much memory and how many processes a jail holds, summed from outside. Supervisor; for machines and users without a cgroup.
#ifndef CELLBLOCK_SUPERVISE_MEMORY_WATCH_H_
#define CELLBLOCK_SUPERVISE_MEMORY_WATCH_H_

#include <cstdint>

#include "supervise/helpers.h"
#include "sys/proc_reader.h"

namespace cellblock::supervise {

// What a worker held when it was ready: nearly all of it the zygote's, shared by every session, and not counted for any.
using Baseline = sys::ProcReader::Usage;

struct MemorySample {
  int64_t bytes = 0;            // an upper bound (resident sizes) unless it came near the limit; then shares; files in memory and page tables included
  int64_t processes = 0;        // and threads
};

// Sums resident sizes; only when those pass `limit_bytes` are the exact shares read, which is dear. `sharers`: the zygote and its
// workers, among whom the zygote's pages are divided.
MemorySample SampleMemory(Jail& jail, sys::ProcReader& worker, const Baseline& baseline, int64_t sharers, int64_t limit_bytes);

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
