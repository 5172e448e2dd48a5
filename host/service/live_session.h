// One live session as the service holds it: the library's session, its lease, and the order of what is done on it. Supervisor.
// Thread-safe.
#ifndef CELLBLOCK_SERVICE_LIVE_SESSION_H_
#define CELLBLOCK_SERVICE_LIVE_SESSION_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "cellblock/host.h"
#include "service/lease.h"
#include "service/observer.h"

namespace cellblock::service {

class LiveSession {
 public:
  LiveSession(SessionFacts facts, std::string metadata_json, const LeaseTerms& terms, absl::Time now, std::unique_ptr<Session> session)
      : facts_(std::move(facts)), metadata_json_(std::move(metadata_json)), session_(std::move(session)), lease_(terms, now) {}

  const SessionFacts& facts() const { return facts_; }
  const std::string& metadata_json() const { return metadata_json_; }

  // Who has the turn alone runs calls, looks at variables, restarts.
  class Turn {
   public:
    Turn(Turn&&) = default;
    ~Turn() {
      if (owner_ != nullptr) owner_->GiveTurn();
    }
    Session& session() { return *owner_->session_; }

   private:
    friend class LiveSession;
    struct Disown {
      void operator()(LiveSession*) const {}
    };
    explicit Turn(LiveSession* owner) : owner_(owner) {}
    std::unique_ptr<LiveSession, Disown> owner_;  // null once moved from
  };

  // What a caller waits for its turn with, so that others can take it out of the queue.
  struct Ticket {
    bool queued = false;      // this and the next under the session's mutex
    bool cancelled = false;
  };

  // A place among those who wait; then TakeTurn or Leave must follow. Errors: queue_full, session_ended.
  absl::Status Queue(Ticket& ticket);
  void Leave(Ticket& ticket);
  // Blocks until it is the caller's turn, first come first served; queues it first if it is not. Errors: as Queue, and cancelled.
  absl::StatusOr<Turn> TakeTurn(Ticket& ticket);
  void Cancel(Ticket& ticket);                 // no effect once it has its turn

  // What runs now, if anything does: as Session::Interrupt().
  void Interrupt() { session_->Interrupt(); }

  // Why its end has begun; empty while it has not.
  std::string end_reason();

  // The first reason stands. Those who wait are sent away; who has the turn keeps it, interrupted. False: it was ending already.
  bool BeginEnd(const std::string& reason);
  // Once BeginEnd was called: until nobody has the turn any more. The session's processes end with this object.
  void WaitForTurn();

  // Somebody used it, without a turn. session_ended once its end has begun.
  absl::Status Use(absl::Time now);
  void Renew(absl::Time now, std::optional<absl::Duration> idle);
  // None: it goes on, or is ending already.
  struct Over {
    EndCause cause;
    std::string reason;
  };
  std::optional<Over> LookForEnd(absl::Time now);

  struct Snapshot {
    Lease lease;
    bool busy = false;
    bool alive = true;         // false: its interpreter has ended; a restart gives a new one
    int64_t waiting = 0;
    int64_t calls = 0;
  };
  Snapshot Look();
  void CountCall();

  // For what needs no turn: files, layers.
  Session& session() { return *session_; }

 private:
  void GiveTurn();
  absl::Status QueueLocked(Ticket& ticket);
  void LeaveLocked(Ticket& ticket);
  absl::Status EndedLocked() const;

  const SessionFacts facts_;
  const std::string metadata_json_;
  const std::unique_ptr<Session> session_;
  std::mutex mutex_;                           // of what follows
  std::condition_variable turn_;
  std::deque<Ticket*> waiting_;
  bool taken_ = false;
  bool ending_ = false;
  std::string end_reason_;
  Lease lease_;
  int64_t calls_ = 0;
};

}  // namespace cellblock::service

#endif  // CELLBLOCK_SERVICE_LIVE_SESSION_H_
