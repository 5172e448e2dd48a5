// See jail_init.h.
#include "jail/jail_init.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "confine/confine.h"
#include "confine/test_layer_switches.h"
#include "jail/network.h"
#include "jail/reaper.h"
#include "jail/root.h"
#include "sys/files.h"
#include "sys/mounts.h"
#include "sys/sockets.h"

namespace cellblock::jail {
namespace {

constexpr unsigned long kPrivateMount = MS_NOSUID | MS_NODEV;
constexpr uint64_t kTmpInodes = 20'000;
constexpr size_t kProgramsMax = 64;  // running at once, started by the supervisor
constexpr size_t kScript = 3;        // index of the optional fourth descriptor: a script too long for an argument

// Kernel state that a stranger's code has no use for, and that is readable or dear to read on some kernels.
constexpr std::array<const char*, 10> kMaskedProcFiles = {"/proc/kcore",      "/proc/keys",       "/proc/key-users", "/proc/sysrq-trigger", "/proc/timer_list",
                                                          "/proc/sched_debug", "/proc/kallsyms",  "/proc/kmsg",      "/proc/latency_stats", "/proc/interrupts"};

absl::Status EnterUser() {
  // Group ids first: afterwards the capability to set them might be gone. Denied where setgroups is (an ordinary user's nest).
  if (setgroups(0, nullptr) != 0 && errno != EPERM) return sys::ErrnoStatus("drop supplementary groups");
  if (setresgid(kJailUserId, kJailUserId, kJailUserId) != 0) return sys::ErrnoStatus("become the jail's group");
  if (setresuid(kJailUserId, kJailUserId, kJailUserId) != 0) return sys::ErrnoStatus("become the jail's user");
  // No user id 0 is mapped in the jail, so the change of ids has kept every capability in the jail's user namespace.
  if (prctl(PR_SET_DUMPABLE, 0) != 0) return sys::ErrnoStatus("become non-dumpable");
  return absl::OkStatus();
}

absl::Status MountSized(const std::string& path, const char* mode, unsigned long flags, uint64_t bytes, uint64_t inodes) {
  const std::string size = confine::IsLayerSwitchedOff("sized_files") ? "" : absl::StrCat(",size=", bytes, ",nr_inodes=", inodes);
  return sys::Mount("tmpfs", path, flags, absl::StrCat("mode=", mode, ",uid=", kJailUserId, ",gid=", kJailUserId, size));
}

absl::Status MountPrivateParts(const wire::MakeJail& request) {
  CELLBLOCK_RETURN_IF_ERROR(sys::Mount("proc", "/proc", kPrivateMount | MS_NOEXEC, ""));
  // The root folder of a tmpfs is an inode too.
  CELLBLOCK_RETURN_IF_ERROR(MountSized(kWorkspacePath, "0755", kPrivateMount, request.workspace_bytes, request.workspace_inodes + 1));
  CELLBLOCK_RETURN_IF_ERROR(MountSized("/tmp", "1777", kPrivateMount, request.tmp_bytes, kTmpInodes));
  CELLBLOCK_RETURN_IF_ERROR(MountSized("/dev/shm", "1777", kPrivateMount | MS_NOEXEC, request.shm_bytes, kTmpInodes));
  // No user namespace can be made inside, whatever the filter says (namespaces(7), /proc/sys/user).
  CELLBLOCK_RETURN_IF_ERROR(sys::WriteFile("/proc/sys/user/max_user_namespaces", "0"));
  if (confine::IsLayerSwitchedOff("proc_masks")) return absl::OkStatus();
  for (const char* file : kMaskedProcFiles) {
    if (mount("/dev/null", file, nullptr, MS_BIND, nullptr) != 0 && errno != ENOENT) return sys::ErrnoStatus(absl::StrCat("mask ", file));
  }
  if (mount("/proc/sys", "/proc/sys", nullptr, MS_BIND, nullptr) != 0) return sys::ErrnoStatus("bind /proc/sys");
  return sys::MakeReadOnly("/proc/sys");
}

// Where matplotlib and others keep caches, with the environment's prebuilt font list in it. Without a cache they only work longer.
void MakeCacheFolders() {
  constexpr int kEntriesMax = 32;
  const std::string prebuilt = absl::StrCat(kEnvironmentPath, "/mpl/"), cache = "/tmp/.cellblock-cache/", own = cache + "matplotlib/";
  if (mkdir(cache.c_str(), 0700) != 0 || mkdir(own.c_str(), 0700) != 0) return;
  std::unique_ptr<DIR, int (*)(DIR*)> listing(opendir(prebuilt.c_str()), closedir);
  for (int i = 0; listing != nullptr && i < kEntriesMax; ++i) {
    const dirent* entry = readdir(listing.get());
    if (entry == nullptr) return;
    if (entry->d_name[0] != '.') (void)!symlink((prebuilt + entry->d_name).c_str(), (own + entry->d_name).c_str());
  }
}

absl::Status KeepFewCapabilities() {
  // KILL and SYS_PTRACE to end and see what a call left; SETPCAP for a program's own lock-down, which drops all three.
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  uint32_t kept = (1U << CAP_KILL) | (1U << CAP_SYS_PTRACE) | (1U << CAP_SETPCAP);
  data[0].effective = data[0].permitted = kept;
  if (syscall(SYS_capset, &header, data) != 0) return sys::ErrnoStatus("drop capabilities");
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return sys::ErrnoStatus("set no_new_privs");
  return absl::OkStatus();
}

absl::Status AttachFiles(const wire::MakeJail& request, const std::vector<UniqueFd>& trees) {
  for (size_t i = 0; i < trees.size(); ++i) {
    const std::string target = absl::StrCat(kWorkspacePath, "/", request.attached[2 * i + 1]);
    for (size_t slash = target.find('/', sizeof(kWorkspacePath)); slash != std::string::npos; slash = target.find('/', slash + 1)) {
      if (mkdir(target.substr(0, slash).c_str(), 0755) != 0 && errno != EEXIST) return sys::ErrnoStatus(absl::StrCat("make a folder for ", target));
    }
    CELLBLOCK_RETURN_IF_ERROR(sys::Open(target, O_WRONLY | O_CREAT | O_EXCL, 0444).status());
    CELLBLOCK_RETURN_IF_ERROR(sys::AttachTree(trees[i], target));
  }
  return absl::OkStatus();
}

absl::Status SetUp(const wire::MakeJail& request, int control, int go, const std::vector<UniqueFd>& attached) {
  char byte;
  if (read(go, &byte, 1) != 1) return absl::FailedPreconditionError("the jail's user map was not written");
  CELLBLOCK_RETURN_IF_ERROR(EnterUser());
  if (setsid() < 0) return sys::ErrnoStatus("start a session of processes");
  if (chdir("/") != 0) return sys::ErrnoStatus("enter /");
  if (!confine::IsLayerSwitchedOff("uts_namespace") && sethostname("cellblock", 9) != 0) return sys::ErrnoStatus("set the host name");
  CELLBLOCK_RETURN_IF_ERROR(MountPrivateParts(request));
  CELLBLOCK_RETURN_IF_ERROR(AttachFiles(request, attached));
  MakeCacheFolders();
  std::vector<UniqueFd> network;
  if (request.has_network != 0) {
    CELLBLOCK_ASSIGN_OR_RETURN(network, EnterNetwork(request.ports));
    CELLBLOCK_RETURN_IF_ERROR(MountNetworkFiles(request.certificates));
  }
  CELLBLOCK_RETURN_IF_ERROR(KeepFewCapabilities());
  CELLBLOCK_ASSIGN_OR_RETURN(UniqueFd workspace, sys::Open(kWorkspacePath, O_RDONLY | O_DIRECTORY));
  CELLBLOCK_ASSIGN_OR_RETURN(UniqueFd tmp, sys::Open("/tmp", O_RDONLY | O_DIRECTORY));
  CELLBLOCK_ASSIGN_OR_RETURN(UniqueFd shm, sys::Open("/dev/shm", O_RDONLY | O_DIRECTORY));
  std::vector<int> descriptors = {workspace.get(), tmp.get(), shm.get()};
  for (const UniqueFd& socket : network) descriptors.push_back(socket.get());
  return sys::SendMessage(control, wire::EncodeMessage(wire::ReplyFor(absl::OkStatus())), descriptors);
}

// In the child: never returns. Fails closed: whatever goes wrong ends it before the program starts.
[[noreturn]] void BecomeProgram(const wire::RunProgram& request, const confine::Spec& spec, const std::vector<sock_filter>& filter, const std::vector<UniqueFd>& descriptors,
                                const confine::Outside& outside) {
  int output = descriptors[0].get(), errors = descriptors[1].get();
  auto fail = [errors](absl::string_view what) {
    std::string line = absl::StrCat("cellblock-init: ", what, ": ", std::string(strerror(errno)), "\n");
    [[maybe_unused]] ssize_t written = write(errors, line.data(), line.size());
    _exit(126);
  };
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);  // ours is to ignore it, and programs inherit that
  signal(SIGXFSZ, SIG_IGN);  // a write beyond limits.file_size is an error, not the program's end
  if (setsid() < 0) fail("setsid");
  UniqueFd null(open("/dev/null", O_RDONLY));
  if (dup2(null.get(), 0) < 0 || dup2(output, 1) < 0 || dup2(errors, 2) < 0) fail("set standard streams");
  errors = 2;
  int last = 2;
  if (descriptors.size() > kScript) {  // dup2 clears close-on-exec: bash reads it as /proc/self/fd/3
    last = 3;
    if (dup2(descriptors[kScript].get(), last) < 0) fail("place the script");
    if (lseek(last, 0, SEEK_SET) != 0) fail("rewind the script");
  }
  if (syscall(SYS_close_range, last + 1, ~0U, 0) != 0) fail("close descriptors");
  if (chdir(kWorkspacePath) != 0) fail("enter /workspace");
  std::vector<char*> arguments, environment;
  for (const std::string& argument : request.arguments) arguments.push_back(const_cast<char*>(argument.c_str()));
  for (const std::string& variable : request.environment) environment.push_back(const_cast<char*>(variable.c_str()));
  arguments.push_back(nullptr);
  environment.push_back(nullptr);
  confine::Report report = confine::EnterConfinement(spec, filter, last, &outside);
  if (report.failure.step >= 0) {
    errno = report.failure.error;
    fail(absl::StrCat("lock down: ", confine::StepName(report.failure.step)));
  }
  execve(arguments[0], arguments.data(), environment.data());
  fail(absl::StrCat("run ", request.arguments[0]));
  _exit(127);
}

absl::StatusOr<pid_t> StartProgram(const sys::Message& message, const confine::Outside& outside) {
  CELLBLOCK_ASSIGN_OR_RETURN(wire::RunProgram request, wire::DecodeMessage<wire::RunProgram>(message.bytes));
  size_t descriptors = message.descriptors.size();
  if ((descriptors != kScript && descriptors != kScript + 1) || request.arguments.empty()) {
    return absl::InvalidArgumentError("a program needs a name and three or four descriptors");
  }
  CELLBLOCK_ASSIGN_OR_RETURN(confine::Spec spec, confine::DecodeSpec(request.spec));
  CELLBLOCK_ASSIGN_OR_RETURN(std::vector<sock_filter> filter, confine::ReadSeccompProgram(message.descriptors[2].get()));
  pid_t pid = fork();
  if (pid < 0 && errno == EAGAIN) return absl::ResourceExhaustedError("fork a program: the session's processes and threads are as many as they may be");
  if (pid < 0) return sys::ErrnoStatus("fork a program");
  if (pid == 0) BecomeProgram(request, spec, filter, message.descriptors, outside);
  return pid;
}

class JailInit {
 public:
  JailInit(int control, const confine::Outside& outside) : control_(control), outside_(outside) {}

  // False when the supervisor has gone.
  bool HandleMessage() {
    absl::StatusOr<sys::Message> message = sys::ReceiveMessage(control_);
    if (!message.ok()) return false;
    switch (wire::MessageType(message->bytes)) {
      case wire::RunProgram::kType: {
        absl::StatusOr<pid_t> pid = programs_.size() < kProgramsMax ? StartProgram(*message, outside_) : absl::StatusOr<pid_t>(absl::ResourceExhaustedError("too many programs"));
        if (pid.ok()) programs_.insert(*pid);
        return Answer(wire::ReplyFor(pid.status(), pid.ok() ? static_cast<uint64_t>(*pid) : 0));
      }
      case wire::KillOthers::kType: {
        absl::StatusOr<wire::KillOthers> request = wire::DecodeMessage<wire::KillOthers>(message->bytes);
        if (!request.ok()) return Answer(wire::ReplyFor(request.status()));
        absl::StatusOr<uint64_t> killed = KillAllBut(static_cast<pid_t>(request->worker_pid));
        if (!Reap()) return false;  // or the next call would see them in /proc for a moment more
        return Answer(wire::ReplyFor(killed.status(), killed.value_or(0)));
      }
      case wire::SignalGroup::kType: {
        absl::StatusOr<wire::SignalGroup> request = wire::DecodeMessage<wire::SignalGroup>(message->bytes);
        if (request.ok() && request->group > 1) kill(-static_cast<pid_t>(request->group), static_cast<int>(request->signal));
        return Answer(wire::ReplyFor(request.status()));
      }
      default:
        return Answer(wire::ReplyFor(absl::InvalidArgumentError("unknown request")));
    }
  }

  bool Reap() {
    int status;
    rusage usage;
    pid_t pid;
    while ((pid = wait4(-1, &status, WNOHANG, &usage)) > 0) {
      if (programs_.erase(pid) > 0 && !sys::SendMessage(control_, wire::EncodeMessage(ExitOf(pid, status, usage))).ok()) return false;
    }
    return true;
  }

 private:
  bool Answer(const wire::Reply& reply) { return sys::SendMessage(control_, wire::EncodeMessage(reply)).ok(); }

  int control_;
  const confine::Outside& outside_;
  std::set<pid_t> programs_;
};

}  // namespace

void RunJailInit(const wire::MakeJail& request, UniqueFd control, UniqueFd go, std::vector<UniqueFd> attached, const confine::Outside& outside) {
  absl::Status ready = SetUp(request, control.get(), go.get(), attached);
  attached.clear();
  if (!ready.ok()) {
    (void)sys::SendMessage(control.get(), wire::EncodeMessage(wire::ReplyFor(ready)));
    _exit(1);
  }
  go.Reset();
  absl::StatusOr<UniqueFd> children = ChildSignals();
  if (!children.ok()) _exit(1);
  JailInit init(control.get(), outside);
  std::array<pollfd, 2> items = {pollfd{control.get(), POLLIN, 0}, pollfd{children->get(), POLLIN, 0}};
  while (true) {
    if (poll(items.data(), items.size(), -1) < 0 && errno != EINTR) _exit(1);
    if (items[1].revents != 0) {
      DrainSignals(children->get());
      if (!init.Reap()) _exit(0);
    }
    if (items[0].revents != 0 && !init.HandleMessage()) _exit(0);  // as PID 1: the kernel ends every process of the jail
  }
}

}  // namespace cellblock::jail
