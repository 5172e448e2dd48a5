// limits.wall, limits.wall_grace and limits.cpu at their edges. Tests only.
#include "tests/support/session_fixture.h"

namespace cellblock {
namespace {

constexpr char kBurn[] = R"(
import time
def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end: pass
)";

class TimeLimitsTest : public SessionTest {
 protected:
  static std::string LimitOf(const Record& record, absl::string_view name) {
    for (const auto& [key, value] : record.receipt.limits) {
      if (key == name) return value;
    }
    return "";
  }
};

TEST_F(TimeLimitsTest, ACallWithinItsTimeoutEndsByItself) {
  Record record = Run("import time; time.sleep(0.3); 'done'", WithTimeout(absl::Seconds(20)));
  EXPECT_THAT(record, EndedWell());
  EXPECT_THAT(record, HitNothing());
  EXPECT_GE(record.receipt.wall, absl::Milliseconds(300));
  EXPECT_EQ(LimitOf(record, "wall"), "20s");
}

TEST_F(TimeLimitsTest, ACallBeyondItsTimeoutIsInterruptedThen) {
  Record record = Run("import time; time.sleep(60)", WithTimeout(absl::Milliseconds(700)));
  EXPECT_THAT(record, Ended(CallStatus::kTimeout, SessionState::kKept));
  EXPECT_GE(record.receipt.wall, absl::Milliseconds(700));
  EXPECT_LE(record.receipt.wall, absl::Milliseconds(700) + kSlack);
  EXPECT_EQ(LimitOf(record, "wall"), "700ms");
}

TEST_F(TimeLimitsTest, ThePolicysLimitBoundsWhatACallMayAskFor) {
  Policy policy;
  policy.limits.wall = absl::Milliseconds(600);
  Use(policy);
  Record record = Run("import time; time.sleep(60)", WithTimeout(absl::Hours(1)));
  EXPECT_THAT(record, Ended(CallStatus::kTimeout, SessionState::kKept));
  EXPECT_LE(record.receipt.wall, absl::Milliseconds(600) + kSlack);
  EXPECT_EQ(LimitOf(record, "wall"), "600ms");
}

TEST_F(TimeLimitsTest, ATimeoutOfNothingIsRefused) {
  for (absl::Duration timeout : {absl::ZeroDuration(), -absl::Seconds(1)}) {
    EXPECT_THAT(session().Execute("1", WithTimeout(timeout)), StatusIs(absl::StatusCode::kInvalidArgument, testing::HasSubstr("timeout")));
  }
  EXPECT_EQ(Value("1"), "1");
}

TEST_F(TimeLimitsTest, CleaningUpWithinTheGraceKeepsTheSession) {
  Policy policy;
  policy.limits.wall_grace = absl::Seconds(20);
  Use(policy);
  Record record = Run("import time\nx = 7\ntry:\n    time.sleep(60)\nfinally:\n    time.sleep(0.3); print('cleaned')", WithTimeout(absl::Milliseconds(300)));
  EXPECT_THAT(record, Ended(CallStatus::kTimeout, SessionState::kKept));
  EXPECT_EQ(record.stdout_text, "cleaned\n");
  EXPECT_EQ(Value("x"), "7");
}

TEST_F(TimeLimitsTest, CleaningUpBeyondTheGraceIsKilled) {
  Policy policy;
  policy.limits.wall_grace = absl::Milliseconds(400);
  Use(policy);
  Record record = Run("import time\ntry:\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    print('cleaning', flush=True)\n    while True:\n        try: time.sleep(60)\n        except KeyboardInterrupt: pass",
                      WithTimeout(absl::Milliseconds(300)));
  EXPECT_THAT(record, Ended(CallStatus::kTimeout, SessionState::kGone));
  EXPECT_EQ(record.stdout_text, "cleaning\n");
  EXPECT_GE(record.receipt.wall, absl::Milliseconds(700));
  EXPECT_LE(record.receipt.wall, absl::Milliseconds(700) + kSlack);
}

TEST_F(TimeLimitsTest, AGraceOfZeroKillsAtOnce) {
  Policy policy;
  policy.limits.wall_grace = absl::ZeroDuration();
  Use(policy);
  Record record = Run("import time\ntry:\n    time.sleep(60)\nfinally:\n    print('never')", WithTimeout(absl::Milliseconds(300)));
  EXPECT_THAT(record, Ended(CallStatus::kTimeout, SessionState::kGone));
  EXPECT_EQ(record.stdout_text, "");
}

TEST_F(TimeLimitsTest, SleepingUsesNoCpu) {
  Policy policy;
  policy.limits.cpu = absl::Milliseconds(500);
  Use(policy);
  Record record = Run("import time; time.sleep(1)");
  EXPECT_THAT(record, EndedWell());
  EXPECT_THAT(record, HitNothing());
  EXPECT_LT(record.receipt.cpu, absl::Milliseconds(500));
}

TEST_F(TimeLimitsTest, CpuIsCountedPerCall) {
  Policy policy;
  policy.limits.cpu = absl::Seconds(1);
  Use(policy);
  EXPECT_THAT(Run(kBurn), EndedWell());
  for (int i = 0; i < 3; ++i) {
    Record record = Run("burn(0.5)");
    EXPECT_THAT(record, EndedWell());
    EXPECT_GE(record.receipt.cpu, absl::Milliseconds(490));
    EXPECT_LT(record.receipt.cpu, absl::Milliseconds(900));
  }
  EXPECT_THAT(Run("burn(30)"), Ended(CallStatus::kCpuLimit, SessionState::kKept));
  EXPECT_THAT(Run("burn(0.5)"), EndedWell());
}

TEST_F(TimeLimitsTest, CpuOfChildrenCounts) {
  Policy policy;
  policy.limits.cpu = absl::Seconds(1);
  Use(policy);
  Record record = Run("import subprocess; subprocess.run(['bash', '-c', 'while :; do :; done'])");
  EXPECT_EQ(record.status, CallStatus::kCpuLimit);
  EXPECT_THAT(record, Hit("cpu"));
  EXPECT_EQ(record.receipt.processes_killed, 0) << "the child is in the worker's process group, which was interrupted";
}

TEST_F(TimeLimitsTest, CpuOfChildrenThatHaveEndedCounts) {
  Policy policy;
  policy.limits.cpu = absl::Seconds(1);
  Use(policy);
  Record record = Run("import subprocess\nfor i in range(100): subprocess.run(['/usr/bin/python3', '-c', 'import time\\nwhile time.process_time() < 0.2: pass'])");
  EXPECT_EQ(record.status, CallStatus::kCpuLimit);
  EXPECT_GE(record.receipt.cpu, absl::Milliseconds(800));
  EXPECT_LE(record.receipt.wall, absl::Seconds(10) + kSlack);
}

// The kernel reaps the children of a process that ignores SIGCHLD, and adds their time to nobody's.
constexpr char kUnreaped[] = R"(
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for i in range(60):
    if os.fork() == 0:
        while time.process_time() < 0.3: pass
        os._exit(0)
    try: os.wait()
    except ChildProcessError: pass
)";

TEST_F(TimeLimitsTest, CpuOfChildrenThatNobodyWaitsForCounts) {
  for (Requirement cgroup : {Requirement::kPreferred, Requirement::kOff}) {
    Policy policy;
    policy.limits.cpu = absl::Seconds(1);
    policy.isolation.cgroup = cgroup;
    Use(policy);
    Record record = Run(kUnreaped);
    EXPECT_EQ(record.status, CallStatus::kCpuLimit) << testing::PrintToString(record);
    EXPECT_GE(record.receipt.cpu, absl::Seconds(1));
    EXPECT_LE(record.receipt.wall, absl::Seconds(8) + kSlack);
  }
}

TEST_F(TimeLimitsTest, CpuOfACallThatEndsTheWorkerLeavesOutEarlierCalls) {
  for (Requirement cgroup : {Requirement::kPreferred, Requirement::kOff}) {
    Policy policy;
    policy.isolation.cgroup = cgroup;
    Use(policy);
    Record record = Run("import os, time\nif os.fork() == 0:\n    while time.process_time() < 1: pass\n    os._exit(0)\nos.wait()");
    EXPECT_GE(record.receipt.cpu, absl::Milliseconds(900)) << testing::PrintToString(record);
    record = Run("os._exit(0)");
    EXPECT_EQ(record.status, CallStatus::kExited);
    EXPECT_LT(record.receipt.cpu, absl::Milliseconds(500)) << testing::PrintToString(record);
  }
}

// They share the CPU that the worker needs to give its memory back.
TEST_F(TimeLimitsTest, WhatTheWorkerStartedIsKilledWithIt) {
  Policy policy;
  policy.limits.wall_grace = absl::Milliseconds(400);
  Use(policy);
  Record record = Run(R"(
import os, signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
for i in range(4):
    if os.fork() == 0:
        os.setsid()
        while True: pass
print('forked', flush=True)
while True: pass)",
                      WithTimeout(absl::Seconds(3)));
  EXPECT_THAT(record, Ended(CallStatus::kTimeout, SessionState::kGone));
  EXPECT_EQ(record.stdout_text, "forked\n");
  EXPECT_EQ(record.receipt.processes_killed, 4);
  EXPECT_GE(record.receipt.processes_peak, 5);
  EXPECT_LE(record.receipt.wall, absl::Seconds(3.4) + kSlack);
}

TEST_F(TimeLimitsTest, BashHasTheSameClocks) {
  Policy policy;
  policy.limits.cpu = absl::Milliseconds(500);
  Use(policy);
  EXPECT_THAT(Run("x = 7"), EndedWell());
  EXPECT_THAT(RunBash("sleep 0.2; echo done"), EndedWell());
  Record record = RunBash("echo so far; while :; do :; done");
  EXPECT_THAT(record, Ended(CallStatus::kCpuLimit, SessionState::kKept));
  EXPECT_EQ(record.stdout_text, "so far\n");
  record = RunBash("echo so far; sleep 60", WithTimeout(absl::Milliseconds(300)));
  EXPECT_THAT(record, Ended(CallStatus::kTimeout, SessionState::kKept));
  EXPECT_THAT(record, Hit("wall"));
  EXPECT_EQ(record.stdout_text, "so far\n");
  EXPECT_LE(record.receipt.wall, absl::Seconds(2) + kSlack);
  EXPECT_EQ(Value("x"), "7");
}

TEST_F(TimeLimitsTest, BashThatIgnoresTheInterruptIsKilledAndTheSessionKept) {
  Policy policy;
  policy.limits.wall_grace = absl::Milliseconds(400);
  Use(policy);
  EXPECT_THAT(Run("x = 7"), EndedWell());
  Record record = RunBash("trap '' INT; echo trapped; while :; do sleep 1; done", WithTimeout(absl::Milliseconds(400)));
  EXPECT_THAT(record, Ended(CallStatus::kTimeout, SessionState::kKept));
  EXPECT_EQ(record.stdout_text, "trapped\n");
  EXPECT_LE(record.receipt.wall, absl::Milliseconds(800) + kSlack);
  EXPECT_EQ(Value("x"), "7");
}

}  // namespace
}  // namespace cellblock
