// Signals of the process, handed to whoever runs a call.
#include "app/signals.h"

#include <unistd.h>

#include <condition_variable>
#include <mutex>

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace cellblock::app {
namespace {

// Waits for signals on the test's thread.
class Inbox {
 public:
  void Put(int signal) {
    std::lock_guard<std::mutex> lock(mutex_);
    signals_.push_back(signal);
    changed_.notify_all();
  }
  std::vector<int> WaitFor(size_t count) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(20), [&] { return signals_.size() >= count; });
    return signals_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<int> signals_;
};

TEST(SignalWatchTest, HandsOutWhatWouldHaveEndedTheProcess) {
  Inbox inbox;
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::unique_ptr<SignalWatch> watch, SignalWatch::Create());
  watch->SetHandler([&](int signal) { inbox.Put(signal); });
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) kill(getpid(), signal);
  EXPECT_THAT(inbox.WaitFor(3), ::testing::UnorderedElementsAre(SIGINT, SIGTERM, SIGHUP));
}

TEST(SignalWatchTest, DropsSignalsWhenNobodyListens) {
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::unique_ptr<SignalWatch> watch, SignalWatch::Create());
  kill(getpid(), SIGINT);
  absl::SleepFor(absl::Milliseconds(300));  // until the watch has read it
  Inbox inbox;
  watch->SetHandler([&](int signal) { inbox.Put(signal); });
  kill(getpid(), SIGTERM);
  EXPECT_THAT(inbox.WaitFor(1), ::testing::Contains(SIGTERM));
}

TEST(SignalWatchTest, PutsTheFormerHandlersBack) {
  struct sigaction before = {}, during = {}, after = {};
  sigaction(SIGINT, nullptr, &before);
  {
    CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::unique_ptr<SignalWatch> watch, SignalWatch::Create());
    sigaction(SIGINT, nullptr, &during);
  }
  sigaction(SIGINT, nullptr, &after);
  EXPECT_NE(during.sa_handler, before.sa_handler);
  EXPECT_EQ(after.sa_handler, before.sa_handler);
}

TEST(SignalWatchTest, LeavesAnIgnoredSignalIgnored) {
  struct sigaction ignore = {}, former = {}, during = {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGHUP, &ignore, &former);  // as nohup does
  {
    CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::unique_ptr<SignalWatch> watch, SignalWatch::Create());
    sigaction(SIGHUP, nullptr, &during);
  }
  sigaction(SIGHUP, &former, nullptr);
  EXPECT_EQ(during.sa_handler, SIG_IGN);
}

TEST(SignalWatchTest, BlocksNothingThatHelpersWouldInherit) {
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::unique_ptr<SignalWatch> watch, SignalWatch::Create());
  sigset_t mask;
  sigprocmask(SIG_SETMASK, nullptr, &mask);
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) EXPECT_EQ(sigismember(&mask, signal), 0) << signal;
}

TEST(SignalWatchTest, ThereIsOneAProcess) {
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::unique_ptr<SignalWatch> watch, SignalWatch::Create());
  EXPECT_THAT(SignalWatch::Create(), StatusIs(absl::StatusCode::kFailedPrecondition, ::testing::_));
  watch.reset();
  EXPECT_THAT(SignalWatch::Create(), IsOk());
}

TEST(SignalPolicyTest, InterruptsThenKillsThenGivesUp) {
  SignalPolicy policy;
  EXPECT_EQ(policy.Decide(SIGINT), SignalAction::kInterrupt);
  EXPECT_EQ(policy.Decide(SIGINT), SignalAction::kKill);
  EXPECT_EQ(policy.Decide(SIGINT), SignalAction::kAbandon);
  policy.Reset();
  EXPECT_EQ(policy.Decide(SIGINT), SignalAction::kInterrupt);
}

TEST(SignalPolicyTest, EndsOnTermAndAtOnceOnASecondOne) {
  SignalPolicy policy;
  EXPECT_EQ(policy.Decide(SIGTERM), SignalAction::kEnd);
  EXPECT_EQ(policy.Decide(SIGHUP), SignalAction::kAbandon);
}

TEST(SurviveClosedPipesTest, ReportsTheClosedPipeAndIsNotInheritedAsIgnored) {
  SurviveClosedPipes();
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  EXPECT_EQ(write(ends[1], "x", 1), -1);
  EXPECT_EQ(errno, EPIPE);
  close(ends[1]);
  struct sigaction action = {};
  sigaction(SIGPIPE, nullptr, &action);
  EXPECT_NE(action.sa_handler, SIG_IGN);
}

}  // namespace
}  // namespace cellblock::app
