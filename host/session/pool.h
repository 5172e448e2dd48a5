// Workers made ahead of their sessions: forked, locked down, rehearsed and waiting, so that a session is handed out and not built. They
// are kept by kind: policies that differ only in what a worker can be told at its start share one. How many of a kind are ready follows
// how often it is asked for, between a minimum and a maximum. Supervisor. Thread-safe.
//
// No user code has run in a ready worker, so its rlimits may still be as high as the machine's: its session's are set before any does.
#ifndef CELLBLOCK_SESSION_POOL_H_
#define CELLBLOCK_SESSION_POOL_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "cellblock/host.h"
#include "cellblock/policy.h"
#include "session/place.h"
#include "supervise/memory_watch.h"
#include "supervise/worker.h"
#include "sys/process.h"

namespace cellblock::session {

// kInvalidArgument names the option and its range.
absl::Status CheckPoolOptions(const PoolOptions& options);

struct Ready {
  static absl::StatusOr<std::unique_ptr<Ready>> Make(HostImpl& host, const Policy& policy);
  bool is_alive() const { return worker->zygote_lives() && !sys::HasEnded(worker->pidfd()) && !sys::HasEnded(place->jail->pidfd.get()); }

  std::unique_ptr<Place> place;               // outlives the worker
  std::unique_ptr<supervise::Worker> worker;
  supervise::Baseline held;                   // see HeldBy
  int64_t private_bytes = 0;                  // what it costs by itself
  absl::Time made_at;
};

// `policy` with everything at its default that a ready worker can be given later: two policies that are equal then are of one kind.
Policy KindOf(Policy policy);

// How many of a kind are to be ready, by how often it is asked for. Pure.
class Demand {
 public:
  Demand(int64_t least, int64_t most) : least_(least), most_(most), target_(least) {}
  // Somebody asked; `left`: how many are ready after it, or -1 if there was none to give.
  void Asked(int64_t left, absl::Time now);
  int64_t Target(absl::Time now);             // falls again as time goes by
  int64_t last_target() const { return target_; }
  absl::Time asked_at() const { return asked_at_; }

 private:
  int64_t least_, most_, target_;
  int64_t spare_ = 0;                         // the fewest that were left since the target last changed
  absl::Time asked_at_ = absl::InfinitePast(), changed_at_ = absl::InfinitePast();
};

inline constexpr size_t kKindsMax = 16;                           // beyond it, the one that was not asked for longest gives way
inline constexpr absl::Duration kShrinkAfter = absl::Seconds(30);  // of a target that was not needed
inline constexpr absl::Duration kForgetAfter = absl::Minutes(60);  // a kind that nobody asks for

class Pool {
 public:
  Pool(HostImpl& host, const PoolOptions& options);
  ~Pool();  // ends what is ready

  // One that is ready for `policy`, or null, and then the caller builds its own. Counts as demand either way.
  std::unique_ptr<Ready> Take(const Policy& policy);
  PoolUsage usage() const;

  // While one is there, a session is being built because none was ready. As many as there are processors, and none is made ahead.
  class Building {
   public:
    explicit Building(Pool& pool) : pool_(pool) { pool_.CountBuilding(1); }
    ~Building() { pool_.CountBuilding(-1); }
    Building(const Building&) = delete;
    Building& operator=(const Building&) = delete;

   private:
    Pool& pool_;
  };

 private:
  struct Kind {
    Policy key;
    Policy policy;                            // the one last asked for: ready ones are made under its limits
    Demand demand;
    std::deque<std::unique_ptr<Ready>> ready;  // oldest first
    absl::Time try_again_at = absl::InfinitePast();
  };
  using Lock = std::unique_lock<std::mutex>;
  using Ended = std::vector<std::unique_ptr<Ready>>;

  void CountBuilding(int64_t change);
  void Loop();
  Kind& FindKind(const Policy& policy, Ended& ended);
  Kind* NextToFill(absl::Time now, Ended& ended);
  void MakeOne(const Policy& key, const Policy& policy, Lock& lock, Ended& ended);  // lets go of the lock meanwhile
  void RemoveOld(absl::Time now, Ended& ended);
  void LetGo(Kind& kind, Ended& ended);
  int64_t ReadyBytes() const;
  int64_t ReadyCount() const;

  HostImpl& host_;
  const PoolOptions options_;
  mutable std::mutex mutex_;                  // of what follows
  std::condition_variable changed_;
  std::list<Kind> kinds_;                     // the last asked for first
  bool stop_ = false;
  int64_t building_ = 0;
  absl::Time asked_at_ = absl::InfinitePast();  // by anybody
  PoolUsage usage_;                           // its counters
  int64_t usual_bytes_ = 0;                   // the most that one has cost yet
  std::thread thread_;                        // where ready_max is above 0
};

}  // namespace cellblock::session

#endif  // CELLBLOCK_SESSION_POOL_H_
