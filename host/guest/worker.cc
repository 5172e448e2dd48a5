// See worker.h.
#include "guest/worker.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/status_macros.h"
#include "confine/test_layer_switches.h"
#include "guest/channel.h"
#include "sys/files.h"
#include "wire/messages.h"

namespace cellblock::guest {
namespace {

// All but the pid namespace, which the zygote has joined before the fork. A jail of a test may lack some.
int JoinedNamespaces() {
  int joined = CLONE_NEWUSER | CLONE_NEWNS;
  if (!confine::IsLayerSwitchedOff("network_namespace")) joined |= CLONE_NEWNET;
  if (!confine::IsLayerSwitchedOff("ipc_namespace")) joined |= CLONE_NEWIPC;
  if (!confine::IsLayerSwitchedOff("uts_namespace")) joined |= CLONE_NEWUTS;
  return joined;
}

constexpr size_t kCodeFrameBytesMax = size_t{65} << 20;  // limits.code_bytes is at most 64 MiB; the supervisor checks the policy's own

constexpr int kIdleMilliseconds = 1000;  // after a call, before memory is given back

// Reports why the worker could not be locked, and ends: fail closed.
[[noreturn]] void Fail(absl::string_view step, int error) {
  wire::WorkerFailed failed;
  failed.step = std::string(step);
  failed.error_number = static_cast<uint64_t>(error);
  std::string bytes = wire::EncodeFrame(wire::FrameType::kFailed, 0, wire::EncodeBody(failed));
  [[maybe_unused]] ssize_t sent = write(kChannelFd, bytes.data(), bytes.size());
  _exit(125);
}

// Standard streams and channel at their numbers, everything else closed. Reported on the channel once that is in place.
void PlaceDescriptors(WorkerSetup& setup) {
  constexpr int kAbove = 64;
  int channel = fcntl(setup.channel.get(), F_DUPFD_CLOEXEC, kAbove);
  int output = fcntl(setup.output.get(), F_DUPFD_CLOEXEC, kAbove);
  int errors = fcntl(setup.errors.get(), F_DUPFD_CLOEXEC, kAbove);
  int jail = fcntl(setup.jail.get(), F_DUPFD_CLOEXEC, kAbove);
  if (channel < 0 || output < 0 || errors < 0 || jail < 0) _exit(125);
  if (dup3(channel, kChannelFd, O_CLOEXEC) < 0) _exit(125);
  if (dup2(output, 1) < 0 || dup2(errors, 2) < 0) Fail("set standard streams", errno);
  if (setns(jail, JoinedNamespaces()) != 0) Fail("join the jail's namespaces", errno);
  if (!confine::IsLayerSwitchedOff("descriptors") && syscall(SYS_close_range, kChannelFd + 1, ~0U, 0) != 0) Fail("close descriptors", errno);
  setup.channel.Release(), setup.output.Release(), setup.errors.Release(), setup.jail.Release(), setup.filter.Release();  // closed just now
  for (UniqueFd& entrance : setup.entrances) entrance.Release();
}

confine::Report LockDown(WorkerSetup& setup) {
  for (const UniqueFd& entrance : setup.entrances) (void)sys::WriteAll(entrance.get(), "0");  // the supervisor looks whether it is in
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const absl::StatusOr<confine::Spec> spec = confine::DecodeSpec(setup.spec);
  const absl::StatusOr<std::vector<sock_filter>> filter = confine::ReadSeccompProgram(setup.filter.get());
  PlaceDescriptors(setup);
  for (const absl::Status& status : {spec.status(), filter.status()}) {
    if (!status.ok()) Fail(status.message(), 0);
  }
  if (setsid() < 0) Fail("start a session of processes", errno);
  if (chdir("/workspace") != 0) Fail("enter /workspace", errno);
  confine::Report report = confine::EnterConfinement(*spec, *filter, kChannelFd, &setup.outside);
  if (report.failure.step >= 0) Fail(confine::StepName(report.failure.step), report.failure.error);
  // Inside the jail everything is one user's; psutil, /proc/self/environ and debuggers of one's own code need this.
  prctl(PR_SET_DUMPABLE, 1);
  return report;
}

void BlockInterrupts(bool block) {
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGINT);
  pthread_sigmask(block ? SIG_BLOCK : SIG_UNBLOCK, &mask, nullptr);
}

// An interrupt that crossed with the end of the last cell belongs to nobody.
void DropPendingInterrupt(interp::Interpreter& interpreter) {
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGINT);
  timespec now = {0, 0};
  while (sigtimedwait(&mask, nullptr, &now) > 0) {
  }
  interpreter.ClearInterrupts();
}

class Worker {
 public:
  Worker(interp::Interpreter& interpreter, Channel& channel, absl::Duration lock_down_took) : interpreter_(interpreter), channel_(channel), lock_down_took_(lock_down_took) {}

  absl::Status Start(absl::string_view report) {
    while (true) {
      CELLBLOCK_ASSIGN_OR_RETURN(wire::Frame frame, channel_.Receive());
      if (frame.type != wire::FrameType::kStart) return absl::InternalError("expected the session's start");
      CELLBLOCK_ASSIGN_OR_RETURN(wire::StartSession start, wire::DecodeBody<wire::StartSession>(frame.body));
      CELLBLOCK_RETURN_IF_ERROR(StartOnce(start));
      wire::WorkerReady ready;
      ready.pid = static_cast<uint64_t>(getpid());
      ready.report = std::string(report.data(), report.size());
      ready.lock_down_microseconds = static_cast<uint64_t>(absl::ToInt64Microseconds(lock_down_took_));
      CELLBLOCK_RETURN_IF_ERROR(channel_.Send(wire::FrameType::kReady, 0, wire::EncodeBody(ready)));
      if (start.made_ahead == 0) return absl::OkStatus();
    }
  }

  // Until the channel closes.
  absl::Status Serve() {
    while (true) {
      BlockInterrupts(true);
      absl::StatusOr<wire::Frame> received;
      interpreter_.WaitUnlocked([&] {
        // Once after each call, when nobody seems to be in a hurry.
        if (!channel_.IsReadableWithin(kIdleMilliseconds)) interp::Interpreter::GiveMemoryBack();
        received = channel_.Receive();
      });
      CELLBLOCK_ASSIGN_OR_RETURN(wire::Frame frame, std::move(received));
      if (frame.type != wire::FrameType::kExecute) return absl::InternalError("expected a cell");
      CELLBLOCK_ASSIGN_OR_RETURN(wire::ExecuteCell cell, wire::DecodeBody<wire::ExecuteCell>(frame.body));
      nonce_ = frame.nonce;
      DropPendingInterrupt(interpreter_);
      BlockInterrupts(false);
      in_call_ = true;
      CELLBLOCK_ASSIGN_OR_RETURN(wire::CellDone done, interpreter_.RunCell(cell));
      in_call_ = false;
      std::fflush(nullptr);
      CELLBLOCK_RETURN_IF_ERROR(channel_.Send(wire::FrameType::kDone, nonce_, wire::EncodeBody(done)));
    }
  }

 private:
  absl::Status StartOnce(const wire::StartSession& start) {
    result_bytes_max_ = start.result_bytes;
    confine::Spec limits;
    limits.open_files = start.open_files;
    limits.file_bytes = start.file_bytes;
    limits.processes = start.processes;
    limits.data_bytes = start.data_bytes;
    if (const int error = confine::LowerLimitsLater(limits); error != 0) return absl::ErrnoToStatus(error, "lower the session's rlimits");
    std::string told = WhatPythonIsTold(start);
    if (told == told_ && start.has_seed == 0) return absl::OkStatus();
    told_ = std::move(told);
    CELLBLOCK_RETURN_IF_ERROR(interpreter_.StartSession(start, [this](interp::Emission emission) { Emit(std::move(emission)); }));
    return start.made_ahead != 0 ? interpreter_.Rehearse() : absl::OkStatus();
  }

  static std::string WhatPythonIsTold(wire::StartSession start) {
    start.made_ahead = start.open_files = start.file_bytes = start.processes = start.data_bytes = 0;
    return wire::EncodeBody(start);
  }

  void Emit(interp::Emission emission) {
    using Kind = interp::Emission::Kind;
    if (!in_call_) return;  // from a thread, between two calls: nobody reads it, and nobody would acknowledge it
    std::fflush(nullptr);  // what C code has buffered was written before this
    switch (emission.kind) {
      case Kind::kDisplay:
        return (void)channel_.SendAndWait(wire::FrameType::kDisplay, nonce_, Bounded(std::move(emission.output)));
      case Kind::kUpdate:
        return (void)channel_.SendAndWait(wire::FrameType::kUpdate, nonce_, Bounded(std::move(emission.output)));
      case Kind::kResult:
        return channel_.Hold(wire::FrameType::kResult, nonce_, Bounded(std::move(emission.output)));
      case Kind::kClear: {
        wire::GuestClear clear;
        clear.wait = emission.clear_wait ? 1 : 0;
        return (void)channel_.SendAndWait(wire::FrameType::kClear, nonce_, wire::EncodeBody(clear));
      }
      case Kind::kError:
        for (std::string* text : {&emission.error.name, &emission.error.value, &emission.error.traceback, &emission.error.hint}) {
          if (text->size() > kErrorTextBytesMax) text->resize(kErrorTextBytesMax);
        }
        return channel_.Hold(wire::FrameType::kError, nonce_, wire::EncodeBody(emission.error));
      case Kind::kSync:
        return (void)channel_.SendAndWait(wire::FrameType::kSync, nonce_, "");
    }
  }

  // A bundle over the policy's limit is replaced by a line of text: the supervisor would take it for an attack.
  std::string Bounded(wire::GuestOutput output) {
    std::string body = wire::EncodeBody(output);
    if (body.size() <= result_bytes_max_) return body;
    wire::GuestOutput note;
    note.mime = {"text/plain", "t", absl::StrCat("[a result of ", body.size(), " bytes was left out: limits.result_size is ", result_bytes_max_, "]")};
    note.metadata = "{}";
    note.display_id = output.display_id.substr(0, 256);
    return wire::EncodeBody(note);
  }

  static constexpr size_t kErrorTextBytesMax = 60 * 1024;  // four of them fit wire::kSmallFrameBytesMax

  interp::Interpreter& interpreter_;
  Channel& channel_;
  const absl::Duration lock_down_took_;
  uint64_t nonce_ = 0;
  bool in_call_ = false;
  size_t result_bytes_max_ = 0;
  std::string told_;  // when it was made ahead of its session
};

}  // namespace

void RunWorker(interp::Interpreter& interpreter, WorkerSetup setup) {
  const absl::Time began = absl::Now();
  confine::Report report = LockDown(setup);
  const absl::Duration lock_down_took = std::max(absl::ZeroDuration(), absl::Now() - began);
  interpreter.AfterForkInChild();
  Channel channel(kCodeFrameBytesMax);
  Worker worker(interpreter, channel, lock_down_took);
  absl::Status status = worker.Start(absl::string_view(reinterpret_cast<const char*>(&report), sizeof(report)));
  if (!status.ok()) Fail(status.message(), 0);
  status = worker.Serve();
  // Ended by the supervisor, or unable to go on. Never finalises Python: atexit handlers are user code by now.
  _exit(absl::IsUnavailable(status) ? 0 : 124);
}

}  // namespace cellblock::guest
