// See watch.h.
#include "supervise/watch.h"

#include <chrono>
#include <utility>
#include <vector>

namespace cellblock::supervise {

Watch::Watch(std::function<void()> first, std::function<void()> last)
    : first_(std::move(first)), last_(std::move(last)), closer_thread_([this] { CloserLoop(); }), thread_([this] { Loop(); }) {}

Watch::~Watch() {
  {
    Lock lock(mutex_);
    stop_ = true;
  }
  stopped_.notify_all();
  wanted_changed_.notify_all();
  closer_thread_.join();
  thread_.join();
}

void Watch::Add(Watched* watched) {
  Lock lock(mutex_);
  all_.try_emplace(watched);
}

void Watch::Remove(Watched* watched) {
  Lock lock(mutex_);
  auto item = all_.find(watched);
  if (item == all_.end()) return;
  item->second.leaving = true;
  look_ended_.wait(lock, [&] { return item->second.looks == 0; });
  all_.erase(item);
}

// `look` runs without the lock, and not at all when `watched` has left.
template <typename Look>
void Watch::RunUnlocked(Lock& lock, Watched* watched, Look look) {
  auto item = all_.find(watched);
  if (item == all_.end() || item->second.leaving) return;
  ++item->second.looks;
  lock.unlock();
  bool wants_closer = look();
  lock.lock();
  if (--item->second.looks == 0) look_ended_.notify_all();
  if (!wants_closer || item->second.wanted) return;
  item->second.wanted = true;
  wanted_.push_back(watched);
  wanted_changed_.notify_one();
}

void Watch::TickAll(Lock& lock) {
  std::vector<Watched*> round;
  round.reserve(all_.size());
  for (const auto& [watched, item] : all_) round.push_back(watched);
  for (Watched* watched : round) RunUnlocked(lock, watched, [watched] { return watched->Tick(); });
}

void Watch::Loop() {
  first_();
  {
    Lock lock(mutex_);
    while (!stop_) {
      TickAll(lock);
      stopped_.wait_for(lock, absl::ToChronoMilliseconds(kWatchInterval), [this] { return stop_; });
    }
  }
  last_();
}

void Watch::CloserLoop() {
  Lock lock(mutex_);
  while (true) {
    wanted_changed_.wait(lock, [this] { return stop_ || !wanted_.empty(); });
    if (stop_) return;
    Watched* watched = wanted_.front();
    wanted_.pop_front();
    auto item = all_.find(watched);
    if (item != all_.end()) item->second.wanted = false;
    RunUnlocked(lock, watched, [watched] {
      watched->LookCloser();
      return false;
    });
  }
}

}  // namespace cellblock::supervise
