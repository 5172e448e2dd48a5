// System calls that the filter denies on purpose, each made for real three times: free (it works, or reaches the kernel's own
// answer), under the filter alone with every capability kept (so the filter is what refuses), and under all layers.
#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <linux/kcmp.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <linux/userfaultfd.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/timex.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include "tests/confine/confine_fixture.h"
#include "tests/support/signal_child.h"

namespace cellblock::confine {
namespace {

std::string* g_work;  // the scratch folder that may be written

std::string Work(const char* name) { return absl::StrCat(*g_work, "/", name); }

std::string OwnFile() {
  const std::string path = Work("own");
  close(open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  return path;
}

long CloneAndWait(unsigned long flags) {
  long pid = syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
  if (pid == 0) _exit(0);
  if (pid > 0 && (flags & CLONE_PARENT) == 0) waitpid(static_cast<pid_t>(pid), nullptr, 0);
  return pid;
}

// Reads a word of a child's memory.
long ReadChild(long call) {
  static volatile long word = 7;
  const pid_t pid = fork();
  if (pid == 0) {
    pause();
    _exit(0);
  }
  long copy = 0;
  iovec local{&copy, sizeof(copy)};
  iovec remote{const_cast<long*>(&word), sizeof(word)};
  const long result = syscall(call, pid, &local, 1UL, &remote, 1UL, 0UL);
  const int error = errno;
  SignalChild(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  errno = error;
  return result;
}

long OpenTwice(const char* path, long (*use)(int fd)) {
  UniqueFd fd(open(path, O_RDONLY | O_CLOEXEC));
  return fd.valid() ? use(fd.get()) : -2;
}

long MakeBpfMap() {
  bpf_attr attr{};
  attr.map_type = BPF_MAP_TYPE_ARRAY;
  attr.key_size = attr.value_size = 4;
  attr.max_entries = 1;
  return syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));
}

long OpenPerfEvent() {
  perf_event_attr attr{};
  attr.size = sizeof(attr);
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_DUMMY;
  return syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0UL);
}

long SetUpRing() {
  io_uring_params params{};
  return syscall(SYS_io_uring_setup, 1U, &params);
}

long GetHandle() {
  alignas(file_handle) char buffer[sizeof(file_handle) + MAX_HANDLE_SZ];
  auto* handle = reinterpret_cast<file_handle*>(buffer);
  handle->handle_bytes = MAX_HANDLE_SZ;
  int mount_id;
  return name_to_handle_at(AT_FDCWD, g_work->c_str(), handle, &mount_id, 0);
}

long SameAffinity() {
  cpu_set_t set;
  sched_getaffinity(0, sizeof(set), &set);
  return sched_setaffinity(0, sizeof(set), &set);
}

long GetOwnDescriptor() {
  UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
  return syscall(SYS_pidfd_getfd, pidfd.get(), 1, 0);
}

long ReadClock() {
  timex query{};
  return syscall(SYS_adjtimex, &query);
}

long MakeNode(mode_t type) {
  const std::string path = Work("node");
  const long result = mknod(path.c_str(), type | 0600, makedev(0, 0));  // char 0:0 is the one device that everybody may make
  const int error = errno;
  unlink(path.c_str());
  errno = error;
  return result;
}

constexpr int kRootOnly = -1;  // as `free_user`: the kernel refuses an ordinary user whatever we do

struct Case {
  const char* name;
  long (*call)();
  int denied;           // errno under the filter
  int free_root = 0;    // errno without it: 0, or one that shows that the kernel itself answered
  int free_user = 0;    // the same as an ordinary user
};

const Case kCases[] = {
    {"unshare_user_namespace", [] { return syscall(SYS_unshare, CLONE_NEWUSER); }, EPERM},
    {"setns", [] { return OpenTwice("/proc/self/ns/uts", [](int fd) { return syscall(SYS_setns, fd, CLONE_NEWUTS); }); }, EPERM},
    {"clone_user_namespace", [] { return CloneAndWait(CLONE_NEWUSER); }, EPERM},
    {"clone_parent", [] { return CloneAndWait(CLONE_PARENT); }, EPERM},
    {"clone3", [] { return syscall(SYS_clone3, nullptr, 0UL); }, ENOSYS, EINVAL, EINVAL},
    {"mount", [] { return syscall(SYS_mount, "none", g_work->c_str(), "tmpfs", 0UL, nullptr); }, EPERM},
    {"umount2", [] { return syscall(SYS_umount2, "/missing", 0); }, EPERM, ENOENT, ENOENT},
    {"pivot_root", [] { return syscall(SYS_pivot_root, "/missing", "/missing"); }, EPERM, ENOENT, ENOENT},
    {"chroot", [] { return syscall(SYS_chroot, "/"); }, EPERM},
    {"fsopen", [] { return syscall(SYS_fsopen, "tmpfs", 0U); }, EPERM},
    {"open_tree", [] { return syscall(SYS_open_tree, AT_FDCWD, "/", 0U); }, EPERM},
    {"mount_setattr", [] { return syscall(SYS_mount_setattr, -1, "", 0U, nullptr, 0UL); }, EPERM, EINVAL, EINVAL},
    {"ptrace", [] { return syscall(SYS_ptrace, PTRACE_TRACEME, 0, 0, 0); }, EPERM},
    {"process_vm_readv", [] { return ReadChild(SYS_process_vm_readv); }, EPERM},
    {"process_vm_writev", [] { return ReadChild(SYS_process_vm_writev); }, EPERM},
    {"kcmp", [] { return syscall(SYS_kcmp, getpid(), getpid(), KCMP_FILE, 1UL, 2UL); }, EPERM},
    {"pidfd_getfd", GetOwnDescriptor, EPERM},
    {"process_madvise", [] { return syscall(SYS_process_madvise, -1, nullptr, 0UL, 0, 0U); }, EPERM, EBADF, EBADF},
    {"io_uring_setup", SetUpRing, ENOSYS},
    {"bpf", MakeBpfMap, EPERM, 0, kRootOnly},
    {"perf_event_open", OpenPerfEvent, EPERM, 0, kRootOnly},
    {"userfaultfd", [] { return syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY); }, EPERM},
    {"fanotify_init", [] { return syscall(SYS_fanotify_init, 0U, 0U); }, EPERM, 0, kRootOnly},
    {"keyctl", [] { return syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_PROCESS_KEYRING, 1); }, EPERM},
    {"add_key", [] { return syscall(SYS_add_key, "user", "cellblock-test", "x", 1UL, KEY_SPEC_PROCESS_KEYRING); }, EPERM},
    {"request_key", [] { return syscall(SYS_request_key, "user", "cellblock-missing", nullptr, 0); }, EPERM, ENOKEY, ENOKEY},
    {"name_to_handle_at", GetHandle, EPERM},
    {"socket_netlink", [] { return syscall(SYS_socket, AF_NETLINK, SOCK_RAW, 0); }, EAFNOSUPPORT},
    {"socket_vsock", [] { return syscall(SYS_socket, AF_VSOCK, SOCK_STREAM, 0); }, EAFNOSUPPORT},
    {"socket_alg", [] { return syscall(SYS_socket, AF_ALG, SOCK_SEQPACKET, 0); }, EAFNOSUPPORT},
    {"socket_packet", [] { return syscall(SYS_socket, AF_PACKET, SOCK_DGRAM, 0); }, EAFNOSUPPORT, 0, kRootOnly},
    {"socket_inet", [] { return syscall(SYS_socket, AF_INET, SOCK_STREAM, 0); }, EACCES},
    {"socket_inet6", [] { return syscall(SYS_socket, AF_INET6, SOCK_DGRAM, 0); }, EACCES},
    {"socket_inet_high_bit", [] { return syscall(SYS_socket, (1UL << 32) | AF_INET, SOCK_STREAM, 0); }, EACCES},
    {"personality", [] { return syscall(SYS_personality, ADDR_NO_RANDOMIZE); }, ENOSYS},
    {"mknod_device", [] { return MakeNode(S_IFCHR); }, EPERM},
    {"setuid", [] { return syscall(SYS_setuid, getuid()); }, EPERM},
    {"setresgid", [] { return syscall(SYS_setresgid, getgid(), -1, -1); }, EPERM},
    {"setgroups", [] { return syscall(SYS_setgroups, 0UL, nullptr); }, EPERM, 0, kRootOnly},
    {"chown", [] { return static_cast<long>(chown(Work("file").c_str(), static_cast<uid_t>(-1), static_cast<gid_t>(-1))); }, EPERM},
    {"setxattr", [] { return static_cast<long>(setxattr(OwnFile().c_str(), "user.cellblock", "x", 1, 0)); }, ENOTSUP},
    {"sched_setaffinity", SameAffinity, EPERM},
    // Of nobody: of itself it would be told of each of its user's processes, some of which may be nicer, and change the others.
    {"setpriority_of_a_user", [] { return syscall(SYS_setpriority, PRIO_USER, 4'000'000'000U, 0); }, EPERM, ESRCH, ESRCH},
    {"sethostname", [] { return syscall(SYS_sethostname, "cellblock", 9); }, EPERM},
    {"syslog", [] { return syscall(SYS_syslog, 10 /* size of the buffer */, nullptr, 0); }, EPERM, 0, kRootOnly},
    {"adjtimex", ReadClock, EPERM},
#ifdef SYS_modify_ldt
    {"modify_ldt", [] { return syscall(SYS_modify_ldt, 0, nullptr, 0UL); }, EPERM},
#endif
};

// How a child that could not even be locked ends; no errno reaches it.
constexpr int kNotLocked = 200;

class DeniedCallTest : public ConfineFixture, public ::testing::WithParamInterface<std::tuple<Actor, Case>> {
 protected:
  DeniedCallTest() : ConfineFixture(std::get<0>(GetParam())) {}
  const Case& c() const { return std::get<1>(GetParam()); }

  // The errno that the call gives in a child; nullptr: not locked.
  int ErrnoUnder(const Spec* spec) {
    work_ = Path("own");
    g_work = &work_;
    const ChildEnd end = RunFree([&] {
      if (spec != nullptr && EnterConfinement(*spec, TestFilter(), 2).failure.step != -1) _exit(kNotLocked);
      errno = 0;
      const long result = c().call();
      _exit(result < 0 ? errno : 0);
    });
    EXPECT_TRUE(WIFEXITED(end.wait_status)) << ::testing::PrintToString(end);
    return WEXITSTATUS(end.wait_status);
  }

 private:
  std::string work_;
};

TEST_P(DeniedCallTest, IsRefusedWhenLockedAndWorksWhenFree) {
  const int expected_free = actor() == Actor::kRoot ? c().free_root : c().free_user;
  if (expected_free != kRootOnly) {
    const int free = ErrnoUnder(nullptr);
    if (free != expected_free && (free == ENOSYS || free == EAFNOSUPPORT || free == ENODEV)) {
      GTEST_SKIP() << "missing: this kernel has no " << c().name;
    }
    EXPECT_EQ(free, expected_free) << "free: " << strerror(free);
  }
  const Spec filter_alone = SeccompOnly();
  const int filtered = ErrnoUnder(&filter_alone);
  EXPECT_EQ(filtered, c().denied) << "filter alone: " << strerror(filtered);
  const Spec full = FullSpec();
  const int locked = ErrnoUnder(&full);
  EXPECT_EQ(locked, c().denied) << "all layers: " << strerror(locked);
}

std::string CaseName(const ::testing::TestParamInfo<std::tuple<Actor, Case>>& info) {
  return absl::StrCat(std::get<1>(info.param).name, "_", ActorName(std::get<0>(info.param)));
}
INSTANTIATE_TEST_SUITE_P(Confine, DeniedCallTest,
                         ::testing::Combine(::testing::Values(Actor::kRoot, Actor::kUser), ::testing::ValuesIn(kCases)),
                         CaseName);

class FilterTest : public ConfineTest {};

TEST_P(FilterTest, KillsI386Calls) {
#ifndef __x86_64__
  GTEST_SKIP() << "missing: int 0x80 exists on x86-64 only";
#else
  auto getpid_by_int80 = [] {
    long result = 20;  // __NR_getpid of i386
    asm volatile("int $0x80" : "+a"(result) : : "memory");
    return result;
  };
  if (WIFSIGNALED(RunFree([&] { getpid_by_int80(); }).wait_status)) GTEST_SKIP() << "missing: this kernel has no i386 calls";
  EXPECT_THAT(RunFree([&] { EXPECT_EQ(getpid_by_int80(), getpid()); }), Passes());
  EXPECT_THAT(RunLocked(FullSpec(), [&] { getpid_by_int80(); }), DiesOf(SIGSYS));
#endif
}

TEST_P(FilterTest, KillsX32Calls) {
#ifndef __x86_64__
  GTEST_SKIP() << "missing: x32 exists on x86-64 only";
#else
  constexpr long kX32 = 0x40000000;
  EXPECT_THAT(RunFree([] { syscall(kX32 | SYS_getpid); }), Passes());
  EXPECT_THAT(RunLocked(FullSpec(), [] { syscall(kX32 | SYS_getpid); }), DiesOf(SIGSYS));
#endif
}

TEST_P(FilterTest, KeepsTextOutOfTerminals) {
  int master = posix_openpt(O_RDWR | O_NOCTTY);
  if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) GTEST_SKIP() << "missing: pseudo-terminals";
  const std::string name = ptsname(master);
  ASSERT_EQ(chmod(name.c_str(), 0666), 0);
  auto inject = [&name](const Spec* spec, unsigned long request) {
    return [&name, spec, request] {
      const int failures = FailureCount();
      EXPECT_EQ(dup2(open(name.c_str(), O_RDWR), 0), 0);  // our controlling terminal
      syscall(SYS_close_range, 3U, ~0U, 0U);
      if (spec != nullptr) Lock(*spec);
      winsize size;
      EXPECT_EQ(ioctl(0, TIOCGWINSZ, &size), 0);
      const int error = ErrnoOf(syscall(SYS_ioctl, 0, request, "x"));
      fflush(nullptr);
      _exit(FailureCount() > failures ? kNotLocked : error);
    };
  };
  const ChildEnd free = RunFree(inject(nullptr, TIOCSTI));
  if (WEXITSTATUS(free.wait_status) == EIO) GTEST_SKIP() << "missing: this kernel has TIOCSTI switched off for everybody";
  EXPECT_THAT(free, ExitsWith(0));
  const Spec spec = SeccompOnly(), full = FullSpec();
  EXPECT_THAT(RunFree(inject(&spec, TIOCSTI)), ExitsWith(EPERM));
  EXPECT_THAT(RunFree(inject(&full, TIOCSTI)), ExitsWith(EPERM));
  EXPECT_THAT(RunFree(inject(nullptr, TIOCSTI | (1UL << 32))), ExitsWith(0)) << "the kernel drops the high half";
  EXPECT_THAT(RunFree(inject(&spec, TIOCSTI | (1UL << 32))), ExitsWith(EPERM));
  close(master);
}

TEST_P(FilterTest, OpensInetSocketsWhenAllowed) {
  Spec spec = FullSpec();
  spec.allow_inet = true;
  EXPECT_THAT(RunLocked(spec, [] {
                for (int family : {AF_INET, AF_INET6}) {
                  EXPECT_EQ(ErrnoOf(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)), 0);
                  EXPECT_EQ(ErrnoOf(socket(family, SOCK_DGRAM, IPPROTO_UDP)), 0);
                  EXPECT_EQ(ErrnoOf(socket(family, SOCK_RAW, IPPROTO_TCP)), EPERM);
                }
                EXPECT_EQ(ErrnoOf(socket(AF_NETLINK, SOCK_RAW, 0)), EAFNOSUPPORT);
              }),
              Passes());
}

TEST_P(FilterTest, LeavesWhatProgramsNeed) {
  EXPECT_THAT(RunLocked(FullSpec(), [this] {
                int pair[2];
                EXPECT_EQ(ErrnoOf(socketpair(AF_UNIX, SOCK_STREAM, 0, pair)), 0);
                EXPECT_EQ(ErrnoOf(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)), 0);
                EXPECT_EQ(ErrnoOf(mkfifo(Path("own/fifo").c_str(), 0600)), 0);
                EXPECT_EQ(personality(0xffffffff), 0);
                EXPECT_EQ(ErrnoOf(syscall(SYS_memfd_create, "x", 0U)), 0);
                EXPECT_EQ(ErrnoOf(setpriority(PRIO_PROCESS, 0, 1)), 0);
                EXPECT_EQ(ErrnoOf(prctl(PR_SET_NAME, "locked")), 0);
                const pid_t pid = fork();
                if (pid == 0) _exit(7);
                int status = 0;
                EXPECT_EQ(waitpid(pid, &status, 0), pid);
                EXPECT_EQ(WEXITSTATUS(status), 7);
                const pid_t clone = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
                if (clone == 0) _exit(8);
                EXPECT_EQ(waitpid(clone, &status, 0), clone);
                EXPECT_EQ(WEXITSTATUS(status), 8);
              }),
              Passes());
}

TEST_P(FilterTest, StaysOnOverExec) {
  const char* const script = "grep -E '^(Seccomp|NoNewPrivs|Cap(Inh|Prm|Eff|Bnd|Amb)):' /proc/self/status";
  EXPECT_THAT(RunLocked(FullSpec(),
                        [script] {
                          execl("/bin/sh", "sh", "-c", script, nullptr);
                          _exit(kNotLocked);
                        })
                  .output,
              "CapInh:\t0000000000000000\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\nCapBnd:\t0000000000000000\n"
              "CapAmb:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n");
}

CELLBLOCK_BOTH_ACTORS(FilterTest);

}  // namespace
}  // namespace cellblock::confine
