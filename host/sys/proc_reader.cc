// See proc_reader.h. Field numbers as in proc(5).
#include "sys/proc_reader.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "sys/files.h"

namespace cellblock::sys {
namespace {

constexpr size_t kChildrenMax = 4096;
constexpr size_t kDescendantsMax = 65536;
constexpr size_t kMapsBytesMax = size_t{8} << 20;  // some 10,000 maps

std::string ReadAt(int directory, const char* name) {
  UniqueFd fd(openat(directory, name, O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return "";
  return ReadAll(fd.get(), 65536).value_or("");
}

// `key` begins with a newline in a file that has the process's name in its first line: the name is the guest's to choose.
int64_t KilobytesAfter(absl::string_view text, absl::string_view key) {
  size_t at = text.find(key);
  if (at == absl::string_view::npos) return 0;
  std::vector<absl::string_view> words = absl::StrSplit(text.substr(at + key.size(), 64), absl::ByAnyChar(" \t\n"), absl::SkipEmpty());
  int64_t value = 0;
  return !words.empty() && absl::SimpleAtoi(words[0], &value) ? value * 1024 : 0;
}

void AppendPids(absl::string_view text, std::vector<pid_t>& pids) {
  for (absl::string_view word : absl::StrSplit(text, ' ', absl::SkipWhitespace())) {
    int pid;
    if (pids.size() < kChildrenMax && absl::SimpleAtoi(word, &pid)) pids.push_back(pid);
  }
}

}  // namespace

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
  std::array<char, 1024> buffer;
  ssize_t count = pread(stat_.get(), buffer.data(), buffer.size(), 0);
  if (count <= 0) return ErrnoStatus(absl::StrCat("read /proc/", pid_, "/stat"));
  absl::string_view text(buffer.data(), static_cast<size_t>(count));
  size_t after_name = text.rfind(')');  // the name may hold anything, also ')' and blanks
  if (after_name == absl::string_view::npos || after_name + 2 > text.size()) return absl::InternalError("odd /proc stat line");
  std::vector<absl::string_view> fields = absl::StrSplit(text.substr(after_name + 2), ' ');
  constexpr size_t kCutime = 16 - 3, kCstime = 17 - 3, kThreads = 20 - 3;
  int64_t cutime, cstime;
  Stat stat;
  if (fields.size() <= kThreads || !absl::SimpleAtoi(fields[kCutime], &cutime) || !absl::SimpleAtoi(fields[kCstime], &cstime) ||
      !absl::SimpleAtoi(fields[kThreads], &stat.threads)) {
    return absl::InternalError("odd /proc stat line");
  }
  static const long ticks = sysconf(_SC_CLK_TCK);
  stat.reaped_children_cpu = absl::Seconds(static_cast<double>(cutime + cstime) / static_cast<double>(ticks));
  return stat;
}

absl::Duration ProcReader::CpuTime() const {
  clockid_t clock;
  timespec now;
  if (clock_getcpuclockid(pid_, &clock) != 0 || clock_gettime(clock, &now) != 0) return absl::ZeroDuration();
  return absl::DurationFromTimespec(now);
}

int64_t ProcReader::ResidentBytes() {
  std::string text = ReadAt(directory_.get(), "statm");
  std::vector<absl::string_view> words = absl::StrSplit(text, ' ');
  int64_t pages = 0;
  static const long page = sysconf(_SC_PAGESIZE);
  return words.size() > 1 && absl::SimpleAtoi(words[1], &pages) ? pages * page : 0;
}

int64_t ProcReader::ResidentPeakBytes() { return KilobytesAfter(ReadAt(directory_.get(), "status"), "\nVmHWM:"); }

int64_t ProcReader::AnonymousBytes() {
  std::string status = ReadAt(directory_.get(), "status");
  return KilobytesAfter(status, "\nRssAnon:") + KilobytesAfter(status, "\nRssShmem:");
}

bool ProcReader::ReadShares(Shares* shares) {
  std::string rollup = ReadAt(directory_.get(), "smaps_rollup");
  if (rollup.find("Pss_Anon:") == std::string::npos) return false;
  shares->anonymous = KilobytesAfter(rollup, "Pss_Anon:");
  shares->shared_memory = KilobytesAfter(rollup, "Pss_Shmem:");
  return true;
}

int64_t ProcReader::SharedMemoryOutside(const std::vector<dev_t>& devices, int64_t otherwise) {
  UniqueFd fd(openat(directory_.get(), "smaps", O_RDONLY | O_CLOEXEC));
  absl::StatusOr<std::string> text = fd.valid() ? ReadAll(fd.get(), kMapsBytesMax) : absl::StatusOr<std::string>(ErrnoStatus("read maps"));
  if (!text.ok()) return otherwise;
  int64_t total = 0;
  bool counts = false;
  for (absl::string_view line : absl::StrSplit(*text, '\n')) {
    unsigned major, minor;
    unsigned long inode;
    // "55d-55e rw-s 00000000 00:01 1026 /memfd:x (deleted)"; all other lines are "Name: …".
    if (std::sscanf(std::string(line.substr(0, 120)).c_str(), "%*x-%*x %*4s %*x %x:%x %lu", &major, &minor, &inode) == 3) {
      counts = inode != 0 && major == 0 && std::find(devices.begin(), devices.end(), makedev(major, minor)) == devices.end();
    } else if (counts && absl::StartsWith(line, "Pss:")) {
      total += KilobytesAfter(line, "Pss:");
    }
  }
  return std::min(total, otherwise);
}

std::vector<pid_t> ProcReader::Children(int64_t threads) {
  std::vector<pid_t> pids;
  if (threads <= 1) {
    std::array<char, 4096> buffer;
    ssize_t count = pread(children_.get(), buffer.data(), buffer.size(), 0);
    if (count > 0) AppendPids(absl::string_view(buffer.data(), static_cast<size_t>(count)), pids);
    return pids;
  }
  UniqueFd tasks(openat(directory_.get(), "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!tasks.valid()) return pids;
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

}  // namespace cellblock::sys
