// Jail, Nest and Broom: see helpers.h.
#include "supervise/helpers.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/status_macros.h"
#include "sys/files.h"
#include "sys/process.h"

namespace cellblock::supervise {
namespace {

constexpr uint64_t kNestNamespaces = CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS;
constexpr int kControlFd = 3;
constexpr int kAboveControl = 16;

// In a child of a process that may have threads: only async-signal-safe calls. `control` becomes descriptor 3.
[[noreturn]] void ExecInit(const char* path, const char* role, int control, int go) {
  char byte;
  if (go >= 0 && read(go, &byte, 1) != 1) _exit(1);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  int moved = fcntl(control, F_DUPFD, kAboveControl);
  int null = open("/dev/null", O_RDWR);
  if (moved < 0 || null < 0 || dup2(moved, kControlFd) < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0) _exit(1);
  syscall(SYS_close_range, kControlFd + 1, ~0U, 0);
  char* const arguments[] = {const_cast<char*>("cellblock-init"), const_cast<char*>(role), nullptr};
#ifdef CELLBLOCK_TEST_LAYER_SWITCHES
  const char* off = std::getenv("CELLBLOCK_TEST_LAYERS_OFF");
  std::string switches = absl::StrCat("CELLBLOCK_TEST_LAYERS_OFF=", off == nullptr ? "" : off);
  char* const environment[] = {switches.data(), nullptr};
#else
  char* const environment[] = {nullptr};
#endif
  execve(path, arguments, environment);
  _exit(1);
}

absl::Status WriteNestMaps(pid_t pid, const NestOptions& options, bool as_root) {
  std::string proc = absl::StrCat("/proc/", pid);
  if (as_root) {
    std::string map = absl::StrCat("0 0 1\n", options.first_user_id, " ", options.first_user_id, " ", options.user_id_count, "\n");
    absl::Status written = sys::WriteFile(proc + "/uid_map", map);
    if (written.ok()) written = sys::WriteFile(proc + "/gid_map", map);
    if (!absl::IsPermissionDenied(written) && !absl::IsInvalidArgument(written)) return written;
    return absl::FailedPreconditionError(absl::StrCat("this root is one of a container's, in which the user and group ids ", options.first_user_id, " to ",
                                                      options.first_user_id + options.user_id_count - 1,
                                                      " are not there for sessions; map them into it, or run as an ordinary user in it"));
  }
  // user_namespaces(7): without privilege one id can be mapped, one's own, and setgroups must be denied first.
  CELLBLOCK_RETURN_IF_ERROR(sys::WriteFile(proc + "/uid_map", absl::StrCat("0 ", geteuid(), " 1\n")));
  CELLBLOCK_RETURN_IF_ERROR(sys::WriteFile(proc + "/setgroups", "deny"));
  return sys::WriteFile(proc + "/gid_map", absl::StrCat("0 ", getegid(), " 1\n"));
}

}  // namespace

Jail::~Jail() {
  if (!pidfd.valid()) return;
  (void)sys::SendSignal(pidfd.get(), SIGKILL);  // the kernel ends the whole pid namespace with it, and it last
  (void)sys::WaitForExit(pidfd.get(), static_cast<int>(absl::ToInt64Milliseconds(kJailEndDeadline)));
}

absl::StatusOr<OutputPipes> MakeOutputPipes(const Jail& jail) {
  OutputPipes pipes;
  for (sys::PipePair* pair : {&pipes.output, &pipes.errors}) {
    CELLBLOCK_ASSIGN_OR_RETURN(*pair, sys::MakePipe());
    CELLBLOCK_RETURN_IF_ERROR(sys::SetNonBlocking(pair->read.get(), true));
    if (jail.user_id != 0 && fchown(pair->write.get(), jail.user_id, jail.user_id) != 0) return sys::ErrnoStatus("give a pipe to the jail's user");
  }
  return pipes;
}

absl::StatusOr<std::unique_ptr<Nest>> Nest::Create(const NestOptions& options) {
  if (access(options.init_path.c_str(), X_OK) != 0) return sys::ErrnoStatus(absl::StrCat("find the program ", options.init_path));
  std::unique_ptr<Nest> nest(new Nest());
  nest->as_root_ = geteuid() == 0;
  CELLBLOCK_ASSIGN_OR_RETURN(auto pair, sys::MakeSocketPair(SOCK_SEQPACKET));
  CELLBLOCK_ASSIGN_OR_RETURN(sys::PipePair go, sys::MakePipe());
  absl::StatusOr<sys::Cloned> child = sys::CloneProcess(kNestNamespaces);
  if (!child.ok()) {
    return absl::FailedPreconditionError(absl::StrCat("this machine does not let this user make user namespaces (", std::string(child.status().message()),
                                                      "); `cellblock doctor` says how to turn them on"));
  }
  if (child->pid == 0) {
    close(go.write.Release());  // or the read below could never see its end
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    ExecInit(options.init_path.c_str(), "nest", pair.second.get(), go.read.get());
  }
  nest->pid_ = child->pid;
  nest->pidfd_ = std::move(child->pidfd);
  pair.second.Reset();
  nest->socket_ = std::make_unique<HelperSocket>(std::move(pair.first));
  CELLBLOCK_RETURN_IF_ERROR(WriteNestMaps(nest->pid_, options, nest->as_root_));
  CELLBLOCK_RETURN_IF_ERROR(sys::WriteAll(go.write.get(), "g"));
  absl::StatusOr<sys::Message> greeting = nest->socket_->Greeting(kHelperDeadline);
  if (!greeting.ok()) return absl::FailedPreconditionError(absl::StrCat("the nest could not be set up: ", std::string(greeting.status().message())));
  return nest;
}

Nest::~Nest() {
  if (pid_ <= 0) return;
  (void)sys::SendSignal(pidfd_.get(), SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

absl::Status Nest::PrepareRoot(const wire::PrepareRoot& request) { return socket_->Ask(wire::EncodeMessage(request), {}, kHelperDeadline).status(); }

absl::StatusOr<std::unique_ptr<Zygote>> Nest::StartZygote(const wire::StartZygote& request, const wire::StartSession& usual) {
  CELLBLOCK_ASSIGN_OR_RETURN(auto pair, sys::MakeSocketPair(SOCK_SEQPACKET));
  CELLBLOCK_ASSIGN_OR_RETURN(sys::Message answer, socket_->Ask(wire::EncodeMessage(request), {pair.second.get()}, kHelperDeadline));
  pair.second.Reset();
  if (answer.descriptors.size() != 1) return absl::InternalError("the zygote's pidfd is missing");
  (void)sys::SendMessage(pair.first.get(), wire::EncodeMessage(usual));  // one that has ended says why in its greeting
  auto zygote = std::make_unique<Zygote>();
  zygote->pidfd = std::move(answer.descriptors[0]);
  zygote->socket = std::make_unique<HelperSocket>(std::move(pair.first));
  absl::StatusOr<sys::Message> greeting = zygote->socket->Greeting(kZygoteDeadline, &zygote->data_bytes);
  if (!greeting.ok()) return absl::Status(greeting.status().code(), absl::StrCat("the Python template process could not start: ", std::string(greeting.status().message())));
  return zygote;
}

absl::StatusOr<std::unique_ptr<Jail>> Nest::MakeJail(const wire::MakeJail& request, const std::vector<UniqueFd>& entrances) {
  CELLBLOCK_ASSIGN_OR_RETURN(auto pair, sys::MakeSocketPair(SOCK_SEQPACKET));
  std::vector<int> descriptors = {pair.second.get()};
  for (const UniqueFd& entrance : entrances) descriptors.push_back(entrance.get());
  CELLBLOCK_ASSIGN_OR_RETURN(sys::Message answer, socket_->Ask(wire::EncodeMessage(request), descriptors, kHelperDeadline));
  pair.second.Reset();
  if (answer.descriptors.size() != 1) return absl::InternalError("the jail's pidfd is missing");
  auto jail = std::make_unique<Jail>();
  if (as_root_) jail->user_id = static_cast<uint32_t>(request.user_id);
  jail->pidfd = std::move(answer.descriptors[0]);
  jail->init = std::make_unique<HelperSocket>(std::move(pair.first));
  absl::StatusOr<sys::Message> greeting = jail->init->Greeting(kHelperDeadline);
  if (!greeting.ok()) return absl::Status(greeting.status().code(), absl::StrCat("the jail could not be made: ", std::string(greeting.status().message())));
  if (greeting->descriptors.size() < 3) return absl::InternalError("the jail's folders are missing");
  CELLBLOCK_ASSIGN_OR_RETURN(jail->host_pid, sys::PidOf(jail->pidfd.get()));
  CELLBLOCK_ASSIGN_OR_RETURN(jail->process, sys::ProcReader::Glance(jail->host_pid));
  jail->pid_namespace = jail->process->PidNamespace().value_or(0);
  jail->workspace = std::move(greeting->descriptors[0]);
  jail->tmp = std::move(greeting->descriptors[1]);
  jail->shm = std::move(greeting->descriptors[2]);
  for (size_t i = 3; i < greeting->descriptors.size(); ++i) jail->network.push_back(std::move(greeting->descriptors[i]));
  return jail;
}

absl::StatusOr<std::unique_ptr<Broom>> Broom::Create(const std::string& init_path) {
  std::unique_ptr<Broom> broom(new Broom());
  CELLBLOCK_ASSIGN_OR_RETURN(auto pair, sys::MakeSocketPair(SOCK_SEQPACKET));
  CELLBLOCK_ASSIGN_OR_RETURN(sys::Cloned child, sys::CloneProcess(0));
  if (child.pid == 0) ExecInit(init_path.c_str(), "broom", pair.second.get(), -1);
  broom->pid_ = child.pid;
  broom->socket_ = std::move(pair.first);
  return broom;
}

Broom::~Broom() {
  socket_.Reset();
  if (pid_ > 0) {
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
}

void Broom::Register(const std::string& folder) { (void)sys::SendMessage(socket_.get(), "+" + folder); }
void Broom::Forget(const std::string& folder) { (void)sys::SendMessage(socket_.get(), "-" + folder); }

}  // namespace cellblock::supervise
