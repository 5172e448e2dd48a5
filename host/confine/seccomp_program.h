// Builds the seccomp filter that workers and their programs live under, once per set of options, with libseccomp. Supervisor side
// (a worker only installs the finished program: confine.h). Trusts nothing but the tables in seccomp_groups.cc; names of extra
// system calls come from a policy and are checked.
#ifndef CELLBLOCK_CONFINE_SECCOMP_PROGRAM_H_
#define CELLBLOCK_CONFINE_SECCOMP_PROGRAM_H_

#include <linux/filter.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/unique_fd.h"

namespace cellblock::confine {

constexpr size_t kExtraSyscallsMax = 64;

// What the filter allows beyond the base list. The base list and its reasons stand in seccomp_groups.cc.
struct SeccompOptions {
  bool allow_exec = true;           // execve, execveat
  bool allow_inet = false;          // AF_INET and AF_INET6 stream and datagram sockets
  // Memory that stands in no process's books, so that only a cgroup counts it. Off: memfd_create answers ENOSYS, and EPERM do setsockopt for
  // larger socket buffers and mmap for shared memory without a file.
  bool allow_uncounted_memory = true;
  // Names, added to the base list, never instead of it. Refused: those on the denied-on-purpose list, and those that the base
  // list allows for some arguments only.
  std::vector<std::string> extra_syscalls;
};

// A built filter: default ERRNO(ENOSYS), wrong architecture KILL_PROCESS, binary tree.
class SeccompProgram {
 public:
  // kInvalidArgument names an unknown or forbidden extra system call, and says why it is forbidden. About 1 ms.
  static absl::StatusOr<SeccompProgram> Build(const SeccompOptions& options);
  const std::vector<sock_filter>& instructions() const { return instructions_; }
  // A sealed memfd with the instructions, to hand to other processes. At most BPF_MAXINSNS (4096) instructions.
  absl::StatusOr<UniqueFd> ToMemFd() const;

 private:
  explicit SeccompProgram(std::vector<sock_filter> instructions) : instructions_(std::move(instructions)) {}

  std::vector<sock_filter> instructions_;
};

}  // namespace cellblock::confine

#endif  // CELLBLOCK_CONFINE_SECCOMP_PROGRAM_H_
