// Every status that a call can end with, each reached, with what becomes of the session. Tests only.
#include <signal.h>

#include <thread>

#include "tests/support/helper_processes.h"
#include "tests/support/session_fixture.h"

namespace cellblock {
namespace {

class StatusesTest : public SessionTest {
 protected:
  // Runs `code` and interrupts it at its first output.
  Record RunInterrupted(absl::string_view code) {
    ExecuteOptions options;
    bool done = false;  // a second interrupt would kill
    options.on_event = [&](const Event& event, const Record&) {
      if (event.type == Event::Type::kStdout && !done) session().Interrupt();
      done = true;
    };
    return Run(code, options);
  }
  void ExpectGone() {
    EXPECT_FALSE(session().alive());
    Record record = Run("1");
    EXPECT_THAT(record, Ended(CallStatus::kRejected, SessionState::kGone));
    EXPECT_THAT(record.reason, testing::HasSubstr("restart"));
    EXPECT_THAT(session().Restart(), IsOk());
    EXPECT_TRUE(session().alive());
    EXPECT_EQ(Value("6 * 7"), "42");
  }
};

TEST_F(StatusesTest, ACellThatRunsToItsEndIsOk) {
  Record record = Run("40 + 2");
  EXPECT_THAT(record, EndedWell());
  EXPECT_EQ(ValueText(record), "42");
  EXPECT_EQ(record.call, 1);
  EXPECT_EQ(record.session_id, session().id());
  EXPECT_NE(record.id, Run("1").id);
  EXPECT_EQ(record.reason, "");
  EXPECT_FALSE(record.exit_code.has_value());
  EXPECT_FALSE(record.signal.has_value());
  EXPECT_FALSE(record.error.has_value());
  EXPECT_THAT(record, HitNothing());
}

TEST_F(StatusesTest, AnUncaughtExceptionIsAnErrorAndKeepsTheSession) {
  EXPECT_THAT(Run("x = 7"), EndedWell());
  Record record = Run("def f():\n    return {}['k']\n\nf()");
  EXPECT_THAT(record, EndedWithError("KeyError"));
  EXPECT_EQ(ErrorOf(record).value, "'k'");
  EXPECT_EQ(ErrorOf(record).line, 2);
  EXPECT_THAT(ErrorOf(record).traceback, testing::HasSubstr("return {}['k']"));
  EXPECT_THAT(record.reason, testing::HasSubstr("KeyError"));
  EXPECT_EQ(Value("x"), "7");
}

TEST_F(StatusesTest, ASyntaxErrorNamesItsLine) {
  Record record = Run("a = 1\nb = = 2\n");
  EXPECT_THAT(record, EndedWithError("SyntaxError"));
  EXPECT_EQ(ErrorOf(record).line, 2);
  EXPECT_GT(ErrorOf(record).column, 0);
}

TEST_F(StatusesTest, SysExitEndsTheCellWithItsCode) {
  EXPECT_THAT(Run("x = 7"), EndedWell());
  Record record = Run("import sys; sys.exit(3)");
  EXPECT_THAT(record, Ended(CallStatus::kExited, SessionState::kKept));
  EXPECT_EQ(record.exit_code, 3);
  EXPECT_EQ(Value("x"), "7");
}

TEST_F(StatusesTest, OsExitEndsTheSessionWithItsCode) {
  Record record = Run("import os; print('before', flush=True); os._exit(7)");
  EXPECT_THAT(record, Ended(CallStatus::kExited, SessionState::kGone));
  EXPECT_EQ(record.exit_code, 7);
  EXPECT_FALSE(record.signal.has_value());
  EXPECT_EQ(record.stdout_text, "before\n");
  ExpectGone();
}

TEST_F(StatusesTest, AnInterruptedCellKeepsTheSession) {
  EXPECT_THAT(Run("x = 7"), EndedWell());
  Record record = RunInterrupted("print('go', flush=True)\nwhile True: pass");
  EXPECT_THAT(record, Ended(CallStatus::kInterrupted, SessionState::kKept));
  EXPECT_EQ(ErrorOf(record).name, "KeyboardInterrupt");
  EXPECT_THAT(record, HitNothing());
  EXPECT_EQ(Value("x"), "7");
}

TEST_F(StatusesTest, ACellThatSwallowsInterruptsIsKilledAfterTheGrace) {
  Policy policy;
  policy.limits.wall_grace = absl::Milliseconds(500);
  Use(policy);
  Record record = RunInterrupted("import time\nwhile True:\n    try:\n        print('go', flush=True)\n        time.sleep(99)\n    except BaseException: pass");
  EXPECT_THAT(record, Ended(CallStatus::kInterrupted, SessionState::kGone));
  EXPECT_GE(record.receipt.wall, absl::Milliseconds(500));
  EXPECT_LE(record.receipt.wall, absl::Milliseconds(500) + kSlack);
  ExpectGone();
}

TEST_F(StatusesTest, ACellThatHandlesTheInterruptEndsAsItEnds) {
  Record record = RunInterrupted("try:\n    print('go', flush=True)\n    while True: pass\nexcept KeyboardInterrupt:\n    done = 1\ndone");
  EXPECT_THAT(record, EndedWell());
  EXPECT_EQ(ValueText(record), "1");
}

TEST_F(StatusesTest, AKeyboardInterruptOfTheCodesOwnIsAnError) { EXPECT_THAT(Run("raise KeyboardInterrupt('mine')"), EndedWithError("KeyboardInterrupt")); }

TEST_F(StatusesTest, ATimeoutKeepsTheSession) {
  EXPECT_THAT(Run("x = 7"), EndedWell());
  Record record = Run("print('so far')\nwhile True: pass", WithTimeout(absl::Milliseconds(500)));
  EXPECT_THAT(record, Ended(CallStatus::kTimeout, SessionState::kKept));
  EXPECT_THAT(record, Hit("wall"));
  EXPECT_EQ(record.stdout_text, "so far\n");
  EXPECT_THAT(record.reason, testing::HasSubstr("500ms"));
  EXPECT_EQ(Value("x"), "7");
}

TEST_F(StatusesTest, ATimeoutThatCannotInterruptKillsTheSession) {
  Policy policy;
  policy.limits.wall_grace = absl::Milliseconds(500);
  Use(policy);
  Record record = Run("print('so far', flush=True)\nsum(range(10**12))", WithTimeout(absl::Milliseconds(500)));
  EXPECT_THAT(record, Ended(CallStatus::kTimeout, SessionState::kGone));
  EXPECT_THAT(record, Hit("wall"));
  EXPECT_EQ(record.stdout_text, "so far\n");
  ExpectGone();
}

TEST_F(StatusesTest, TheCpuLimitKeepsTheSession) {
  Policy policy;
  policy.limits.cpu = absl::Milliseconds(300);
  Use(policy);
  EXPECT_THAT(Run("x = 7"), EndedWell());
  Record record = Run("while True: pass");
  EXPECT_THAT(record, Ended(CallStatus::kCpuLimit, SessionState::kKept));
  EXPECT_THAT(record, Hit("cpu"));
  EXPECT_THAT(record, testing::Not(Hit("wall")));
  EXPECT_GE(record.receipt.cpu, absl::Milliseconds(290));
  EXPECT_EQ(Value("x"), "7");
}

TEST_F(StatusesTest, TheCpuLimitKillsWhatCannotBeInterrupted) {
  Policy policy;
  policy.limits.cpu = absl::Milliseconds(300);
  policy.limits.wall_grace = absl::Milliseconds(500);
  Use(policy);
  EXPECT_THAT(Run("sum(range(10**12))"), Ended(CallStatus::kCpuLimit, SessionState::kGone));
  ExpectGone();
}

TEST_F(StatusesTest, MemoryThatNoSoftLimitSeesIsOutOfMemory) {
  Policy policy;
  policy.limits.memory_bytes = int64_t{96} << 20;
  Use(policy);
  Record record = Run("print('filling', flush=True)\nf = open('/dev/shm/a', 'wb')\nwhile True: f.write(b'x' * 1000000)");
  EXPECT_THAT(record, Ended(CallStatus::kOutOfMemory, SessionState::kGone));
  EXPECT_THAT(record, Hit("memory"));
  EXPECT_EQ(record.signal, SIGKILL);
  EXPECT_EQ(record.stdout_text, "filling\n");
  EXPECT_THAT(record.reason, testing::AllOf(testing::HasSubstr("out of memory"), testing::HasSubstr(std::to_string(policy.limits.memory_bytes))));
  EXPECT_GE(record.receipt.memory_peak_bytes, policy.limits.memory_bytes / 2);
  ExpectGone();
}

TEST_F(StatusesTest, ASignalIsKilled) {
  Record record = Run("import os, signal; os.kill(os.getpid(), signal.SIGKILL)");
  EXPECT_THAT(record, Ended(CallStatus::kKilled, SessionState::kGone));
  EXPECT_EQ(record.signal, SIGKILL);
  EXPECT_THAT(record, HitNothing());
  ExpectGone();
}

TEST_F(StatusesTest, ASegmentationFaultIsKilled) {
  Record record = Run("import ctypes; ctypes.string_at(0)");
  EXPECT_THAT(record, Ended(CallStatus::kKilled, SessionState::kGone));
  EXPECT_EQ(record.signal, SIGSEGV);
  EXPECT_THAT(record.reason, testing::HasSubstr("SIGSEGV"));
  ExpectGone();
}

TEST_F(StatusesTest, LanguagesThatThePolicyForbidsAreRejected) {
  Policy policy;
  policy.languages.bash = false;
  Use(policy);
  Record record = RunBash("echo hi");
  EXPECT_THAT(record, Ended(CallStatus::kRejected, SessionState::kKept));
  EXPECT_THAT(record.reason, testing::HasSubstr("languages.bash"));
  EXPECT_EQ(record.stdout_text, "");
  EXPECT_EQ(Value("1"), "1");

  policy = Policy();
  policy.languages.python = false;
  Use(policy);
  record = Run("print('hi')");
  EXPECT_THAT(record, Ended(CallStatus::kRejected, SessionState::kKept));
  EXPECT_THAT(record.reason, testing::HasSubstr("languages.python"));
  EXPECT_EQ(RunBash("echo hi").stdout_text, "hi\n");
}

TEST_F(StatusesTest, AnEndThatNobodySawIsLost) {
  CELLBLOCK_SKIP_BESIDE_A_POOL();
  EXPECT_THAT(Run("x = 7"), EndedWell());
  std::vector<pid_t> workers = WorkerProcesses();
  ASSERT_EQ(workers.size(), 1u);
  ExecuteOptions options;
  options.on_event = [&](const Event&, const Record&) {
    for (pid_t zygote : ZygoteProcesses()) kill(zygote, SIGKILL);
    // The orphaned worker has the nest's PID 1 as its parent now, as a zygote has.
    EXPECT_TRUE(Eventually([&] { return ZygoteProcesses().empty() || ZygoteProcesses() == workers; }));
    kill(workers[0], SIGKILL);
  };
  Record record = Run("import time\nprint('go', flush=True)\ntime.sleep(60)", options);
  EXPECT_THAT(record, Ended(CallStatus::kLost, SessionState::kGone));
  EXPECT_THAT(record.reason, testing::HasSubstr("unknown"));
  EXPECT_EQ(record.stdout_text, "go\n");
  ExpectGone();
}

}  // namespace
}  // namespace cellblock
