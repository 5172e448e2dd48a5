// See zygote.h.
#include "guest/zygote.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "confine/confine.h"
#include "guest/worker.h"
#include "interp/interpreter.h"
#include "jail/reaper.h"
#include "sys/files.h"
#include "sys/process.h"
#include "sys/sockets.h"
#include "wire/messages.h"

namespace cellblock::guest {
namespace {

constexpr int kSettlingForks = 4;

absl::Status ProveSingleThreaded() {
  struct stat tasks;
  if (stat("/proc/self/task", &tasks) != 0) return sys::ErrnoStatus("count threads");
  const auto count = static_cast<int>(tasks.st_nlink) - 2;  // a folder for each, and its own two names
  if (count != 1) return absl::FailedPreconditionError(absl::StrCat("the zygote has ", count, " threads; a preloaded package started some"));
  return absl::OkStatus();
}

uint64_t DataBytes() {
  std::string status = sys::ReadFile("/proc/self/status", 65536).value_or("");
  for (absl::string_view line : absl::StrSplit(status, '\n')) {
    uint64_t kilobytes;
    if (!absl::StartsWith(line, "VmData:")) continue;
    std::vector<absl::string_view> words = absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    if (words.size() > 1 && absl::SimpleAtoi(words[1], &kilobytes)) return kilobytes * 1024;
  }
  return 0;
}

class Zygote {
 public:
  Zygote(UniqueFd control, std::unique_ptr<interp::Interpreter> interpreter, UniqueFd children, UniqueFd pid_namespace, const confine::Outside& outside)
      : control_(std::move(control)), interpreter_(std::move(interpreter)), children_(std::move(children)), pid_namespace_(std::move(pid_namespace)), outside_(outside) {}

  // A few children that do nothing, so that the first real one finds the heap settled.
  absl::Status Settle() {
    interpreter_->BeforeForks();
    for (int i = 0; i < kSettlingForks; ++i) {
      pid_t pid = fork();
      if (pid == 0) {
        interpreter_->AfterForkInChild();
        _exit(0);
      }
      if (pid < 0) return sys::ErrnoStatus("fork");
      waitpid(pid, nullptr, 0);
    }
    return absl::OkStatus();
  }

  absl::Status Serve() {
    std::array<pollfd, 2> items = {pollfd{control_.get(), POLLIN, 0}, pollfd{children_.get(), POLLIN, 0}};
    while (true) {
      if (poll(items.data(), items.size(), -1) < 0 && errno != EINTR) return sys::ErrnoStatus("poll");
      if (items[1].revents != 0) {
        jail::DrainSignals(children_.get());
        CELLBLOCK_RETURN_IF_ERROR(Reap());
      }
      if (items[0].revents == 0) continue;
      CELLBLOCK_ASSIGN_OR_RETURN(sys::Message message, sys::ReceiveMessage(control_.get()));
      CELLBLOCK_RETURN_IF_ERROR(Handle(std::move(message)));
    }
  }

 private:
  absl::Status Reap() {
    int status;
    rusage usage;
    pid_t pid;
    while ((pid = wait4(-1, &status, WNOHANG, &usage)) > 0) {
      CELLBLOCK_RETURN_IF_ERROR(sys::SendMessage(control_.get(), wire::EncodeMessage(jail::ExitOf(pid, status, usage))));
    }
    return absl::OkStatus();
  }

  absl::Status Handle(sys::Message message) {
    absl::StatusOr<pid_t> pid = Fork(std::move(message));
    absl::StatusOr<UniqueFd> pidfd = pid.ok() ? sys::OpenPidFd(*pid) : absl::StatusOr<UniqueFd>(pid.status());
    std::vector<int> descriptors;
    if (pidfd.ok()) descriptors.push_back(pidfd->get());
    return sys::SendMessage(control_.get(), wire::EncodeMessage(wire::ReplyFor(pidfd.status(), pidfd.ok() ? static_cast<uint64_t>(*pid) : 0)), descriptors);
  }

  absl::StatusOr<pid_t> Fork(sys::Message message) {
    CELLBLOCK_ASSIGN_OR_RETURN(wire::ForkWorker request, wire::DecodeMessage<wire::ForkWorker>(message.bytes));
    if (message.descriptors.size() < 5) return absl::InvalidArgumentError("a worker needs five descriptors");
    WorkerSetup setup;
    setup.outside = outside_;
    setup.spec = std::move(request.spec);
    setup.jail = std::move(message.descriptors[0]);
    setup.channel = std::move(message.descriptors[1]);
    setup.output = std::move(message.descriptors[2]);
    setup.errors = std::move(message.descriptors[3]);
    setup.filter = std::move(message.descriptors[4]);
    std::move(message.descriptors.begin() + 5, message.descriptors.end(), std::back_inserter(setup.entrances));
    CELLBLOCK_RETURN_IF_ERROR(ProveSingleThreaded());
    if (setns(setup.jail.get(), CLONE_NEWPID) != 0) return sys::ErrnoStatus("join the jail's pid namespace");
    pid_t pid = fork();
    if (pid == 0) RunWorker(*interpreter_, std::move(setup));
    absl::Status forked = pid < 0 ? sys::ErrnoStatus("fork a worker") : absl::OkStatus();
    if (setns(pid_namespace_.get(), CLONE_NEWPID) != 0) return sys::ErrnoStatus("return to the nest's pid namespace");
    CELLBLOCK_RETURN_IF_ERROR(forked);
    return pid;
  }

  UniqueFd control_;
  std::unique_ptr<interp::Interpreter> interpreter_;
  UniqueFd children_;
  UniqueFd pid_namespace_;
  confine::Outside outside_;
};

absl::StatusOr<std::unique_ptr<interp::Interpreter>> Load(int control, const std::vector<std::string>& preload, bool fixed_hash_seed) {
  interp::InterpreterOptions options;
  options.module_paths = {"/opt/cellblock/env/site-packages", "/opt/cellblock/guest"};
  options.fixed_hash_seed = fixed_hash_seed;
  CELLBLOCK_ASSIGN_OR_RETURN(std::unique_ptr<interp::Interpreter> interpreter, interp::Interpreter::Create(options));
  CELLBLOCK_RETURN_IF_ERROR(interpreter->Preload(preload));
  CELLBLOCK_RETURN_IF_ERROR(interpreter->WarmUp());
  CELLBLOCK_RETURN_IF_ERROR(ProveSingleThreaded());
  CELLBLOCK_ASSIGN_OR_RETURN(std::vector<std::string> unreviewed, interpreter->UnreviewedGenerators());
  if (!unreviewed.empty()) {
    return absl::FailedPreconditionError(absl::StrCat("random generators that no worker would reseed: ", absl::StrJoin(unreviewed, ", ")));
  }
  CELLBLOCK_ASSIGN_OR_RETURN(const sys::Message message, sys::ReceiveMessage(control));
  CELLBLOCK_ASSIGN_OR_RETURN(const wire::StartSession usual, wire::DecodeMessage<wire::StartSession>(message.bytes));
  CELLBLOCK_RETURN_IF_ERROR(interpreter->Settle(usual));
  return interpreter;
}

}  // namespace

absl::Status RunZygote(UniqueFd control, const std::vector<std::string>& preload, bool fixed_hash_seed) {
  // Its memory is every session's past; the change of ids has made it non-dumpable as root, this makes it so as anybody.
  prctl(PR_SET_DUMPABLE, 0);
  auto fail = [&](const absl::Status& status) {
    (void)sys::SendMessage(control.get(), wire::EncodeMessage(wire::ReplyFor(status)));
    return status;
  };
  absl::StatusOr<UniqueFd> children = jail::ChildSignals();
  if (!children.ok()) return fail(children.status());
  absl::StatusOr<UniqueFd> pid_namespace = sys::Open("/proc/self/ns/pid", O_RDONLY);
  if (!pid_namespace.ok()) return fail(pid_namespace.status());
  confine::Outside outside;
  if (int error = confine::LookOutside(&outside, /*with_root=*/false); error != 0) return fail(absl::ErrnoToStatus(error, "look at the zygote's namespaces"));
  absl::StatusOr<std::unique_ptr<interp::Interpreter>> interpreter = Load(control.get(), preload, fixed_hash_seed);
  if (!interpreter.ok()) return fail(interpreter.status());
  int greeting = fcntl(control.get(), F_DUPFD_CLOEXEC, 3);
  Zygote zygote(std::move(control), *std::move(interpreter), *std::move(children), *std::move(pid_namespace), outside);
  absl::Status settled = zygote.Settle();
  (void)sys::SendMessage(greeting, wire::EncodeMessage(wire::ReplyFor(settled, DataBytes())));
  close(greeting);
  if (!settled.ok()) return settled;
  return zygote.Serve();
}

}  // namespace cellblock::guest
