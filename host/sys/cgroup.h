// One session's control group, on whichever version the machine has: v1 (memory, pids, cpu and cpuacct, each in a hierarchy of its own or several in one) or v2.
// Supervisor. What cannot be had is said, not hidden: CgroupParent::Create fails with the reason.
#ifndef CELLBLOCK_SYS_CGROUP_H_
#define CELLBLOCK_SYS_CGROUP_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/unique_fd.h"

namespace cellblock::sys {

struct CgroupLimits {
  int64_t memory_bytes = 0;
  int64_t processes = 0;
  int cpus = 0;
  int cpu_weight = 0;            // 1 – 10,000, of 100 as usual; among the groups of one parent
  friend bool operator==(const CgroupLimits&, const CgroupLimits&) = default;
};

// A v2 group that holds processes hands no controllers down (admin-guide/cgroup-v2.rst, "No Internal Process Constraint"). In one that is
// delegated to this process alone, as to a service with Delegate=, this process and those that it has started move to a group below it,
// beside the sessions'. Whoever else is there is not ours to move: kFailedPrecondition names the first.
absl::Status MakeWayIn(const std::string& group);

// The supervisor's own folder(s), in which sessions' groups are made. Thread-safe.
class CgroupParent {
 public:
  // Tries below the caller's own group, then (v2, which forbids groups beside processes) at the top of the tree. `registered` is
  // told each folder made, so that another process can remove it should this one be killed. kFailedPrecondition says why not.
  static absl::StatusOr<std::unique_ptr<CgroupParent>> Create(const std::string& name, const std::function<void(const std::string&)>& registered);
  ~CgroupParent();  // removes the folders

  int version() const { return version_; }
  // Where `controller` ("memory", "pids", "cpu", "cpuacct") is kept; empty when the machine has none.
  std::string FolderOf(const std::string& controller) const;
  const std::vector<std::string>& folders() const { return folders_; }

 private:
  CgroupParent() = default;
  int version_ = 0;
  std::string memory_, pids_, cpu_, cpuacct_;  // on v2 the same folder
  std::vector<std::string> folders_;
};

// Removed, with what is left in it killed, when destroyed. Not thread-safe.
class Cgroup {
 public:
  static absl::StatusOr<std::unique_ptr<Cgroup>> Create(const CgroupParent& parent, const std::string& name, const CgroupLimits& limits);
  ~Cgroup();
  Cgroup(const Cgroup&) = delete;
  Cgroup& operator=(const Cgroup&) = delete;

  // Other limits from now on; writes what has changed. After an error some may have.
  absl::Status SetLimits(const CgroupLimits& limits);
  // Moves those in that are not in yet, all threads of each. The first move after a while waits for an RCU grace period (about 10 ms).
  absl::Status Attach(const std::vector<pid_t>& pids);
  // v1: descriptors, one for each hierarchy, through which a process of one thread moves itself in by writing "0", and waits for
  // nobody (the kernel locks out forks only for moves of others, cgroup_procs_write_start in kernel/cgroup/cgroup.c). v2: none.
  absl::StatusOr<std::vector<UniqueFd>> Entrances() const;
  int64_t MemoryBytes() const;
  int64_t SwappedBytes() const;      // 0 where the kernel does not count swap
  int64_t MemoryPeakBytes() const;   // since ResetPeak, or since the start where the kernel cannot reset it
  void ResetPeak();
  int64_t OutOfMemoryKills() const;
  int64_t ProcessesRefused() const;  // forks that the limit refused
  int64_t Processes() const;
  bool CountsCpu() const { return cpu_used_.valid(); }
  // Of all its processes, ended ones too, however they were reaped; what runs just now may miss up to a tick. Zero where not counted.
  absl::Duration CpuTime() const;

 private:
  explicit Cgroup(const CgroupParent& parent) : parent_(parent) {}
  std::string PathIn(const std::string& controller) const;
  bool Holds(pid_t pid) const;
  void OpenCounters();
  int64_t ReadNow(const char* controller, const char* file) const;

  const CgroupParent& parent_;
  std::string name_;
  CgroupLimits limits_;  // as written
  UniqueFd memory_peak_, memory_events_, pids_events_, cpu_used_;  // read at every call: kept open
};

}  // namespace cellblock::sys

#endif  // CELLBLOCK_SYS_CGROUP_H_
