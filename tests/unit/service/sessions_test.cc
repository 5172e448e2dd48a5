// Sessions: bounded in number, their token's alone, over at their time and not before, and gone with time and reason.
#include "tests/unit/service/service_fixture.h"

namespace cellblock::service {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class SessionsTest : public ServiceTest {};

TEST_F(SessionsTest, TheServerHoldsAsManyAsItMay) {
  options_.sessions_max = 2;
  const std::string first = NewSessionOf(anna_);
  NewSessionOf(ben_);
  EXPECT_THAT(service().CreateSession(By(anna_), {}), AllOf(HasCode("too_many_sessions"), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("sessions_max")), MayBeTriedAfter(absl::Seconds(10))));
  EXPECT_EQ(world_.sessions, 2);
  EXPECT_THAT(service().CloseSession(By(anna_), first), IsOk());
  EXPECT_THAT(service().CreateSession(By(anna_), {}), IsOk());
}

TEST_F(SessionsTest, ATokenHoldsAsManyAsItMayAndLeavesTheOthersTheirs) {
  anna_.sessions_max = 1;
  NewSessionOf(anna_);
  EXPECT_THAT(service().CreateSession(By(anna_), {}), AllOf(HasCode("too_many_sessions"), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("token anna holds 1")), MayBeTriedAfter(absl::Seconds(10))));
  EXPECT_THAT(service().CreateSession(By(ben_), {}), IsOk());
}

TEST_F(SessionsTest, NoneIsMadeWhileTheMachineIsShortOfMemory) {
  options_.memory_spare_bytes = int64_t{1} << 60;  // no machine has as much
  EXPECT_THAT(service().CreateSession(By(anna_), {}), IsOk()) << "nobody has looked yet";
  service().Sweep(absl::Now());
  EXPECT_THAT(service().CreateSession(By(anna_), {}), AllOf(HasCode("memory_short"), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("spare_memory")), MayBeTriedAfter(absl::Seconds(10))));
  EXPECT_EQ(world_.sessions, 1);
}

TEST_F(SessionsTest, SpareMemoryThatIsThereKeepsNobodyOut) {
  options_.memory_spare_bytes = 1;
  service().Sweep(absl::Now());
  EXPECT_THAT(service().CreateSession(By(anna_), {}), IsOk());
}

TEST_F(SessionsTest, OneThatCannotBeMadeGivesItsPlaceBack) {
  options_.sessions_max = 1;
  world_.session_status = absl::FailedPreconditionError("this machine has no user namespaces");
  EXPECT_THAT(service().CreateSession(By(anna_), {}), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("user namespaces")));
  world_.session_status = absl::OkStatus();
  EXPECT_THAT(service().CreateSession(By(anna_), {}), IsOk());
}

TEST_F(SessionsTest, BelongToTheirTokenAlone) {
  const std::string session = NewSessionOf(anna_);
  const std::string call = *Detach(By(anna_), session, "1");
  ASSERT_TRUE(Eventually([&] { return service().GetExecution(By(anna_), call)->state == "done"; }));
  EXPECT_THAT(service().GetSession(By(anna_), session), IsOk());
  EXPECT_THAT(service().GetSession(By(ben_), session), HasCode("session_not_found"));
  EXPECT_THAT(service().CloseSession(By(ben_), session), HasCode("session_not_found"));
  EXPECT_THAT(service().RenewSession(By(ben_), session, std::nullopt), HasCode("session_not_found"));
  EXPECT_THAT(service().InterruptSession(By(ben_), session), HasCode("session_not_found"));
  EXPECT_THAT(service().RestartSession(By(ben_), session), HasCode("session_not_found"));
  EXPECT_THAT(Execute(By(ben_), session, "1"), HasCode("session_not_found"));
  EXPECT_THAT(service().ListFiles(By(ben_), session), HasCode("session_not_found"));
  EXPECT_THAT(service().ListArtifacts(By(ben_), session, 0, 10), HasCode("session_not_found"));
  EXPECT_THAT(service().GetExecution(By(ben_), call), HasCode("execution_not_found"));
  EXPECT_EQ(service().ListSessions(By(ben_), 0, 10)->size(), 0u);
  EXPECT_EQ(service().ListSessions(By(anna_), 0, 10)->size(), 1u);
  // What is another's and what is none are told apart by nothing.
  const std::string other(service().GetSession(By(ben_), session).status().message()), none(service().GetSession(By(ben_), "s-none").status().message());
  EXPECT_EQ(other, absl::StrCat("there is no session \"", session, "\" of this token"));
  EXPECT_EQ(none, "there is no session \"s-none\" of this token");
  EXPECT_THAT(service().CloseSession(By(anna_), session), IsOk());
  EXPECT_THAT(service().GetSession(By(ben_), session), HasCode("session_not_found")) << "also when it has ended";
}

TEST_F(SessionsTest, TakeThePoliciesOfTheirTokenAlone) {
  anna_.policies = {"other"};
  NewSession wanted;
  EXPECT_THAT(service().CreateSession(By(anna_), wanted), AllOf(HasCode("policy_not_allowed"), StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr("default"))));
  EXPECT_THAT(service().CreateSession(By(ben_), wanted), IsOk());
  wanted.policy = "other";
  EXPECT_THAT(service().CreateSession(By(anna_), wanted), IsOk());
  wanted.policy = "none";
  EXPECT_THAT(service().CreateSession(By(ben_), wanted), AllOf(HasCode("unknown_policy"), StatusIs(absl::StatusCode::kNotFound, HasSubstr("default, other"))));
}

TEST_F(SessionsTest, HaveTheLimitsOfTheirToken) {
  anna_.wall_max = absl::Seconds(3);
  NewSessionOf(anna_);
  EXPECT_EQ(world_.last_policy.limits.wall, absl::Seconds(3));
  NewSessionOf(ben_);
  EXPECT_GT(world_.last_policy.limits.wall, absl::Seconds(3));
}

TEST_F(SessionsTest, MayAskForLessTimeThanThePolicyGivesAndNotForMore) {
  NewSession wanted;
  wanted.idle = absl::Minutes(10);
  wanted.life = absl::Hours(1);
  EXPECT_THAT(service().CreateSession(By(anna_), wanted), IsOk());
  wanted.idle = absl::Minutes(11);
  EXPECT_THAT(service().CreateSession(By(anna_), wanted), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("session.idle")));
  wanted.idle = absl::Milliseconds(999);
  EXPECT_THAT(service().CreateSession(By(anna_), wanted), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("session.idle")));
  wanted.idle = std::nullopt;
  wanted.life = absl::Minutes(61);
  EXPECT_THAT(service().CreateSession(By(anna_), wanted), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("session.life")));
}

TEST_F(SessionsTest, MetadataIsBounded) {
  NewSession wanted;
  wanted.metadata_json = absl::StrCat("{\"a\":\"", std::string(kMetadataBytesMax - 8, 'x'), "\"}");
  ASSERT_EQ(wanted.metadata_json.size(), kMetadataBytesMax);
  EXPECT_THAT(service().CreateSession(By(anna_), wanted), IsOk());
  wanted.metadata_json += ' ';
  EXPECT_THAT(service().CreateSession(By(anna_), wanted), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("metadata")));
}

TEST_F(SessionsTest, AnIdleOneExpiresAndSaysWhenAndWhy) {
  const std::string session = NewSessionOf(anna_);
  service().Sweep(absl::Now() + absl::Minutes(9));
  background_.Join();
  EXPECT_THAT(service().GetSession(By(anna_), session), IsOk()) << "not before its time";
  service().Sweep(absl::Now() + absl::Minutes(11));
  ASSERT_TRUE(Ended(anna_, session));
  EXPECT_THAT(service().GetSession(By(anna_), session), AllOf(HasCode("session_expired"), StatusIs(absl::StatusCode::kFailedPrecondition, AllOf(HasSubstr("expired at 20"), HasSubstr("session.idle")))));
  EXPECT_THAT(Execute(By(anna_), session, "1"), HasCode("session_expired"));
  const std::vector<SessionInfo> listed = *service().ListSessions(By(anna_), 0, 10);
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0].state, "expired");
  EXPECT_THAT(listed[0].reason, HasSubstr("nobody had used it for 10m"));
  EXPECT_TRUE(Eventually([&] { return world_.sessions == 0; })) << "its processes end with it";
}

TEST_F(SessionsTest, ABusyOneOutlivesItsIdleTimeButNotItsLife) {
  const std::string session = NewSessionOf(anna_);
  absl::StatusOr<CallAnswer> answer = absl::UnknownError("not yet");
  Begin(By(anna_), session, "wait", &answer);
  world_.WaitUntilRuns("wait");
  service().Sweep(absl::Now() + absl::Minutes(30));
  background_.Join();
  EXPECT_EQ(service().GetSession(By(anna_), session)->state, "busy");
  EXPECT_EQ(world_.interrupts(), 0);
  service().Sweep(absl::Now() + absl::Minutes(61));
  calls_.Join();
  ASSERT_THAT(answer, IsOk());
  EXPECT_EQ(answer->record->status, CallStatus::kInterrupted);
  ASSERT_TRUE(Ended(anna_, session));
  EXPECT_THAT(service().GetSession(By(anna_), session), AllOf(HasCode("session_expired"), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("session.life"))));
}

TEST_F(SessionsTest, ARenewalMovesTheEndAwayAndNeverNearer) {
  const std::string session = NewSessionOf(anna_);
  const absl::Time before = service().GetSession(By(anna_), session)->expires_at;
  EXPECT_EQ(service().RenewSession(By(anna_), session, absl::Seconds(1))->expires_at, before);
  EXPECT_GT(service().RenewSession(By(anna_), session, std::nullopt)->expires_at, before);
  EXPECT_THAT(service().RenewSession(By(anna_), session, absl::Minutes(11)), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("session.idle")));
  EXPECT_THAT(service().RenewSession(By(anna_), session, absl::Milliseconds(1)), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("session.idle")));
}

TEST_F(SessionsTest, AClosedOneIsGoneAndClosingItAgainIsNoError) {
  const std::string session = NewSessionOf(anna_);
  EXPECT_THAT(service().CloseSession(By(anna_), session), IsOk());
  EXPECT_THAT(service().CloseSession(By(anna_), session), IsOk());
  EXPECT_THAT(service().GetSession(By(anna_), session), AllOf(HasCode("session_closed"), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("its owner closed it"))));
  EXPECT_EQ(world_.sessions, 0);
}

TEST_F(SessionsTest, WhoseProcessesWereEndedSayThatTheyDied) {
  const std::string session = NewSessionOf(anna_);
  Begin(By(anna_), session, "wait");
  world_.WaitUntilRuns("wait");
  world_.lost = true;
  service().Sweep(absl::Now());
  background_.Join();
  EXPECT_THAT(service().GetSession(By(anna_), session), IsOk()) << "a call that runs is left to say how it ended";
  world_.Release("wait");
  calls_.Join();
  service().Sweep(absl::Now());
  background_.Join();
  EXPECT_THAT(service().GetSession(By(anna_), session), AllOf(HasCode("session_died"), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("its processes were ended"))));
  EXPECT_EQ(world_.sessions, 0);
  world_.lost = false;
  EXPECT_THAT(Execute(By(anna_), NewSessionOf(anna_), "1"), IsOk());
}

TEST_F(SessionsTest, AreKnownAsDiedAfterTheServersDeath) {
  const std::string session = NewSessionOf(anna_);
  const std::string running = *Detach(By(anna_), session, "wait");
  world_.WaitUntilRuns("wait");
  // What a kill leaves: a journal that nobody closed.
  const std::string copy = folder_.PathOf("copy");
  std::filesystem::copy(folder_.PathOf("journal"), copy, std::filesystem::copy_options::recursive);
  store::JournalOptions options;
  options.folder = copy;
  const std::unique_ptr<store::Journal> journal = *store::Journal::Open(options, absl::Now());
  EXPECT_EQ(journal->recovered().sessions_died, 1);
  EXPECT_EQ(journal->recovered().executions_lost, 1);
  Service after(options_, [this](const std::string&) { return host_; }, shelf_, *journal, {}, [](std::function<void()>) {});
  EXPECT_THAT(after.GetSession(By(anna_), session), HasCode("session_died"));
  EXPECT_EQ(after.GetExecution(By(anna_), running)->state, "lost");
  EXPECT_THAT(after.GetSession(By(ben_), session), HasCode("session_not_found"));
}

}  // namespace
}  // namespace cellblock::service
