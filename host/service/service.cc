// See service.h. Sessions and the service itself; calls stand in calls.cc, files and artifacts in files.cc.
#include "service/service.h"

#include <algorithm>
#include <chrono>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "service/errors.h"
#include "service/running.h"
#include "sys/memory.h"
#include "sys/random_id.h"

namespace cellblock::service {
namespace {

constexpr absl::Duration kPruneEvery = absl::Minutes(10);
constexpr absl::Duration kTryAgainSoon = absl::Seconds(1);
constexpr absl::Duration kTryAgainLater = absl::Seconds(10);

store::LifeState StateAfter(EndCause cause) {
  switch (cause) {
    case EndCause::kIdle:
    case EndCause::kLifeOver: return store::LifeState::kExpired;
    case EndCause::kLost: return store::LifeState::kDied;
    case EndCause::kClosed:
    case EndCause::kServerStopped: return store::LifeState::kClosed;
  }
  return store::LifeState::kClosed;
}

absl::StatusOr<LeaseTerms> TermsFor(const NewSession& wanted, const Policy& policy) {
  LeaseTerms terms = {wanted.idle.value_or(policy.session.idle), wanted.life.value_or(policy.session.life)};
  auto refuse = [&](absl::string_view field, absl::Duration asked, absl::Duration allowed, absl::string_view key) {
    return absl::InvalidArgumentError(absl::StrCat(field, ": ", absl::FormatDuration(asked), " is not from 1s to ", absl::FormatDuration(allowed), ", which policy ", policy.name, " allows (", key, ")"));
  };
  if (terms.life < absl::Seconds(1) || terms.life > policy.session.life) return refuse("max_life_seconds", terms.life, policy.session.life, "session.life");
  if (terms.idle < absl::Seconds(1) || terms.idle > policy.session.idle) return refuse("idle_timeout_seconds", terms.idle, policy.session.idle, "session.idle");
  terms.idle = std::min(terms.idle, terms.life);
  return terms;
}

}  // namespace

Service::Service(ServiceOptions options, HostFactory hosts, PolicyShelf& policies, store::Journal& journal, std::vector<Observer*> observers,
                 std::function<void(std::function<void()>)> background)
    : options_(std::move(options)),
      hosts_(std::move(hosts)),
      policies_(policies),
      journal_(journal),
      observers_(std::move(observers)),
      background_(std::move(background)) {}

Service::~Service() { Stop(absl::ZeroDuration()); }

absl::Status Service::NotedStatus(absl::string_view verb, absl::string_view session_id, const Request& request, absl::Status result) {
  if (result.ok()) return result;
  for (Observer* observer : observers_) observer->Refused(verb, session_id, {request.token->name, request.id}, result);
  return result;
}

// ------------------------------------------------------------------------------------------------------------------- sessions

absl::StatusOr<store::SessionEntry> Service::FindEntry(const Request& request, absl::string_view id) {
  absl::StatusOr<store::SessionEntry> entry = journal_.GetSession(id);
  // Another's session and none are one answer: ids say nothing to who guesses them.
  if (absl::IsNotFound(entry.status()) || (entry.ok() && entry->owner != request.token->name)) {
    return Error(absl::StatusCode::kNotFound, "session_not_found", absl::StrCat("there is no session \"", absl::Utf8SafeCHexEscape(id.substr(0, 100)), "\" of this token"));
  }
  return entry;
}

absl::Status Service::WhyNotLive(const Request& request, absl::string_view id) {
  CELLBLOCK_ASSIGN_OR_RETURN(store::SessionEntry entry, FindEntry(request, id));
  if (entry.state == store::LifeState::kLive) return Error(absl::StatusCode::kUnavailable, "session_ended", absl::StrCat("session ", entry.id, " is just ending"), kTryAgainSoon);
  const absl::string_view state = store::LifeStateName(entry.state);
  return Error(absl::StatusCode::kFailedPrecondition, absl::StrCat("session_", state),
               absl::StrCat("session ", entry.id, " ", state == "expired" ? "expired" : state == "died" ? "died" : "was closed", " at ",
                            absl::FormatTime(absl::RFC3339_sec, entry.ended_at, absl::UTCTimeZone()), ": ", entry.reason, "; create a new one"));
}

absl::StatusOr<Service::LivePtr> Service::Find(const Request& request, absl::string_view id) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = sessions_.find(id);
    if (found != sessions_.end() && found->second != nullptr && found->second->facts().owner == request.token->name) return found->second;
  }
  return WhyNotLive(request, id);
}

SessionInfo Service::Describe(LiveSession& live) const {
  const LiveSession::Snapshot look = live.Look();
  SessionInfo info;
  info.id = live.facts().id;
  info.policy = live.facts().policy;
  info.state = look.busy ? "busy" : look.alive ? "idle" : "no_interpreter";
  info.created_at = look.lease.created_at();
  info.last_used_at = look.lease.last_used_at();
  info.expires_at = look.lease.ExpiresAt(look.busy);
  info.life_ends_at = look.lease.life_ends_at();
  info.idle = look.lease.terms().idle;
  info.calls = look.calls;
  info.waiting = look.waiting;
  info.layers = live.session().layers();
  info.memory = live.session().memory();
  info.metadata_json = live.metadata_json();
  return info;
}

SessionInfo Service::Describe(const store::SessionEntry& entry) const {
  SessionInfo info;
  info.id = entry.id;
  info.policy = entry.policy;
  info.state = std::string(store::LifeStateName(entry.state));
  info.created_at = entry.created_at;
  info.metadata_json = entry.metadata_json;
  info.ended_at = entry.ended_at;
  info.reason = entry.reason;
  info.number = entry.number;
  return info;
}

absl::Status Service::CountIn(const Token& token) {
  if (const int64_t left = memory_available_; left < options_.memory_spare_bytes) {
    return Error(absl::StatusCode::kResourceExhausted, "memory_short",
                 absl::StrCat("the machine has ", left >> 20, " MiB of memory left, and no session is made with less than ", options_.memory_spare_bytes >> 20, " MiB (spare_memory); close some, or try again later"),
                 kTryAgainLater);
  }
  std::lock_guard<std::mutex> lock(mutex_);
  if (sessions_counted_ >= options_.sessions_max) {
    return Error(absl::StatusCode::kResourceExhausted, "too_many_sessions", absl::StrCat("the server holds ", options_.sessions_max, " sessions, as many as it may (sessions_max); try again later"),
                 kTryAgainLater);
  }
  if (sessions_of_[token.name] >= token.sessions_max) {
    return Error(absl::StatusCode::kResourceExhausted, "too_many_sessions",
                 absl::StrCat("token ", token.name, " holds ", token.sessions_max, " sessions, as many as it may; close one, or wait until one expires"), kTryAgainLater);
  }
  ++sessions_counted_;
  ++sessions_of_[token.name];
  return absl::OkStatus();
}

void Service::CountOut(const std::string& owner) {
  std::lock_guard<std::mutex> lock(mutex_);
  --sessions_counted_;
  if (--sessions_of_[owner] == 0) sessions_of_.erase(owner);
  changed_.notify_all();
}

absl::StatusOr<std::string> Service::Claim(const Request& request, absl::string_view target) {
  if (request.idempotency_key.empty()) return std::string(target);
  absl::StatusOr<std::string> claimed = journal_.ClaimRequest(request.token->name, request.idempotency_key, request.content_sha256, target, absl::Now());
  if (absl::IsFailedPrecondition(claimed.status())) {
    return Error(absl::StatusCode::kInvalidArgument, "idempotency_key_reused", "the idempotency key was used for another request; a key stands for one request, sent again unchanged");
  }
  if (!claimed.ok()) return StoreStatus(claimed.status());
  return claimed;
}

absl::StatusOr<SessionInfo> Service::CreateSession(const Request& request, const NewSession& wanted) {
  auto create = [&]() -> absl::StatusOr<SessionInfo> {
    CELLBLOCK_ASSIGN_OR_RETURN(const std::string id, Claim(request, sys::RandomId("s-")));
    if (!request.idempotency_key.empty()) {
      if (absl::StatusOr<SessionInfo> made = GetSession(request, id); !absl::IsNotFound(made.status())) return made;
    }
    // An id whose session is not there was claimed a moment ago, or before a crash: whoever enters it here makes it.
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (!sessions_.try_emplace(id, nullptr).second) {
        return Error(absl::StatusCode::kAborted, "request_in_progress", "the same request is being worked on; ask again for its answer", kTryAgainSoon);
      }
    }
    absl::StatusOr<SessionInfo> made = MakeSession(request, wanted, id);
    if (made.ok()) return made;
    if (!request.idempotency_key.empty()) (void)journal_.ForgetRequest(request.token->name, request.idempotency_key, id, true);
    std::lock_guard<std::mutex> lock(mutex_);
    sessions_.erase(id);
    return made;
  };
  return Noted("create_session", "", request, create());
}

absl::StatusOr<SessionInfo> Service::MakeSession(const Request& request, const NewSession& wanted, const std::string& id) {
  const absl::Time began = absl::Now();
  const Token& token = *request.token;
  if (stopping_) return Error(absl::StatusCode::kUnavailable, "stopping", "the server is stopping and takes no new sessions", kTryAgainLater);
  if (wanted.metadata_json.size() > kMetadataBytesMax) return absl::InvalidArgumentError(absl::StrCat("metadata: more than ", kMetadataBytesMax, " bytes"));
  CELLBLOCK_ASSIGN_OR_RETURN(Policy policy, policies_.Find(wanted.policy));
  if (!MayUsePolicy(token, wanted.policy)) {
    return Error(absl::StatusCode::kPermissionDenied, "policy_not_allowed", absl::StrCat("token ", token.name, " may not use policy ", wanted.policy));
  }
  policy = WithLimitsOf(token, std::move(policy));
  CELLBLOCK_ASSIGN_OR_RETURN(const LeaseTerms terms, TermsFor(wanted, policy));
  CELLBLOCK_RETURN_IF_ERROR(CountIn(token));
  absl::Cleanup count_out = [&] { CountOut(token.name); };
  CELLBLOCK_ASSIGN_OR_RETURN(const std::shared_ptr<Host> host, hosts_(policy.python.environment));
  SessionOptions session_options;
  session_options.id = id;
  session_options.seed = wanted.seed;
  session_options.environment = wanted.environment;
  AttachedShared attached;
  absl::Cleanup unpin = [&] { Unpin(attached); };
  CELLBLOCK_RETURN_IF_ERROR(PinAttached(request, wanted, &attached));
  for (const auto& [path, file] : attached) session_options.attached.push_back({path, journal_.ContentPath(file)});
  CELLBLOCK_ASSIGN_OR_RETURN(std::unique_ptr<Session> session, host->CreateSession(policy, session_options));
  store::SessionEntry entry;
  entry.id = id;
  entry.owner = token.name;
  entry.policy = wanted.policy;
  entry.metadata_json = wanted.metadata_json;
  entry.created_at = absl::Now();
  CELLBLOCK_RETURN_IF_ERROR(StoreStatus(journal_.AddSession(entry)));
  const SessionFacts facts = {id, token.name, wanted.policy};
  const LivePtr live = std::make_shared<LiveSession>(facts, wanted.metadata_json, terms, entry.created_at, std::move(session));
  SessionInfo info = Describe(*live);  // as it is made: whoever learns of it sees it so
  {
    std::lock_guard<std::mutex> lock(mutex_);
    sessions_[id] = live;
    if (!attached.empty()) attached_of_[id] = std::move(attached);
  }
  std::move(unpin).Cancel();
  std::move(count_out).Cancel();
  for (Observer* observer : observers_) observer->SessionCreated(facts, {token.name, request.id}, absl::Now() - began, live->session().start_timings());
  return info;
}

absl::StatusOr<SessionInfo> Service::GetSession(const Request& request, absl::string_view id) {
  CELLBLOCK_ASSIGN_OR_RETURN(const LivePtr live, Find(request, id));
  return Describe(*live);
}

absl::StatusOr<std::vector<SessionInfo>> Service::ListSessions(const Request& request, int64_t before, int64_t count) {
  CELLBLOCK_ASSIGN_OR_RETURN(const std::vector<store::SessionEntry> entries, journal_.ListSessions(request.token->name, before, count));
  std::vector<SessionInfo> list;
  for (const store::SessionEntry& entry : entries) {
    absl::StatusOr<LivePtr> live = absl::NotFoundError("");
    if (entry.state == store::LifeState::kLive) live = Find(request, entry.id);
    list.push_back(live.ok() ? Describe(**live) : Describe(entry));
    list.back().number = entry.number;
  }
  return list;
}

absl::StatusOr<SessionInfo> Service::RenewSession(const Request& request, absl::string_view id, std::optional<absl::Duration> idle) {
  auto renew = [&]() -> absl::StatusOr<SessionInfo> {
    CELLBLOCK_ASSIGN_OR_RETURN(const LivePtr live, Find(request, id));
    const absl::Duration allowed = live->session().policy().session.idle;
    if (idle.has_value() && (*idle < absl::Seconds(1) || *idle > allowed)) {
      return absl::InvalidArgumentError(absl::StrCat("idle_timeout_seconds: ", absl::FormatDuration(*idle), " is not from 1s to ", absl::FormatDuration(allowed), " (session.idle)"));
    }
    live->Renew(absl::Now(), idle);
    return Describe(*live);
  };
  return Noted("renew", id, request, renew());
}

absl::StatusOr<SessionInfo> Service::RestartSession(const Request& request, absl::string_view id) {
  auto restart = [&]() -> absl::StatusOr<SessionInfo> {
    CELLBLOCK_ASSIGN_OR_RETURN(const LivePtr live, Find(request, id));
    CELLBLOCK_RETURN_IF_ERROR(EnterWait(*request.token));
    absl::Cleanup leave = [&] { LeaveWait(*request.token); };
    LiveSession::Ticket ticket;
    {
      CELLBLOCK_ASSIGN_OR_RETURN(LiveSession::Turn turn, live->TakeTurn(ticket));
      CELLBLOCK_RETURN_IF_ERROR(turn.session().Restart());
    }
    return Describe(*live);
  };
  return Noted("restart", id, request, restart());
}

absl::Status Service::InterruptSession(const Request& request, absl::string_view id) {
  const absl::StatusOr<LivePtr> live = Find(request, id);
  if (!live.ok()) return NotedStatus("interrupt", id, request, live.status());
  std::vector<RunningPtr> calls;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [call_id, running] : running_) {
      if (running->live == *live) calls.push_back(running);
    }
  }
  for (const RunningPtr& running : calls) {
    std::lock_guard<std::mutex> lock(running->mutex);
    if (running->stage != Running::Stage::kTurn) continue;
    running->cancelled = true;  // it is just starting, and is interrupted as soon as it can be
    return absl::OkStatus();
  }
  (*live)->Interrupt();
  return absl::OkStatus();
}

absl::Status Service::CloseSession(const Request& request, absl::string_view id) {
  absl::StatusOr<LivePtr> live = Find(request, id);
  if (live.ok()) {
    End(*live, EndCause::kClosed, "its owner closed it");
    return absl::OkStatus();
  }
  // Whoever asks twice wanted it gone, and it is.
  const absl::StatusOr<store::SessionEntry> entry = FindEntry(request, id);
  return NotedStatus("close", id, request, entry.status());
}

void Service::End(const LivePtr& live, EndCause cause, const std::string& reason) {
  if (live->BeginEnd(reason)) FinishEnd(live, cause, reason);
}

void Service::FinishEnd(const LivePtr& live, EndCause cause, const std::string& reason) {
  const store::LifeState state = StateAfter(cause);
  live->WaitForTurn();
  const SessionFacts& facts = live->facts();
  if (absl::Status ended = journal_.EndSession(facts.id, state, reason, absl::Now()); !ended.ok()) {
    Log(LogLevel::kError, absl::StrCat("the end of session ", facts.id, " could not be kept: ", ended.message()), {facts.id, {}});
  }
  AttachedShared attached;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    sessions_.erase(facts.id);
    if (const auto found = attached_of_.find(facts.id); found != attached_of_.end()) {
      attached = std::move(found->second);
      attached_of_.erase(found);
    }
  }
  Unpin(attached);
  for (Observer* observer : observers_) observer->SessionEnded(facts, store::LifeStateName(state), cause, reason);
  CountOut(facts.owner);
}

// -------------------------------------------------------------------------------------------------------------------- the service

std::vector<Service::LivePtr> Service::AllLiveLocked() const {
  std::vector<LivePtr> live;
  for (const auto& [id, session] : sessions_) {
    if (session != nullptr) live.push_back(session);
  }
  return live;
}

Load Service::Look() {
  Load load;
  std::vector<LivePtr> live;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    live = AllLiveLocked();
    load.starting_or_ending = std::max<int64_t>(0, sessions_counted_ - static_cast<int64_t>(live.size()));
    load.calls_running = static_cast<int64_t>(running_.size());
  }
  for (const LivePtr& session : live) {
    const LiveSession::Snapshot look = session->Look();
    ++(look.busy ? load.busy : look.alive ? load.idle : load.no_interpreter);
    load.calls_waiting += look.waiting;
    load.memory_bytes += session->session().memory().bytes;
  }
  load.calls_running = std::max<int64_t>(0, load.calls_running - load.calls_waiting);
  return load;
}

void Service::Sweep(absl::Time now) {
  if (options_.memory_spare_bytes > 0) {
    const sys::MachineMemory memory = sys::ReadMachineMemory();
    memory_available_ = memory.total_bytes > 0 ? memory.available_bytes : std::numeric_limits<int64_t>::max();
  }
  std::vector<LivePtr> live;
  bool prune = false;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    live = AllLiveLocked();
    if (now - pruned_at_ >= kPruneEvery) {
      prune = true;
      pruned_at_ = now;
    }
  }
  for (const LivePtr& session : live) {
    const std::optional<LiveSession::Over> over = session->LookForEnd(now);
    if (over.has_value() && session->BeginEnd(over->reason)) background_([this, session, over] { FinishEnd(session, over->cause, over->reason); });
  }
  journal_.RetryEnds();
  if (journal_.has_long_log()) background_([this] { (void)journal_.Checkpoint(); });  // else it is tried again
  if (!prune) return;
  background_([this, now] {
    if (absl::Status pruned = journal_.Prune(now); !pruned.ok()) Log(LogLevel::kError, absl::StrCat("old entries of the journal could not be removed: ", pruned.message()));
  });
}

void Service::Stop(absl::Duration limit) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (stopping_.exchange(true)) return;
  changed_.wait_for(lock, absl::ToChronoMilliseconds(limit), [&] { return running_.empty(); });
  const std::string reason = "the server was stopped";
  // Again and again: a session that was just being made when the stop was asked for comes later than the others.
  while (!running_.empty() || sessions_counted_ > 0) {
    std::vector<LivePtr> ending = AllLiveLocked();
    lock.unlock();
    // All are told before the first is waited for; one that is ending already is left to whoever ends it.
    std::erase_if(ending, [&](const LivePtr& session) { return !session->BeginEnd(reason); });
    for (const LivePtr& session : ending) FinishEnd(session, EndCause::kServerStopped, reason);
    ending.clear();
    lock.lock();
    changed_.wait_for(lock, std::chrono::milliseconds(100), [&] { return running_.empty() && sessions_counted_ == 0; });
  }
}

}  // namespace cellblock::service
