// Processes by pidfd: clone with namespaces, signal, exit, host pid. Supervisor and cellblock-init.
#ifndef CELLBLOCK_SYS_PROCESS_H_
#define CELLBLOCK_SYS_PROCESS_H_

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/unique_fd.h"

namespace cellblock::sys {

struct Cloned {
  pid_t pid = -1;      // 0 in the child
  UniqueFd pidfd;      // in the parent
};
// clone3(2) without CLONE_VM, so a fork into new namespaces; exit signal SIGCHLD. The child of a process with several threads may
// only make async-signal-safe calls until it execs.
absl::StatusOr<Cloned> CloneProcess(uint64_t namespace_flags);

absl::StatusOr<UniqueFd> OpenPidFd(pid_t pid);
absl::Status SendSignal(int pidfd, int signal);   // kNotFound when it has ended
bool HasEnded(int pidfd);
absl::Status WaitForExit(int pidfd, int timeout_ms);  // kDeadlineExceeded
// On which processors it runs from now on; its main thread alone (sched_setaffinity(2)).
absl::Status SetProcessors(pid_t pid, const std::vector<int32_t>& processors);
// Lowers the weight of its process session beside others', where the kernel divides processors by sessions first (sched(7), "The autogroup
// feature"). False: not now, since the kernel lets an ordinary user do so ten times a second; true also where there is no such thing.
bool LowerAutogroup(pid_t pid);
// Opens /dev/null at each of the descriptors 0, 1 and 2 that is closed. Else the next socket or file would get that number, and whatever
// is meant for standard output would be written into it.
void FillStandardDescriptors();
// Raises the soft limit on open files to the hard one. Descriptors in flight on unix sockets count for the user as a whole, and a send
// fails beyond the sender's own limit (unix(7), ETOOMANYREFS): with a limit no higher than a guest's, a guest of the same user could
// keep ours from being sent.
void RaiseOpenFilesLimit();
// The process's number as this process's /proc shows it; kNotFound when it has ended and been reaped.
absl::StatusOr<pid_t> PidOf(int pidfd);

}  // namespace cellblock::sys

#endif  // CELLBLOCK_SYS_PROCESS_H_
