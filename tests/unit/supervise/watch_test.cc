// Who waits for whom in the watch.
#include "supervise/watch.h"

#include <atomic>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"

namespace cellblock::supervise {
namespace {

constexpr absl::Duration kLong = absl::Seconds(20);

class Quick : public Watched {
 public:
  bool Tick() override {
    ++ticks_;
    return false;
  }
  void LookCloser() override { ++closer_; }
  bool TicksAgain() {
    int seen = ticks_;
    for (absl::Time until = absl::Now() + kLong; absl::Now() < until && ticks_ <= seen + 1;) absl::SleepFor(absl::Milliseconds(5));
    return ticks_ > seen + 1;
  }
  std::atomic<int> ticks_ = 0, closer_ = 0;
};

// Its first look, close or not, lasts until it is let go.
class Slow : public Watched {
 public:
  explicit Slow(bool slow_tick) : slow_tick_(slow_tick) {}
  bool Tick() override {
    if (slow_tick_ && !inside_.HasBeenNotified()) Stay();
    return !slow_tick_;
  }
  void LookCloser() override {
    if (!inside_.HasBeenNotified()) Stay();
    ++closer_;
  }
  void Stay() {
    inside_.Notify();
    let_go_.WaitForNotificationWithTimeout(kLong);
    left_ = true;
  }
  const bool slow_tick_;
  absl::Notification inside_, let_go_;
  std::atomic<bool> left_ = false;
  std::atomic<int> closer_ = 0;
};

TEST(WatchTest, RunsFirstAndLastOnTheThreadThatTicks) {
  std::thread::id first, last;
  {
    Watch watch([&] { first = std::this_thread::get_id(); }, [&] { last = std::this_thread::get_id(); });
  }
  EXPECT_EQ(first, last);
  EXPECT_NE(first, std::thread::id());
}

TEST(WatchTest, ACloserLookDelaysNobodyElse) {
  Watch watch([] {}, [] {});
  Slow slow(/*slow_tick=*/false);
  Quick quick, late;
  watch.Add(&slow);
  watch.Add(&quick);
  ASSERT_TRUE(slow.inside_.WaitForNotificationWithTimeout(kLong));
  EXPECT_TRUE(quick.TicksAgain());
  watch.Add(&late);
  EXPECT_TRUE(late.TicksAgain());
  watch.Remove(&late);
  watch.Remove(&quick);
  EXPECT_EQ(quick.closer_, 0) << "it never asked";
  EXPECT_FALSE(slow.left_);
  slow.let_go_.Notify();
  watch.Remove(&slow);
}

TEST(WatchTest, ATickInProgressKeepsNobodyFromComingAndGoing) {
  Watch watch([] {}, [] {});
  Quick quick, late;
  Slow slow(/*slow_tick=*/true);
  watch.Add(&quick);
  EXPECT_TRUE(quick.TicksAgain());
  watch.Add(&slow);
  ASSERT_TRUE(slow.inside_.WaitForNotificationWithTimeout(kLong));
  watch.Add(&late);
  watch.Remove(&late);
  watch.Remove(&quick);
  EXPECT_FALSE(slow.left_);
  slow.let_go_.Notify();
  watch.Remove(&slow);
}

TEST(WatchTest, RemoveWaitsForItsOwnLooks) {
  for (bool slow_tick : {true, false}) {
    Watch watch([] {}, [] {});
    Slow slow(slow_tick);
    watch.Add(&slow);
    ASSERT_TRUE(slow.inside_.WaitForNotificationWithTimeout(kLong));
    std::thread letting([&] {
      absl::SleepFor(absl::Milliseconds(150));
      slow.let_go_.Notify();
    });
    watch.Remove(&slow);
    EXPECT_TRUE(slow.left_);
    int closer = slow.closer_;
    absl::SleepFor(2 * kWatchInterval);
    EXPECT_EQ(slow.closer_, closer);
    letting.join();
  }
}

TEST(WatchTest, LooksCloserAsOftenAsItIsAsked) {
  Watch watch([] {}, [] {});
  Slow slow(/*slow_tick=*/false);
  slow.let_go_.Notify();
  watch.Add(&slow);
  for (absl::Time until = absl::Now() + kLong; absl::Now() < until && slow.closer_ < 3;) absl::SleepFor(absl::Milliseconds(5));
  EXPECT_GE(slow.closer_, 3);
  watch.Remove(&slow);
}

}  // namespace
}  // namespace cellblock::supervise
