// See memory_watch.h.
#include "supervise/memory_watch.h"

#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>

#include <algorithm>

#include "supervise/jail_processes.h"

namespace cellblock::supervise {
namespace {

absl::Duration ThreadCpu() {
  timespec now;
  return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0 ? absl::DurationFromTimespec(now) : absl::InfiniteDuration();
}

// 0: unknown.
uint64_t StackStart(sys::ProcReader& process) {
  absl::StatusOr<sys::ProcReader::Stat> stat = process.ReadStat();
  return stat.ok() ? stat->stack_start : 0;
}

// Sums memory that is in no file of the jail's (those are counted once, by their file systems), and not the kernel's to take back as the
// page cache is.
class Shares {
 public:
  Shares(const Jail& jail, absl::Duration cpu_max) : until_(ThreadCpu() + cpu_max) {
    for (int fd : {jail.workspace.get(), jail.tmp.get(), jail.shm.get()}) {
      struct stat info;
      if (fstat(fd, &info) == 0) files_.push_back(info.st_dev);
    }
  }

  void Add(sys::ProcReader& process) {
    sys::ProcReader::Shares shares;
    if (!InTime() || !process.ReadShares(&shares)) {
      anonymous_ += process.ReadUsage().anonymous;
      return;
    }
    anonymous_ += shares.anonymous;
    if (shares.shared_memory > 0) shared_ += process.SharedMemoryOutside(files_, shares.shared_memory, [this] { return InTime(); });
  }

  int64_t Beyond(int64_t zygote_bytes) const { return std::max<int64_t>(0, anonymous_ - zygote_bytes) + shared_; }

 private:
  bool InTime() const { return ThreadCpu() < until_; }

  const absl::Duration until_;
  std::vector<dev_t> files_;
  int64_t anonymous_ = 0, shared_ = 0;
};

}  // namespace

Baseline BaselineOf(sys::ProcReader& worker) {
  Baseline baseline;
  static_cast<sys::ProcReader::Usage&>(baseline) = worker.ReadUsage();
  baseline.stack_start = StackStart(worker);
  return baseline;
}

MemorySample SampleMemory(Jail& jail, sys::ProcReader& worker, const Baseline& baseline) {
  MemorySample sample;
  sys::ProcReader::Usage own = worker.ReadUsage();
  // A worker that let go of the zygote's pages has not earned others in their place.
  int64_t resident = std::max<int64_t>(0, own.resident - baseline.resident);
  sample.page_tables = std::max<int64_t>(0, own.page_tables - baseline.page_tables);
  sample.processes = own.threads;
  VisitJail(jail, &worker, [&](sys::ProcReader& process) {
    sys::ProcReader::Usage usage = process.ReadUsage();
    resident += usage.resident;
    sample.page_tables += usage.page_tables;
    sample.processes += std::max<int64_t>(1, usage.threads);
    sample.pids.push_back(process.pid());
  });
  sample.files = ReadDiskUse(jail).used_bytes;
  sample.bytes = sample.files + resident + sample.page_tables;
  return sample;
}

int64_t CloserLook(const Jail& jail, sys::ProcReader& worker, const Baseline& baseline, int64_t sharers, const MemorySample& sample, int64_t limit_bytes,
                   absl::Duration cpu_max) {
  // Each resident page that several share was counted for each of them. The zygote's pages are divided among it, its workers and what
  // they forked; the session's part of them, at most all, is nobody's use. Programs that a session started share none of them.
  auto zygote_bytes = [&](int64_t forks) { return baseline.anonymous * (forks + 1) / std::max<int64_t>(1, sharers + forks); };
  auto forks = static_cast<int64_t>(sample.pids.size());  // until they are known better
  int64_t certain = sample.files + sample.page_tables;
  Shares shares(jail, cpu_max);
  // What has page tables without end takes without end to look at: these first.
  if (certain <= limit_bytes) shares.Add(worker);
  for (pid_t pid : sample.pids) {
    if (certain + shares.Beyond(zygote_bytes(forks)) > limit_bytes) break;
    bool is_fork = false;  // nor is what has ended since
    VisitInJail(jail, pid, [&](sys::ProcReader& process) {
      is_fork = baseline.stack_start == 0 || StackStart(process) == baseline.stack_start;
      shares.Add(process);
    });
    if (!is_fork) --forks;
  }
  return certain + shares.Beyond(zygote_bytes(forks));
}

bool HasNoOthers(Jail& jail, sys::ProcReader* worker, int64_t* threads) {
  bool complete = true;
  bool none = jail.process->Children(/*threads=*/1, &complete).empty() && complete;  // orphans become its children; who cannot be seen may be there
  *threads = 0;
  if (worker == nullptr) return none;
  absl::StatusOr<sys::ProcReader::Stat> stat = worker->ReadStat();
  if (!stat.ok()) return none;
  *threads = std::max<int64_t>(0, stat->threads - 1);
  return worker->Children(stat->threads, &complete).empty() && complete && none;
}

DiskUse ReadDiskUse(const Jail& jail) {
  DiskUse use;
  struct statfs info;
  for (int fd : {jail.workspace.get(), jail.tmp.get(), jail.shm.get()}) {
    if (fstatfs(fd, &info) != 0) continue;
    use.used_bytes += static_cast<int64_t>(info.f_blocks - info.f_bfree) * static_cast<int64_t>(info.f_bsize);
    bool full = info.f_bfree == 0;
    if (fd == jail.tmp.get()) use.tmp_full = full;
    if (fd == jail.shm.get()) use.shm_full = full;
    if (fd != jail.workspace.get()) continue;
    use.workspace_full = full;
    use.inodes_full = info.f_ffree == 0;
  }
  return use;
}

}  // namespace cellblock::supervise
