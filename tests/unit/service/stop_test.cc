// The end of the service: nothing new begins, what runs may end by itself for a while, and no session is left.
#include "tests/unit/service/service_fixture.h"

namespace cellblock::service {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class StopTest : public ServiceTest {
 protected:
  // Stops on a thread of its own; returns once it has begun.
  bool BeginStop(absl::Duration limit) {
    Service* const stopped = &service();
    stopping_.Run([stopped, limit] { stopped->Stop(limit); });
    return Eventually([&] { return service().stopping(); });
  }
  Threads stopping_;
};

TEST_F(StopTest, RefusesNewWorkAndLetsWhatRunsEnd) {
  const std::string session = NewSessionOf(anna_), other = NewSessionOf(anna_);
  absl::StatusOr<CallAnswer> answer = absl::UnknownError("not yet");
  Begin(By(anna_), session, "wait", &answer);
  world_.WaitUntilRuns("wait");
  EXPECT_THAT(Execute(By(anna_), other, "before"), IsOk());
  ASSERT_TRUE(BeginStop(kPatience));
  EXPECT_THAT(Execute(By(anna_), other, "1"), AllOf(HasCode("stopping"), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("stopping")), MayBeTriedAfter(absl::Seconds(10))));
  EXPECT_THAT(Detach(By(anna_), other, "1"), HasCode("stopping"));
  EXPECT_THAT(service().CreateSession(By(anna_), {}), AllOf(HasCode("stopping"), MayBeTriedAfter(absl::Seconds(10))));
  world_.Release("wait");
  calls_.Join();
  stopping_.Join();
  ASSERT_THAT(answer, IsOk());
  EXPECT_EQ(answer->record->status, CallStatus::kOk);
  EXPECT_EQ(world_.interrupts(), 0);
  EXPECT_EQ(world_.sessions, 0);
  EXPECT_THAT(service().GetSession(By(anna_), session), AllOf(HasCode("session_closed"), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("the server was stopped"))));
}

TEST_F(StopTest, InterruptsWhatStillRunsWhenItsTimeIsOver) {
  const std::string session = NewSessionOf(anna_);
  absl::StatusOr<CallAnswer> running = absl::UnknownError("not yet"), waiting = absl::UnknownError("not yet");
  Begin(By(anna_), session, "wait", &running);
  world_.WaitUntilRuns("wait");
  Begin(By(anna_), session, "2", &waiting);
  ASSERT_TRUE(Waiting(anna_, session, 1));
  service().Stop(absl::Milliseconds(1));
  calls_.Join();
  ASSERT_THAT(running, IsOk());
  EXPECT_EQ(running->record->status, CallStatus::kInterrupted);
  EXPECT_EQ(running->record->reason, "the session was ended while the call ran: the server was stopped") << "not its caller's doing";
  EXPECT_EQ(running->record->session_state, SessionState::kGone);
  EXPECT_THAT(waiting, HasCode("session_ended"));
  EXPECT_EQ(world_.sessions, 0);
  EXPECT_THAT(world_.ran(), testing::ElementsAre("wait"));
}

TEST_F(StopTest, OfNothingReturnsAtOnceAndTwiceIsOnce) {
  NewSessionOf(anna_);
  service().Stop(kPatience);
  service().Stop(kPatience);
  EXPECT_EQ(world_.sessions, 0);
}

}  // namespace
}  // namespace cellblock::service
