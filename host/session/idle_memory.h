// Whether a session is busy, and what has been done about its memory since it is not. Supervisor. Thread-safe.
#ifndef CELLBLOCK_SESSION_IDLE_MEMORY_H_
#define CELLBLOCK_SESSION_IDLE_MEMORY_H_

#include <mutex>

#include "absl/time/time.h"
#include "cellblock/host.h"

namespace cellblock::session {

// As long as the worker waits before it gives memory back (guest/worker.cc), and then some.
inline constexpr absl::Duration kGivenBackAfter = absl::Seconds(2);

class IdleMemory {
 public:
  explicit IdleMemory(absl::Time now) : idle_since_(now) {}

  void BeginUse() {
    std::lock_guard<std::mutex> lock(mutex_);
    busy_ = true;
  }
  void EndUse(absl::Time now) {
    std::lock_guard<std::mutex> lock(mutex_);
    busy_ = false;
    idle_since_ = now;
  }
  bool is_busy() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return busy_;
  }
  MemoryLevel Level(absl::Time now) const {
    std::lock_guard<std::mutex> lock(mutex_);
    return busy_ || now - idle_since_ < kGivenBackAfter ? MemoryLevel::kInUse : MemoryLevel::kGivenBack;
  }

 private:
  mutable std::mutex mutex_;
  bool busy_ = false;
  absl::Time idle_since_;
};

}  // namespace cellblock::session

#endif  // CELLBLOCK_SESSION_IDLE_MEMORY_H_
