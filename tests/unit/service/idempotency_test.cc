// Idempotency keys: a request that carries one runs once, however often and however concurrently it is sent; a key stands for one request.
#include "tests/unit/service/service_fixture.h"

namespace cellblock::service {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;

class IdempotencyTest : public ServiceTest {
 protected:
  int64_t TimesRun(const std::string& code) {
    const std::vector<std::string> ran = world_.ran();
    return std::count(ran.begin(), ran.end(), code);
  }
};

TEST_F(IdempotencyTest, TheSameRequestHasOneRecordAndRunsOnce) {
  const std::string session = NewSessionOf(anna_);
  const CallAnswer first = *Execute(By(anna_, "k", "content"), session, "1");
  const CallAnswer second = *Execute(By(anna_, "k", "content"), session, "1");
  EXPECT_EQ(*first.record_json, *second.record_json);
  EXPECT_EQ(*Detach(By(anna_, "k", "content"), session, "1"), first.execution_id);
  EXPECT_THAT(world_.ran(), ElementsAre("1"));
  EXPECT_NE(Execute(By(anna_, "other", "content"), session, "1")->execution_id, first.execution_id) << "another key is another request";
}

TEST_F(IdempotencyTest, AKeyOfAnotherRequestIsRefusedAndSaysSo) {
  const std::string session = NewSessionOf(anna_);
  ASSERT_THAT(Execute(By(anna_, "k", "content"), session, "1"), IsOk());
  EXPECT_THAT(Execute(By(anna_, "k", "other content"), session, "2"), AllOf(HasCode("idempotency_key_reused"), StatusIs(absl::StatusCode::kInvalidArgument, testing::_)));
  EXPECT_THAT(service().CreateSession(By(anna_, "k", "a session"), {}), HasCode("idempotency_key_reused"));
  EXPECT_THAT(world_.ran(), ElementsAre("1"));
}

TEST_F(IdempotencyTest, KeysOfTwoTokensAreTwoKeys) {
  const std::string session = NewSessionOf(anna_), bens = NewSessionOf(ben_);
  ASSERT_THAT(Execute(By(anna_, "k", "content"), session, "1"), IsOk());
  EXPECT_THAT(Execute(By(ben_, "k", "other content"), bens, "2"), IsOk());
}

TEST_F(IdempotencyTest, ASessionIsMadeOnce) {
  const absl::StatusOr<SessionInfo> first = service().CreateSession(By(anna_, "k", "content"), {});
  const absl::StatusOr<SessionInfo> second = service().CreateSession(By(anna_, "k", "content"), {});
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->id, second->id);
  EXPECT_EQ(world_.sessions, 1);
  EXPECT_THAT(service().CloseSession(By(anna_), first->id), IsOk());
  EXPECT_THAT(service().CreateSession(By(anna_, "k", "content"), {}), HasCode("session_closed")) << "the same request has the same answer";
}

TEST_F(IdempotencyTest, AnAnswerOutlivesItsSession) {
  const std::string session = NewSessionOf(anna_);
  const CallAnswer first = *Execute(By(anna_, "k", "content"), session, "1");
  ASSERT_THAT(service().CloseSession(By(anna_), session), IsOk());
  const absl::StatusOr<CallAnswer> again = Execute(By(anna_, "k", "content"), session, "1");
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(*again->record_json, *first.record_json);
  EXPECT_EQ(*Detach(By(anna_, "k", "content"), session, "1"), first.execution_id);
  EXPECT_THAT(Execute(By(anna_, "k", "other content"), session, "2"), HasCode("idempotency_key_reused"));
  for (int i = 0; i < 2; ++i) EXPECT_THAT(Execute(By(anna_, "never ran", "content"), session, "1"), HasCode("session_closed"));
  EXPECT_THAT(Execute(By(anna_, "never ran", "other content"), NewSessionOf(anna_), "2"), IsOk()) << "a key that came to nothing is free";
}

TEST_F(IdempotencyTest, WhoeverSendsItAgainWhileItRunsWaitsForItsAnswer) {
  const std::string session = NewSessionOf(anna_);
  absl::StatusOr<CallAnswer> first = absl::UnknownError("not yet"), second = absl::UnknownError("not yet");
  Begin(By(anna_, "k", "content"), session, "wait", &first);
  world_.WaitUntilRuns("wait");
  const std::string detached = *Detach(By(anna_, "k", "content"), session, "wait");
  Begin(By(anna_, "k", "content"), session, "wait", &second);
  world_.Release("wait");
  calls_.Join();
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(*first->record_json, *second->record_json);
  EXPECT_EQ(detached, first->execution_id);
  EXPECT_EQ(TimesRun("wait"), 1);
}

TEST_F(IdempotencyTest, ManyAtOnceRunOnce) {
  NewSession wanted;
  wanted.policy = "other";  // session.queue: 8
  const std::string session = NewSessionOf(anna_, wanted);
  constexpr int kRounds = 200, kSenders = 4;
  for (int round = 0; round < kRounds; ++round) {
    const std::string code = absl::StrCat(round);
    std::vector<absl::StatusOr<CallAnswer>> answers(kSenders, absl::UnknownError("not yet"));
    for (absl::StatusOr<CallAnswer>& answer : answers) Begin(By(anna_, code, code), session, code, &answer);
    calls_.Join();
    for (const absl::StatusOr<CallAnswer>& answer : answers) {
      ASSERT_THAT(answer, IsOk());
      EXPECT_EQ(*answer->record_json, *answers[0]->record_json);
    }
    ASSERT_EQ(TimesRun(code), 1) << "round " << round;
  }
}

TEST_F(IdempotencyTest, WhatWasRefusedBeforeItRanMayBeTriedAgainWithItsKey) {
  const std::string session = NewSessionOf(anna_);  // session.queue: 1
  Begin(By(anna_), session, "wait");
  world_.WaitUntilRuns("wait");
  Begin(By(anna_), session, "2");
  ASSERT_TRUE(Waiting(anna_, session, 1));
  EXPECT_THAT(Execute(By(anna_, "k", "content"), session, "3"), HasCode("queue_full"));
  world_.Release("wait");
  calls_.Join();
  EXPECT_THAT(Execute(By(anna_, "k", "content"), session, "3"), IsOk());
  EXPECT_EQ(TimesRun("3"), 1);
}

TEST_F(IdempotencyTest, ACallBeyondTheBoundGivesItsKeyBack) {
  anna_.calls_max = 1;
  const std::string session = NewSessionOf(anna_), other = NewSessionOf(anna_);
  Begin(By(anna_), session, "wait");
  world_.WaitUntilRuns("wait");
  EXPECT_THAT(Execute(By(anna_, "k", "content"), other, "1"), HasCode("too_many_calls"));
  EXPECT_EQ(TimesRun("1"), 0);
  world_.Release("wait");
  calls_.Join();
  EXPECT_THAT(Execute(By(anna_, "k", "other content"), other, "1"), IsOk()) << "nothing is kept of what was not begun";
}

TEST_F(IdempotencyTest, ASessionThatCouldNotBeMadeMayBeTriedAgainWithItsKey) {
  world_.session_status = absl::UnavailableError("no");
  EXPECT_THAT(service().CreateSession(By(anna_, "k", "content"), {}), StatusIs(absl::StatusCode::kUnavailable, "no"));
  world_.session_status = absl::OkStatus();
  EXPECT_THAT(service().CreateSession(By(anna_, "k", "content"), {}), IsOk());
}

TEST_F(IdempotencyTest, ARunOfCellsTakesNoKey) {
  Service::Run run;
  run.cells.emplace_back().code = "1";
  EXPECT_THAT(service().RunCells(By(anna_, "k", "content"), run), StatusIs(absl::StatusCode::kInvalidArgument, testing::HasSubstr("Idempotency-Key")));
  EXPECT_THAT(service().RunCells(By(anna_), run), IsOk());
}

TEST_F(IdempotencyTest, AKeyIsForgottenAfterADay) {
  const std::string session = NewSessionOf(anna_);
  ASSERT_THAT(Execute(By(anna_, "k", "content"), session, "1"), IsOk());
  service().Sweep(absl::Now());  // remembers when it last looked
  background_.Join();
  EXPECT_THAT(Execute(By(anna_, "k", "other"), session, "2"), HasCode("idempotency_key_reused"));
  ASSERT_THAT(journal_->Prune(absl::Now() + absl::Hours(25)), IsOk());
  EXPECT_THAT(Execute(By(anna_, "k", "other"), session, "2"), IsOk());
}

}  // namespace
}  // namespace cellblock::service
