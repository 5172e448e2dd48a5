// See call.h.
#include "supervise/call.h"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/types/span.h"
#include "base/status_macros.h"
#include "supervise/egress_log.h"
#include "supervise/outcome.h"
#include "sys/files.h"
#include "sys/process.h"
#include "sys/sockets.h"

namespace cellblock::supervise {
namespace {

constexpr absl::Duration kProgressPoll = absl::Milliseconds(100);
constexpr absl::Duration kCpuPoll = absl::Milliseconds(20);
constexpr size_t kAcknowledgementsBytesMax = 1024;  // unsent: our own guest waits for each before it sends on, and reads all of the call first
constexpr int64_t kBashCommandBytesMax = 100'000;  // Linux takes 128 KiB for one argument (execve(2), MAX_ARG_STRLEN)

uint64_t NewNonce() {
  uint64_t nonce = 0;
  while (nonce == 0) {
    if (getrandom(&nonce, sizeof(nonce), 0) != sizeof(nonce)) nonce = static_cast<uint64_t>(absl::GetCurrentTimeNanos());
  }
  return nonce;
}

// The call of a cell in the worker.
class PythonCall {
 public:
  PythonCall(const CallParties& parties, CallOptions& options, OutputPump& pump, EgressLog& egress, absl::Time start)
      : parties_(parties), worker_(*parties.worker), options_(options), pump_(pump), egress_(egress), clock_(parties.policy.limits, options.timeout, start) {}

  absl::Status Run(absl::string_view code) {
    wire::ExecuteCell cell;
    cell.code = std::string(code.data(), code.size());
    cell.file_name = options_.execute.file_name;
    cell.arguments = options_.execute.arguments;
    for (const auto& [name, value] : options_.execute.environment) cell.environment.push_back(absl::StrCat(name, "=", value));
    cell.call = static_cast<uint64_t>(options_.number);
    cell.inspect = options_.inspect;
    worker_.Queue(wire::FrameType::kExecute, nonce_, wire::EncodeBody(cell));
    while (!evidence_.done.has_value() && !evidence_.exit.has_value()) CELLBLOCK_RETURN_IF_ERROR(Step());
    if (evidence_.exit.has_value()) pump_.Drain(worker_.output_fd(), worker_.errors_fd());
    evidence_.stop = clock_.stop();
    return began_;
  }

  Evidence& evidence() { return evidence_; }
  int64_t killed() const { return killed_; }

 private:
  absl::Status Step() {
    bool flushed = worker_.Flush().ok();
    std::array<pollfd, 6> items = {pollfd{broken_ ? -1 : worker_.channel_fd(), static_cast<int16_t>(POLLIN | (worker_.wants_write() ? POLLOUT : 0)), 0},
                                   pollfd{output_open_ ? worker_.output_fd() : -1, POLLIN, 0}, pollfd{errors_open_ ? worker_.errors_fd() : -1, POLLIN, 0},
                                   pollfd{worker_.pidfd(), POLLIN, 0}, pollfd{options_.interrupt_fd, POLLIN, 0}, pollfd{egress_.fd(), POLLIN, 0}};
    absl::Duration wait = std::min(clock_.UntilNext(absl::Now()), kProgressPoll);
    if (parties_.policy.limits.cpu.has_value()) wait = std::min(wait, kCpuPoll);
    int ready = sys::PollBriskly(absl::MakeSpan(items), brisk_until_, wait);
    if (ready < 0 && errno != EINTR) return sys::ErrnoStatus("wait for the worker");
    if (ready == 0) pump_.Poll();
    if (items[1].revents != 0 || items[2].revents != 0) Drain();
    if (items[5].revents != 0) egress_.Read();
    if (items[0].revents != 0 || !flushed) Frames();
    if (items[4].revents != 0) {
      uint64_t count;
      [[maybe_unused]] ssize_t got = read(options_.interrupt_fd, &count, sizeof(count));
      Act(clock_.Request(absl::Now()));
    }
    Act(clock_.Tick(absl::Now(), parties_.policy.limits.cpu.has_value() ? parties_.cpu.Read() : absl::ZeroDuration()));
    if (items[3].revents != 0 && !evidence_.done.has_value()) {
      Frames();  // what it sent before it ended
      if (!evidence_.done.has_value() || clock_.stop() != Stop::kNone) evidence_.done.reset();
      evidence_.exit = worker_.WaitForExit();
      if (evidence_.exit->known) parties_.cpu.RootEnded(worker_.process(), evidence_.exit->cpu);
    }
    return absl::OkStatus();
  }

  void Drain() {
    OutputPump::Open open = pump_.Drain(output_open_ ? worker_.output_fd() : -1, errors_open_ ? worker_.errors_fd() : -1);
    output_open_ = output_open_ && open.output;
    errors_open_ = errors_open_ && open.errors;
  }

  void Act(StopClock::Act act) {
    if (act == StopClock::Act::kInterrupt) worker_.Interrupt();
    if (act == StopClock::Act::kKill) Kill();
  }

  void Kill() { killed_ = worker_.KillAll(); }

  void Frames() {
    if (broken_) return;
    absl::Status received = worker_.Receive();
    Drain();  // what was written before a frame was sent belongs before it; who writes on after one waits for its answer first
    while (!evidence_.done.has_value()) {
      absl::StatusOr<std::optional<wire::Frame>> frame = worker_.NextFrame();
      if (!frame.ok()) return Break();
      if (!frame->has_value()) break;
      if (!Handle(**frame)) return Break();
    }
    // A worker that closes its channel and lives on can never answer again.
    if (!received.ok() && !evidence_.done.has_value()) {
      broken_ = true;
      Kill();
    }
  }

  void Break() {
    broken_ = true;
    clock_.Force(Stop::kProtocol);
    Kill();
  }

  // False for anything that our own guest never sends.
  bool Handle(wire::Frame& frame) {
    if (worker_.is_beginning()) {
      absl::StatusOr<bool> is_ready = worker_.IsReadyAtLast(frame);
      began_ = is_ready.status();
      return is_ready.value_or(false);
    }
    if (frame.nonce != nonce_) return false;
    switch (frame.type) {
      case wire::FrameType::kDisplay:
        return AddOutput(Event::Type::kDisplay, frame.body) && Acknowledge();
      case wire::FrameType::kUpdate:
        return AddOutput(Event::Type::kUpdate, frame.body) && Acknowledge();
      case wire::FrameType::kResult:
        return AddOutput(Event::Type::kResult, frame.body);  // nothing is printed after a cell's value
      case wire::FrameType::kClear: {
        absl::StatusOr<wire::GuestClear> clear = wire::DecodeBody<wire::GuestClear>(frame.body);
        if (!clear.ok()) return false;
        pump_.AddClear(clear->wait != 0);
        return Acknowledge();
      }
      case wire::FrameType::kSync:
        return Acknowledge();
      case wire::FrameType::kError: {
        absl::StatusOr<wire::GuestError> error = wire::DecodeBody<wire::GuestError>(frame.body);
        if (!error.ok()) return false;
        pump_.AddError(*std::move(error));
        return true;
      }
      case wire::FrameType::kDone: {
        absl::StatusOr<wire::CellDone> done = wire::DecodeBody<wire::CellDone>(frame.body);
        if (!done.ok() || done->ending > static_cast<uint64_t>(wire::CellEnding::kInterrupted)) return false;
        evidence_.done = *done;
        return true;
      }
      default:
        return false;
    }
  }

  bool AddOutput(Event::Type type, absl::string_view body) {
    absl::StatusOr<wire::GuestOutput> output = wire::DecodeBody<wire::GuestOutput>(body);
    if (!output.ok() || output->mime.size() % 3 != 0) return false;
    pump_.AddOutput(type, *std::move(output));
    return true;
  }

  // A worker that has ended cannot be told any more; that is no break of the protocol.
  bool Acknowledge() {
    worker_.Queue(wire::FrameType::kAck, nonce_, "");
    return !worker_.Flush().ok() || worker_.queued_bytes() <= kAcknowledgementsBytesMax;
  }

  const CallParties& parties_;
  Worker& worker_;
  CallOptions& options_;
  OutputPump& pump_;
  EgressLog& egress_;
  StopClock clock_;
  absl::Time brisk_until_ = absl::Now() + sys::kBrisk;
  uint64_t nonce_ = NewNonce();
  Evidence evidence_;
  absl::Status began_;  // of a worker that was made ahead: why it could not serve this session
  bool output_open_ = true, errors_open_ = true;
  bool broken_ = false;
  int64_t killed_ = 0;
};

// A script run by the jail's init beside the worker.
class BashCall {
 public:
  BashCall(const CallParties& parties, CallOptions& options, OutputPump& pump, EgressLog& egress, absl::Time start)
      : parties_(parties), options_(options), pump_(pump), egress_(egress), clock_(parties.policy.limits, options.timeout, start) {
    evidence_.is_worker = false;
  }

  absl::Status Run(absl::string_view code, const confine::Spec& spec, int seccomp_fd, const std::vector<std::string>& environment) {
    CELLBLOCK_ASSIGN_OR_RETURN(OutputPipes pipes, MakeOutputPipes(parties_.jail));
    auto& [output, errors] = pipes;
    wire::RunProgram request;
    request.spec = confine::EncodeSpec(spec);
    request.environment = environment;
    const std::string name = options_.execute.file_name.empty() ? "bash" : options_.execute.file_name;  // $0, and in messages
    request.arguments = {"/bin/bash", "-c", std::string(code.data(), code.size()), name};
    std::vector<int> descriptors = {output.write.get(), errors.write.get(), seccomp_fd};
    UniqueFd script;
    if (static_cast<int64_t>(code.size()) > kBashCommandBytesMax) {
      script.Reset(memfd_create("script", MFD_CLOEXEC));
      if (!script.valid()) return sys::ErrnoStatus("hold the script");
      CELLBLOCK_RETURN_IF_ERROR(sys::WriteAll(script.get(), code));
      request.arguments = {"/bin/bash", "/proc/self/fd/3"};
      descriptors.push_back(script.get());
    }
    request.arguments.insert(request.arguments.end(), options_.execute.arguments.begin(), options_.execute.arguments.end());
    absl::Status started = parties_.jail.init->Ask(wire::EncodeMessage(request), descriptors, kHelperDeadline, &pid_).status();
    if (!started.ok() && sys::WaitForExit(parties_.jail.pidfd.get(), 0).ok()) {
      evidence_.exit = WorkerExit{};  // without its init a jail is no more
      return absl::OkStatus();
    }
    CELLBLOCK_RETURN_IF_ERROR(started);
    output.write.Reset();
    errors.write.Reset();
    while (!evidence_.exit.has_value()) CELLBLOCK_RETURN_IF_ERROR(Step(output.read.get(), errors.read.get()));
    pump_.Drain(output.read.get(), errors.read.get());
    evidence_.stop = clock_.stop();
    return absl::OkStatus();
  }

  Evidence& evidence() { return evidence_; }

 private:
  absl::Status Step(int output, int errors) {
    std::array<pollfd, 5> items = {pollfd{output_open_ ? output : -1, POLLIN, 0}, pollfd{errors_open_ ? errors : -1, POLLIN, 0}, pollfd{parties_.jail.init->fd(), POLLIN, 0},
                                   pollfd{options_.interrupt_fd, POLLIN, 0}, pollfd{egress_.fd(), POLLIN, 0}};
    absl::Duration wait = std::min(clock_.UntilNext(absl::Now()), parties_.policy.limits.cpu.has_value() ? kCpuPoll : kProgressPoll);
    int ready = sys::PollBriskly(absl::MakeSpan(items), absl::InfinitePast(), wait);
    if (ready < 0 && errno != EINTR) return sys::ErrnoStatus("wait for bash");
    if (ready == 0) pump_.Poll();
    if (items[4].revents != 0) egress_.Read();
    OutputPump::Open open = pump_.Drain(output_open_ ? output : -1, errors_open_ ? errors : -1);
    output_open_ = output_open_ && open.output;
    errors_open_ = errors_open_ && open.errors;
    LookForExit((items[2].revents & POLLHUP) != 0);
    if (evidence_.exit.has_value()) return absl::OkStatus();
    if (items[3].revents != 0) {
      uint64_t count;
      [[maybe_unused]] ssize_t got = read(options_.interrupt_fd, &count, sizeof(count));
      Act(clock_.Request(absl::Now()));
    }
    Act(clock_.Tick(absl::Now(), parties_.policy.limits.cpu.has_value() ? parties_.cpu.Read() : absl::ZeroDuration()));
    return absl::OkStatus();
  }

  // At every step, whether or not the socket is readable: an answer that Act waited for may have come after the end of bash, which then
  // stands in the HelperSocket's books.
  void LookForExit(bool init_has_ended) {
    std::optional<wire::ProcessExited> exited = parties_.jail.init->PollForExit(pid_);
    if (exited.has_value()) evidence_.exit = ToExit(*exited);
    if (!exited.has_value() && init_has_ended) evidence_.exit = WorkerExit{};
  }

  void Act(StopClock::Act act) {
    if (act == StopClock::Act::kNothing) return;
    wire::SignalGroup request;
    request.group = pid_;
    request.signal = act == StopClock::Act::kInterrupt ? SIGINT : SIGKILL;
    (void)parties_.jail.init->Ask(wire::EncodeMessage(request), {}, kHelperDeadline);
  }

  static WorkerExit ToExit(const wire::ProcessExited& exited) {
    int status = static_cast<int>(exited.wait_status);
    WorkerExit exit;
    exit.known = true;
    exit.exited = WIFEXITED(status);
    exit.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    exit.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    exit.cpu = absl::Microseconds(static_cast<int64_t>(exited.cpu_microseconds));
    exit.resident_peak_bytes = static_cast<int64_t>(exited.resident_peak_bytes);
    return exit;
  }

  const CallParties& parties_;
  CallOptions& options_;
  OutputPump& pump_;
  EgressLog& egress_;
  StopClock clock_;
  uint64_t pid_ = 0;
  Evidence evidence_;
  bool output_open_ = true, errors_open_ = true;
};

bool KilledForMemory(const CallParties& parties, const CallOptions& options) {
  if (parties.memory.killed) return true;
  return parties.cgroup != nullptr && parties.cgroup->OutOfMemoryKills() > options.out_of_memory_kills_before;
}

int64_t PeakBytes(const CallParties& parties) {
  return std::max<int64_t>(parties.memory.peak_bytes, parties.cgroup != nullptr ? parties.cgroup->MemoryPeakBytes() : 0);
}

}  // namespace

StopClock::Act StopClock::Begin(Stop stop, absl::Time now) {
  stop_ = stop;
  kill_at_ = now + limits_.wall_grace;
  again_at_ = now + limits_.wall_grace / 2;  // code that swallowed the first one gets a second
  return limits_.wall_grace > absl::ZeroDuration() ? Act::kInterrupt : Act::kKill;
}

StopClock::Act StopClock::Tick(absl::Time now, absl::Duration cpu) {
  if (stop_ == Stop::kNone) {
    if (now >= deadline_) return Begin(Stop::kTimeout, now);
    if (limits_.cpu.has_value() && cpu >= *limits_.cpu) return Begin(Stop::kCpu, now);
    return Act::kNothing;
  }
  if (now >= kill_at_) {
    kill_at_ = absl::InfiniteFuture();
    again_at_ = absl::InfiniteFuture();
    return Act::kKill;
  }
  if (now >= again_at_) {
    again_at_ = absl::InfiniteFuture();
    return Act::kInterrupt;
  }
  return Act::kNothing;
}

StopClock::Act StopClock::Request(absl::Time now) {
  if (stop_ == Stop::kNone) return Begin(Stop::kInterrupt, now);
  kill_at_ = absl::InfiniteFuture();
  return Act::kKill;
}

absl::Duration StopClock::UntilNext(absl::Time now) const {
  absl::Time next = stop_ == Stop::kNone ? deadline_ : std::min(kill_at_, again_at_);
  return std::max(next - now, absl::ZeroDuration());
}

absl::Status RunPythonCall(const CallParties& parties, absl::string_view code, CallOptions options, Record& record) {
  absl::Time start = absl::Now();
  record.started_at = start;
  OutputPump pump(parties.policy, options.redact, options.execute.on_event, options.on_whole_text, start, record);
  pump.AddLate(options.late_output, options.late_errors);
  EgressLog egress(parties.egress, parties.policy, pump, record);
  PythonCall call(parties, options, pump, egress, start);
  absl::Status status = call.Run(code);
  egress.Finish();
  pump.Finish();
  CELLBLOCK_RETURN_IF_ERROR(status);
  Evidence& evidence = call.evidence();
  evidence.timeout = options.timeout;
  record.receipt.wall = absl::Now() - start;
  record.receipt.cpu = parties.cpu.Read();
  record.receipt.processes_killed = call.killed();
  evidence.out_of_memory = KilledForMemory(parties, options);
  record.receipt.memory_peak_bytes = PeakBytes(parties);
  record.receipt.threads_kept = evidence.done.has_value() ? static_cast<int64_t>(evidence.done->threads & 0xffff) : 0;
  Classify(evidence, parties.policy, record);
  return absl::OkStatus();
}

absl::Status RunBashCall(const CallParties& parties, absl::string_view code, const confine::Spec& spec, int seccomp_fd, const std::vector<std::string>& environment, CallOptions options,
                         Record& record) {
  absl::Time start = absl::Now();
  record.started_at = start;
  OutputPump pump(parties.policy, options.redact, options.execute.on_event, options.on_whole_text, start, record);
  pump.AddLate(options.late_output, options.late_errors);
  EgressLog egress(parties.egress, parties.policy, pump, record);
  BashCall call(parties, options, pump, egress, start);
  absl::Status status = call.Run(code, spec, seccomp_fd, environment);
  egress.Finish();
  pump.Finish();
  if (absl::IsResourceExhausted(status)) {  // the guest's own processes are as many as they may be
    record.status = CallStatus::kRejected;
    record.reason = absl::StrCat("bash could not start: ", std::string(status.message()), " (limits.processes); end some");
    record.receipt.limits_hit.push_back({"processes", std::string(status.message())});
    return absl::OkStatus();
  }
  CELLBLOCK_RETURN_IF_ERROR(status);
  Evidence& evidence = call.evidence();
  evidence.worker_lives = parties.worker != nullptr && !parties.memory.killed && evidence.exit->known && !sys::WaitForExit(parties.worker->pidfd(), 0).ok();
  if (!evidence.worker_lives && parties.worker != nullptr) parties.worker->Kill();  // whatever keeps it from ending by itself
  evidence.timeout = options.timeout;
  record.receipt.wall = absl::Now() - start;
  record.receipt.cpu = std::max(parties.cpu.Read(), evidence.exit->cpu);  // that of bash alone is exact
  evidence.out_of_memory = KilledForMemory(parties, options);
  record.receipt.memory_peak_bytes = PeakBytes(parties);
  Classify(evidence, parties.policy, record);
  return absl::OkStatus();
}

}  // namespace cellblock::supervise
