// See proc_reader.h. Field numbers as in proc(5).
#include "sys/proc_reader.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <memory>
#include <set>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "sys/files.h"
#include "sys/process.h"

namespace cellblock::sys {
namespace {

constexpr size_t kChildrenMax = 4096;
constexpr size_t kDescendantsMax = 65536;
constexpr size_t kStatBytesMax = 1024;
constexpr size_t kMapsBytesMax = size_t{8} << 20;  // some 10,000 maps
constexpr size_t kMapsChunkBytes = 64 * 1024;
constexpr size_t kPidBytesMax = 16;

std::string ReadAt(int directory, const char* name) {
  UniqueFd fd(openat(directory, name, O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return "";
  return ReadAll(fd.get(), 65536).value_or("");
}

// `key` begins with a newline in a file that has the process's name in its first line: the name is the guest's to choose.
int64_t NumberAfter(absl::string_view text, absl::string_view key) {
  size_t at = text.find(key);
  if (at == absl::string_view::npos) return 0;
  std::vector<absl::string_view> words = absl::StrSplit(text.substr(at + key.size(), 64), absl::ByAnyChar(" \t\n"), absl::SkipEmpty());
  int64_t value = 0;
  return !words.empty() && absl::SimpleAtoi(words[0], &value) ? value : 0;
}

int64_t KilobytesAfter(absl::string_view text, absl::string_view key) { return NumberAfter(text, key) * 1024; }

void AppendPids(absl::string_view text, std::vector<pid_t>& pids) {
  for (absl::string_view word : absl::StrSplit(text, ' ', absl::SkipWhitespace())) {
    int pid;
    if (pids.size() < kChildrenMax && absl::SimpleAtoi(word, &pid)) pids.push_back(pid);
  }
}

// Adds up the lines of smaps as they come.
class SharedMemorySum {
 public:
  explicit SharedMemorySum(const std::vector<dev_t>& devices) : devices_(devices) {}
  int64_t total() const { return total_; }

  void Add(absl::string_view chunk) {
    text_.append(chunk.data(), chunk.size());
    size_t start = 0, end;
    for (; (end = text_.find('\n', start)) != std::string::npos; start = end + 1) AddLine(absl::string_view(text_).substr(start, end - start));
    text_.erase(0, start);
  }

 private:
  // "55d-55e rw-s 00000000 00:01 1026 /memfd:x (deleted)" begins a map; all other lines are "Name: …".
  void AddLine(absl::string_view line) {
    unsigned major, minor;
    unsigned long inode;
    if (!line.empty() && absl::ascii_isupper(static_cast<unsigned char>(line[0]))) {
      if (counts_ && absl::StartsWith(line, "Pss:")) total_ += KilobytesAfter(line, "Pss:");
    } else if (std::sscanf(std::string(line.substr(0, 120)).c_str(), "%*x-%*x %*4s %*x %x:%x %lu", &major, &minor, &inode) == 3) {
      counts_ = inode != 0 && major == 0 && std::find(devices_.begin(), devices_.end(), makedev(major, minor)) == devices_.end();
    }
  }

  const std::vector<dev_t>& devices_;
  std::string text_;
  bool counts_ = false;
  int64_t total_ = 0;
};

absl::StatusOr<ProcReader::Stat> ParseStat(absl::string_view text) {
  size_t after_name = text.rfind(')');  // the name may hold anything, also ')' and blanks
  if (after_name == absl::string_view::npos || after_name + 2 > text.size()) return absl::InternalError("odd /proc stat line");
  std::vector<absl::string_view> fields = absl::StrSplit(text.substr(after_name + 2), ' ');
  constexpr size_t kState = 3 - 3, kParent = 4 - 3, kCutime = 16 - 3, kCstime = 17 - 3, kThreads = 20 - 3, kStart = 22 - 3, kStack = 28 - 3;
  int64_t cutime, cstime;
  ProcReader::Stat stat;
  if (fields.size() <= kStack || !absl::SimpleAtoi(fields[kParent], &stat.parent) || !absl::SimpleAtoi(fields[kCutime], &cutime) || !absl::SimpleAtoi(fields[kCstime], &cstime) ||
      !absl::SimpleAtoi(fields[kThreads], &stat.threads) || !absl::SimpleAtoi(fields[kStart], &stat.start_ticks) ||
      !absl::SimpleAtoi(fields[kStack], &stat.stack_start)) {
    return absl::InternalError("odd /proc stat line");
  }
  static const long ticks = sysconf(_SC_CLK_TCK);
  stat.reaped_children_cpu = absl::Seconds(static_cast<double>(cutime + cstime) / static_cast<double>(ticks));
  stat.ended = fields[kState] == "Z" || fields[kState] == "X";
  return stat;
}

absl::StatusOr<ProcReader::Stat> ReadStatOf(pid_t pid) {
  CELLBLOCK_ASSIGN_OR_RETURN(std::string text, ReadFile(absl::StrCat("/proc/", pid, "/stat"), kStatBytesMax));
  return ParseStat(text);
}

// Zero when it has ended and been waited for.
absl::Duration CpuClockOf(pid_t pid) {
  clockid_t clock;
  timespec now;
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &now) != 0) return absl::ZeroDuration();
  return absl::DurationFromTimespec(now);
}

}  // namespace

absl::StatusOr<ProcReader> ProcReader::Glance(pid_t pid) {
  ProcReader reader;
  reader.pid_ = pid;
  CELLBLOCK_ASSIGN_OR_RETURN(reader.directory_, Open(absl::StrCat("/proc/", pid), O_RDONLY | O_DIRECTORY));
  return reader;
}

absl::StatusOr<ProcReader> ProcReader::Create(pid_t pid) {
  ProcReader reader;
  reader.pid_ = pid;
  std::string path = absl::StrCat("/proc/", pid);
  CELLBLOCK_ASSIGN_OR_RETURN(reader.directory_, Open(path, O_RDONLY | O_DIRECTORY));
  CELLBLOCK_ASSIGN_OR_RETURN(reader.stat_, Open(path + "/stat", O_RDONLY));
  CELLBLOCK_ASSIGN_OR_RETURN(reader.children_, Open(absl::StrCat(path, "/task/", pid, "/children"), O_RDONLY));
  return reader;
}

absl::StatusOr<ProcReader::Stat> ProcReader::ReadStat() {
  std::array<char, kStatBytesMax> buffer;
  UniqueFd opened;
  if (!stat_.valid()) opened.Reset(openat(directory_.get(), "stat", O_RDONLY | O_CLOEXEC));
  ssize_t count = pread(stat_.valid() ? stat_.get() : opened.get(), buffer.data(), buffer.size(), 0);
  if (count <= 0) return ErrnoStatus(absl::StrCat("read /proc/", pid_, "/stat"));
  return ParseStat(absl::string_view(buffer.data(), static_cast<size_t>(count)));
}

bool ProcReader::Exists() const { return faccessat(directory_.get(), "stat", F_OK, 0) == 0; }

absl::StatusOr<CpuUse> ProcReader::ReadCpuUse() {
  CpuUse use;
  use.own = CpuClockOf(pid_);
  CELLBLOCK_ASSIGN_OR_RETURN(Stat stat, ReadStat());  // asked afterwards: until now the number was its own
  use.reaped_children = stat.reaped_children_cpu;
  return use;
}

absl::StatusOr<ino_t> ProcReader::PidNamespace() const {
  struct stat info;
  if (fstatat(directory_.get(), "ns/pid", &info, 0) != 0) return ErrnoStatus(absl::StrCat("find the pid namespace of process ", pid_));
  return info.st_ino;
}

absl::StatusOr<UniqueFd> ProcReader::OpenPidFd() const {
  CELLBLOCK_ASSIGN_OR_RETURN(UniqueFd process, sys::OpenPidFd(pid_));
  if (!Exists()) return absl::NotFoundError("the process has ended");  // asked afterwards, as above
  return process;
}

// The path of a thread's file below the folder. A process whose first thread has ended lives on as long as others do, and its own files show
// no memory then (its threads are all of one memory); "" when there is no other thread.
std::string ProcReader::OfLivingThread(const char* name) const {
  std::unique_ptr<DIR, int (*)(DIR*)> listing(nullptr, closedir);
  if (UniqueFd tasks(openat(directory_.get(), "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC)); tasks.valid()) listing.reset(fdopendir(tasks.Release()));
  const std::string first = absl::StrCat(pid_);
  while (dirent* entry = listing == nullptr ? nullptr : readdir(listing.get())) {
    if (entry->d_name[0] != '.' && first != entry->d_name) return absl::StrCat("task/", entry->d_name, "/", name);
  }
  return "";
}

ProcReader::Usage ProcReader::ReadUsage() {
  std::string status = ReadAt(directory_.get(), "status");
  if (status.find("\nVmRSS:") == std::string::npos && NumberAfter(status, "\nThreads:") > 1) status = ReadAt(directory_.get(), OfLivingThread("status").c_str());
  Usage usage;
  const int64_t swapped = KilobytesAfter(status, "\nVmSwap:");  // code may ask for it (madvise(2), MADV_PAGEOUT)
  usage.resident = KilobytesAfter(status, "\nVmRSS:") + swapped;
  usage.resident_peak = KilobytesAfter(status, "\nVmHWM:");
  usage.anonymous = KilobytesAfter(status, "\nRssAnon:") + KilobytesAfter(status, "\nRssShmem:") + swapped;
  usage.page_tables = KilobytesAfter(status, "\nVmPTE:");
  usage.threads = NumberAfter(status, "\nThreads:");
  return usage;
}

bool ProcReader::ReadShares(Shares* shares) {
  std::string rollup = ReadAt(directory_.get(), "smaps_rollup");
  if (rollup.empty()) rollup = ReadAt(directory_.get(), OfLivingThread("smaps_rollup").c_str());
  if (rollup.find("Pss_Anon:") == std::string::npos) return false;
  shares->anonymous = KilobytesAfter(rollup, "Pss_Anon:") + KilobytesAfter(rollup, "SwapPss:");
  shares->shared_memory = KilobytesAfter(rollup, "Pss_Shmem:");
  shares->alone = KilobytesAfter(rollup, "Private_Clean:") + KilobytesAfter(rollup, "Private_Dirty:");
  return true;
}

int64_t ProcReader::SharedMemoryOutside(const std::vector<dev_t>& devices, int64_t otherwise, absl::FunctionRef<bool()> go_on) {
  UniqueFd fd(openat(directory_.get(), "smaps", O_RDONLY | O_CLOEXEC));
  SharedMemorySum sum(devices);
  std::string chunk(kMapsChunkBytes, '\0');
  size_t bytes = 0;
  ssize_t count = read(fd.get(), chunk.data(), chunk.size());
  if (count <= 0) {
    fd.Reset(openat(directory_.get(), OfLivingThread("smaps").c_str(), O_RDONLY | O_CLOEXEC));
    count = read(fd.get(), chunk.data(), chunk.size());
  }
  for (; count > 0; count = read(fd.get(), chunk.data(), chunk.size())) {
    bytes += static_cast<size_t>(count);
    if (bytes > kMapsBytesMax || !go_on()) return otherwise;
    sum.Add(absl::string_view(chunk.data(), static_cast<size_t>(count)));
  }
  return count == 0 ? std::min(sum.total(), otherwise) : otherwise;
}

std::vector<pid_t> ProcReader::Children(int64_t threads, bool* complete) {
  std::vector<pid_t> pids;
  if (complete != nullptr) *complete = true;
  if (threads <= 1) {
    UniqueFd opened;
    if (!children_.valid()) opened.Reset(openat(directory_.get(), absl::StrCat("task/", pid_, "/children").c_str(), O_RDONLY | O_CLOEXEC));
    std::array<char, 4096> buffer;
    ssize_t count = pread(children_.valid() ? children_.get() : opened.get(), buffer.data(), buffer.size(), 0);
    if (count >= 0 && count <= static_cast<ssize_t>(buffer.size() - kPidBytesMax)) {
      AppendPids(absl::string_view(buffer.data(), static_cast<size_t>(count)), pids);
      return pids;
    }  // else there may be more, the last one cut
  }
  UniqueFd tasks(openat(directory_.get(), "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!tasks.valid()) {
    if (complete != nullptr) *complete = errno == ENOENT || errno == ESRCH;  // it has ended
    return pids;
  }
  int listed = tasks.get();
  std::unique_ptr<DIR, int (*)(DIR*)> listing(fdopendir(tasks.Release()), closedir);
  if (listing == nullptr) return pids;
  while (dirent* entry = readdir(listing.get())) {
    if (entry->d_name[0] == '.') continue;
    AppendPids(ReadAt(listed, absl::StrCat(entry->d_name, "/children").c_str()), pids);
  }
  return pids;
}

std::vector<pid_t> Descendants(const std::vector<pid_t>& roots) {
  std::vector<pid_t> found;
  std::vector<pid_t> open = roots;
  while (!open.empty() && found.size() < kDescendantsMax) {
    pid_t pid = open.back();
    open.pop_back();
    absl::StatusOr<ProcReader> reader = ProcReader::Create(pid);
    if (!reader.ok()) continue;
    for (pid_t child : reader->Children(/*threads=*/2)) {
      if (std::find(found.begin(), found.end(), child) != found.end()) continue;
      found.push_back(child);
      open.push_back(child);
    }
  }
  return found;
}

std::vector<ProcessId> ProcessesBelow(const std::vector<ProcReader*>& roots) {
  struct Listed {
    pid_t pid, parent;
  };
  std::vector<Listed> open;
  std::set<pid_t> seen, root_pids;
  auto list = [&open](ProcReader& reader, const ProcReader::Stat& stat) {
    for (pid_t child : reader.Children(stat.threads)) open.push_back({child, reader.pid()});
  };
  for (ProcReader* root : roots) {
    root_pids.insert(root->pid());
    absl::StatusOr<ProcReader::Stat> stat = root->ReadStat();
    if (stat.ok()) list(*root, *stat);
  }
  std::vector<ProcessId> found;
  while (!open.empty() && found.size() < kDescendantsMax) {
    Listed next = open.back();
    open.pop_back();
    absl::StatusOr<ProcReader> reader = seen.count(next.pid) == 0 ? ProcReader::Create(next.pid) : absl::StatusOr<ProcReader>(absl::AlreadyExistsError(""));
    if (!reader.ok()) continue;
    absl::StatusOr<ProcReader::Stat> stat = reader->ReadStat();
    // An orphan goes to the jail's init, a root.
    if (!stat.ok() || (stat->parent != next.parent && root_pids.count(stat->parent) == 0)) continue;
    seen.insert(next.pid);
    found.push_back({next.pid, stat->start_ticks});
    list(*reader, *stat);
  }
  return found;
}

absl::StatusOr<CpuUse> ReadCpuUse(const ProcessId& process) {
  CpuUse use;
  use.own = CpuClockOf(process.pid);  // before the line that says whose it was
  CELLBLOCK_ASSIGN_OR_RETURN(ProcReader::Stat stat, ReadStatOf(process.pid));
  if (stat.start_ticks != process.start_ticks) return absl::NotFoundError("the process has ended and its number is another's");
  use.reaped_children = stat.reaped_children_cpu;
  return use;
}

bool KillProcess(const ProcessId& process) {
  absl::StatusOr<UniqueFd> opened = OpenPidFd(process.pid);
  if (!opened.ok()) return false;
  // It has the number now, so it had it when the pidfd was opened.
  absl::StatusOr<ProcReader::Stat> stat = ReadStatOf(process.pid);
  return stat.ok() && stat->start_ticks == process.start_ticks && !stat->ended && SendSignal(opened->get(), SIGKILL).ok();
}

}  // namespace cellblock::sys
