// See memory_watch.h.
#include "supervise/memory_watch.h"

#include <sys/stat.h>
#include <sys/statfs.h>

#include <algorithm>

#include "supervise/jail_processes.h"

namespace cellblock::supervise {
namespace {

// Sums memory that is in no file of the jail's (those are counted once, by their file systems), and not the kernel's to take back as the page
// cache is.
class Shares {
 public:
  explicit Shares(const Jail& jail) {
    for (int fd : {jail.workspace.get(), jail.tmp.get(), jail.shm.get()}) {
      struct stat info;
      if (fstat(fd, &info) == 0) files_.push_back(info.st_dev);
    }
  }

  void Add(sys::ProcReader& process) {
    sys::ProcReader::Shares shares;
    if (!process.ReadShares(&shares)) {
      anonymous_ += process.ReadUsage().anonymous;
      return;
    }
    anonymous_ += shares.anonymous;
    if (shares.shared_memory > 0) shared_ += process.SharedMemoryOutside(files_, shares.shared_memory, [] { return true; });
  }

  int64_t Beyond(int64_t zygote_bytes) const { return std::max<int64_t>(0, anonymous_ - zygote_bytes) + shared_; }

 private:
  std::vector<dev_t> files_;
  int64_t anonymous_ = 0, shared_ = 0;
};

}  // namespace

MemorySample SampleMemory(Jail& jail, sys::ProcReader& worker, const Baseline& baseline, int64_t sharers, int64_t limit_bytes) {
  MemorySample sample;
  std::vector<pid_t> pids;
  sys::ProcReader::Usage own = worker.ReadUsage();
  // A worker that let go of the zygote's pages has not earned others in their place.
  int64_t resident = std::max<int64_t>(0, own.resident - baseline.resident);
  int64_t certain = ReadDiskUse(jail).used_bytes + std::max<int64_t>(0, own.page_tables - baseline.page_tables);
  sample.processes = own.threads;
  VisitJail(jail, &worker, [&](sys::ProcReader& process) {
    sys::ProcReader::Usage usage = process.ReadUsage();
    resident += usage.resident;
    certain += usage.page_tables;
    sample.processes += std::max<int64_t>(1, usage.threads);
    pids.push_back(process.pid());
  });
  sample.bytes = certain + resident;
  // What has page tables without end takes without end to look at closely.
  if (sample.bytes <= limit_bytes || certain > limit_bytes) return sample;
  // Each resident page that several share was counted for each of them. The zygote's pages are divided among it, its workers and what
  // they forked; the session's part of them, at most all, is nobody's use. (Programs that a session started share none of them; that
  // this takes them for forks errs by no more than the zygote's size.)
  auto processes = static_cast<int64_t>(pids.size()) + 1;
  int64_t zygote_bytes = baseline.anonymous * processes / std::max<int64_t>(1, sharers + processes - 1);
  Shares shares(jail);
  shares.Add(worker);
  for (pid_t pid : pids) VisitInJail(jail, pid, [&](sys::ProcReader& process) { shares.Add(process); });
  sample.bytes = certain + shares.Beyond(zygote_bytes);
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
