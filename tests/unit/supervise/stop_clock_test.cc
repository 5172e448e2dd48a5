// When a call is interrupted, and when it is killed.
#include "gtest/gtest.h"
#include "supervise/call.h"

namespace cellblock::supervise {
namespace {

using Act = StopClock::Act;
const absl::Time kStart = absl::FromUnixSeconds(1000);

TEST(StopClockTest, InterruptsAtTheLimitAgainHalfwayAndKillsAfterTheGrace) {
  Limits limits;
  limits.wall_grace = absl::Seconds(2);
  StopClock clock(limits, absl::Seconds(10), kStart);
  EXPECT_EQ(clock.Tick(kStart + absl::Seconds(9), {}), Act::kNothing);
  EXPECT_EQ(clock.stop(), Stop::kNone);
  EXPECT_EQ(clock.UntilNext(kStart + absl::Seconds(9)), absl::Seconds(1));
  EXPECT_EQ(clock.Tick(kStart + absl::Seconds(10), {}), Act::kInterrupt);
  EXPECT_EQ(clock.stop(), Stop::kTimeout);
  EXPECT_EQ(clock.Tick(kStart + absl::Seconds(10.5), {}), Act::kNothing);
  EXPECT_EQ(clock.Tick(kStart + absl::Seconds(11), {}), Act::kInterrupt);
  EXPECT_EQ(clock.Tick(kStart + absl::Seconds(12), {}), Act::kKill);
  EXPECT_EQ(clock.Tick(kStart + absl::Seconds(13), {}), Act::kNothing) << "killed once";
}

TEST(StopClockTest, WithoutGraceItKillsAtOnce) {
  Limits limits;
  limits.wall_grace = absl::ZeroDuration();
  StopClock clock(limits, absl::Seconds(1), kStart);
  EXPECT_EQ(clock.Tick(kStart + absl::Seconds(1), {}), Act::kKill);
}

TEST(StopClockTest, CpuTimeHasALimitOfItsOwn) {
  Limits limits;
  limits.cpu = absl::Seconds(3);
  StopClock clock(limits, absl::Seconds(100), kStart);
  EXPECT_EQ(clock.Tick(kStart + absl::Seconds(50), absl::Seconds(2.9)), Act::kNothing);
  EXPECT_EQ(clock.Tick(kStart + absl::Seconds(51), absl::Seconds(3)), Act::kInterrupt);
  EXPECT_EQ(clock.stop(), Stop::kCpu);
}

TEST(StopClockTest, ASecondRequestKills) {
  Limits limits;
  StopClock clock(limits, absl::Seconds(100), kStart);
  EXPECT_EQ(clock.Request(kStart), Act::kInterrupt);
  EXPECT_EQ(clock.stop(), Stop::kInterrupt);
  EXPECT_EQ(clock.Request(kStart), Act::kKill);
}

TEST(StopClockTest, TheFirstReasonStands) {
  Limits limits;
  StopClock clock(limits, absl::Seconds(1), kStart);
  clock.Request(kStart);
  clock.Tick(kStart + absl::Seconds(5), {});
  EXPECT_EQ(clock.stop(), Stop::kInterrupt);
}

TEST(StopClockTest, ABreakOfTheProtocolDoesNotHideTheReasonBeforeIt) {
  Limits limits;
  StopClock clock(limits, absl::Seconds(1), kStart);
  clock.Tick(kStart + absl::Seconds(1), {});
  clock.Force(Stop::kProtocol);
  EXPECT_EQ(clock.stop(), Stop::kTimeout);
  StopClock other(limits, absl::Seconds(1), kStart);
  other.Force(Stop::kProtocol);
  EXPECT_EQ(other.stop(), Stop::kProtocol);
}

}  // namespace
}  // namespace cellblock::supervise
