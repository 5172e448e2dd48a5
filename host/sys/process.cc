// See process.h.
#include "sys/process.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "sys/files.h"

namespace cellblock::sys {

absl::StatusOr<Cloned> CloneProcess(uint64_t namespace_flags) {
  int pidfd = -1;
  clone_args args = {};
  args.flags = namespace_flags | CLONE_PIDFD;
  args.pidfd = reinterpret_cast<uint64_t>(&pidfd);
  args.exit_signal = SIGCHLD;
  long pid = syscall(SYS_clone3, &args, sizeof(args));
  if (pid < 0) return ErrnoStatus("clone a process into new namespaces");
  Cloned cloned;
  cloned.pid = static_cast<pid_t>(pid);
  if (pid > 0) cloned.pidfd.Reset(pidfd);
  return cloned;
}

absl::Status SetProcessors(pid_t pid, const std::vector<int32_t>& processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int32_t processor : processors) {
    if (processor >= 0 && processor < CPU_SETSIZE) CPU_SET(processor, &set);
  }
  return sched_setaffinity(pid, sizeof(set), &set) == 0 ? absl::OkStatus() : ErrnoStatus("choose a process's processors");
}

bool LowerAutogroup(pid_t pid) {
  constexpr char kNiceness[] = "10";  // a ninth of the usual weight: sched_prio_to_weight in kernel/sched/core.c
  const UniqueFd fd(open(absl::StrCat("/proc/", pid, "/autogroup").c_str(), O_WRONLY | O_CLOEXEC));
  return !fd.valid() || write(fd.get(), kNiceness, sizeof(kNiceness) - 1) >= 0 || errno != EAGAIN;
}

void FillStandardDescriptors() {
  int fd;
  while ((fd = open("/dev/null", O_RDWR)) >= 0 && fd <= STDERR_FILENO) {
  }
  if (fd >= 0) close(fd);
}

void RaiseOpenFilesLimit() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

absl::StatusOr<UniqueFd> OpenPidFd(pid_t pid) {
  UniqueFd fd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!fd.valid()) return ErrnoStatus(absl::StrCat("open process ", pid));
  return fd;
}

absl::Status SendSignal(int pidfd, int signal) {
  if (syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0) == 0) return absl::OkStatus();
  if (errno == ESRCH) return absl::NotFoundError("the process has ended");
  return ErrnoStatus("signal a process");
}

absl::Status WaitForExit(int pidfd, int timeout_ms) {
  pollfd item = {pidfd, POLLIN, 0};
  int ready;
  while ((ready = poll(&item, 1, timeout_ms)) < 0) {
    if (errno != EINTR) return ErrnoStatus("wait for a process");
  }
  return ready > 0 ? absl::OkStatus() : absl::DeadlineExceededError("the process is still running");
}

bool HasEnded(int pidfd) { return WaitForExit(pidfd, 0).ok(); }

absl::StatusOr<pid_t> PidOf(int pidfd) {
  CELLBLOCK_ASSIGN_OR_RETURN(std::string info, ReadFile(absl::StrCat("/proc/self/fdinfo/", pidfd), 4096));
  for (absl::string_view line : absl::StrSplit(info, '\n')) {
    int pid;
    if (line.size() > 5 && line.substr(0, 4) == "Pid:" && absl::SimpleAtoi(line.substr(4), &pid) && pid > 0) return pid;
  }
  return absl::NotFoundError("the process has ended");
}

}  // namespace cellblock::sys
