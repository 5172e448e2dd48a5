// See memory_watch.h.
#include "supervise/memory_watch.h"

#include <sys/statfs.h>

#include <algorithm>
#include <optional>

namespace cellblock::supervise {

MemorySample SampleMemory(const Jail& jail, sys::ProcReader* worker, int64_t limit_bytes) {
  MemorySample sample;
  std::vector<pid_t> roots = {jail.host_pid};
  if (worker != nullptr) roots.push_back(worker->pid());
  sample.pids = sys::Descendants(roots);
  std::vector<pid_t> counted = sample.pids;
  if (worker != nullptr) counted.push_back(worker->pid());
  int64_t files = ReadDiskUse(jail).used_bytes;
  sample.bytes = files;
  std::vector<sys::ProcReader> readers;
  for (pid_t pid : counted) {
    absl::StatusOr<sys::ProcReader> reader = sys::ProcReader::Create(pid);
    if (!reader.ok()) continue;
    absl::StatusOr<sys::ProcReader::Stat> stat = reader->ReadStat();
    sample.processes += stat.ok() ? std::max<int64_t>(1, stat->threads) : 1;
    sample.bytes += reader->ResidentBytes();
    readers.push_back(*std::move(reader));
  }
  if (sample.bytes < limit_bytes) return sample;
  // Resident pages that are shared (the zygote's, shared memory, the files in the tmpfs) were counted once for each process.
  sample.bytes = files;
  for (sys::ProcReader& reader : readers) {
    int64_t share = reader.ProportionalBytes();
    sample.bytes += share > 0 ? share : reader.ResidentBytes();
  }
  return sample;
}

bool HasNoOthers(Jail& jail, sys::ProcReader* worker, int64_t* threads) {
  bool none = jail.process->Children(/*threads=*/1).empty();  // orphans become its children
  *threads = 0;
  if (worker == nullptr) return none;
  absl::StatusOr<sys::ProcReader::Stat> stat = worker->ReadStat();
  if (!stat.ok()) return none;
  *threads = std::max<int64_t>(0, stat->threads - 1);
  return none && worker->Children(stat->threads).empty();
}

DiskUse ReadDiskUse(const Jail& jail) {
  DiskUse use;
  struct statfs info;
  for (int fd : {jail.workspace.get(), jail.tmp.get(), jail.shm.get()}) {
    if (fstatfs(fd, &info) != 0) continue;
    use.used_bytes += static_cast<int64_t>(info.f_blocks - info.f_bfree) * static_cast<int64_t>(info.f_bsize);
    if (fd != jail.workspace.get()) continue;
    use.workspace_full = info.f_bfree == 0;
    use.inodes_full = info.f_ffree == 0;
  }
  return use;
}

}  // namespace cellblock::supervise
