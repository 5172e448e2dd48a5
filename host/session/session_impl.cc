// See session_impl.h. Start and layers stand in session_start.cc.
#include "session/session_impl.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "capture/utf8.h"
#include "confine/test_layer_switches.h"
#include "session/birth.h"
#include "session/receipt.h"
#include "session/requests.h"
#include "session/workspace.h"
#include "supervise/jail_processes.h"
#include "supervise/memory_watch.h"
#include "supervise/outcome.h"
#include "sys/files.h"
#include "sys/memory.h"
#include "sys/process.h"
#include "sys/random_id.h"

namespace cellblock::session {
namespace {

constexpr size_t kLateBytesMax = 256 * 1024;  // of each stream, written between two calls; what is beyond is dropped

void AppendBounded(int fd, std::string& text) {
  std::array<char, 65536> chunk;
  for (int i = 0; i < 16; ++i) {  // a writer that never stops must not hold the watch
    ssize_t count = read(fd, chunk.data(), chunk.size());
    if (count <= 0) return;
    size_t room = kLateBytesMax - std::min(kLateBytesMax, text.size());
    text.append(chunk.data(), std::min(room, static_cast<size_t>(count)));
  }
}

}  // namespace

bool CallQueue::Enter() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (static_cast<int64_t>(next_ticket_ - serving_) > waiting_max_) return false;  // one runs, the rest wait
  uint64_t ticket = next_ticket_++;
  turn_.wait(lock, [&] { return serving_ == ticket; });
  return true;
}

bool CallQueue::TryEnter() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (next_ticket_ != serving_) return false;
  ++next_ticket_;
  return true;
}

void CallQueue::Leave() {
  std::lock_guard<std::mutex> lock(mutex_);
  ++serving_;
  turn_.notify_all();
}

SessionImpl::SessionImpl(std::shared_ptr<HostImpl> host, const Policy& policy, const SessionOptions& options)
    : host_(std::move(host)), policy_(policy), options_(options), id_(options.id.empty() ? sys::RandomId("s-") : options.id), queue_(policy.session.queue) {}

SessionImpl::~SessionImpl() {
  host_->watch().Remove(this);
  worker_.reset();
  place_.reset();
  host_->SessionEnded();
}

absl::StatusOr<Record> SessionImpl::Execute(absl::string_view code, const ExecuteOptions& options) {
  CELLBLOCK_RETURN_IF_ERROR(CheckCall(policy_, code, options));
  CELLBLOCK_RETURN_IF_ERROR(WaitForTurn());
  absl::Cleanup leave = [this] { queue_.Leave(); };
  return ExecuteNow(code, options);
}

absl::Status SessionImpl::WaitForTurn() {
  if (queue_.Enter()) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat("a call is running and ", policy_.session.queue, " wait (session.queue); try again when one has ended"));
}

// Also one that was ended between calls: the call that comes then has not run.
bool SessionImpl::alive() const {
  if (!alive_ || idle_memory_.is_busy()) return alive_;
  std::lock_guard<std::mutex> lock(watched_mutex_);
  return worker_ != nullptr && !sys::HasEnded(worker_->pidfd());
}

Record SessionImpl::Rejected(const char* reason) {
  Record record;
  record.status = CallStatus::kRejected;
  record.session_state = alive() ? SessionState::kKept : SessionState::kGone;
  record.reason = reason;
  record.started_at = absl::Now();
  return record;
}

absl::StatusOr<Record> SessionImpl::ExecuteNow(absl::string_view code, const ExecuteOptions& options) {
  Record record;
  int64_t number = ++calls_;
  if (options.language == Language::kBash && !(policy_.languages.bash && policy_.languages.subprocesses)) {
    record = Rejected("bash is off in this policy (languages.bash, languages.subprocesses)");
  } else if (options.language == Language::kPython && !policy_.languages.python) {
    record = Rejected("Python is off in this policy (languages.python)");
  } else if (!alive_ || (!memory_.killed && !alive())) {  // the watch's reason is told by the call that comes then
    record = Rejected(lost() ? "the session's processes were ended, and no restart brings them back; create a new session" : "the session's interpreter has ended; restart the session (its files are kept)");
  } else {
    uploaded_bytes_ = 0;
    if (files_changed_.exchange(false) || !disk_.has_value() || kept_busy_) disk_ = supervise::ReadDiskUse(*place_->jail);
    FullOutput full(policy_.artifacts, host_->store());
    absl::Status ran = RunCall(code, options, full, record);
    if (!ran.ok()) {
      Abandon(record);
      return ran;
    }
    Left left = LookAtWhatIsLeft();
    EndIfOverMemory(left, record);
    CleanUpAfter(record);
    FillReceipt(left, record);
    record.call = number;  // artifacts carry it
    CollectArtifacts(record);
    full.Finish(record);
    host_->CountArtifacts(record.artifacts);
  }
  record.id = options.id.empty() ? sys::RandomId("x-") : options.id;
  record.session_id = id_;
  record.call = number;
  record.receipt.layers = layers_;
  record.receipt.limits = DescribeLimits(policy_, options.timeout);
  return record;
}

absl::Status SessionImpl::RunCall(absl::string_view code, const ExecuteOptions& options, FullOutput& full, Record& record) {
  supervise::CallOptions call;
  call.execute = options;
  call.number = calls_;
  call.timeout = std::min(options.timeout.value_or(policy_.limits.wall), policy_.limits.wall);
  call.interrupt_fd = interrupt_.get();
  call.redact = redact_;
  if (policy_.artifacts.full_output_bytes > 0) call.on_whole_text = [&full](Event::Type stream, absl::string_view text) { full.Append(stream, text); };
  ForgetInterrupts();
  if (options.on_started) options.on_started();
  {
    std::lock_guard<std::mutex> lock(watched_mutex_);
    DrainIdle();
    call.late_output = std::move(late_output_);
    call.late_errors = std::move(late_errors_);
    late_output_.clear();
    late_errors_.clear();
    idle_memory_.BeginUse();
  }
  absl::Cleanup idle = [this] { idle_memory_.EndUse(absl::Now()); };
  if (!memory_.killed) memory_.peak_bytes = 0;  // else it says why this call cannot run
  memory_.processes_peak = 0;
  if (place_->cgroup != nullptr) {
    call.out_of_memory_kills_before = place_->cgroup->OutOfMemoryKills();  // between calls too a thread may have been killed
    place_->cgroup->ResetPeak();
  }
  supervise::CallParties parties = {policy_, *place_->jail, worker_.get(), place_->cgroup.get(), memory_, BeginMeter(), place_->egress.get()};
  if (options.language == Language::kBash) {
    CELLBLOCK_ASSIGN_OR_RETURN(int filter, host_->FilterFor(policy_, place_->cgroup != nullptr));
    std::vector<std::string> environment = EnvironmentFor(policy_, place_->egress.get(), options_);
    for (const auto& [name, value] : options.environment) environment.push_back(absl::StrCat(name, "=", value));
    return supervise::RunBashCall(parties, code, SpecFor(policy_, *place_, cpus_, worker_->zygote_data_bytes()), filter, environment, std::move(call), record);
  }
  return supervise::RunPythonCall(parties, code, std::move(call), record);
}

// An idle session uses no time that the next call need not count; one that kept threads or processes does.
supervise::CpuMeter& SessionImpl::BeginMeter() {
  if (cpu_.has_value() && !kept_busy_) {
    cpu_->BeginCall();
  } else {
    cpu_.emplace(std::vector<sys::ProcReader*>{&worker_->process(), &*place_->jail->process}, place_->cgroup.get());
  }
  return *cpu_;
}

SessionImpl::Left SessionImpl::LookAtWhatIsLeft() {
  Left left;
  left.disk = supervise::ReadDiskUse(*place_->jail);
  if (place_->cgroup == nullptr) left.worker = worker_->process().ReadUsage();
  return left;
}

// A call that is over between two looks of the watch has not outrun the limit.
void SessionImpl::EndIfOverMemory(const Left& left, Record& record) {
  if (place_->cgroup != nullptr || record.session_state == SessionState::kGone) return;
  if (left.disk.used_bytes + left.worker.resident - baseline_.resident <= policy_.limits.memory_bytes) return;
  std::lock_guard<std::mutex> lock(watched_mutex_);
  EndOverMemory();
  if (!memory_.killed) return;
  record.exit_code.reset();
  record.receipt.memory_peak_bytes = std::max<int64_t>(record.receipt.memory_peak_bytes, memory_.peak_bytes);
  supervise::Evidence evidence;
  evidence.exit = supervise::WorkerExit{};
  evidence.exit->known = true;
  evidence.exit->signal = SIGKILL;
  evidence.out_of_memory = true;
  supervise::Classify(evidence, policy_, record);
}

// What cannot be brought to an end by asking ends with its jail: the session is over, restart included.
void SessionImpl::Abandon(Record& record) {
  record.session_state = SessionState::kGone;
  if (record.reason.empty()) record.reason = "the session ended: what the call left behind could not be brought to an end";
  alive_ = false;
  kept_busy_ = false;
  std::unique_ptr<supervise::Worker> worker = TakeWorker();
  (void)sys::SendSignal(place_->jail->pidfd.get(), SIGKILL);
}

void SessionImpl::CleanUpAfter(Record& record) {
  bool gone = record.session_state == SessionState::kGone;
  if (gone) {
    alive_ = false;
    TakeWorker().reset();
  }
  // Looked for from outside, whatever the worker says of its children.
  bool others = !supervise::HasNoOthers(*place_->jail, worker_ != nullptr ? &worker_->process() : nullptr, &record.receipt.threads_kept);
  record.receipt.processes_peak = std::max<int64_t>(memory_.processes_peak, 1 + record.receipt.threads_kept);
  if (others && (gone || !policy_.keep_processes)) {
    wire::KillOthers request;
    request.worker_pid = worker_ != nullptr ? static_cast<uint64_t>(worker_->pid_in_jail()) : 0;
    uint64_t killed = 0;
    absl::StatusOr<sys::Message> answer = place_->jail->init->Ask(wire::EncodeMessage(request), {}, kKillDeadline, &killed);
    if (!answer.ok()) return Abandon(record);
    // Those that were killed together with the worker may have been seen by both.
    record.receipt.processes_killed = std::max(record.receipt.processes_killed, static_cast<int64_t>(killed));
  }
  record.receipt.processes_peak = std::max(record.receipt.processes_peak, 1 + record.receipt.processes_killed);
  kept_busy_ = record.receipt.threads_kept > 0 || (others && policy_.keep_processes);
}

void SessionImpl::FillReceipt(const Left& left, Record& record) {
  record.receipt.written_bytes = std::max<int64_t>(0, left.disk.used_bytes - disk_->used_bytes - uploaded_bytes_) + record.receipt.output_bytes;
  record.receipt.memory_peak_bytes = std::max<int64_t>(record.receipt.memory_peak_bytes, memory_.peak_bytes);
  if (place_->cgroup == nullptr && worker_ != nullptr) {
    // The high-water mark is the process's: the call's own where the call has raised it.
    int64_t mark = left.worker.resident_peak;
    int64_t peak = (mark > std::exchange(high_water_, mark) ? mark : left.worker.resident) - baseline_.resident;
    record.receipt.memory_peak_bytes = std::max(record.receipt.memory_peak_bytes, peak);
  }
  AddLimitsHit(policy_, *disk_, left.disk, record);
  AddDenials(policy_, record);
  disk_ = left.disk;
  if (record.receipt.processes_killed > 0) disk_.reset();  // what they held open is free now
}

void SessionImpl::CollectArtifacts(Record& record) {
  std::lock_guard<std::mutex> lock(files_mutex_);
  if (!collector_.has_value() || !snapshot_.has_value()) return;
  absl::StatusOr<artifact::Collection> collection = collector_->Collect(*snapshot_, record.call);
  if (!collection.ok()) {
    record.receipt.limits_hit.push_back({"artifacts", absl::StrCat("the workspace could not be read: ", std::string(collection.status().message()))});
    return;
  }
  record.artifacts = std::move(collection->artifacts);
  for (LimitHit& hit : collection->limits_hit) record.receipt.limits_hit.push_back(std::move(hit));
  for (const artifact::FileNote& note : collection->notes) {
    if (!note.collected) record.denials.push_back({"artifact", note.path, note.text, 1});
  }
  snapshot_ = std::move(collection->after);
}

void SessionImpl::ForgetInterrupts() {
  uint64_t stale;
  [[maybe_unused]] ssize_t got = read(interrupt_.get(), &stale, sizeof(stale));
}

void SessionImpl::Interrupt() {
  uint64_t one = 1;
  [[maybe_unused]] ssize_t written = write(interrupt_.get(), &one, sizeof(one));
}

absl::Status SessionImpl::Restart() {
  CELLBLOCK_RETURN_IF_ERROR(WaitForTurn());
  absl::Cleanup leave = [this] { queue_.Leave(); };
  alive_ = false;
  disk_.reset();
  TakeWorker().reset();
  {
    std::lock_guard<std::mutex> lock(watched_mutex_);
    late_output_.clear();
    late_errors_.clear();
  }
  // Nothing may run any more that could change what is removed next.
  CELLBLOCK_RETURN_IF_ERROR(place_->jail->init->Ask(wire::EncodeMessage(wire::KillOthers{}), {}, kKillDeadline).status());
  EmptyFolder(place_->jail->shm.get(), place_->user_id);  // memory of processes that are no more; /workspace and /tmp are files, which stay
  StartTimings again;  // those of the start stay
  CELLBLOCK_ASSIGN_OR_RETURN(std::unique_ptr<supervise::Worker> worker, ForkWorker(policy_, options_, cpus_, *place_, &again));
  const supervise::Baseline held = HeldBy(*worker, *place_);
  Serve(std::move(worker), held);
  return absl::OkStatus();
}

void SessionImpl::DrainIdle() {
  if (worker_ == nullptr) return;
  AppendBounded(worker_->output_fd(), late_output_);
  AppendBounded(worker_->errors_fd(), late_errors_);
}

// Its destructor waits for its end, which may take seconds: not with the lock held.
std::unique_ptr<supervise::Worker> SessionImpl::TakeWorker() {
  cpu_.reset();
  std::lock_guard<std::mutex> lock(watched_mutex_);
  return std::move(worker_);
}

// An idle session without a cgroup is looked at as well as a busy one: whether a worker is idle, it alone knows.
bool SessionImpl::Tick() {
  std::unique_lock<std::mutex> lock(watched_mutex_, std::try_to_lock);
  if (!lock.owns_lock() || worker_ == nullptr) return false;
  const bool busy = idle_memory_.is_busy();
  if (!busy && kept_busy_) DrainIdle();
  if (place_->cgroup != nullptr) {
    if (busy || kept_busy_) memory_.processes_peak = std::max<int64_t>(memory_.processes_peak, place_->cgroup->Processes() - 1);  // without the jail's init
    return false;
  }
  // Its process session would weigh as much as this whole process: many that compute would leave nothing to answer calls with.
  if (!yields_) yields_ = sys::LowerAutogroup(worker_->process().pid());
  supervise::MemorySample sample;
  return MayBeOverMemory(&sample);
}

void SessionImpl::LookCloser() {
  std::lock_guard<std::mutex> lock(watched_mutex_);
  if (worker_ != nullptr && place_->cgroup == nullptr) EndOverMemory();
}

SessionMemory SessionImpl::memory() const {
  SessionMemory memory;
  memory.level = idle_memory_.Level(absl::Now());
  memory.bytes = place_->cgroup != nullptr ? place_->cgroup->MemoryBytes() : memory_.now_bytes.load();
  if (place_->cgroup != nullptr && sys::HasSwap()) memory.swapped_bytes = place_->cgroup->SwappedBytes();
  return memory;
}

bool SessionImpl::MayBeOverMemory(supervise::MemorySample* sample) {
  *sample = supervise::SampleMemory(*place_->jail, worker_->process(), baseline_);
  memory_.processes_peak = std::max<int64_t>(memory_.processes_peak, sample->processes);
  memory_.now_bytes = sample->bytes;
  if (sample->bytes > policy_.limits.memory_bytes) return true;
  memory_.peak_bytes = std::max<int64_t>(memory_.peak_bytes, sample->bytes);
  return false;
}

void SessionImpl::EndOverMemory() {
  supervise::MemorySample sample;
  if (!MayBeOverMemory(&sample)) return;
  int64_t bytes = supervise::CloserLook(*place_->jail, worker_->process(), baseline_, worker_->zygote_sharers(), sample, policy_.limits.memory_bytes);
  memory_.peak_bytes = std::max<int64_t>(memory_.peak_bytes, bytes);
  if (bytes <= policy_.limits.memory_bytes || confine::IsLayerSwitchedOff("watch")) return;
  if (beside_.has_value()) {
    beside_->memory->killed = true;
    beside_->worker->Kill();
    return;
  }
  memory_.killed = true;
  worker_->Kill();
  supervise::KillAllInJail(*place_->jail, &worker_->process());
}

}  // namespace cellblock::session
