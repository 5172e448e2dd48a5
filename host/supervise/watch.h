// The Host's one background thread: looks at every session ten times a second. It keeps the memory limit where no cgroup does, and
// lets idle sessions' pipes never fill. Supervisor.
#ifndef CELLBLOCK_SUPERVISE_WATCH_H_
#define CELLBLOCK_SUPERVISE_WATCH_H_

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/time/time.h"

namespace cellblock::supervise {

inline constexpr absl::Duration kWatchInterval = absl::Milliseconds(100);

class Watched {
 public:
  virtual ~Watched() = default;
  virtual void Tick() = 0;  // on the watch's thread; short
};

// Thread-safe.
class Watch {
 public:
  // `first` runs on the thread before its loop, `last` after it: the nest belongs to this thread, which outlives every session.
  Watch(std::function<void()> first, std::function<void()> last);
  ~Watch();
  void Add(Watched* watched);
  void Remove(Watched* watched);  // returns once no Tick of it runs

 private:
  void Loop();
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Watched*> all_;
  bool stop_ = false;
  std::function<void()> first_, last_;
  std::thread thread_;
};

}  // namespace cellblock::supervise

#endif  // CELLBLOCK_SUPERVISE_WATCH_H_
