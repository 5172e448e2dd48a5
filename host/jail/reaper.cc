// See reaper.h.
#include "jail/reaper.h"

#include <dirent.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "sys/files.h"

namespace cellblock::jail {
namespace {

constexpr int kRoundsMax = 200;
constexpr int kEndRoundsMax = 500;
constexpr timespec kEndPause = {0, 2'000'000};

// A zombie needs no killing: its parent (maybe the worker) has not waited for it yet. With threads that still end it is none, though its
// main thread is in state Z (proc(5), fields 3 and 20).
bool IsAlive(pid_t pid) {
  constexpr size_t kState = 1, kThreads = 18;  // after the name
  std::string stat = sys::ReadFile(absl::StrCat("/proc/", pid, "/stat"), 4096).value_or("");
  size_t after_name = stat.rfind(')');
  if (after_name == std::string::npos) return false;
  std::vector<absl::string_view> fields = absl::StrSplit(absl::string_view(stat).substr(after_name), ' ');
  return fields.size() > kThreads && (fields[kState] != "Z" || (fields[kThreads] != "1" && fields[kThreads] != "0"));
}

// Other live processes; every one of them that is not in `seen` yet is stopped and added.
absl::StatusOr<size_t> StopOthers(pid_t kept, std::set<pid_t>& seen) {
  size_t fresh = 0;
  std::unique_ptr<DIR, int (*)(DIR*)> listing(opendir("/proc"), closedir);
  if (listing == nullptr) return sys::ErrnoStatus("list the jail's processes");
  while (dirent* entry = readdir(listing.get())) {
    int pid;
    if (!absl::SimpleAtoi(entry->d_name, &pid) || pid == getpid() || pid == kept || seen.count(pid) > 0 || !IsAlive(pid)) continue;
    kill(pid, SIGSTOP);
    seen.insert(pid);
    ++fresh;
  }
  return fresh;
}

// A killed process gives its memory back before it is gone, and counts until then. The kernel is the only one to wait for: a second
// is far more than it takes.
void WaitForEnds(const std::set<pid_t>& killed) {
  int rounds = 0;
  for (pid_t pid : killed) {
    while (IsAlive(pid) && rounds++ < kEndRoundsMax) nanosleep(&kEndPause, nullptr);
  }
}

}  // namespace

absl::StatusOr<UniqueFd> ChildSignals() {
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGCHLD);
  if (sigprocmask(SIG_BLOCK, &mask, nullptr) != 0) return sys::ErrnoStatus("block SIGCHLD");
  UniqueFd fd(signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd.valid()) return sys::ErrnoStatus("make a signalfd");
  return fd;
}

void DrainSignals(int signal_fd) {
  std::array<signalfd_siginfo, 16> infos;
  while (read(signal_fd, infos.data(), sizeof(infos)) > 0) {
  }
}

wire::ProcessExited ExitOf(pid_t pid, int wait_status, const rusage& usage) {
  wire::ProcessExited exited;
  exited.id = static_cast<uint64_t>(pid);
  exited.wait_status = static_cast<uint64_t>(static_cast<uint32_t>(wait_status));
  exited.cpu_microseconds = static_cast<uint64_t>((usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1'000'000 + usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  exited.resident_peak_bytes = static_cast<uint64_t>(usage.ru_maxrss) * 1024;
  return exited;
}

absl::StatusOr<uint64_t> KillAllBut(pid_t kept) {
  std::set<pid_t> seen;
  for (int round = 0; round < kRoundsMax; ++round) {
    CELLBLOCK_ASSIGN_OR_RETURN(size_t fresh, StopOthers(kept, seen));
    if (fresh == 0) break;
  }
  for (pid_t pid : seen) kill(pid, SIGKILL);
  WaitForEnds(seen);
  return seen.size();
}

}  // namespace cellblock::jail
