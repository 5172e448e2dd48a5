// See seccomp_groups.h. To be read by people: which system calls a guest may make, and why the others not. Whoever changes a table
// here also changes tests/confine/allowed_syscalls.txt, which lists the effect.
#include "confine/seccomp_groups.h"

#include <fcntl.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "confine/seccomp_program.h"

namespace cellblock::confine {
namespace {

// ---- Allowed -------------------------------------------------------------------------------------------------------------------

constexpr const char* kFileData[] = {
    "read", "write", "readv", "writev", "pread64", "pwrite64", "preadv", "pwritev", "preadv2", "pwritev2", "lseek", "close",
    "close_range", "sendfile", "copy_file_range", "fadvise64", "fallocate", "ftruncate", "truncate", "fsync", "fdatasync",
    "sync_file_range", "flock"};
constexpr const char* kPaths[] = {
    "open", "openat", "creat", "stat", "lstat", "fstat", "newfstatat", "statx", "access", "faccessat", "faccessat2", "readlink",
    "readlinkat", "getcwd", "chdir", "fchdir", "getdents64", "mkdir", "mkdirat", "rmdir", "unlink", "unlinkat", "rename",
    "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat", "utime", "utimes", "utimensat", "chmod", "fchmod",
    "fchmodat", "umask", "statfs", "fstatfs", "getxattr", "lgetxattr", "fgetxattr", "listxattr", "llistxattr", "flistxattr"};
constexpr const char* kDescriptors[] = {
    "dup", "dup2", "dup3", "pipe", "pipe2", "fcntl", "select", "pselect6", "poll", "ppoll", "epoll_create", "epoll_create1",
    "epoll_ctl", "epoll_wait", "epoll_pwait", "epoll_pwait2", "eventfd", "eventfd2", "timerfd_create", "timerfd_settime",
    "timerfd_gettime", "inotify_init", "inotify_init1", "inotify_add_watch", "inotify_rm_watch"};
constexpr const char* kMemory[] = {"munmap", "mremap", "mprotect", "madvise", "brk", "msync", "mincore", "membarrier", "mlock", "munlock"};
constexpr const char* kThreadsAndTime[] = {
    "futex", "set_robust_list", "get_robust_list", "rseq", "sched_yield", "sched_getaffinity", "sched_getparam",
    "sched_getscheduler", "sched_getattr", "sched_get_priority_max", "sched_get_priority_min", "sched_rr_get_interval", "gettid",
    "set_tid_address", "nanosleep", "clock_gettime", "clock_getres", "clock_nanosleep", "gettimeofday", "time", "times",
    "getitimer", "setitimer", "alarm", "getcpu", "getrandom", "uname", "sysinfo", "getpriority"};
constexpr const char* kSignals[] = {
    "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigpending", "rt_sigtimedwait", "rt_sigqueueinfo", "rt_sigsuspend",
    "sigaltstack", "kill", "tgkill", "tkill", "pause", "restart_syscall", "pidfd_open", "pidfd_send_signal"};
constexpr const char* kProcesses[] = {
    "fork", "vfork", "wait4", "waitid", "exit", "exit_group", "getpid", "getppid", "getuid", "geteuid", "getgid", "getegid",
    "getresuid", "getresgid", "getgroups", "getpgrp", "getpgid", "setpgid", "setsid", "getsid", "getrlimit",
    "setrlimit", "getrusage", "arch_prctl", "capget"};
constexpr const char* kSockets[] = {
    "connect", "bind", "listen", "accept", "accept4", "getsockname", "getpeername", "getsockopt", "sendto",
    "recvfrom", "sendmsg", "recvmsg", "sendmmsg", "recvmmsg", "shutdown"};

constexpr CallGroup kAllowedGroups[] = {
    {"file_data", "on descriptors that the process has; sizes are bounded by RLIMIT_FSIZE and the workspace", 0, kFileData},
    {"paths", "mounts and Landlock decide which files; no change of owner, no new extended attributes", 0, kPaths},
    {"descriptors", "bounded by RLIMIT_NOFILE", 0, kDescriptors},
    {"memory", "bounded by RLIMIT_DATA and the cgroup or the watch; mlock by RLIMIT_MEMLOCK, which is 0", 0, kMemory},
    {"threads_and_time", "clocks are read, not set; futexes stay in memory that the process shares itself", 0, kThreadsAndTime},
    {"signals", "the pid namespace bounds whom they reach, Landlock (ABI 6) the domain; pidfds are no wider", 0, kSignals},
    {"processes", "bounded by RLIMIT_NPROC and the cgroup; fork is what musl's programs call", 0, kProcesses},
    {"sockets", "on sockets that exist: socket and socketpair decide which kinds those are", 0, kSockets},
};

constexpr const char* kExec[] = {"execve", "execveat"};
constexpr CallGroup kExecGroup = {"exec", "other programs; off where the policy forbids subprocesses", 0, kExec};

// ---- Denied on purpose ---------------------------------------------------------------------------------------------------------
// EPERM where a person should read "not permitted"; ENOSYS where libraries then fall back to something that works; ENOTSUP where
// file systems answer it too, so that copying programs carry on.

constexpr const char* kNamespaces[] = {"unshare", "setns"};
constexpr const char* kClone3[] = {"clone3"};
constexpr const char* kMounts[] = {"mount", "umount2", "pivot_root", "chroot", "fsopen", "fsconfig", "fsmount", "fspick",
                                   "open_tree", "move_mount", "mount_setattr"};
constexpr const char* kOtherProcesses[] = {"ptrace", "process_vm_readv", "process_vm_writev", "kcmp", "pidfd_getfd",
                                           "process_madvise", "process_mrelease"};
constexpr const char* kIoUring[] = {"io_uring_setup", "io_uring_enter", "io_uring_register"};
constexpr const char* kKernelSurface[] = {"bpf", "perf_event_open", "userfaultfd", "fanotify_init", "fanotify_mark", "lookup_dcookie"};
constexpr const char* kKeyrings[] = {"add_key", "request_key", "keyctl"};
constexpr const char* kHandles[] = {"name_to_handle_at", "open_by_handle_at"};
constexpr const char* kProcessor[] = {"modify_ldt", "iopl", "ioperm"};
constexpr const char* kIdentity[] = {"setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setfsuid", "setfsgid",
                                     "setgroups", "capset"};
constexpr const char* kOwners[] = {"chown", "fchown", "lchown", "fchownat"};
constexpr const char* kAttributes[] = {"setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr"};
constexpr const char* kScheduling[] = {"sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr", "ioprio_set"};
constexpr const char* kNuma[] = {"mbind", "set_mempolicy", "set_mempolicy_home_node", "move_pages", "migrate_pages"};
constexpr const char* kOddMemory[] = {"vmsplice", "remap_file_pages", "mlockall"};
constexpr const char* kSecretMemory[] = {"memfd_secret"};
constexpr const char* kHost[] = {"quotactl", "quotactl_fd", "acct", "swapon", "swapoff", "reboot", "init_module", "finit_module",
                                 "delete_module", "kexec_load", "kexec_file_load", "settimeofday", "clock_settime",
                                 "clock_adjtime", "adjtimex", "sethostname", "setdomainname", "syslog", "vhangup", "sync"};

constexpr CallGroup kDeniedGroups[] = {
    {"namespaces", "a nested user namespace opens mount, netfilter and the rest of the privileged kernel", EPERM, kNamespaces},
    {"clone3", "its flags lie in memory, where a filter cannot look; glibc falls back to clone on ENOSYS only", ENOSYS, kClone3},
    {"mounts", "they change which files the paths mean; old and new mount calls alike", EPERM, kMounts},
    {"other_processes", "reading or steering another process, by uid alone where the kernel has no Yama", EPERM, kOtherProcesses},
    {"io_uring", "the largest source of kernel exploits of its years, and it passes by monitors; libraries fall back on ENOSYS", ENOSYS, kIoUring},
    {"kernel_surface", "large, privileged in spirit, aids of exploits; userfaultfd stalls the kernel's own copies", EPERM, kKernelSurface},
    {"keyrings", "not divided by namespaces", EPERM, kKeyrings},
    {"handles", "open files past every path rule", EPERM, kHandles},
    {"processor", "segment tables and ports: no use, old bugs", EPERM, kProcessor},
    {"identity", "ids and capabilities are fixed when the process is locked", EPERM, kIdentity},
    {"owners", "there is one owner inside; copying programs take EPERM as the usual answer to an ordinary user", EPERM, kOwners},
    {"attributes", "nothing inside needs new ones; ENOTSUP is what a file system without them answers", ENOTSUP, kAttributes},
    {"scheduling", "affinity and nice are the CPU budget where there is no cgroup", EPERM, kScheduling},
    {"numa", "placement of memory on the host; libnuma takes ENOSYS as a machine without NUMA", ENOSYS, kNuma},
    {"odd_memory", "splicing pages, remapping and locking all: no use inside", EPERM, kOddMemory},
    {"secret_memory", "memory that the supervisor could not account; ENOSYS is its answer where it is off", ENOSYS, kSecretMemory},
    {"host", "they act on the whole machine (sync too: it would flush every disk of the host)", EPERM, kHost},
};

// ---- By argument ---------------------------------------------------------------------------------------------------------------

// A new namespace of any kind; 0x80 is CLONE_NEWTIME, which shares its bits with the exit signal and so names none here.
constexpr uint32_t kCloneNamespaces[] = {CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID,
                                         CLONE_NEWNET, 0x80};
// With CLONE_PARENT the child would be its maker's sibling: the zygote's child, outside the worker's books.
constexpr uint32_t kCloneRelations[] = {CLONE_PARENT};

// Questions, and settings of the process's own; never PR_SET_MM, PR_SET_SECUREBITS, PR_CAPBSET_DROP, PR_CAP_AMBIENT.
constexpr uint32_t kPrctl[] = {PR_SET_PDEATHSIG, PR_GET_PDEATHSIG, PR_GET_DUMPABLE, PR_SET_DUMPABLE, PR_GET_KEEPCAPS, PR_SET_NAME,
                               PR_GET_NAME, PR_GET_SECCOMP, PR_CAPBSET_READ, PR_GET_SECUREBITS, PR_SET_TIMERSLACK,
                               PR_GET_TIMERSLACK, PR_SET_CHILD_SUBREAPER, PR_GET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS,
                               PR_GET_NO_NEW_PRIVS, PR_GET_THP_DISABLE, PR_SET_VMA};

// What terminals, pipes and isatty() need. The structures of the "2" forms are larger, so their numbers are their own.
constexpr uint32_t kTcGets2 = 0x802c542a, kTcSets2 = 0x402c542b, kTcSetsW2 = 0x402c542c, kTcSetsF2 = 0x402c542d;
constexpr uint32_t kIoctl[] = {TCGETS, TCSETS, TCSETSW, TCSETSF, kTcGets2, kTcSets2, kTcSetsW2, kTcSetsF2, TIOCGWINSZ, TIOCSWINSZ,
                               TIOCGPGRP, TIOCSPGRP, TIOCSCTTY, TIOCGPTN, TIOCSPTLCK, FIONREAD, FIONBIO, FIOCLEX, FIONCLEX};
// Both put text into a terminal's input as if it had been typed (CVE-2017-5226).
constexpr uint32_t kIoctlInjection[] = {TIOCSTI, TIOCLINUX};

constexpr uint32_t kPersonalityQuery[] = {0xffffffff};   // any other could switch address randomisation off
constexpr uint32_t kPriorityOfProcess[] = {PRIO_PROCESS};
constexpr uint32_t kPriorityOfOthers[] = {PRIO_PGRP, PRIO_USER};

constexpr unsigned kFamilyBits = 6;  // the kernel has fewer than 64 address families
constexpr uint32_t kSocketTypeMask = 0xf;  // SOCK_TYPE_MASK; above it SOCK_CLOEXEC and SOCK_NONBLOCK
constexpr uint32_t kMemFdHugePages = 0x4;  // MFD_HUGETLB
// SECCOMP_FILTER_FLAG_TSYNC, LOG and SPEC_ALLOW; no listener, which could answer other processes' calls.
constexpr uint32_t kSeccompFlags = 0x7;

const struct {
  const char* call;
  const char* reason;
} kByArgument[] = {
    {"clone", "allowed without namespace flags and CLONE_PARENT only"},
    {"ioctl", "allowed for a list of requests only"},
    {"prctl", "allowed for a list of options only"},
    {"socket", "allowed for the policy's address families only"},
    {"socketpair", "allowed for AF_UNIX only"},
    {"personality", "allowed as a question only"},
    {"mknod", "allowed for FIFOs only"},
    {"mknodat", "allowed for FIFOs only"},
    {"seccomp", "allowed for adding a filter without a listener only"},
    {"setpriority", "allowed for single processes only"},
    {"mmap", "allowed without MAP_HUGETLB only, and where no cgroup counts memory without MAP_SHARED | MAP_ANONYMOUS"},
    {"memfd_create", "allowed without MFD_HUGETLB only"},
    {"setsockopt", "where no cgroup counts memory, allowed without larger buffers only"},
    {"prlimit64", "allowed for the calling process only"},
};

void AddValues(std::vector<ArgumentRule>& rules, const char* call, unsigned argument, absl::Span<const uint32_t> values, int error) {
  for (uint32_t value : values) rules.push_back({call, error, {{argument, kWhole, value}}});
}

// Allowed when none of the bits is set; `error` when any is.
void AddForbiddenBits(std::vector<ArgumentRule>& rules, const char* call, unsigned argument, absl::Span<const uint32_t> bits, int error) {
  uint32_t all = 0;
  for (uint32_t bit : bits) {
    rules.push_back({call, error, {{argument, bit, bit}}});
    all |= bit;
  }
  rules.push_back({call, 0, {{argument, all, 0}}});
}

void AddBlocks(std::vector<ArgumentRule>& rules, const char* call, absl::Span<const Condition> blocks, int error) {
  for (const Condition& block : blocks) rules.push_back({call, error, {block}});
}

// EACCES for the internet families, since socket(2) names it for "not permitted to create" and Python then says PermissionError;
// EAFNOSUPPORT for the exotic ones, on which programs look for another family.
void AddSockets(std::vector<ArgumentRule>& rules, bool allow_inet) {
  constexpr uint32_t kFamilies[] = {AF_UNIX, AF_INET, AF_INET6};
  for (const char* call : {"socket", "socketpair"}) {
    AddValues(rules, call, 0, {AF_UNIX}, 0);
    AddBlocks(rules, call, ComplementBlocks(0, kFamilies, kFamilyBits), EAFNOSUPPORT);
  }
  AddValues(rules, "socketpair", 0, {AF_INET, AF_INET6}, EOPNOTSUPP);  // the kernel's own answer
  if (!allow_inet) {
    AddValues(rules, "socket", 0, {AF_INET, AF_INET6}, EACCES);
    return;
  }
  // TCP and UDP. No raw sockets; no SCTP, MPTCP, UDP-Lite or ping, which are other protocols of the same types.
  constexpr uint32_t kTypes[] = {SOCK_STREAM, SOCK_DGRAM};
  for (uint32_t family : {AF_INET, AF_INET6}) {
    for (uint32_t protocol : {IPPROTO_IP, IPPROTO_TCP}) {
      rules.push_back({"socket", 0, {{0, kWhole, family}, {1, kSocketTypeMask, SOCK_STREAM}, {2, kWhole, protocol}}});
    }
    for (uint32_t protocol : {IPPROTO_IP, IPPROTO_UDP}) {
      rules.push_back({"socket", 0, {{0, kWhole, family}, {1, kSocketTypeMask, SOCK_DGRAM}, {2, kWhole, protocol}}});
    }
    for (Condition type : ComplementBlocks(1, kTypes, 4)) {
      type.mask &= kSocketTypeMask;
      rules.push_back({"socket", EPERM, {{0, kWhole, family}, type}});
    }
  }
}

// Huge pages come from a pool of the host's and stand in no process's resident memory. Shared memory without a file stands in it only as
// long as it is mapped there and not given up (madvise(2), MADV_DONTNEED), and lives on while one page of the map is mapped anywhere.
void AddMaps(std::vector<ArgumentRule>& rules, bool allow_shared) {
  if (allow_shared) return AddForbiddenBits(rules, "mmap", 3, {MAP_HUGETLB}, ENOMEM);
  constexpr uint32_t kShared = MAP_SHARED | MAP_ANONYMOUS;
  rules.push_back({"mmap", ENOMEM, {{3, MAP_HUGETLB, MAP_HUGETLB}}});
  rules.push_back({"mmap", EPERM, {{3, MAP_HUGETLB | kShared, kShared}}});
  for (uint32_t one : {0, MAP_SHARED, MAP_ANONYMOUS}) rules.push_back({"mmap", 0, {{3, MAP_HUGETLB | kShared, one}}});
}

// Buffers cannot be made larger where nobody would count what waits in them. The level is left open: these names mean nothing else at
// other levels that a unix socket has.
void AddSocketOptions(std::vector<ArgumentRule>& rules, bool allow_buffers) {
  constexpr uint32_t kBuffers[] = {SO_SNDBUF, SO_RCVBUF, SO_SNDBUFFORCE, SO_RCVBUFFORCE};
  constexpr unsigned kOptionBits = 32;
  AddValues(rules, "setsockopt", 2, kBuffers, allow_buffers ? 0 : EPERM);
  AddBlocks(rules, "setsockopt", ComplementBlocks(2, kBuffers, kOptionBits), 0);
}

// FIFOs only: mkfifo works, device nodes and the rest don't.
void AddNodes(std::vector<ArgumentRule>& rules) {
  constexpr unsigned kTypeShift = 12;  // the file type is the four bits of S_IFMT
  constexpr uint32_t kAllowed[] = {S_IFIFO >> kTypeShift};
  const struct {
    const char* call;
    unsigned mode;
  } calls[] = {{"mknod", 1}, {"mknodat", 2}};
  for (const auto& node : calls) {
    rules.push_back({node.call, 0, {{node.mode, S_IFMT, S_IFIFO}}});
    for (Condition type : ComplementBlocks(node.mode, kAllowed, 4)) {
      rules.push_back({node.call, EPERM, {{node.mode, (type.mask << kTypeShift) & S_IFMT, type.value << kTypeShift}}});
    }
  }
}

}  // namespace

absl::Span<const CallGroup> AllowedGroups() { return kAllowedGroups; }
const CallGroup& ExecGroup() { return kExecGroup; }
absl::Span<const CallGroup> DeniedGroups() { return kDeniedGroups; }

std::vector<ArgumentRule> ArgumentRules(const SeccompOptions& options) {
  std::vector<ArgumentRule> rules;
  std::vector<uint32_t> clone_bits(std::begin(kCloneNamespaces), std::end(kCloneNamespaces));
  clone_bits.insert(clone_bits.end(), std::begin(kCloneRelations), std::end(kCloneRelations));
  AddForbiddenBits(rules, "clone", 0, clone_bits, EPERM);
  AddMaps(rules, options.allow_uncounted_memory);
  if (options.allow_uncounted_memory) AddForbiddenBits(rules, "memfd_create", 1, {kMemFdHugePages}, EINVAL);
  AddSocketOptions(rules, options.allow_uncounted_memory);
  // The jail's init has the same user id, and so would take limits under which it can clean up no more.
  std::vector<uint32_t> any_bit;
  for (int bit = 0; bit < 32; ++bit) any_bit.push_back(uint32_t{1} << bit);
  AddForbiddenBits(rules, "prlimit64", 0, any_bit, EPERM);
  AddValues(rules, "prctl", 0, kPrctl, 0);
  AddValues(rules, "ioctl", 1, kIoctl, 0);
  AddValues(rules, "ioctl", 1, kIoctlInjection, EPERM);
  AddValues(rules, "personality", 0, kPersonalityQuery, 0);
  AddValues(rules, "setpriority", 0, kPriorityOfProcess, 0);
  AddValues(rules, "setpriority", 0, kPriorityOfOthers, EPERM);
  AddSockets(rules, options.allow_inet);
  AddNodes(rules);
  rules.push_back({"seccomp", 0, {{0, kWhole, SECCOMP_SET_MODE_FILTER}, {1, ~kSeccompFlags, 0}}});
  rules.push_back({"seccomp", 0, {{0, kWhole, SECCOMP_GET_ACTION_AVAIL}, {1, kWhole, 0}}});
  return rules;
}

const char* RefusalReason(const char* call) {
  for (const CallGroup& group : kDeniedGroups) {
    for (const char* denied : group.calls) {
      if (std::strcmp(denied, call) == 0) return group.reason;
    }
  }
  for (const auto& rule : kByArgument) {
    if (std::strcmp(rule.call, call) == 0) return rule.reason;
  }
  return nullptr;
}

std::vector<Condition> ComplementBlocks(unsigned argument, absl::Span<const uint32_t> values, unsigned bits) {
  // Walks the binary tree of prefixes: a subtree without any of the values is one block, a leaf that is a value is left out.
  std::vector<Condition> blocks;
  struct Node {
    uint32_t prefix;
    unsigned free_bits;
  };
  std::vector<Node> open = {{0, bits}};
  while (!open.empty()) {
    const Node node = open.back();
    open.pop_back();
    auto beneath = [&](uint32_t value) { return uint64_t{value} >> node.free_bits == uint64_t{node.prefix} >> node.free_bits; };
    if (std::none_of(values.begin(), values.end(), beneath)) {
      blocks.push_back({argument, static_cast<uint32_t>(~((uint64_t{1} << node.free_bits) - 1)), node.prefix});
    } else if (node.free_bits > 0) {
      open.push_back({node.prefix, node.free_bits - 1});
      open.push_back({node.prefix | (1U << (node.free_bits - 1)), node.free_bits - 1});
    }
  }
  return blocks;
}

}  // namespace cellblock::confine
