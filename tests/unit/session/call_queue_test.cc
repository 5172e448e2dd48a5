// Calls of one session: in order, and not without end. User ids: one a session.
#include <atomic>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "session/session_impl.h"

namespace cellblock::session {
namespace {

TEST(CallQueueTest, OneRunsAndABoundedNumberWait) {
  CallQueue queue(2);
  ASSERT_TRUE(queue.Enter());
  std::atomic<int> order = 0;
  std::vector<int> ran;
  std::vector<std::thread> waiting;
  for (int i = 0; i < 2; ++i) {
    waiting.emplace_back([&, i] {
      EXPECT_TRUE(queue.Enter());
      ran.push_back(i);
      queue.Leave();
      ++order;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_FALSE(queue.Enter()) << "the third to wait";
  EXPECT_FALSE(queue.TryEnter());
  EXPECT_EQ(order, 0);
  queue.Leave();
  for (std::thread& thread : waiting) thread.join();
  EXPECT_EQ(ran, (std::vector<int>{0, 1}));
  EXPECT_TRUE(queue.TryEnter());
}

TEST(CallQueueTest, WithoutAQueueOneCallStillRuns) {
  CallQueue queue(0);
  EXPECT_TRUE(queue.Enter());
  EXPECT_FALSE(queue.Enter());
  queue.Leave();
  EXPECT_TRUE(queue.Enter());
}

TEST(UserIdsTest, AreDistinctBoundedAndReusedLast) {
  UserIds ids(100, 3);
  uint32_t a = *ids.Take(), b = *ids.Take();
  ids.Give(a);
  uint32_t c = *ids.Take();
  EXPECT_NE(c, a) << "not used again right away";
  EXPECT_NE(b, c);
  uint32_t d = *ids.Take();
  EXPECT_EQ(d, a);
  EXPECT_FALSE(ids.Take().ok());
}

}  // namespace
}  // namespace cellblock::session
