// The Host's background threads. The first looks at every session ten times a second: it keeps the memory limit where no cgroup does, and
// lets idle sessions' pipes never fill. The second takes the closer looks that the first asks for, one after another. Supervisor.
#ifndef CELLBLOCK_SUPERVISE_WATCH_H_
#define CELLBLOCK_SUPERVISE_WATCH_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "absl/time/time.h"

namespace cellblock::supervise {

inline constexpr absl::Duration kWatchInterval = absl::Milliseconds(100);

class Watched {
 public:
  virtual ~Watched() = default;
  virtual bool Tick() = 0;        // on the watch's thread; short, never waits. True: it wants a closer look
  virtual void LookCloser() = 0;  // soon after, on a thread of its own: what is dear to look at delays nobody's Tick
};

// Thread-safe.
class Watch {
 public:
  // `first` runs on the thread before its loop, `last` after it: the nest belongs to this thread, which outlives every session.
  Watch(std::function<void()> first, std::function<void()> last);
  ~Watch();
  void Add(Watched* watched);
  void Remove(Watched* watched);  // returns once nothing of it runs; what runs of others is not waited for

 private:
  struct Item {
    int looks = 0;         // that run now
    bool wanted = false;   // waits for a closer one
    bool leaving = false;
  };
  using Lock = std::unique_lock<std::mutex>;

  void Loop();
  void CloserLoop();
  void TickAll(Lock& lock);
  template <typename Look>
  void RunUnlocked(Lock& lock, Watched* watched, Look look);

  std::mutex mutex_;
  std::condition_variable stopped_, wanted_changed_, look_ended_;
  std::map<Watched*, Item> all_;
  std::deque<Watched*> wanted_;  // each at most once; some may have left since
  bool stop_ = false;
  std::function<void()> first_, last_;
  std::thread closer_thread_;
  std::thread thread_;
};

}  // namespace cellblock::supervise

#endif  // CELLBLOCK_SUPERVISE_WATCH_H_
