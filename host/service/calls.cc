// See service.h: calls, from the request to the record that the journal keeps.
#include <unistd.h>

#include <algorithm>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "render/record_json.h"
#include "service/errors.h"
#include "service/running.h"
#include "service/service.h"
#include "sys/random_id.h"

namespace cellblock::service {
namespace {

constexpr size_t kLargeRecordBytes = 256 * 1024;
constexpr absl::Duration kTryAgainSoon = absl::Seconds(1);

absl::string_view LanguageName(Language language) { return language == Language::kBash ? "bash" : "python"; }

std::vector<store::ArtifactEntry> EntriesOf(const Record& record) {
  std::vector<store::ArtifactEntry> entries;
  for (const Artifact& artifact : record.artifacts) {
    store::ArtifactEntry entry;
    entry.id = artifact.id;
    entry.session_id = record.session_id;
    entry.execution_id = record.id;
    entry.path = artifact.path;
    entry.size_bytes = artifact.size_bytes;
    entry.mime = artifact.mime;
    entry.sha256 = artifact.sha256;
    entry.created = artifact.created;
    entry.call = artifact.call;
    entry.image_size = artifact.image_size;
    entry.stored_at = artifact.stored_at;
    entries.push_back(std::move(entry));
  }
  return entries;
}

// It had started, and how it ended nobody knows: it is not run again.
CallAnswer LostAnswer(const store::ExecutionEntry& entry, absl::string_view why) {
  Record record;
  record.id = entry.id;
  record.session_id = entry.session_id;
  record.status = CallStatus::kLost;
  record.session_state = SessionState::kGone;
  record.started_at = entry.accepted_at;
  record.reason = std::string(why);
  return CallAnswer{entry.id, std::make_shared<const std::string>(render::RenderRecordJson(record)), std::move(record)};
}
constexpr absl::string_view kNotKept = "the call ran, and its record could not be kept";

}  // namespace

absl::StatusOr<Service::Accepted> Service::Accept(const Request& request, absl::string_view session_id, const NewCall& wanted, bool detached) {
  if (stopping_) return Error(absl::StatusCode::kUnavailable, "stopping", "the server is stopping and takes no new calls", absl::Seconds(10));
  const absl::StatusOr<LivePtr> found = Find(request, session_id);
  if (!found.ok()) {
    CELLBLOCK_ASSIGN_OR_RETURN(std::optional<CallAnswer> before, AnswerOfEndedSession(request));
    if (before.has_value()) return Accepted{nullptr, true, std::move(before)};
    return found.status();
  }
  const LivePtr& live = *found;
  Accepted accepted;
  accepted.running = std::make_shared<Running>();
  Running& running = *accepted.running;
  running.live = live;
  running.request = request;
  running.language = wanted.language;
  running.accepted_at = absl::Now();
  running.detached = detached;
  running.code = wanted.code;
  CELLBLOCK_ASSIGN_OR_RETURN(running.id, Claim(request, sys::RandomId("x-")));
  const bool keyed = !request.idempotency_key.empty();
  if (keyed) {
    const absl::StatusOr<CallAnswer> answer = AnswerFromJournal(running.id);
    if (answer.ok()) {
      accepted.answer = *answer;
      return accepted;
    }
  }
  CELLBLOCK_ASSIGN_OR_RETURN(const RunningPtr other, Enter(accepted.running));
  if (other != nullptr) {
    ++other->others;
    return Accepted{other, true, std::nullopt};
  }
  if (keyed) {
    absl::StatusOr<std::optional<CallAnswer>> answer = AnswerOfEntered(running);
    if (!answer.ok() || answer->has_value()) {
      Forget(running, answer.ok() ? absl::StatusOr<CallAnswer>(**answer) : answer.status());
      CELLBLOCK_RETURN_IF_ERROR(answer.status());
      accepted.answer = *std::move(*answer);
      return accepted;
    }
  }
  if (const absl::Status queued = live->Queue(running.ticket); !queued.ok()) {
    if (keyed) (void)journal_.ForgetRequest(request.token->name, request.idempotency_key, running.id, false);
    Forget(running, queued);
    return queued;
  }
  if (!keyed && !detached) return accepted;
  // What can be asked for again stands in the journal before it starts.
  store::ExecutionEntry entry;
  entry.id = running.id;
  entry.session_id = live->facts().id;
  entry.language = std::string(LanguageName(wanted.language));
  entry.code = wanted.code;
  entry.accepted_at = running.accepted_at;
  const absl::Status written = StoreStatus(journal_.AddExecution(entry));
  running.written = written.ok();
  if (written.ok()) return accepted;
  live->Leave(running.ticket);
  if (keyed) (void)journal_.ForgetRequest(request.token->name, request.idempotency_key, running.id, false);
  Forget(running, written);
  return written;
}

absl::Status Service::WhyNoMoreCalls(const Token& token) const {
  const auto found = calls_of_.find(token.name);
  const int64_t calls = found == calls_of_.end() ? 0 : found->second;
  if (static_cast<int64_t>(running_.size()) + waits_ < options_.calls_max && calls < token.calls_max) return absl::OkStatus();
  return Error(absl::StatusCode::kResourceExhausted, "too_many_calls",
               absl::StrCat("as many calls run or wait as may (", std::min(options_.calls_max, token.calls_max), "): this one was not started; try again when one has ended"), kTryAgainSoon);
}

absl::Status Service::EnterWait(const Token& token) {
  std::lock_guard<std::mutex> lock(mutex_);
  CELLBLOCK_RETURN_IF_ERROR(WhyNoMoreCalls(token));
  ++calls_of_[token.name];
  ++waits_;
  return absl::OkStatus();
}

void Service::LeaveWait(const Token& token) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (--calls_of_[token.name] == 0) calls_of_.erase(token.name);
  --waits_;
}

// Null: it is among those that run or wait. Else the one that is there already under its id.
absl::StatusOr<Service::RunningPtr> Service::Enter(const RunningPtr& running) {
  const Request& request = running->request;
  std::lock_guard<std::mutex> lock(mutex_);
  const auto other = running_.find(running->id);
  if (other != running_.end()) return other->second;
  const absl::Status full = WhyNoMoreCalls(*request.token);
  if (full.ok()) {
    ++calls_of_[request.token->name];
    running_.emplace(running->id, running);
    return RunningPtr();
  }
  // With the lock held: whoever enters under this key later finds that its claim is gone.
  if (!request.idempotency_key.empty()) (void)journal_.ForgetRequest(request.token->name, request.idempotency_key, running->id, false);
  return full;
}

// A call that ran has its answer also when its session has ended since.
absl::StatusOr<std::optional<CallAnswer>> Service::AnswerOfEndedSession(const Request& request) {
  if (request.idempotency_key.empty()) return std::optional<CallAnswer>();
  const std::string unused = sys::RandomId("x-");
  CELLBLOCK_ASSIGN_OR_RETURN(const std::string id, Claim(request, unused));
  absl::StatusOr<CallAnswer> answer = AnswerFromJournal(id);
  if (answer.ok()) return std::optional<CallAnswer>(*std::move(answer));
  if (id == unused) (void)journal_.ForgetRequest(request.token->name, request.idempotency_key, id, false);
  return std::optional<CallAnswer>();
}

// Between the claim of its key and its entry another request of that key may have run to its end, or been refused and given the key back.
absl::StatusOr<std::optional<CallAnswer>> Service::AnswerOfEntered(const Running& running) {
  CELLBLOCK_ASSIGN_OR_RETURN(const std::string id, Claim(running.request, running.id));
  if (id != running.id) return Error(absl::StatusCode::kAborted, "request_in_progress", "the same request is being worked on; ask again for its answer", kTryAgainSoon);
  const absl::StatusOr<store::ExecutionEntry> entry = journal_.GetExecution(running.id);
  if (absl::IsNotFound(entry.status())) return std::optional<CallAnswer>();
  CELLBLOCK_RETURN_IF_ERROR(entry.status());
  if (entry->state == store::CallState::kRunning) return std::optional<CallAnswer>(LostAnswer(*entry, kNotKept));  // nobody runs it
  CELLBLOCK_ASSIGN_OR_RETURN(CallAnswer answer, AnswerFromJournal(running.id));
  return std::optional<CallAnswer>(std::move(answer));
}

void Service::Forget(Running& running, const absl::StatusOr<CallAnswer>& answer) {
  {
    std::lock_guard<std::mutex> lock(running.mutex);
    running.answer = std::make_shared<const absl::StatusOr<CallAnswer>>(answer);
    running.done.notify_all();
  }
  std::lock_guard<std::mutex> lock(mutex_);
  const std::string& owner = running.request.token->name;
  if (--calls_of_[owner] == 0) calls_of_.erase(owner);
  running_.erase(running.id);
  if (running_.empty()) changed_.notify_all();
}

absl::StatusOr<CallAnswer> Service::WaitFor(Running& running) {
  std::unique_lock<std::mutex> lock(running.mutex);
  running.done.wait(lock, [&] { return running.answer != nullptr; });
  absl::StatusOr<CallAnswer> answer = *running.answer;
  if (answer.ok()) answer->record.reset();
  return answer;
}

absl::StatusOr<CallAnswer> Service::AnswerFromJournal(absl::string_view execution_id) {
  CELLBLOCK_ASSIGN_OR_RETURN(store::ExecutionEntry entry, journal_.GetExecution(execution_id));
  if (entry.state == store::CallState::kDone) return CallAnswer{entry.id, std::make_shared<const std::string>(std::move(entry.record_json)), std::nullopt};
  if (entry.state == store::CallState::kRunning) return Error(absl::StatusCode::kNotFound, "still_running", "the call still runs");
  return LostAnswer(entry, entry.status == store::kStarted ? "the server ended while the call ran: how far it came is not known" : "the server ended before the call started: it did not run");
}

absl::StatusOr<CallAnswer> Service::RunToEnd(const RunningPtr& running, const NewCall& wanted) {
  absl::StatusOr<CallAnswer> answer = RunOnTurn(*running, wanted);
  Forget(*running, answer);
  return answer;
}

bool Service::Begin(Running& running) {
  std::lock_guard<std::mutex> lock(running.mutex);
  if (!running.cancelled) running.stage = Running::Stage::kTurn;
  return !running.cancelled;
}

// Whoever took it back since it got its turn could not reach it, and left it to be done here: once, for a second interrupt kills.
void Service::Started(Running& running) {
  std::lock_guard<std::mutex> lock(running.mutex);
  running.stage = Running::Stage::kStarted;
  if (running.cancelled) running.live->Interrupt();
}

ExecuteOptions Service::OptionsFor(Running& running, const NewCall& wanted) {
  ExecuteOptions options;
  options.id = running.id;
  options.language = wanted.language;
  options.timeout = wanted.timeout;
  options.environment = wanted.environment;
  options.on_started = [this, &running] { Started(running); };
  options.on_event = wanted.on_event;
  if (!running.detached) return options;
  options.on_event = [&running, &wanted](const Event& event, const Record& so_far) {
    if (wanted.on_event) wanted.on_event(event, so_far);
    const std::string json = render::RenderEventJson(event, so_far);
    std::lock_guard<std::mutex> lock(running.mutex);
    // Nothing after the first that has no room: what is shown has no gaps.
    running.events_cut = running.events_cut || running.events.size() + json.size() > kPartialEventsBytesMax;
    if (!running.events_cut) absl::StrAppend(&running.events, running.events.empty() ? "" : ",", json);
  };
  return options;
}

absl::StatusOr<CallAnswer> Service::RunOnTurn(Running& running, const NewCall& wanted) {
  if (wanted.on_accepted) wanted.on_accepted(running.id);
  absl::StatusOr<LiveSession::Turn> turn = running.live->TakeTurn(running.ticket);
  if (turn.ok() && !Begin(running)) turn = Error(absl::StatusCode::kAborted, "cancelled", "the call was taken back before it started");
  if (!turn.ok()) {
    // It never started: the next try may.
    if (!running.request.idempotency_key.empty()) (void)journal_.ForgetRequest(running.request.token->name, running.request.idempotency_key, running.id, true);
    if (!running.written) return turn.status();
    Record record;
    record.status = CallStatus::kRejected;
    record.reason = std::string(turn.status().message());
    record.started_at = running.accepted_at;
    CallAnswer answer;
    Keep(running, record, answer);
    if (running.detached) return answer;
    return turn.status();
  }
  if (running.written) (void)journal_.StartExecution(running.id);  // else it is not known, should it be lost, whether it had begun
  running.live->CountCall();
  CallFacts facts = {running.live->facts(), running.request.id, running.id, LanguageName(wanted.language), wanted.code, absl::Now() - running.accepted_at};
  for (Observer* observer : observers_) observer->CallStarted(facts);

  absl::StatusOr<Record> record = turn->session().Execute(wanted.code, OptionsFor(running, wanted));
  {
    std::lock_guard<std::mutex> lock(running.mutex);
    running.stage = Running::Stage::kOver;
  }
  if (!record.ok()) {
    // Nothing that the code did: the host could not do its work, or the request was none.
    if (absl::IsInvalidArgument(record.status()) && !running.request.idempotency_key.empty()) {
      (void)journal_.ForgetRequest(running.request.token->name, running.request.idempotency_key, running.id, true);
    }
    if (running.written) {
      Record lost;
      lost.status = absl::IsInvalidArgument(record.status()) ? CallStatus::kRejected : CallStatus::kLost;
      lost.reason = std::string(record.status().message());
      lost.session_state = turn->session().alive() ? SessionState::kKept : SessionState::kGone;
      lost.started_at = running.accepted_at;
      CallAnswer kept;
      Keep(running, lost, kept);
    }
    return record.status();
  }
  // Not its caller's doing, and not kept: the session ends as soon as the call has.
  if (const std::string why = running.live->end_reason(); !why.empty() && record->status == CallStatus::kInterrupted) {
    record->reason = absl::StrCat("the session was ended while the call ran: ", why);
    record->session_state = SessionState::kGone;
  }
  CallAnswer answer;
  Keep(running, *record, answer);
  for (Observer* observer : observers_) observer->CallEnded(facts, *record);
  for (std::string* text : {&record->stdout_text, &record->stderr_text}) std::string().swap(*text);
  record->events.clear();
  record->results.clear();
  answer.record = *std::move(record);
  return answer;
}

// The answer is given after the journal has it; a journal that cannot take it is no reason to withhold it.
void Service::Keep(Running& running, Record& record, CallAnswer& answer) {
  record.id = running.id;
  record.session_id = running.live->facts().id;
  answer.execution_id = running.id;
  // One large record after the other: as JSON it has up to six times the bytes, and a hundred sessions can end such calls at once.
  std::unique_lock<std::mutex> alone(large_records_, std::defer_lock);
  if (render::RecordJsonBytes(record) > kLargeRecordBytes) alone.lock();
  store::ExecutionEntry entry;
  entry.id = running.id;
  entry.session_id = record.session_id;
  entry.language = std::string(LanguageName(running.language));
  entry.accepted_at = running.accepted_at;
  entry.state = store::CallState::kDone;
  entry.call = record.call;
  entry.status = std::string(CallStatusName(record.status));
  entry.record_json = render::RenderRecordJson(record);
  entry.ended_at = absl::Now();
  entry.code = running.code;
  const absl::StatusOr<int64_t> kept = journal_.FinishExecution(entry, EntriesOf(record));
  for (const Artifact& artifact : record.artifacts) unlink(artifact.stored_at.c_str());  // the journal has it now, by its content
  answer.record_json = std::make_shared<const std::string>(std::move(entry.record_json));
  if (kept.ok()) return;
  Log(LogLevel::kError, absl::StrCat("the record of ", running.id, " could not be kept: ", kept.status().message()), {record.session_id, running.request.id});
  record.receipt.limits_hit.push_back({"journal", absl::StrCat("this record and its artifacts could not be kept: ", kept.status().message())});
  answer.record_json = std::make_shared<const std::string>(render::RenderRecordJson(record));
}

absl::StatusOr<CallAnswer> Service::Execute(const Request& request, absl::string_view session_id, const NewCall& wanted) {
  auto execute = [&]() -> absl::StatusOr<CallAnswer> {
    CELLBLOCK_ASSIGN_OR_RETURN(Accepted accepted, AcceptOrWait(request, session_id, wanted));
    return Answer(request, accepted, wanted);
  };
  return Noted("execute", session_id, request, execute());
}

// For a caller that waits: for another's call it is counted as a wait.
absl::StatusOr<Service::Accepted> Service::AcceptOrWait(const Request& request, absl::string_view session_id, const NewCall& wanted) {
  CELLBLOCK_ASSIGN_OR_RETURN(Accepted accepted, Accept(request, session_id, wanted, false));
  if (!accepted.repeated || accepted.answer.has_value()) return accepted;
  const absl::Status entered = EnterWait(*request.token);
  if (entered.ok()) return accepted;
  --accepted.running->others;
  return entered;
}

absl::StatusOr<CallAnswer> Service::Answer(const Request& request, Accepted& accepted, const NewCall& wanted) {
  if (accepted.answer.has_value()) return *std::move(accepted.answer);
  if (!accepted.repeated) return RunToEnd(accepted.running, wanted);
  absl::Cleanup leave = [&] {
    LeaveWait(*request.token);
    --accepted.running->others;
  };
  return WaitFor(*accepted.running);
}

absl::Status Service::StartWatched(const Request& request, absl::string_view session_id, NewCall wanted, std::function<void(const absl::StatusOr<CallAnswer>&)> on_end) {
  auto start = [&]() -> absl::Status {
    CELLBLOCK_ASSIGN_OR_RETURN(Accepted accepted, AcceptOrWait(request, session_id, wanted));
    background_([this, request, session = std::string(session_id), accepted = std::move(accepted), wanted = std::move(wanted), on_end = std::move(on_end)]() mutable {
      on_end(Noted("execute", session, request, Answer(request, accepted, wanted)));
    });
    return absl::OkStatus();
  };
  return NotedStatus("execute", session_id, request, start());
}

absl::StatusOr<std::string> Service::StartExecution(const Request& request, absl::string_view session_id, NewCall wanted) {
  auto start = [&]() -> absl::StatusOr<std::string> {
    CELLBLOCK_ASSIGN_OR_RETURN(Accepted accepted, Accept(request, session_id, wanted, true));
    if (accepted.answer.has_value()) return accepted.answer->execution_id;
    const std::string id = accepted.running->id;
    if (!accepted.repeated) {
      background_([this, running = accepted.running, call = std::move(wanted)] { (void)RunToEnd(running, call); });
    }
    return id;
  };
  return Noted("execute", session_id, request, start());
}

Service::RunningPtr Service::FindRunning(absl::string_view id) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = running_.find(id);
  return found == running_.end() ? nullptr : found->second;
}

void Service::ClientIsGone(const std::string& id) {
  const RunningPtr running = FindRunning(id);
  if (running != nullptr && running->others == 0) CancelExecution(id);
}

void Service::CancelExecution(const std::string& id) {
  const RunningPtr running = FindRunning(id);
  if (running == nullptr) return;
  running->live->Cancel(running->ticket);
  std::lock_guard<std::mutex> lock(running->mutex);
  running->cancelled = true;               // noticed where it starts, unless it has
  if (running->stage == Running::Stage::kStarted) running->live->Interrupt();
}

absl::StatusOr<CallInfo> Service::GetExecution(const Request& request, absl::string_view id) {
  const RunningPtr running = FindRunning(id);
  const absl::Status unknown = Error(absl::StatusCode::kNotFound, "execution_not_found", absl::StrCat("there is no execution \"", absl::Utf8SafeCHexEscape(id.substr(0, 100)), "\" of this token"));
  CallInfo info;
  if (running != nullptr) {
    if (running->request.token != request.token) return unknown;
    info.execution_id = running->id;
    info.session_id = running->live->facts().id;
    info.accepted_at = running->accepted_at;
    std::lock_guard<std::mutex> lock(running->mutex);
    info.state = running->stage == Running::Stage::kWaiting ? "waiting" : "running";
    info.events_json = absl::StrCat("[", running->events, "]");
    info.events_truncated = running->events_cut;
    return info;
  }
  absl::StatusOr<store::ExecutionEntry> entry = journal_.GetExecution(id);
  if (absl::IsNotFound(entry.status())) return unknown;
  CELLBLOCK_RETURN_IF_ERROR(entry.status());
  if (!FindEntry(request, entry->session_id).ok()) return unknown;
  info.execution_id = entry->id;
  info.session_id = entry->session_id;
  info.accepted_at = entry->accepted_at;
  info.state = entry->state == store::CallState::kDone ? "done" : "lost";
  if (entry->state == store::CallState::kRunning) info.state = "running";  // its record is just being written
  absl::StatusOr<CallAnswer> answer = AnswerFromJournal(id);
  if (answer.ok()) info.record_json = std::move(answer->record_json);
  return info;
}

absl::StatusOr<std::vector<CallAnswer>> Service::RunCells(const Request& request, const Run& run) {
  if (!request.idempotency_key.empty()) return absl::InvalidArgumentError("Idempotency-Key: a run takes none; make a session, which does");
  if (run.cells.size() > kCellsMax) return absl::InvalidArgumentError(absl::StrCat("cells: at most ", kCellsMax));
  CELLBLOCK_ASSIGN_OR_RETURN(const SessionInfo session, CreateSession(request, run.session));
  absl::Cleanup close = [&] { (void)CloseSession(request, session.id); };
  for (const auto& [path, fd] : run.files) CELLBLOCK_RETURN_IF_ERROR(PutFile(request, session.id, path, fd, "").status());
  std::vector<CallAnswer> answers;
  for (const NewCall& cell : run.cells) {
    CELLBLOCK_ASSIGN_OR_RETURN(CallAnswer answer, Execute(request, session.id, cell));
    const CallStatus status = answer.record->status;
    answers.push_back(std::move(answer));
    if (status != CallStatus::kOk && !run.keep_going) break;
  }
  return answers;
}

}  // namespace cellblock::service
