// Several threads on one Host: sessions side by side, and calls on one session from many. Tests only.
#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/support/helper_processes.h"
#include "tests/support/session_fixture.h"

namespace cellblock {
namespace {

constexpr int kThreads = 8;

class ConcurrencyTest : public SessionTest {
 protected:
  static void InThreads(const std::function<void(int)>& body) {
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) threads.emplace_back([&, i] { body(i); });
    for (std::thread& thread : threads) thread.join();
  }
};

TEST_F(ConcurrencyTest, SessionsOfEightThreadsDoNotDisturbEachOther) {
  InThreads([this](int i) {
    std::unique_ptr<Session> session = NewSession();
    EXPECT_THAT(RunIn(*session, absl::StrCat("x = ", i)), EndedWell());
    for (int k = 0; k < 25; ++k) {
      Record record = RunIn(*session, absl::StrCat("print('call ", k, " of', x); x * 1000 + ", k));
      EXPECT_EQ(ValueText(record), absl::StrCat(i * 1000 + k));
      EXPECT_EQ(record.stdout_text, absl::StrCat("call ", k, " of ", i, "\n"));
    }
  });
}

TEST_F(ConcurrencyTest, TheWeightDividesABusyProcessor) {
  Policy light, heavy;
  light.limits.cpu_weight = 20;
  heavy.limits.cpu_weight = 2000;
  std::unique_ptr<Session> first = NewSession(light);
  if (!HasCgroup(*first)) GTEST_SKIP() << "missing kernel feature: a cgroup this user may write";
  constexpr char kProcessor[] = "import os; os.sched_getaffinity(0)";
  const std::string processor = ValueIn(*first, kProcessor);
  std::vector<std::unique_ptr<Session>> others;  // they go round the processors
  do {
    others.push_back(NewSession(heavy));
  } while (ValueIn(*others.back(), kProcessor) != processor);
  constexpr char kSpin[] = "import time\nend, used = time.time() + 2, time.process_time()\nwhile time.time() < end: pass\ntime.process_time() - used";
  double heavy_used = 0;
  std::thread other([&] { heavy_used = std::atof(ValueIn(*others.back(), kSpin).c_str()); });
  const double light_used = std::atof(ValueIn(*first, kSpin).c_str());
  other.join();
  EXPECT_GT(heavy_used, 2 * light_used) << "of a hundred times the weight";
}

TEST_F(ConcurrencyTest, WithoutACgroupASessionWeighsLessThanTheSupervisor) {
  CELLBLOCK_SKIP_BESIDE_A_POOL();
  Policy policy;
  policy.isolation.cgroup = Requirement::kOff;
  Use(policy);
  const std::vector<pid_t> workers = WorkerProcesses();
  ASSERT_EQ(workers.size(), 1U);
  const std::string file = absl::StrCat("/proc/", workers[0], "/autogroup");
  if (!sys::ReadFile(file, 4096).ok()) GTEST_SKIP() << "missing kernel feature: autogroups";
  EXPECT_TRUE(Eventually([&] { return absl::StrContains(sys::ReadFile(file, 4096).value_or(""), "nice 10"); })) << sys::ReadFile(file, 4096).value_or("");
}

TEST_F(ConcurrencyTest, SessionsAreMadeAndEndedFromEightThreads) {
  InThreads([this](int i) {
    for (int k = 0; k < 4; ++k) {
      std::unique_ptr<Session> session = NewSession();
      EXPECT_EQ(ValueIn(*session, absl::StrCat(i, " * 10 + ", k)), absl::StrCat(i * 10 + k));
    }
  });
}

TEST_F(ConcurrencyTest, CallsOfEightThreadsOnOneSessionRunOneAtATime) {
  session();
  EXPECT_THAT(Run("import time\ncount = 0\ninside = False"), EndedWell());
  InThreads([this](int) {
    for (int k = 0; k < 5; ++k) {
      EXPECT_THAT(Run("assert not inside\ninside = True\nbefore = count\ntime.sleep(0.005)\ncount = before + 1\ninside = False"), EndedWell());
    }
  });
  EXPECT_EQ(Value("count"), absl::StrCat(kThreads * 5));
}

TEST_F(ConcurrencyTest, AnInterruptOfOneSessionLeavesTheOthersRunning) {
  std::unique_ptr<Session> other = NewSession();
  std::atomic<bool> running = false;
  Record undisturbed;
  std::thread thread([&] { undisturbed = RunIn(*other, "import time; time.sleep(1); 'slept'"); });
  ExecuteOptions options;
  options.on_event = [&](const Event&, const Record&) { running = true; };
  std::thread interrupter([&] {
    EXPECT_TRUE(Eventually([&] { return running.load(); }, absl::Seconds(60)));
    session().Interrupt();
  });
  session();
  EXPECT_THAT(Run("print('go', flush=True)\nwhile True: pass", options), Ended(CallStatus::kInterrupted, SessionState::kKept));
  interrupter.join();
  thread.join();
  EXPECT_EQ(ValueText(undisturbed), "'slept'");
}

TEST_F(ConcurrencyTest, AnInterruptWhileIdleIsNobodys) {
  EXPECT_THAT(Run("x = 1"), EndedWell());
  for (int i = 0; i < 3; ++i) session().Interrupt();
  EXPECT_EQ(Value("x + 1"), "2");
}

TEST_F(ConcurrencyTest, AnInterruptFromTheVeryStartOfACallReachesIt) {
  ExecuteOptions options;
  options.on_started = [this] { session().Interrupt(); };
  EXPECT_THAT(Run("import time\nend = time.monotonic() + 60\nwhile time.monotonic() < end: time.sleep(0.01)", options), Ended(CallStatus::kInterrupted, SessionState::kKept));
  EXPECT_THAT(Run("1"), EndedWell()) << "and no other";
  EXPECT_THAT(RunBash("sleep 60", options), Ended(CallStatus::kInterrupted, SessionState::kKept));
}

TEST_F(ConcurrencyTest, AnInterruptWhileIdleDoesNotReachTheNextLookAtVariables) {
  Run("a = 1");
  session().Interrupt();
  const absl::StatusOr<std::string> variables = session().DescribeVariables();
  ASSERT_THAT(variables, IsOk());
  EXPECT_THAT(*variables, testing::HasSubstr("\"a\""));
}

TEST_F(ConcurrencyTest, InterruptsAtAnyMomentNeverHarmTheSession) {
  EXPECT_THAT(Run("x = 7"), EndedWell());
  for (int i = 0; i < 200; ++i) {
    // One to each call: a second one would kill.
    std::thread interrupter([&, i] {
      absl::SleepFor(absl::Microseconds(31 * (i % 100)));
      session().Interrupt();
    });
    Record record = Run("print('a')\nt = sum(range(20_000))\nprint('b')\nt");
    interrupter.join();
    ASSERT_EQ(record.session_state, SessionState::kKept) << i << testing::PrintToString(record);
    EXPECT_THAT(record.status, testing::AnyOf(CallStatus::kOk, CallStatus::kInterrupted));
    // Plain CPython too may leave print's line end away; nothing comes twice.
    EXPECT_THAT(record.stdout_text, testing::AnyOf("", "a", "a\n", "a\nb", "a\nb\n"));
  }
  EXPECT_EQ(Value("x"), "7");
  EXPECT_EQ(Run("print('whole')").stdout_text, "whole\n");
}

TEST_F(ConcurrencyTest, UploadsAndCallsOfManyThreadsGetAlong) {
  session();
  std::atomic<int> uploads = 0;
  InThreads([&](int i) {
    for (int k = 0; k < 5; ++k) {
      std::string name = absl::StrCat("f", i, "-", k);
      if (i % 2 == 0) {
        EXPECT_THAT(Put(session(), name, name), IsOk());
        ++uploads;
      } else {
        EXPECT_THAT(Run("import os; len(os.listdir())"), EndedWell());
        EXPECT_THAT(session().ListFiles(), IsOk());
      }
    }
  });
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::vector<FileEntry> files, session().ListFiles());
  EXPECT_EQ(static_cast<int>(files.size()), uploads.load());
}

}  // namespace
}  // namespace cellblock
