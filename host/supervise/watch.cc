// See watch.h.
#include "supervise/watch.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace cellblock::supervise {

Watch::Watch(std::function<void()> first, std::function<void()> last) : first_(std::move(first)), last_(std::move(last)), thread_([this] { Loop(); }) {}

Watch::~Watch() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Watch::Add(Watched* watched) {
  std::lock_guard<std::mutex> lock(mutex_);
  all_.push_back(watched);
}

void Watch::Remove(Watched* watched) {
  std::lock_guard<std::mutex> lock(mutex_);
  all_.erase(std::remove(all_.begin(), all_.end(), watched), all_.end());
}

void Watch::Loop() {
  first_();
  {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!stop_) {
      for (Watched* watched : all_) watched->Tick();
      wake_.wait_for(lock, absl::ToChronoMilliseconds(kWatchInterval), [this] { return stop_; });
    }
  }
  last_();
}

}  // namespace cellblock::supervise
