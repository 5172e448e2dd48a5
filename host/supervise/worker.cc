// See worker.h.
#include "supervise/worker.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/status_macros.h"
#include "sys/files.h"
#include "sys/process.h"

namespace cellblock::supervise {
namespace {

constexpr size_t kReceiveBytes = 64 * 1024;
constexpr absl::Duration kExitDeadline = absl::Seconds(10);
constexpr int kKillRoundsMax = 10;

absl::Status FailureIn(const wire::Frame& frame) {
  CELLBLOCK_ASSIGN_OR_RETURN(wire::WorkerFailed failed, wire::DecodeBody<wire::WorkerFailed>(frame.body));
  return absl::FailedPreconditionError(absl::StrCat("the worker could not be locked down: ", absl::CHexEscape(failed.step), failed.error_number == 0 ? "" : ": ",
                                                    failed.error_number == 0 ? "" : std::strerror(static_cast<int>(failed.error_number))));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Worker>> Worker::Start(std::shared_ptr<Zygote> zygote, Jail& jail, const WorkerOptions& options) {
  std::unique_ptr<Worker> worker(new Worker(std::move(zygote), jail, options.bundle_bytes_max));
  const absl::Time began = absl::Now();
  absl::Status forked = worker->Fork(options);
  worker->fork_took_ = absl::Now() - began;
  if (!forked.ok() && worker->channel_.valid()) {
    // It has ended before it could be looked at, as one that cannot lock itself does; its own account, if it sent one, says why.
    absl::Status told = worker->WaitReady();
    return told.ok() ? forked : told;
  }
  CELLBLOCK_RETURN_IF_ERROR(forked);
  // While the worker locks itself: it reports ready only over the channel, which is read after this.
  if (options.attach) CELLBLOCK_RETURN_IF_ERROR(options.attach(worker->process_->pid()));
  CELLBLOCK_RETURN_IF_ERROR(worker->WaitReady());
  return worker;
}

absl::Status Worker::Fork(const WorkerOptions& options) {
  CELLBLOCK_ASSIGN_OR_RETURN(auto channel, sys::MakeSocketPair(SOCK_STREAM));
  CELLBLOCK_ASSIGN_OR_RETURN(OutputPipes pipes, MakeOutputPipes(jail_));
  wire::ForkWorker request;
  request.spec = confine::EncodeSpec(options.spec);
  std::vector<int> descriptors = {jail_.pidfd.get(), channel.second.get(), pipes.output.write.get(), pipes.errors.write.get(), options.seccomp_fd};
  for (const UniqueFd& entrance : options.entrances) descriptors.push_back(entrance.get());
  CELLBLOCK_ASSIGN_OR_RETURN(sys::Message answer, zygote_->socket->Ask(wire::EncodeMessage(request), descriptors, kHelperDeadline, &id_));
  if (answer.descriptors.size() != 1) return absl::InternalError("the worker's pidfd is missing");
  pidfd_ = std::move(answer.descriptors[0]);
  channel_ = std::move(channel.first);
  output_ = std::move(pipes.output.read);
  errors_ = std::move(pipes.errors.read);
  CELLBLOCK_RETURN_IF_ERROR(sys::SetNonBlocking(channel_.get(), true));
  CELLBLOCK_ASSIGN_OR_RETURN(pid_t pid, sys::PidOf(pidfd_.get()));
  CELLBLOCK_ASSIGN_OR_RETURN(process_, sys::ProcReader::Create(pid));
  Queue(wire::FrameType::kStart, 0, wire::EncodeBody(options.start));
  return Flush();
}

absl::Status Worker::WaitReady() {
  absl::Time until = absl::Now() + kHelperDeadline;
  while (absl::Now() < until) {
    std::array<pollfd, 2> items = {pollfd{channel_.get(), static_cast<int16_t>(POLLIN | (wants_write() ? POLLOUT : 0)), 0}, pollfd{pidfd_.get(), POLLIN, 0}};
    if (poll(items.data(), items.size(), 1000) < 0 && errno != EINTR) return sys::ErrnoStatus("wait for the worker");
    (void)Flush();  // who reads no more may have said why
    absl::Status received = Receive();
    CELLBLOCK_ASSIGN_OR_RETURN(std::optional<wire::Frame> frame, NextFrame());
    if (!frame.has_value()) {
      if (!received.ok() || items[1].revents != 0) return absl::UnavailableError("the worker ended before it was ready");
      continue;
    }
    if (frame->type == wire::FrameType::kFailed) return FailureIn(*frame);
    if (frame->type != wire::FrameType::kReady) return absl::InternalError("the worker did not say ready");
    CELLBLOCK_ASSIGN_OR_RETURN(wire::WorkerReady ready, wire::DecodeBody<wire::WorkerReady>(frame->body));
    if (ready.report.size() != sizeof(report_)) return absl::InternalError("the worker's report has another size");
    std::memcpy(&report_, ready.report.data(), sizeof(report_));
    pid_in_jail_ = static_cast<pid_t>(ready.pid);
    lock_down_took_ = absl::Microseconds(static_cast<int64_t>(std::min<uint64_t>(ready.lock_down_microseconds, absl::ToInt64Microseconds(kHelperDeadline))));
    return absl::OkStatus();
  }
  return absl::DeadlineExceededError("the worker was not ready in time");
}

absl::Status Worker::Begin(const wire::StartSession& start, size_t bundle_bytes_max) {
  parser_.set_bundle_bytes_max(bundle_bytes_max);
  is_beginning_ = true;
  Queue(wire::FrameType::kStart, 0, wire::EncodeBody(start));
  return Flush();
}

absl::StatusOr<bool> Worker::IsReadyAtLast(const wire::Frame& frame) {
  if (!is_beginning_ || frame.nonce != 0) return false;
  if (frame.type == wire::FrameType::kFailed) return FailureIn(frame);
  if (frame.type != wire::FrameType::kReady) return false;
  is_beginning_ = false;
  return true;
}

Worker::~Worker() {
  Kill();
  if (pidfd_.valid()) (void)WaitForExit();
}

void Worker::Interrupt() {
  wire::SignalGroup request;
  request.group = static_cast<uint64_t>(pid_in_jail_);
  request.signal = SIGINT;
  // Answered once it is sent: a signal still on its way at the call's end would hit the next call.
  if (!jail_.init->Ask(wire::EncodeMessage(request), {}, kHelperDeadline).ok()) (void)sys::SendSignal(pidfd_.get(), SIGINT);
}

void Worker::Kill() {
  if (pidfd_.valid() && !exit_.has_value()) (void)sys::SendSignal(pidfd_.get(), SIGKILL);
}

int64_t Worker::KillAll() {
  Kill();
  bool fresh = true;
  for (int round = 0; round < kKillRoundsMax && fresh; ++round) {
    fresh = false;
    for (const sys::ProcessId& process : sys::ProcessesBelow({&*process_, &*jail_.process})) {
      std::pair<pid_t, uint64_t> id = {process.pid, process.start_ticks};
      if (killed_.count(id) > 0 || !sys::KillProcess(process)) continue;
      killed_.insert(id);
      fresh = true;
    }
  }
  return static_cast<int64_t>(killed_.size());
}

WorkerExit Worker::WaitForExit() {
  if (exit_.has_value()) return *exit_;
  WorkerExit result;
  absl::StatusOr<wire::ProcessExited> exited = zygote_->socket->WaitForExit(id_, kExitDeadline);
  if (exited.ok()) {
    int status = static_cast<int>(exited->wait_status);
    result.known = true;
    result.exited = WIFEXITED(status);
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    result.cpu = absl::Microseconds(static_cast<int64_t>(exited->cpu_microseconds));
    result.resident_peak_bytes = static_cast<int64_t>(exited->resident_peak_bytes);
  } else {
    zygote_->socket->Forget(id_);
  }
  exit_ = result;
  return result;
}

void Worker::Queue(wire::FrameType type, uint64_t nonce, absl::string_view body) { outgoing_ += wire::EncodeFrame(type, nonce, body); }

absl::Status Worker::Flush() {
  while (!outgoing_.empty()) {
    ssize_t count = send(channel_.get(), outgoing_.data(), outgoing_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return absl::OkStatus();
    if (count < 0) {
      outgoing_.clear();
      return absl::UnavailableError("the worker has ended");
    }
    outgoing_.erase(0, static_cast<size_t>(count));
  }
  return absl::OkStatus();
}

absl::Status Worker::Receive() {
  // Plain recv: descriptors that a hostile worker passes along are closed by the kernel.
  std::array<char, kReceiveBytes> chunk;
  ssize_t count = recv(channel_.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return absl::OkStatus();
  if (count <= 0) return absl::UnavailableError("the worker has closed its channel");
  parser_.Append(absl::string_view(chunk.data(), static_cast<size_t>(count)));
  return absl::OkStatus();
}

}  // namespace cellblock::supervise
