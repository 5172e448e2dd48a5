// Calls: one after the other, not more than may wait, fetched by id, and taken back whether they wait, begin or run.
#include "tests/unit/service/service_fixture.h"

namespace cellblock::service {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CallsTest : public ServiceTest {
 protected:
  std::string StateOf(const std::string& execution) { return service().GetExecution(By(anna_), execution)->state; }
  bool Done(const std::string& execution) {
    return Eventually([&] { return StateOf(execution) == "done"; });
  }
};

TEST_F(CallsTest, WaitInOrderAndOneTooManyIsRefused) {
  const std::string session = NewSessionOf(anna_);  // session.queue: 1
  absl::StatusOr<CallAnswer> second = absl::UnknownError("not yet");
  Begin(By(anna_), session, "wait");
  world_.WaitUntilRuns("wait");
  Begin(By(anna_), session, "2", &second);
  ASSERT_TRUE(Waiting(anna_, session, 1));
  EXPECT_THAT(Execute(By(anna_), session, "3"), AllOf(HasCode("queue_full"), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("session.queue")), MayBeTriedAfter(absl::Seconds(1))));
  world_.Release("wait");
  calls_.Join();
  EXPECT_THAT(second, IsOk());
  EXPECT_THAT(Execute(By(anna_), session, "4"), IsOk());
  EXPECT_THAT(world_.ran(), ElementsAre("wait", "2", "4"));
}

TEST_F(CallsTest, OfATokenAreBoundedAndThoseOfOthersGoOn) {
  anna_.calls_max = 1;
  const std::string session = NewSessionOf(anna_), other = NewSessionOf(anna_), bens = NewSessionOf(ben_);
  Begin(By(anna_), session, "wait");
  world_.WaitUntilRuns("wait");
  EXPECT_THAT(Execute(By(anna_), other, "1"), AllOf(HasCode("too_many_calls"), MayBeTriedAfter(absl::Seconds(1))));
  EXPECT_THAT(Execute(By(ben_), bens, "1"), IsOk());
  world_.Release("wait");
  calls_.Join();
  EXPECT_THAT(Execute(By(anna_), other, "1"), IsOk());
}

TEST_F(CallsTest, OfAllTokensAreBounded) {
  options_.calls_max = 1;
  const std::string session = NewSessionOf(anna_), bens = NewSessionOf(ben_);
  Begin(By(anna_), session, "wait");
  world_.WaitUntilRuns("wait");
  EXPECT_THAT(Execute(By(ben_), bens, "1"), AllOf(HasCode("too_many_calls"), MayBeTriedAfter(absl::Seconds(1))));
  world_.Release("wait");
  calls_.Join();
  EXPECT_THAT(Execute(By(ben_), bens, "1"), IsOk());
}

TEST_F(CallsTest, ADetachedOneIsFetchedByItsId) {
  const std::string session = NewSessionOf(anna_);
  const std::string execution = *Detach(By(anna_), session, "wait");
  world_.WaitUntilRuns("wait");
  EXPECT_EQ(StateOf(execution), "running");
  const std::string next = *Detach(By(anna_), session, "2");
  EXPECT_EQ(StateOf(next), "waiting");
  EXPECT_EQ(service().GetExecution(By(anna_), next)->events_json, "[]");
  world_.Release("wait");
  ASSERT_TRUE(Done(execution) && Done(next));
  EXPECT_THAT(*service().GetExecution(By(anna_), execution)->record_json, HasSubstr("\"status\":\"ok\""));
  EXPECT_THAT(service().GetExecution(By(anna_), "x-none"), HasCode("execution_not_found"));
}

TEST_F(CallsTest, AnOrdinaryOneIsFetchedByItsIdAfterwards) {
  const std::string session = NewSessionOf(anna_);
  const CallAnswer answer = *Execute(By(anna_), session, "1");
  EXPECT_EQ(*service().GetExecution(By(anna_), answer.execution_id)->record_json, *answer.record_json);
}

TEST_F(CallsTest, APollSaysThatItShowsTheFirstEventsAlone) {
  const std::string session = NewSessionOf(anna_);
  const std::string execution = *Detach(By(anna_), session, "wait and print");
  world_.WaitUntilRuns("wait and print");
  const CallInfo info = *service().GetExecution(By(anna_), execution);
  EXPECT_TRUE(info.events_truncated);
  EXPECT_LE(info.events_json.size(), kPartialEventsBytesMax + 2);
  EXPECT_GE(info.events_json.size(), size_t{7} << 20);
  EXPECT_EQ(info.events_json.find("short"), std::string::npos) << "an event after one that had no room would hide the gap";
  world_.Release("wait and print");
  ASSERT_TRUE(Done(execution));
  EXPECT_THAT(*service().GetExecution(By(anna_), execution)->record_json, HasSubstr("short"));
}

TEST_F(CallsTest, APollOfLittleOutputIsNotTruncated) {
  const std::string session = NewSessionOf(anna_);
  const std::string execution = *Detach(By(anna_), session, "wait");
  world_.WaitUntilRuns("wait");
  EXPECT_FALSE(service().GetExecution(By(anna_), execution)->events_truncated);
}

TEST_F(CallsTest, AWaitingOneIsTakenOutOfTheQueueAndNeverRuns) {
  const std::string session = NewSessionOf(anna_);
  Begin(By(anna_), session, "wait");
  world_.WaitUntilRuns("wait");
  absl::StatusOr<CallAnswer> answer = absl::UnknownError("not yet");
  std::string id;
  std::mutex mutex;
  calls_.Run([&] {
    NewCall call;
    call.code = "2";
    call.on_accepted = [&](const std::string& execution_id) {
      std::lock_guard<std::mutex> lock(mutex);
      id = execution_id;
    };
    answer = service().Execute(By(anna_), session, call);
  });
  ASSERT_TRUE(Waiting(anna_, session, 1));
  {
    std::lock_guard<std::mutex> lock(mutex);
    service().CancelExecution(id);
  }
  ASSERT_TRUE(Waiting(anna_, session, 0));
  EXPECT_EQ(world_.interrupts(), 0) << "the one that runs was not meant";
  world_.Release("wait");
  calls_.Join();
  EXPECT_THAT(answer, AllOf(HasCode("cancelled"), StatusIs(absl::StatusCode::kAborted, HasSubstr("before it started"))));
  EXPECT_THAT(world_.ran(), ElementsAre("wait"));
}

TEST_F(CallsTest, ARunningOneIsInterrupted) {
  const std::string session = NewSessionOf(anna_);
  const std::string execution = *Detach(By(anna_), session, "wait");
  world_.WaitUntilRuns("wait");
  service().CancelExecution(execution);
  ASSERT_TRUE(Done(execution));
  EXPECT_THAT(*service().GetExecution(By(anna_), execution)->record_json, HasSubstr("\"status\":\"interrupted\""));
  service().CancelExecution(execution);  // too late: it must not reach another call
  EXPECT_EQ(world_.interrupts(), 1);
  EXPECT_THAT(Execute(By(anna_), session, "2"), IsOk());
}

TEST_F(CallsTest, OneThatHasItsTurnButDoesNotTakeInterruptsYetIsInterruptedOnce) {
  const std::string session = NewSessionOf(anna_);
  std::string execution;
  world_.before_start = [&] { service().CancelExecution(execution); };
  NewCall call;
  call.code = "wait";
  call.on_accepted = [&](const std::string& id) { execution = id; };
  const absl::StatusOr<CallAnswer> answer = service().Execute(By(anna_), session, call);
  world_.before_start = nullptr;
  ASSERT_THAT(answer, IsOk());
  EXPECT_EQ(answer->record->status, CallStatus::kInterrupted);
  EXPECT_EQ(world_.interrupts(), 1) << "a second one would kill";
}

TEST_F(CallsTest, AnInterruptOfTheSessionReachesACallThatIsJustStarting) {
  const std::string session = NewSessionOf(anna_);
  world_.before_start = [&] { EXPECT_THAT(service().InterruptSession(By(anna_), session), IsOk()); };
  const absl::StatusOr<CallAnswer> answer = Execute(By(anna_), session, "wait");
  world_.before_start = nullptr;
  ASSERT_THAT(answer, IsOk());
  EXPECT_EQ(answer->record->status, CallStatus::kInterrupted);
  EXPECT_EQ(world_.interrupts(), 1);
}

TEST_F(CallsTest, AnInterruptOfTheSessionLeavesThoseWhoWait) {
  const std::string session = NewSessionOf(anna_);
  absl::StatusOr<CallAnswer> first = absl::UnknownError("not yet"), second = absl::UnknownError("not yet");
  Begin(By(anna_), session, "wait", &first);
  world_.WaitUntilRuns("wait");
  Begin(By(anna_), session, "2", &second);
  ASSERT_TRUE(Waiting(anna_, session, 1));
  EXPECT_THAT(service().InterruptSession(By(anna_), session), IsOk());
  calls_.Join();
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->record->status, CallStatus::kInterrupted);
  EXPECT_EQ(second->record->status, CallStatus::kOk);
}

TEST_F(CallsTest, BeyondTheQueueAreRefusedAtOnceHoweverTheyAreAsked) {
  const std::string session = NewSessionOf(anna_);
  Begin(By(anna_), session, "wait");
  world_.WaitUntilRuns("wait");
  const absl::StatusOr<std::string> waiting = Detach(By(anna_), session, "2");
  ASSERT_THAT(waiting, IsOk());
  EXPECT_THAT(Detach(By(anna_), session, "3"), HasCode("queue_full"));
  EXPECT_THAT(Detach(By(anna_, "k", "content"), session, "3"), HasCode("queue_full"));
  NewCall call;
  call.code = "3";
  bool ended = false;
  EXPECT_THAT(service().StartWatched(By(anna_), session, call, [&](const absl::StatusOr<CallAnswer>&) { ended = true; }), HasCode("queue_full"));
  EXPECT_FALSE(ended) << "who was refused is told once";
  world_.Release("wait");
  calls_.Join();
  EXPECT_TRUE(Eventually([&] { return service().GetExecution(By(anna_), *waiting)->state == "done"; }));
  absl::StatusOr<CallAnswer> answer = absl::UnknownError("not yet");
  ASSERT_THAT(service().StartWatched(By(anna_, "k", "content"), session, call, [&](const absl::StatusOr<CallAnswer>& got) { answer = got; }), IsOk()) << "its key is free";
  background_.Join();
  EXPECT_THAT(answer, IsOk());
  EXPECT_EQ(world_.ran().size(), 3u);
}

TEST_F(CallsTest, AClientThatIsGoneInterruptsItsCallUnlessAnotherWaitsForItToo) {
  anna_.calls_max = 2;
  const std::string session = NewSessionOf(anna_), other = NewSessionOf(anna_);
  std::string id;
  NewCall call;
  call.code = "wait";
  call.on_accepted = [&](const std::string& accepted) { id = accepted; };
  absl::StatusOr<CallAnswer> first = absl::UnknownError("not yet"), second = absl::UnknownError("not yet");
  calls_.Run([&] { first = service().Execute(By(anna_, "k", "content"), session, call); });
  world_.WaitUntilRuns("wait");
  // The look below takes a call's place too: where the second comes just then, it comes again.
  calls_.Run([&] {
    do {
      second = Execute(By(anna_, "k", "content"), session, "wait");
    } while (absl::IsResourceExhausted(second.status()));
  });
  ASSERT_TRUE(Eventually([&] { return !Execute(By(anna_), other, "2").ok(); })) << "the second counts as a call";
  service().ClientIsGone(id);
  EXPECT_EQ(world_.interrupts(), 0);
  world_.Release("wait");
  calls_.Join();
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->record->status, CallStatus::kOk);
  EXPECT_EQ(*first->record_json, *second->record_json);

  call.code = "wait for nobody";
  calls_.Run([&] { first = service().Execute(By(anna_, "k2", "content"), session, call); });
  world_.WaitUntilRuns("wait for nobody");
  service().ClientIsGone(id);
  calls_.Join();
  EXPECT_EQ(first->record->status, CallStatus::kInterrupted);
}

TEST_F(CallsTest, ARunOfCellsKeepsNoSessionAndStopsAtTheFirstThatFails) {
  options_.sessions_max = 1;
  Service::Run run;
  for (const char* code : {"1", "2"}) run.cells.emplace_back().code = code;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(service().RunCells(By(anna_), run)->size(), 2u);
  EXPECT_EQ(world_.sessions, 0);
  run.cells[0].code = "refused";
  EXPECT_THAT(service().RunCells(By(anna_), run), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no such code")));
  EXPECT_EQ(world_.sessions, 0);
  run.cells.assign(kCellsMax + 1, NewCall{});
  EXPECT_THAT(service().RunCells(By(anna_), run), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("at most 1000")));
}

}  // namespace
}  // namespace cellblock::service
