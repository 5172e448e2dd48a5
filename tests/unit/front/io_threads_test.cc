// The server's threads: one that blocks is replaced, no more block than may, and nothing that waits for one is forgotten.
#include "front/http/io_threads.h"

#include <algorithm>
#include <atomic>
#include <boost/asio/post.hpp>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "gtest/gtest.h"

namespace cellblock::front {
namespace {

bool Eventually(const std::function<bool()>& condition) {
  for (const absl::Time end = absl::Now() + absl::Seconds(60); !condition();) {
    if (absl::Now() > end) return false;
    absl::SleepFor(absl::Milliseconds(1));
  }
  return true;
}

// Holds whoever comes, until it is opened.
class Gate {
 public:
  void Pass() {
    std::unique_lock<std::mutex> lock(mutex_);
    ++inside_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
  }
  void Open() {
    std::lock_guard<std::mutex> lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  bool Holds(int count) {
    std::unique_lock<std::mutex> lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(60), [&] { return inside_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int inside_ = 0;
  bool open_ = false;
};

TEST(IoThreadsTest, OthersAnswerWhileAsManyBlockAsMay) {
  Gate gate;
  IoThreads threads(3);
  for (int i = 0; i < 3; ++i) threads.Background([&] { gate.Pass(); });
  ASSERT_TRUE(gate.Holds(3));
  EXPECT_FALSE(threads.TryBlock().has_value());
  std::atomic<bool> answered = false;
  boost::asio::post(threads.context(), [&] { answered = true; });
  EXPECT_TRUE(Eventually([&] { return answered.load(); }));
  gate.Open();
  EXPECT_TRUE(Eventually([&] { return threads.TryBlock().has_value(); })) << "who has ended gives its place back";
}

TEST(IoThreadsTest, WorkBeyondTheBoundWaitsAndIsDoneInTheEnd) {
  std::atomic<int> now = 0, most = 0, done = 0;
  IoThreads threads(2);
  for (int i = 0; i < 100; ++i) {
    threads.Background([&] {
      const int count = ++now;
      for (int seen = most; count > seen && !most.compare_exchange_weak(seen, count);) {
      }
      absl::SleepFor(absl::Microseconds(100));
      --now;
      ++done;
    });
  }
  EXPECT_TRUE(Eventually([&] { return done == 100; }));
  EXPECT_EQ(most, 2);
}

// The last thread that blocks may end in the moment in which work finds no place.
TEST(IoThreadsTest, WorkThatFindsNoPlaceIsNotForgottenWhenOneBecomesFreeJustThen) {
  constexpr int kEach = 20'000;
  std::atomic<int> done = 0;
  IoThreads threads(1);
  for (int i = 0; i < kEach; ++i) {
    threads.Background([&] { ++done; });
    threads.Background([&] { ++done; });
    // Mostly it is a matter of microseconds: a sleep each time would be most of the test.
    for (int tries = 0; tries < 1000 && done < 2 * (i + 1); ++tries) std::this_thread::yield();
    ASSERT_TRUE(Eventually([&] { return done == 2 * (i + 1); })) << "round " << i;
  }
}

TEST(IoThreadsTest, WhereTheMachineGivesNoMoreThreadsOneIsLeftToAnswer) {
  IoThreads threads(64);
  pthread_attr_t usual, endless;
  ASSERT_EQ(pthread_getattr_default_np(&usual), 0);
  ASSERT_EQ(pthread_attr_init(&endless), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&endless, size_t{1} << 46), 0);  // a stack that no address space has
  ASSERT_EQ(pthread_setattr_default_np(&endless), 0);
  {
    const std::optional<IoThreads::Blocking> first = threads.TryBlock();  // of the two that there are
    EXPECT_TRUE(first.has_value());
    EXPECT_FALSE(threads.TryBlock().has_value());
  }
  std::atomic<bool> done = false;
  threads.Background([&] { done = true; });
  EXPECT_TRUE(Eventually([&] { return done.load(); }));
  ASSERT_EQ(pthread_setattr_default_np(&usual), 0);
  const std::optional<IoThreads::Blocking> first = threads.TryBlock(), second = threads.TryBlock();
  EXPECT_TRUE(first.has_value() && second.has_value());
  pthread_attr_destroy(&endless);
  pthread_attr_destroy(&usual);
}

// Spare threads come back however often they were put away, also when several are needed at the same moment.
TEST(IoThreadsTest, ThreadsThatWereSpareBlockAgain) {
  IoThreads threads(8);
  for (int round = 0; round < 200; ++round) {
    Gate gate;
    std::atomic<int> done = 0;
    const int count = 1 + round % 8;
    for (int i = 0; i < count; ++i) {
      threads.Background([&] {
        gate.Pass();
        ++done;
      });
    }
    ASSERT_TRUE(gate.Holds(count)) << "round " << round;
    std::atomic<bool> answered = false;
    boost::asio::post(threads.context(), [&] { answered = true; });
    ASSERT_TRUE(Eventually([&] { return answered.load(); })) << "round " << round;
    gate.Open();
    ASSERT_TRUE(Eventually([&] { return done == count; })) << "round " << round;
  }
}

TEST(IoThreadsTest, StopWaitsForWhatRunsAndNothingBlocksThen) {
  Gate gate;
  std::atomic<bool> ran = false;
  IoThreads threads(1);
  threads.Background([&] {
    gate.Pass();
    ran = true;
  });
  ASSERT_TRUE(gate.Holds(1));
  std::thread opener([&] { gate.Open(); });
  threads.Stop();
  opener.join();
  EXPECT_TRUE(ran);
  EXPECT_FALSE(threads.TryBlock().has_value());
}

}  // namespace
}  // namespace cellblock::front
