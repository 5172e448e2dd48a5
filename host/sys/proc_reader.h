// Cheap observation of one process through /proc: CPU time, memory, threads, children. Supervisor. The numbers are the kernel's;
// nothing the process says is used.
#ifndef CELLBLOCK_SYS_PROC_READER_H_
#define CELLBLOCK_SYS_PROC_READER_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/unique_fd.h"

namespace cellblock::sys {

struct CpuUse {
  absl::Duration own;                    // of all its threads, exact
  absl::Duration reaped_children;
  absl::Duration all() const { return own + reaped_children; }
};

// Holds /proc/<pid> open, so that a reused number is never mistaken for the process. Not thread-safe.
class ProcReader {
 public:
  static absl::StatusOr<ProcReader> Create(pid_t pid);
  // Holds its folder alone: one descriptor instead of three, for a look at each of many processes.
  static absl::StatusOr<ProcReader> Glance(pid_t pid);

  struct Stat {
    int64_t threads = 0;
    absl::Duration reaped_children_cpu;  // of children it has waited for, with theirs; in whole ticks
    pid_t parent = 0;
    uint64_t start_ticks = 0;            // since the machine's start
    bool ended = false;                  // a zombie: nobody has waited for it yet
    uint64_t stack_start = 0;            // a fork keeps its parent's, a program that is started gets another; 0 where that is closed to this user
  };
  absl::StatusOr<Stat> ReadStat();
  absl::StatusOr<CpuUse> ReadCpuUse();   // an error once somebody has waited for it
  // From one read of `status`, which is open whatever the process does; all zero when it has ended.
  struct Usage {
    int64_t resident = 0;                // and what of it was written to swap
    int64_t resident_peak = 0;           // VmHWM
    int64_t anonymous = 0;               // RssAnon and RssShmem, and what is in swap
    int64_t page_tables = 0;             // in no resident size, and a map that is only read can have them without end
    int64_t threads = 0;
  };
  Usage ReadUsage();
  // What it holds alone and its share of what it holds with others, from smaps_rollup: dear (about 1 ms). False when that is closed to
  // this user (the process made itself non-dumpable), or older than Linux 5.9.
  struct Shares {
    int64_t anonymous = 0;               // and in swap
    int64_t shared_memory = 0;           // shmem: mapped files of a tmpfs, and memory shared without a name
    int64_t alone = 0;                   // pages of any kind that no other process has mapped
  };
  bool ReadShares(Shares* shares);
  // Of that shared memory what lies in none of the file systems `devices`; the maps are read one by one, which is dearer still. All of it,
  // `otherwise`, when they are too many to read, or `go_on`, asked now and then, says no.
  int64_t SharedMemoryOutside(const std::vector<dev_t>& devices, int64_t otherwise, absl::FunctionRef<bool()> go_on);
  // Direct children of every thread; at most 4096. `complete`, when given: whether they could be read.
  std::vector<pid_t> Children(int64_t threads, bool* complete = nullptr);
  // The inode of its pid namespace. kPermissionDenied when that is closed to this user, kNotFound when the process has been reaped.
  absl::StatusOr<ino_t> PidNamespace() const;
  // Of this very process, though pidfd_open(2) takes a number. kNotFound when it has been reaped.
  absl::StatusOr<UniqueFd> OpenPidFd() const;
  pid_t pid() const { return pid_; }

 private:
  bool Exists() const;  // not reaped yet, so its number is its own
  std::string OfLivingThread(const char* name) const;

  pid_t pid_ = -1;
  UniqueFd directory_;
  UniqueFd stat_;      // of Create alone, as the next
  UniqueFd children_;  // of the main thread
};

// Every descendant of `roots`, themselves left out; at most 65536. By number: only for roots that cannot have been reaped.
std::vector<pid_t> Descendants(const std::vector<pid_t>& roots);

// One process, told apart from a later one that got its number.
struct ProcessId {
  pid_t pid = -1;
  uint64_t start_ticks = 0;
  bool operator==(const ProcessId& other) const { return pid == other.pid && start_ticks == other.start_ticks; }
};

// The same from readers held open since each process was sure to be the one meant. A number that is reused meanwhile is left out: each
// must still be the child of the process that it was found below.
std::vector<ProcessId> ProcessesBelow(const std::vector<ProcReader*>& roots);

// kNotFound once somebody has waited for the process.
absl::StatusOr<CpuUse> ReadCpuUse(const ProcessId& process);

// SIGKILL. False when it had ended before.
bool KillProcess(const ProcessId& process);

}  // namespace cellblock::sys

#endif  // CELLBLOCK_SYS_PROC_READER_H_
