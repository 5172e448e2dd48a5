// See memory_watch.h.
#include "supervise/memory_watch.h"

#include <sys/stat.h>
#include <sys/statfs.h>

#include <algorithm>
#include <optional>

namespace cellblock::supervise {

namespace {

// Memory that is in no file of the jail's (those are counted once, by their file systems), and not the kernel's to take back as the page
// cache is.
int64_t SharesOf(std::vector<sys::ProcReader>& readers, const Jail& jail, int64_t zygote_bytes) {
  std::vector<dev_t> files;
  for (int fd : {jail.workspace.get(), jail.tmp.get(), jail.shm.get()}) {
    struct stat info;
    if (fstat(fd, &info) == 0) files.push_back(info.st_dev);
  }
  int64_t anonymous = 0, shared = 0;
  for (sys::ProcReader& reader : readers) {
    sys::ProcReader::Shares shares;
    if (!reader.ReadShares(&shares)) {
      anonymous += reader.ReadUsage().anonymous;
      continue;
    }
    anonymous += shares.anonymous;
    if (shares.shared_memory > 0) shared += reader.SharedMemoryOutside(files, shares.shared_memory, [] { return true; });
  }
  return std::max<int64_t>(0, anonymous - zygote_bytes) + shared;
}

}  // namespace

MemorySample SampleMemory(const Jail& jail, sys::ProcReader& worker, const Baseline& baseline, int64_t sharers, int64_t limit_bytes) {
  MemorySample sample;
  sample.pids = sys::Descendants({jail.host_pid, worker.pid()});
  std::vector<pid_t> counted = sample.pids;
  counted.push_back(worker.pid());
  int64_t files = ReadDiskUse(jail).used_bytes;
  sample.bytes = files - baseline.resident_bytes;
  std::vector<sys::ProcReader> readers;
  for (pid_t pid : counted) {
    absl::StatusOr<sys::ProcReader> reader = sys::ProcReader::Create(pid);
    if (!reader.ok()) continue;
    absl::StatusOr<sys::ProcReader::Stat> stat = reader->ReadStat();
    sample.processes += stat.ok() ? std::max<int64_t>(1, stat->threads) : 1;
    sample.bytes += reader->ResidentBytes();
    readers.push_back(*std::move(reader));
  }
  sample.bytes = std::max<int64_t>(0, sample.bytes);
  if (sample.bytes <= limit_bytes) return sample;
  // Each resident page that several share was counted for each of them. The zygote's pages are divided among it, its workers and what
  // they forked; the session's part of them, at most all, is nobody's use. (Programs that a session started share none of them; that
  // this takes them for forks errs by no more than the zygote's size.)
  auto processes = static_cast<int64_t>(readers.size());
  int64_t zygote_bytes = baseline.anonymous_bytes * processes / std::max<int64_t>(1, sharers + processes - 1);
  sample.bytes = files + SharesOf(readers, jail, zygote_bytes);
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
