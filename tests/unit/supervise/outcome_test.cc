// Evidence to status: every ending has one name.
#include "supervise/outcome.h"

#include <signal.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cellblock::supervise {
namespace {

using ::testing::HasSubstr;

wire::CellDone Done(wire::CellEnding ending, std::optional<int64_t> code = std::nullopt) {
  wire::CellDone done;
  done.ending = static_cast<uint64_t>(ending);
  done.has_exit_code = code.has_value();
  done.exit_code = static_cast<uint64_t>(code.value_or(0));
  return done;
}

WorkerExit Signalled(int number) {
  WorkerExit exit;
  exit.known = true;
  exit.signal = number;
  return exit;
}

WorkerExit Exited(int code) {
  WorkerExit exit;
  exit.known = true;
  exit.exited = true;
  exit.exit_code = code;
  return exit;
}

Record Classified(const Evidence& evidence) {
  Record record;
  Classify(evidence, Policy{}, record);
  return record;
}

TEST(OutcomeTest, ACellThatEndsByItselfKeepsTheSession) {
  Evidence evidence;
  evidence.done = Done(wire::CellEnding::kOk);
  EXPECT_EQ(Classified(evidence).status, CallStatus::kOk);
  EXPECT_EQ(Classified(evidence).session_state, SessionState::kKept);
  evidence.done = Done(wire::CellEnding::kError);
  EXPECT_EQ(Classified(evidence).status, CallStatus::kError);
  evidence.done = Done(wire::CellEnding::kExited, -3);
  EXPECT_EQ(Classified(evidence).status, CallStatus::kExited);
  EXPECT_EQ(Classified(evidence).exit_code, -3);
}

TEST(OutcomeTest, AnInterruptNobodyAskedForIsTheCodesOwnError) {
  Evidence evidence;
  evidence.done = Done(wire::CellEnding::kInterrupted);
  EXPECT_EQ(Classified(evidence).status, CallStatus::kError);
  evidence.stop = Stop::kInterrupt;
  EXPECT_EQ(Classified(evidence).status, CallStatus::kInterrupted);
}

TEST(OutcomeTest, ACellThatEndedInTheMomentOfTheInterruptEndedByItself) {
  Evidence evidence;
  evidence.stop = Stop::kInterrupt;
  evidence.done = Done(wire::CellEnding::kOk);
  EXPECT_EQ(Classified(evidence).status, CallStatus::kOk);
}

TEST(OutcomeTest, ATimeoutSaysWhetherTheVariablesSurvived) {
  Evidence evidence;
  evidence.stop = Stop::kTimeout;
  evidence.timeout = absl::Seconds(1);
  evidence.done = Done(wire::CellEnding::kInterrupted);
  Record kept = Classified(evidence);
  EXPECT_EQ(kept.status, CallStatus::kTimeout);
  EXPECT_EQ(kept.session_state, SessionState::kKept);
  EXPECT_THAT(kept.reason, HasSubstr("1s"));
  ASSERT_EQ(kept.receipt.limits_hit.size(), 1u);
  EXPECT_EQ(kept.receipt.limits_hit[0].name, "wall");
  evidence.done.reset();
  evidence.exit = Signalled(SIGKILL);
  EXPECT_EQ(Classified(evidence).status, CallStatus::kTimeout);
  EXPECT_EQ(Classified(evidence).session_state, SessionState::kGone);
}

TEST(OutcomeTest, MemoryOutranksTheSignalThatCarriedIt) {
  Evidence evidence;
  evidence.exit = Signalled(SIGKILL);
  evidence.out_of_memory = true;
  Record record = Classified(evidence);
  EXPECT_EQ(record.status, CallStatus::kOutOfMemory);
  EXPECT_THAT(record.reason, HasSubstr("limits.memory"));
  evidence.out_of_memory = false;
  record = Classified(evidence);
  EXPECT_EQ(record.status, CallStatus::kKilled);
  EXPECT_EQ(record.signal, SIGKILL);
}

TEST(OutcomeTest, MemoryOutranksTheProtocolThatTheKillBroke) {
  Evidence evidence;
  evidence.exit = Signalled(SIGKILL);
  evidence.out_of_memory = true;
  evidence.stop = Stop::kProtocol;
  EXPECT_EQ(Classified(evidence).status, CallStatus::kOutOfMemory);
}

TEST(OutcomeTest, AChildKilledForMemoryIsALimitHitOfACallThatGoesOn) {
  Evidence evidence;
  evidence.out_of_memory = true;
  evidence.done = Done(wire::CellEnding::kOk);
  Record record = Classified(evidence);
  EXPECT_EQ(record.status, CallStatus::kOk);
  ASSERT_EQ(record.receipt.limits_hit.size(), 1u);
  EXPECT_EQ(record.receipt.limits_hit[0].name, "memory");
}

TEST(OutcomeTest, TheWorkersOwnExitEndsTheSessionBashsDoesNot) {
  Evidence evidence;
  evidence.exit = Exited(0);
  Record worker = Classified(evidence);
  EXPECT_EQ(worker.status, CallStatus::kExited);
  EXPECT_EQ(worker.session_state, SessionState::kGone);
  evidence.is_worker = false;
  Record bash = Classified(evidence);
  EXPECT_EQ(bash.status, CallStatus::kOk);
  EXPECT_EQ(bash.exit_code, 0);
  EXPECT_EQ(bash.session_state, SessionState::kKept);
  evidence.exit = Exited(3);
  EXPECT_EQ(Classified(evidence).status, CallStatus::kError);
}

TEST(OutcomeTest, AnUnknownEndIsLostAndABrokenProtocolIsKilled) {
  Evidence evidence;
  evidence.exit = WorkerExit{};
  EXPECT_EQ(Classified(evidence).status, CallStatus::kLost);
  evidence.exit = Signalled(SIGKILL);
  evidence.stop = Stop::kProtocol;
  Record record = Classified(evidence);
  EXPECT_EQ(record.status, CallStatus::kKilled);
  EXPECT_THAT(record.reason, HasSubstr("protocol"));
}

TEST(OutcomeTest, CpuTimeIsToldApartFromWallTime) {
  Evidence evidence;
  evidence.stop = Stop::kCpu;
  evidence.done = Done(wire::CellEnding::kInterrupted);
  EXPECT_EQ(Classified(evidence).status, CallStatus::kCpuLimit);
}

}  // namespace
}  // namespace cellblock::supervise
