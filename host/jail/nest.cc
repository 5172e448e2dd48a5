// See nest.h.
#include "jail/nest.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "confine/confine.h"
#include "confine/test_layer_switches.h"
#include "jail/jail_init.h"
#include "jail/reaper.h"
#include "jail/root.h"
#include "sys/files.h"
#include "sys/mounts.h"
#include "sys/process.h"
#include "sys/sockets.h"

namespace cellblock::jail {
namespace {

constexpr size_t kRootsMax = 64;
constexpr uint64_t kAttachedFile = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;

// All of them; a test may leave some out.
uint64_t JailNamespaces(bool network) {
  constexpr std::pair<const char*, uint64_t> kAll[] = {{"user_namespace", CLONE_NEWUSER}, {"pid_namespace", CLONE_NEWPID},    {"mount_namespace", CLONE_NEWNS},
                                                       {"ipc_namespace", CLONE_NEWIPC},   {"uts_namespace", CLONE_NEWUTS}, {"network_namespace", CLONE_NEWNET}};
  uint64_t namespaces = 0;
  for (const auto& [layer, flag] : kAll) {
    if (!confine::IsLayerSwitchedOff(layer) && (network || flag != CLONE_NEWNET)) namespaces |= flag;
  }
  return namespaces;
}

// What a zygote needs to put its children into jails: join namespaces, change ids there, look through a jail's pidfd.
constexpr std::array<int, 6> kZygoteCapabilities = {CAP_SYS_ADMIN, CAP_SYS_CHROOT, CAP_SYS_PTRACE, CAP_SETUID, CAP_SETGID, CAP_SETPCAP};

// Keeps `keep` (renumbered from 3 up, in order) and closes every other descriptor above 2.
absl::Status KeepOnly(std::vector<int>& keep) {
  constexpr int kAbove = 512;  // no descriptor of ours is near
  for (int& fd : keep) {
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, kAbove);
    if (moved < 0) return sys::ErrnoStatus("move a descriptor");
    fd = moved;
  }
  for (size_t i = 0; i < keep.size(); ++i) {
    if (dup2(keep[i], static_cast<int>(3 + i)) < 0) return sys::ErrnoStatus("place a descriptor");
    keep[i] = static_cast<int>(3 + i);
  }
  if (syscall(SYS_close_range, 3 + static_cast<unsigned>(keep.size()), ~0U, 0) != 0) return sys::ErrnoStatus("close descriptors");
  return absl::OkStatus();
}

absl::Status RaiseAmbient() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  for (int capability : kZygoteCapabilities) data[capability / 32].permitted |= 1U << (capability % 32);
  for (auto& half : data) half.effective = half.inheritable = half.permitted;
  if (syscall(SYS_capset, &header, data) != 0) return sys::ErrnoStatus("set a zygote's capabilities");
  for (int capability : kZygoteCapabilities) {
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0) != 0) return sys::ErrnoStatus("raise an ambient capability");
  }
  return absl::OkStatus();
}

// In the child: becomes the zygote, or ends with a line on standard error.
[[noreturn]] void BecomeZygote(const wire::StartZygote& request, int root, int control) {
  auto run = [&]() -> absl::Status {
    if (setns(root, CLONE_NEWNS) != 0) return sys::ErrnoStatus("join the prepared root");
    if (unshare(CLONE_NEWNS) != 0) return sys::ErrnoStatus("take a mount namespace");
    CELLBLOCK_RETURN_IF_ERROR(sys::Mount("tmpfs", "/tmp", MS_NOSUID | MS_NODEV, "mode=1777,size=64m,nr_inodes=4096"));
    std::vector<int> keep = {control};
    CELLBLOCK_RETURN_IF_ERROR(KeepOnly(keep));
    UniqueFd null(open("/dev/null", O_RDWR));
    if (!null.valid() || dup2(null.get(), 0) < 0) return sys::ErrnoStatus("close standard input");
    null.Reset();
    if (fcntl(3, F_SETFD, 0) != 0) return sys::ErrnoStatus("keep the control socket");
    sigset_t none;
    sigemptyset(&none);
    if (sigprocmask(SIG_SETMASK, &none, nullptr) != 0) return sys::ErrnoStatus("unblock signals");
    if (setsid() < 0) return sys::ErrnoStatus("start a session of processes");
    if (setgroups(0, nullptr) != 0 && errno != EPERM) return sys::ErrnoStatus("drop supplementary groups");
    if (prctl(PR_SET_KEEPCAPS, 1) != 0) return sys::ErrnoStatus("keep capabilities");
    auto id = static_cast<uid_t>(request.user_id);
    if (setresgid(id, id, id) != 0 || setresuid(id, id, id) != 0) return sys::ErrnoStatus("become the zygote's user");
    CELLBLOCK_RETURN_IF_ERROR(RaiseAmbient());
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return sys::ErrnoStatus("die with the nest");  // after the change of ids, which clears it
    std::vector<std::string> words = {kGuestBinaryPath};
    words.insert(words.end(), request.preload.begin(), request.preload.end());
    std::vector<char*> arguments, environment;
    for (std::string& word : words) arguments.push_back(word.data());
    for (const std::string& variable : request.environment) environment.push_back(const_cast<char*>(variable.c_str()));
    arguments.push_back(nullptr);
    environment.push_back(nullptr);
    execve(kGuestBinaryPath, arguments.data(), environment.data());
    return sys::ErrnoStatus("run cellblock-guest");
  };
  absl::Status status = run();
  (void)sys::SendMessage(control, wire::EncodeMessage(wire::ReplyFor(status)));
  (void)sys::SendMessage(3, wire::EncodeMessage(wire::ReplyFor(status)));
  _exit(1);
}

class Nest {
 public:
  explicit Nest(UniqueFd control) : control_(std::move(control)) {}

  absl::Status SetUp() {
    CELLBLOCK_RETURN_IF_ERROR(sys::MakePropagationPrivate());
    CELLBLOCK_RETURN_IF_ERROR(sys::Mount("proc", "/proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, ""));
    if (prctl(PR_SET_DUMPABLE, 0) != 0) return sys::ErrnoStatus("become non-dumpable");
    CELLBLOCK_ASSIGN_OR_RETURN(own_mounts_, sys::Open("/proc/self/ns/mnt", O_RDONLY));
    CELLBLOCK_ASSIGN_OR_RETURN(children_, ChildSignals());
    if (int error = confine::LookOutside(&outside_, /*with_root=*/true); error != 0) return absl::ErrnoToStatus(error, "look at the nest's namespaces and root");
    return absl::OkStatus();
  }

  void Serve() {
    Answer(absl::OkStatus());
    std::array<pollfd, 2> items = {pollfd{control_.get(), POLLIN, 0}, pollfd{children_.get(), POLLIN, 0}};
    while (true) {
      if (poll(items.data(), items.size(), -1) < 0 && errno != EINTR) return;
      if (items[1].revents != 0) {
        DrainSignals(children_.get());
        while (waitpid(-1, nullptr, WNOHANG) > 0) {
        }
      }
      if (items[0].revents == 0) continue;
      absl::StatusOr<sys::Message> message = sys::ReceiveMessage(control_.get());
      if (absl::IsResourceExhausted(message.status())) {
        Answer(message.status());
        continue;
      }
      if (!message.ok()) return;
      Handle(*message);
    }
  }

  void Answer(const absl::Status& status, uint64_t value = 0, const std::vector<int>& descriptors = {}) {
    (void)sys::SendMessage(control_.get(), wire::EncodeMessage(wire::ReplyFor(status, value)), descriptors);
  }

 private:
  void Handle(sys::Message& message) {
    switch (wire::MessageType(message.bytes)) {
      case wire::PrepareRoot::kType:
        return Answer(Prepare(message));
      case wire::StartZygote::kType: {
        absl::StatusOr<sys::Cloned> zygote = Start(message);
        return zygote.ok() ? Answer(absl::OkStatus(), static_cast<uint64_t>(zygote->pid), {zygote->pidfd.get()}) : Answer(zygote.status());
      }
      case wire::MakeJail::kType: {
        absl::StatusOr<sys::Cloned> jail = Make(message);
        return jail.ok() ? Answer(absl::OkStatus(), static_cast<uint64_t>(jail->pid), {jail->pidfd.get()}) : Answer(jail.status());
      }
      default:
        return Answer(absl::InvalidArgumentError("unknown request to the nest"));
    }
  }

  absl::Status Prepare(const sys::Message& message) {
    CELLBLOCK_ASSIGN_OR_RETURN(wire::PrepareRoot request, wire::DecodeMessage<wire::PrepareRoot>(message.bytes));
    if (roots_.count(request.root_id) > 0) return absl::AlreadyExistsError("this root is prepared");
    if (roots_.size() >= kRootsMax) return absl::ResourceExhaustedError(absl::StrCat("at most ", kRootsMax, " different roots"));
    CELLBLOCK_ASSIGN_OR_RETURN(auto pair, sys::MakeSocketPair(SOCK_SEQPACKET));
    CELLBLOCK_ASSIGN_OR_RETURN(sys::Cloned builder, sys::CloneProcess(CLONE_NEWNS));
    if (builder.pid == 0) {
      absl::Status built = EnterPreparedRoot(request);
      absl::StatusOr<UniqueFd> mounts = built.ok() ? sys::Open("/proc/self/ns/mnt", O_RDONLY) : absl::StatusOr<UniqueFd>(built);
      std::vector<int> descriptors;
      if (mounts.ok()) descriptors.push_back(mounts->get());
      (void)sys::SendMessage(pair.second.get(), wire::EncodeMessage(wire::ReplyFor(mounts.status())), descriptors);
      _exit(0);
    }
    pair.second.Reset();
    CELLBLOCK_ASSIGN_OR_RETURN(sys::Message answer, sys::ReceiveMessage(pair.first.get()));
    CELLBLOCK_ASSIGN_OR_RETURN(wire::Reply reply, wire::DecodeMessage<wire::Reply>(answer.bytes));
    CELLBLOCK_RETURN_IF_ERROR(wire::StatusOf(reply));
    if (answer.descriptors.size() != 1) return absl::InternalError("the root's mount namespace is missing");
    roots_.emplace(request.root_id, std::move(answer.descriptors[0]));
    return absl::OkStatus();
  }

  absl::StatusOr<int> RootOf(uint64_t id) const {
    auto found = roots_.find(id);
    if (found == roots_.end()) return absl::NotFoundError(absl::StrCat("root ", id, " is not prepared"));
    return found->second.get();
  }

  absl::StatusOr<sys::Cloned> Start(const sys::Message& message) {
    CELLBLOCK_ASSIGN_OR_RETURN(wire::StartZygote request, wire::DecodeMessage<wire::StartZygote>(message.bytes));
    CELLBLOCK_ASSIGN_OR_RETURN(int root, RootOf(request.root_id));
    if (message.descriptors.size() != 1) return absl::InvalidArgumentError("a zygote needs its control socket");
    CELLBLOCK_ASSIGN_OR_RETURN(sys::Cloned zygote, sys::CloneProcess(0));
    if (zygote.pid == 0) BecomeZygote(request, root, message.descriptors[0].get());
    return zygote;
  }

  absl::StatusOr<sys::Cloned> Make(sys::Message& message) {
    CELLBLOCK_ASSIGN_OR_RETURN(wire::MakeJail request, wire::DecodeMessage<wire::MakeJail>(message.bytes));
    CELLBLOCK_ASSIGN_OR_RETURN(int root, RootOf(request.root_id));
    if (message.descriptors.empty()) return absl::InvalidArgumentError("a jail needs its control socket");
    CELLBLOCK_ASSIGN_OR_RETURN(sys::PipePair go, sys::MakePipe());
    CELLBLOCK_ASSIGN_OR_RETURN(const std::vector<UniqueFd> attached, CloneAttached(request));
    // The jail's mount namespace becomes a copy of the one that this process stands in: the prepared root's few mounts.
    if (setns(root, CLONE_NEWNS) != 0) return sys::ErrnoStatus("enter the prepared root");
    absl::StatusOr<sys::Cloned> jail = sys::CloneProcess(JailNamespaces(request.network_namespace != 0));
    if (jail.ok() && jail->pid == 0) {
      for (size_t i = 1; i < message.descriptors.size(); ++i) (void)sys::WriteAll(message.descriptors[i].get(), "0");  // the supervisor looks whether it is in
      std::vector<int> keep = {message.descriptors[0].get(), go.read.get()};
      for (const UniqueFd& tree : attached) keep.push_back(tree.get());
      if (!KeepOnly(keep).ok()) _exit(1);
      std::vector<UniqueFd> trees;
      for (size_t i = 2; i < keep.size(); ++i) trees.emplace_back(keep[i]);
      RunJailInit(request, UniqueFd(keep[0]), UniqueFd(keep[1]), std::move(trees), outside_);
    }
    if (setns(own_mounts_.get(), CLONE_NEWNS) != 0) _exit(1);  // no way on from a wrong root
    CELLBLOCK_RETURN_IF_ERROR(jail.status());
    std::string proc = absl::StrCat("/proc/", jail->pid);
    std::string map = absl::StrCat(kJailUserId, " ", request.user_id, " 1");
    CELLBLOCK_RETURN_IF_ERROR(sys::WriteFile(proc + "/uid_map", map));
    CELLBLOCK_RETURN_IF_ERROR(sys::WriteFile(proc + "/gid_map", map));
    CELLBLOCK_RETURN_IF_ERROR(sys::WriteAll(go.write.get(), "g"));
    return jail;
  }

  // The host's files can be seen here, and not where the jail mounts them.
  static absl::StatusOr<std::vector<UniqueFd>> CloneAttached(const wire::MakeJail& request) {
    if (request.attached.size() % 2 != 0) return absl::InvalidArgumentError("attached files come in pairs of source and target");
    std::vector<UniqueFd> trees;
    for (size_t i = 0; i < request.attached.size(); i += 2) {
      CELLBLOCK_ASSIGN_OR_RETURN(trees.emplace_back(), sys::CloneTree(request.attached[i], kAttachedFile));
    }
    return trees;
  }

  UniqueFd control_;
  UniqueFd own_mounts_;
  UniqueFd children_;
  confine::Outside outside_;
  std::map<uint64_t, UniqueFd> roots_;  // prepared mount namespaces
};

}  // namespace

void RunNest(UniqueFd control) {
  Nest nest(std::move(control));
  absl::Status ready = nest.SetUp();
  if (!ready.ok()) {
    nest.Answer(ready);
    _exit(1);
  }
  nest.Serve();
  _exit(0);
}

}  // namespace cellblock::jail
