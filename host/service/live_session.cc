// See live_session.h.
#include "service/live_session.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "service/errors.h"

namespace cellblock::service {

absl::Status LiveSession::EndedLocked() const {
  return Error(absl::StatusCode::kFailedPrecondition, "session_ended", absl::StrCat("session ", facts_.id, " is ending: ", end_reason_));
}

absl::Status LiveSession::Queue(Ticket& ticket) {
  std::lock_guard<std::mutex> lock(mutex_);
  return QueueLocked(ticket);
}

absl::Status LiveSession::QueueLocked(Ticket& ticket) {
  if (ending_) return EndedLocked();
  const int64_t waiting_max = session_->policy().session.queue;
  // Whoever is first, with nobody at work, waits for nothing.
  if (static_cast<int64_t>(waiting_.size()) >= waiting_max + (taken_ ? 0 : 1)) {
    return Error(absl::StatusCode::kResourceExhausted, "queue_full",
                 absl::StrCat("a call is running on session ", facts_.id, " and ", waiting_max, " wait (session.queue): it was not started; try again when one has ended"), absl::Seconds(1));
  }
  waiting_.push_back(&ticket);
  ticket.queued = true;
  return absl::OkStatus();
}

void LiveSession::Leave(Ticket& ticket) {
  std::lock_guard<std::mutex> lock(mutex_);
  LeaveLocked(ticket);
  turn_.notify_all();  // it may have been the first
}

void LiveSession::LeaveLocked(Ticket& ticket) {
  std::erase(waiting_, &ticket);
  ticket.queued = false;
}

absl::StatusOr<LiveSession::Turn> LiveSession::TakeTurn(Ticket& ticket) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (!ticket.queued) {
    if (absl::Status status = QueueLocked(ticket); !status.ok()) return status;
  }
  turn_.wait(lock, [&] { return ticket.cancelled || ending_ || (!taken_ && waiting_.front() == &ticket); });
  LeaveLocked(ticket);
  if (ticket.cancelled || ending_) {
    turn_.notify_all();
    if (ending_) return EndedLocked();
    return Error(absl::StatusCode::kAborted, "cancelled", "the call was taken out of the queue before it started");
  }
  taken_ = true;
  return Turn(this);
}

std::string LiveSession::end_reason() {
  std::lock_guard<std::mutex> lock(mutex_);
  return ending_ ? end_reason_ : "";
}

void LiveSession::Cancel(Ticket& ticket) {
  std::lock_guard<std::mutex> lock(mutex_);
  ticket.cancelled = true;
  turn_.notify_all();
}

void LiveSession::GiveTurn() {
  std::lock_guard<std::mutex> lock(mutex_);
  taken_ = false;
  lease_.Use(absl::Now());
  if (!waiting_.empty() || ending_) turn_.notify_all();
}

bool LiveSession::BeginEnd(const std::string& reason) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (ending_) return false;
  ending_ = true;
  end_reason_ = reason;
  if (taken_) session_->Interrupt();
  turn_.notify_all();
  return true;
}

// A call that was just beginning has missed the interrupt of BeginEnd, and gets another. Not before the first one's grace is over: a
// second interrupt of one call kills.
void LiveSession::WaitForTurn() {
  const auto patience = absl::ToChronoMilliseconds(session_->policy().limits.wall_grace + absl::Seconds(1));
  std::unique_lock<std::mutex> lock(mutex_);
  while (!turn_.wait_for(lock, patience, [&] { return !taken_; })) session_->Interrupt();
}

absl::Status LiveSession::Use(absl::Time now) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (ending_) return EndedLocked();
  lease_.Use(now);
  return absl::OkStatus();
}

void LiveSession::Renew(absl::Time now, std::optional<absl::Duration> idle) {
  std::lock_guard<std::mutex> lock(mutex_);
  lease_.Extend(now, idle.value_or(lease_.terms().idle));
}

std::optional<LiveSession::Over> LiveSession::LookForEnd(absl::Time now) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (ending_) return std::nullopt;
  if (!taken_ && session_->lost()) return Over{EndCause::kLost, "its processes were ended, from outside or because a call left what could not be brought to an end"};
  std::string why = lease_.WhyOver(now, taken_ || !waiting_.empty());
  if (why.empty()) return std::nullopt;
  return Over{now >= lease_.life_ends_at() ? EndCause::kLifeOver : EndCause::kIdle, std::move(why)};
}

LiveSession::Snapshot LiveSession::Look() {
  std::lock_guard<std::mutex> lock(mutex_);
  return {lease_, taken_, session_->alive(), static_cast<int64_t>(waiting_.size()), calls_};
}

void LiveSession::CountCall() {
  std::lock_guard<std::mutex> lock(mutex_);
  ++calls_;
}

}  // namespace cellblock::service
