// See cgroup.h. Knobs: kernel documentation, admin-guide/cgroup-v1/{memory,pids,cpuacct}.rst and admin-guide/cgroup-v2.rst.
#include "sys/cgroup.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "base/status_macros.h"
#include "sys/files.h"

namespace cellblock::sys {
namespace {

// What was killed ends when it gets a processor, which takes long on a busy machine.
constexpr absl::Duration kRemoveDeadline = absl::Seconds(10);
constexpr absl::Duration kRemovePause = absl::Milliseconds(2);
constexpr int64_t kCpuPeriodMicroseconds = 100'000;
constexpr int kUsualShares = 1024;  // of cpu.shares, whose least is 2 (Documentation/scheduler/sched-design-CFS.rst)
constexpr char kOwnGroup[] = "/cellblock-supervisor";  // of a delegated v2 group
constexpr int kAncestorsMax = 16;

struct Hierarchies {
  std::string v2_mount;
  std::map<std::string, std::string> v1_mounts;  // controller → mount point
  std::map<std::string, std::string> own;        // controller ("" for v2) → path of this process's group
};

Hierarchies FindHierarchies() {
  Hierarchies found;
  std::string mounts = ReadFile("/proc/self/mounts", 1 << 20).value_or("");
  for (absl::string_view line : absl::StrSplit(mounts, '\n')) {
    std::vector<std::string> words = absl::StrSplit(line, ' ');
    if (words.size() < 4) continue;
    if (words[2] == "cgroup2") found.v2_mount = words[1];
    if (words[2] != "cgroup") continue;
    for (const std::string& option : std::vector<std::string>(absl::StrSplit(words[3], ','))) {
      if (option == "memory" || option == "pids" || option == "cpu" || option == "cpuacct") found.v1_mounts[option] = words[1];
    }
  }
  std::string groups = ReadFile("/proc/self/cgroup", 65536).value_or("");
  for (absl::string_view line : absl::StrSplit(groups, '\n')) {
    std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() != 3) continue;
    for (const std::string& controller : std::vector<std::string>(absl::StrSplit(parts[1], ','))) found.own[controller] = parts[2] == "/" ? "" : parts[2];
  }
  return found;
}

std::string ReadCounter(const UniqueFd& file) {
  std::array<char, 4096> buffer;
  ssize_t count = pread(file.get(), buffer.data(), buffer.size(), 0);
  return count > 0 ? std::string(buffer.data(), static_cast<size_t>(count)) : "";
}

int64_t ReadNumber(const UniqueFd& file) {
  int64_t value = 0;
  return absl::SimpleAtoi(ReadCounter(file), &value) ? value : 0;
}

// The number after `key` in a file of "key number" lines.
int64_t ReadKey(const UniqueFd& file, absl::string_view key) {
  std::string text = ReadCounter(file);
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(line, absl::MaxSplits(' ', 1));
    int64_t value;
    if (parts.first == key && absl::SimpleAtoi(parts.second, &value)) return value;
  }
  return 0;
}

bool HasControllers(const std::string& folder) {
  std::string controllers = ReadFile(folder + "/cgroup.controllers", 4096).value_or("");
  for (const char* needed : {"memory", "pids", "cpu"}) {
    bool has = false;
    for (absl::string_view word : absl::StrSplit(controllers, absl::ByAnyChar(" \n"))) has = has || word == needed;
    if (!has) return false;
  }
  return true;
}

bool IsOwnOrStartedHere(pid_t pid) {
  for (int i = 0; i < kAncestorsMax && pid > 0; ++i) {
    if (pid == getpid()) return true;
    if (pid == 1) return false;
    const std::string status = ReadFile(absl::StrCat("/proc/", pid, "/status"), 65536).value_or("");
    const size_t at = status.find("\nPPid:\t");
    if (at == std::string::npos) return true;  // it has ended
    const std::string rest = status.substr(at + 7);
    if (!absl::SimpleAtoi(rest.substr(0, rest.find('\n')), &pid)) return false;
  }
  return false;
}

void RemoveGroup(const std::string& path) {
  if (access(path.c_str(), F_OK) != 0) return;
  for (const absl::Time until = absl::Now() + kRemoveDeadline; absl::Now() < until; absl::SleepFor(kRemovePause)) {
    if (rmdir(path.c_str()) == 0 || errno == ENOENT) return;
    std::string pids = ReadFile(path + "/cgroup.procs", 1 << 20).value_or("");
    for (absl::string_view word : absl::StrSplit(pids, '\n')) {
      int pid;
      if (absl::SimpleAtoi(word, &pid) && pid > 1) kill(pid, SIGKILL);
    }
  }
}

}  // namespace

absl::Status MakeWayIn(const std::string& group) {
  CELLBLOCK_ASSIGN_OR_RETURN(const std::string text, ReadFile(group + "/cgroup.procs", 1 << 20));
  std::vector<pid_t> pids;
  for (absl::string_view word : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    pid_t pid = 0;
    if (!absl::SimpleAtoi(word, &pid) || !IsOwnOrStartedHere(pid)) return absl::FailedPreconditionError(absl::StrCat("cgroup ", group, " holds process ", word, " too, which is none of ours to move"));
    pids.push_back(pid);
  }
  const std::string own = group + kOwnGroup;
  if (mkdir(own.c_str(), 0755) != 0 && errno != EEXIST) return ErrnoStatus(absl::StrCat("make cgroup ", own));
  for (const pid_t pid : pids) {
    const absl::Status moved = WriteFile(own + "/cgroup.procs", absl::StrCat(pid));
    if (!moved.ok() && IsOwnOrStartedHere(pid) && kill(pid, 0) == 0) return moved;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<CgroupParent>> CgroupParent::Create(const std::string& name, const std::function<void(const std::string&)>& registered) {
  Hierarchies found = FindHierarchies();
  std::unique_ptr<CgroupParent> parent(new CgroupParent());
  auto make = [&](const std::string& above) -> absl::StatusOr<std::string> {
    std::string folder = absl::StrCat(above, "/", name);
    registered(folder);
    if (mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) return ErrnoStatus(absl::StrCat("make cgroup ", folder));
    // v1 has cpu and cpuacct in one hierarchy as a rule, in two on some machines.
    if (std::find(parent->folders_.begin(), parent->folders_.end(), folder) == parent->folders_.end()) parent->folders_.push_back(folder);
    return folder;
  };
  if (found.v1_mounts.count("memory") > 0 && found.v1_mounts.count("pids") > 0) {
    parent->version_ = 1;
    for (auto [controller, folder] :
         {std::pair<const char*, std::string*>{"memory", &parent->memory_}, {"pids", &parent->pids_}, {"cpu", &parent->cpu_}, {"cpuacct", &parent->cpuacct_}}) {
      if (found.v1_mounts.count(controller) == 0) continue;
      CELLBLOCK_ASSIGN_OR_RETURN(*folder, make(found.v1_mounts[controller] + found.own[controller]));
    }
    return parent;
  }
  if (found.v2_mount.empty()) return absl::FailedPreconditionError("no cgroup file system with the memory and pids controllers is mounted");
  parent->version_ = 2;
  absl::Status last = absl::FailedPreconditionError("the memory, pids and cpu controllers are not delegated to this user");
  // The second Host of a process finds it moved by the first.
  const std::string own(absl::StripSuffix(found.own[""], kOwnGroup));
  for (const std::string& above : {found.v2_mount + own, found.v2_mount}) {
    if (!HasControllers(above)) continue;
    const auto enable = [&above] { return WriteFile(above + "/cgroup.subtree_control", "+memory +pids +cpu"); };
    absl::Status enabled = enable();
    if (!enabled.ok() && access((above + "/cgroup.procs").c_str(), W_OK) == 0) {
      const absl::Status made_way = MakeWayIn(above);
      enabled = made_way.ok() ? enable() : made_way;
    }
    if (!enabled.ok()) {
      last = enabled;
      continue;
    }
    absl::StatusOr<std::string> folder = make(above);
    if (folder.ok()) {
      enabled = WriteFile(*folder + "/cgroup.subtree_control", "+memory +pids +cpu");
      if (!enabled.ok()) return enabled;
      parent->memory_ = parent->pids_ = parent->cpu_ = parent->cpuacct_ = *folder;
      return parent;
    }
    last = folder.status();
  }
  return last;
}

CgroupParent::~CgroupParent() {
  for (const std::string& folder : folders_) RemoveGroup(folder);
}

std::string CgroupParent::FolderOf(const std::string& controller) const {
  return controller == "memory" ? memory_ : controller == "pids" ? pids_ : controller == "cpu" ? cpu_ : controller == "cpuacct" ? cpuacct_ : "";
}

std::string Cgroup::PathIn(const std::string& controller) const { return absl::StrCat(parent_.FolderOf(controller), "/", name_); }

absl::StatusOr<std::unique_ptr<Cgroup>> Cgroup::Create(const CgroupParent& parent, const std::string& name, const CgroupLimits& limits) {
  std::unique_ptr<Cgroup> group(new Cgroup(parent));
  group->name_ = name;
  for (const std::string& folder : parent.folders()) {
    std::string path = absl::StrCat(folder, "/", name);
    if (mkdir(path.c_str(), 0755) != 0) return ErrnoStatus(absl::StrCat("make cgroup ", path));
  }
  CELLBLOCK_RETURN_IF_ERROR(group->SetLimits(limits));
  group->OpenCounters();
  return group;
}

absl::Status Cgroup::SetLimits(const CgroupLimits& limits) {
  const bool v1 = parent_.version() == 1;
  if (limits.memory_bytes != limits_.memory_bytes) {
    const std::string memory = PathIn("memory");
    if (v1) {
      // Memory and swap together must not be below memory alone at any moment; absent where the kernel does not account swap.
      const std::string with_swap = memory + "/memory.memsw.limit_in_bytes", value = absl::StrCat(limits.memory_bytes);
      if (limits_.memory_bytes != 0 && limits.memory_bytes > limits_.memory_bytes) (void)WriteFile(with_swap, value);
      CELLBLOCK_RETURN_IF_ERROR(WriteFile(memory + "/memory.limit_in_bytes", value));
      (void)WriteFile(with_swap, value);
    } else {
      CELLBLOCK_RETURN_IF_ERROR(WriteFile(memory + "/memory.max", absl::StrCat(limits.memory_bytes)));
      (void)WriteFile(memory + "/memory.swap.max", "0");
    }
  }
  if (limits.cpus != limits_.cpus) {
    const std::string cpu = PathIn("cpu");
    const int64_t quota = kCpuPeriodMicroseconds * limits.cpus;
    if (!v1) CELLBLOCK_RETURN_IF_ERROR(WriteFile(cpu + "/cpu.max", absl::StrCat(quota, " ", kCpuPeriodMicroseconds)));
    if (v1 && !parent_.FolderOf("cpu").empty()) CELLBLOCK_RETURN_IF_ERROR(WriteFile(cpu + "/cpu.cfs_quota_us", absl::StrCat(quota)));
  }
  if (limits.cpu_weight != limits_.cpu_weight) {
    const std::string cpu = PathIn("cpu");
    if (!v1) CELLBLOCK_RETURN_IF_ERROR(WriteFile(cpu + "/cpu.weight", absl::StrCat(limits.cpu_weight)));
    if (v1 && !parent_.FolderOf("cpu").empty()) CELLBLOCK_RETURN_IF_ERROR(WriteFile(cpu + "/cpu.shares", absl::StrCat(std::max(2, limits.cpu_weight * kUsualShares / 100))));
  }
  if (limits.processes != limits_.processes) CELLBLOCK_RETURN_IF_ERROR(WriteFile(PathIn("pids") + "/pids.max", absl::StrCat(limits.processes)));
  limits_ = limits;
  return absl::OkStatus();
}

Cgroup::~Cgroup() {
  for (const std::string& folder : parent_.folders()) RemoveGroup(absl::StrCat(folder, "/", name_));
}

bool Cgroup::Holds(pid_t pid) const {
  std::string groups = ReadFile(absl::StrCat("/proc/", pid, "/cgroup"), 65536).value_or("");
  size_t count = 0;
  for (absl::string_view line : absl::StrSplit(groups, '\n')) count += absl::EndsWith(line, "/" + name_);
  return count >= parent_.folders().size();
}

absl::Status Cgroup::Attach(const std::vector<pid_t>& pids) {
  for (pid_t pid : pids) {
    if (Holds(pid)) continue;
    for (const std::string& folder : parent_.folders()) {
      CELLBLOCK_RETURN_IF_ERROR(WriteFile(absl::StrCat(folder, "/", name_, "/cgroup.procs"), absl::StrCat(pid)));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<UniqueFd>> Cgroup::Entrances() const {
  std::vector<UniqueFd> entrances;
  if (parent_.version() != 1) return entrances;
  for (const std::string& folder : parent_.folders()) {
    CELLBLOCK_ASSIGN_OR_RETURN(UniqueFd tasks, Open(absl::StrCat(folder, "/", name_, "/tasks"), O_WRONLY));
    entrances.push_back(std::move(tasks));
  }
  return entrances;
}

void Cgroup::OpenCounters() {
  auto open_in = [this](const char* controller, const char* file, UniqueFd& counter, int flags = O_RDONLY) {
    counter.Reset(open(absl::StrCat(PathIn(controller), "/", file).c_str(), flags | O_CLOEXEC));
  };
  bool v1 = parent_.version() == 1;
  open_in("memory", v1 ? "memory.max_usage_in_bytes" : "memory.peak", memory_peak_, v1 ? O_RDWR : O_RDONLY);
  open_in("memory", v1 ? "memory.oom_control" : "memory.events", memory_events_);
  open_in("pids", "pids.events", pids_events_);
  if (!parent_.FolderOf("cpuacct").empty()) open_in("cpuacct", v1 ? "cpuacct.usage" : "cpu.stat", cpu_used_);
}

// Asked seldom: opened each time, since a thousand sessions hold many descriptors.
int64_t Cgroup::ReadNow(const char* controller, const char* file) const { return ReadNumber(UniqueFd(open(absl::StrCat(PathIn(controller), "/", file).c_str(), O_RDONLY | O_CLOEXEC))); }
int64_t Cgroup::MemoryBytes() const { return ReadNow("memory", parent_.version() == 1 ? "memory.usage_in_bytes" : "memory.current"); }
int64_t Cgroup::SwappedBytes() const {
  if (parent_.version() != 1) return ReadNow("memory", "memory.swap.current");
  return ReadKey(UniqueFd(open(absl::StrCat(PathIn("memory"), "/memory.stat").c_str(), O_RDONLY | O_CLOEXEC)), "swap");
}

int64_t Cgroup::MemoryPeakBytes() const { return ReadNumber(memory_peak_); }

void Cgroup::ResetPeak() {
  if (parent_.version() == 1) [[maybe_unused]] ssize_t written = pwrite(memory_peak_.get(), "0", 1, 0);
}

int64_t Cgroup::OutOfMemoryKills() const { return ReadKey(memory_events_, "oom_kill"); }
int64_t Cgroup::ProcessesRefused() const { return ReadKey(pids_events_, "max"); }
int64_t Cgroup::Processes() const { return ReadNow("pids", "pids.current"); }

absl::Duration Cgroup::CpuTime() const {
  return parent_.version() == 1 ? absl::Nanoseconds(ReadNumber(cpu_used_)) : absl::Microseconds(ReadKey(cpu_used_, "usage_usec"));
}

}  // namespace cellblock::sys
