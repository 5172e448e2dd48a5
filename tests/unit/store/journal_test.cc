// The journal: what was answered is there after a kill, what lived then says that it died, and nothing grows without end.
#include "store/journal.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "absl/strings/str_cat.h"
#include "sys/files.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/store/folder_of_test.h"

namespace cellblock::store {
namespace {

using ::testing::_;
using ::testing::HasSubstr;

const absl::Time kStart = absl::FromUnixSeconds(1'800'000'000);

// No file takes another byte while it lives.
class FullDisk {
 public:
  FullDisk() {
    signal(SIGXFSZ, SIG_IGN);
    EXPECT_EQ(getrlimit(RLIMIT_FSIZE, &before_), 0);
    const struct rlimit none = {1, before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &none), 0);
  }
  ~FullDisk() { EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &before_), 0); }

 private:
  struct rlimit before_ = {};
};

class JournalTest : public FolderOfTest {
 protected:
  std::unique_ptr<Journal> Open(absl::Time now = kStart) {
    options_.folder = top_ / "journal";
    absl::StatusOr<std::unique_ptr<Journal>> journal = Journal::Open(options_, now);
    EXPECT_THAT(journal, IsOk());
    return journal.ok() ? *std::move(journal) : nullptr;
  }
  static SessionEntry NewSession(const std::string& id, absl::Time at = kStart) {
    SessionEntry session;
    session.id = id;
    session.owner = "anna";
    session.policy = "default";
    session.metadata_json = R"({"a":1})";
    session.created_at = at;
    return session;
  }
  static ExecutionEntry NewExecution(const std::string& id, const std::string& session, const std::string& code = "1+1") {
    ExecutionEntry execution;
    execution.id = id;
    execution.session_id = session;
    execution.language = "python";
    execution.code = code;
    execution.accepted_at = kStart;
    return execution;
  }
  static ExecutionEntry Done(ExecutionEntry execution, int64_t call = 1, const std::string& record = "{}") {
    execution.call = call;
    execution.status = "ok";
    execution.record_json = record;
    execution.ended_at = kStart + absl::Seconds(1);
    return execution;
  }
  ArtifactEntry NewArtifact(const std::string& id, const std::string& content) {
    ArtifactEntry artifact;
    artifact.id = id;
    artifact.path = absl::StrCat("out/", id, ".png");
    artifact.size_bytes = static_cast<int64_t>(content.size());
    artifact.mime = "image/png";
    artifact.sha256 = Digest(content);
    artifact.image_size.emplace(640, 480);
    artifact.stored_at = Write(id, content);
    return artifact;
  }
  std::string Content(Journal& journal, const std::string& id) {
    absl::StatusOr<ArtifactEntry> artifact = journal.GetArtifact(id);
    if (!artifact.ok()) return std::string(artifact.status().message());
    absl::StatusOr<UniqueFd> file = journal.OpenArtifact(*artifact);
    return file.ok() ? sys::ReadAll(file->get(), 1 << 20).value_or("?") : std::string(file.status().message());
  }
  JournalOptions options_;
};

TEST_F(JournalTest, GivesBackWhatWasPutIn) {
  std::unique_ptr<Journal> journal = Open();
  ASSERT_THAT(journal->AddSession(NewSession("s-1")), IsOk());
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(SessionEntry session, journal->GetSession("s-1"));
  EXPECT_EQ(session.owner, "anna");
  EXPECT_EQ(session.metadata_json, R"({"a":1})");
  EXPECT_EQ(session.created_at, kStart);
  EXPECT_EQ(session.state, LifeState::kLive);
  EXPECT_EQ(session.ended_at, absl::InfiniteFuture());

  std::string code("x = '\0 été 数'\n", 16);  // bytes come back as they were
  ExecutionEntry execution = NewExecution("x-1", "s-1", code);
  ASSERT_THAT(journal->AddExecution(execution), IsOk());
  EXPECT_EQ(journal->GetExecution("x-1")->state, CallState::kRunning);
  EXPECT_THAT(journal->FinishExecution(Done(execution, 1, R"({"status":"ok"})"), {NewArtifact("a-1", "pixels")}), IsOk());
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(execution, journal->GetExecution("x-1"));
  EXPECT_EQ(execution.state, CallState::kDone);
  EXPECT_EQ(execution.code, code);
  EXPECT_EQ(execution.record_json, R"({"status":"ok"})");
  EXPECT_EQ(execution.ended_at, kStart + absl::Seconds(1));
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(ArtifactEntry artifact, journal->GetArtifact("a-1"));
  EXPECT_EQ(artifact.execution_id, "x-1");
  EXPECT_EQ(artifact.image_size, std::pair(int64_t{640}, int64_t{480}));
  EXPECT_EQ(Content(*journal, "a-1"), "pixels");
  EXPECT_EQ(journal->content_bytes(), 6);
}

TEST_F(JournalTest, ACallMayBeJournaledAtItsEndAlone) {
  std::unique_ptr<Journal> journal = Open();
  ASSERT_THAT(journal->AddSession(NewSession("s-1")), IsOk());
  EXPECT_THAT(journal->FinishExecution(Done(NewExecution("x-1", "s-1")), {}), IsOk());
  EXPECT_EQ(journal->GetExecution("x-1")->state, CallState::kDone);
}

TEST_F(JournalTest, UnknownIdsAreNotFoundAndTakenOnesAreTold) {
  std::unique_ptr<Journal> journal = Open();
  EXPECT_THAT(journal->GetSession("s-1"), StatusIs(absl::StatusCode::kNotFound, HasSubstr("no session")));
  EXPECT_THAT(journal->GetExecution("x-1"), StatusIs(absl::StatusCode::kNotFound, _));
  EXPECT_THAT(journal->GetArtifact("a-1"), StatusIs(absl::StatusCode::kNotFound, _));
  EXPECT_THAT(journal->EndSession("s-1", LifeState::kClosed, "", kStart), StatusIs(absl::StatusCode::kNotFound, _));
  EXPECT_THAT(journal->AddExecution(NewExecution("x-1", "s-1")), StatusIs(absl::StatusCode::kNotFound, _));
  EXPECT_THAT(journal->FinishExecution(Done(NewExecution("x-1", "s-1")), {}), StatusIs(absl::StatusCode::kNotFound, _));
  ASSERT_THAT(journal->AddSession(NewSession("s-1")), IsOk());
  EXPECT_THAT(journal->AddSession(NewSession("s-1")), StatusIs(absl::StatusCode::kAlreadyExists, _));
  ASSERT_THAT(journal->AddExecution(NewExecution("x-1", "s-1")), IsOk());
  EXPECT_THAT(journal->AddExecution(NewExecution("x-1", "s-1")), StatusIs(absl::StatusCode::kAlreadyExists, _));
}

TEST_F(JournalTest, TheFirstEndStandsAndLosesWhatStillRan) {
  std::unique_ptr<Journal> journal = Open();
  ASSERT_THAT(journal->AddSession(NewSession("s-1")), IsOk());
  ASSERT_THAT(journal->AddExecution(NewExecution("x-1", "s-1")), IsOk());
  ASSERT_THAT(journal->EndSession("s-1", LifeState::kExpired, "idle for 20min", kStart + absl::Minutes(20)), IsOk());
  ASSERT_THAT(journal->EndSession("s-1", LifeState::kClosed, "closed", kStart + absl::Minutes(30)), IsOk());
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(SessionEntry session, journal->GetSession("s-1"));
  EXPECT_EQ(LifeStateName(session.state), "expired");
  EXPECT_EQ(session.reason, "idle for 20min");
  EXPECT_EQ(session.ended_at, kStart + absl::Minutes(20));
  EXPECT_EQ(CallStateName(journal->GetExecution("x-1")->state), "lost");
}

TEST_F(JournalTest, AnEndThatCannotBeWrittenStandsAndIsWrittenLater) {
  std::unique_ptr<Journal> journal = Open();
  ASSERT_THAT(journal->AddSession(NewSession("s-1")), IsOk());
  {
    const FullDisk full;
    EXPECT_FALSE(journal->EndSession("s-1", LifeState::kExpired, "idle for 20min", kStart).ok());
    EXPECT_FALSE(journal->EndSession("s-1", LifeState::kClosed, "closed", kStart).ok());
    journal->RetryEnds();
    EXPECT_EQ(journal->GetSession("s-1")->reason, "idle for 20min");
    EXPECT_EQ(LifeStateName(journal->ListSessions("anna", 0, 10)->front().state), "expired");
  }
  journal->RetryEnds();
  journal.reset();
  EXPECT_EQ(LifeStateName(Open()->GetSession("s-1")->state), "expired");
}

TEST_F(JournalTest, ACallThatHadBegunIsToldFromOneThatHadNot) {
  std::unique_ptr<Journal> journal = Open();
  ASSERT_THAT(journal->AddSession(NewSession("s-1")), IsOk());
  for (const char* id : {"x-begun", "x-waiting", "x-done"}) ASSERT_THAT(journal->AddExecution(NewExecution(id, "s-1")), IsOk());
  ASSERT_THAT(journal->StartExecution("x-begun"), IsOk());
  ASSERT_THAT(journal->FinishExecution(Done(NewExecution("x-done", "s-1")), {}), IsOk());
  ASSERT_THAT(journal->StartExecution("x-done"), IsOk());
  ASSERT_THAT(journal->EndSession("s-1", LifeState::kClosed, "", kStart), IsOk());
  EXPECT_EQ(journal->GetExecution("x-begun")->status, kStarted);
  EXPECT_EQ(journal->GetExecution("x-waiting")->status, "");
  EXPECT_EQ(journal->GetExecution("x-done")->status, "ok");
}

TEST_F(JournalTest, ListsInPages) {
  std::unique_ptr<Journal> journal = Open();
  for (int i = 0; i < 5; ++i) ASSERT_THAT(journal->AddSession(NewSession(absl::StrCat("s-", i))), IsOk());
  SessionEntry other = NewSession("s-other");
  other.owner = "ben";
  ASSERT_THAT(journal->AddSession(other), IsOk());
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::vector<SessionEntry> page, journal->ListSessions("anna", 0, 3));
  ASSERT_EQ(page.size(), 3u);
  EXPECT_EQ(page[0].id, "s-4");
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(page, journal->ListSessions("anna", page.back().number, 3));
  ASSERT_EQ(page.size(), 2u);
  EXPECT_EQ(page[1].id, "s-0");
  for (int i = 0; i < 5; ++i) {
    ASSERT_THAT(journal->FinishExecution(Done(NewExecution(absl::StrCat("x-", i), "s-0"), i + 1), {NewArtifact(absl::StrCat("a-", i), absl::StrCat("c", i))}), IsOk());
  }
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::vector<ExecutionEntry> calls, journal->ListExecutions("s-0", 0, 2));
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[1].call, 2);
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(calls, journal->ListExecutions("s-0", calls[1].number, kPageMax + 1));
  EXPECT_EQ(calls.size(), 3u);
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::vector<ArtifactEntry> artifacts, journal->ListArtifacts("s-0", 0, 100));
  EXPECT_EQ(artifacts.size(), 5u);
  EXPECT_TRUE(journal->ListArtifacts("s-0", 0, -1)->empty());
}

TEST_F(JournalTest, OneContentOfManyArtifactsIsThereOnceAndStaysForTheLast) {
  std::unique_ptr<Journal> journal = Open();
  for (const char* id : {"s-1", "s-2"}) {
    ASSERT_THAT(journal->AddSession(NewSession(id)), IsOk());
    ASSERT_THAT(journal->FinishExecution(Done(NewExecution(absl::StrCat("x-", id), id)), {NewArtifact(absl::StrCat("a-", id), "same"), NewArtifact(absl::StrCat("b-", id), "same")}), IsOk());
  }
  EXPECT_EQ(journal->content_bytes(), 4);
  ASSERT_THAT(journal->EndSession("s-1", LifeState::kClosed, "", kStart), IsOk());
  ASSERT_THAT(journal->Prune(kStart + options_.kept_for + absl::Seconds(1)), IsOk());
  EXPECT_THAT(journal->GetSession("s-1"), StatusIs(absl::StatusCode::kNotFound, _));
  EXPECT_THAT(journal->GetArtifact("a-s-1"), StatusIs(absl::StatusCode::kNotFound, _));
  EXPECT_EQ(Content(*journal, "b-s-2"), "same");
  ASSERT_THAT(journal->EndSession("s-2", LifeState::kClosed, "", kStart), IsOk());
  ASSERT_THAT(journal->Prune(kStart + options_.kept_for + absl::Seconds(1)), IsOk());
  EXPECT_EQ(journal->content_bytes(), 0);
}

TEST_F(JournalTest, PruningSparesTheYoungAndTheLiving) {
  std::unique_ptr<Journal> journal = Open();
  for (const char* id : {"s-old", "s-young", "s-live"}) ASSERT_THAT(journal->AddSession(NewSession(id)), IsOk());
  ASSERT_THAT(journal->EndSession("s-old", LifeState::kClosed, "", kStart), IsOk());
  ASSERT_THAT(journal->EndSession("s-young", LifeState::kClosed, "", kStart + absl::Hours(1)), IsOk());
  ASSERT_THAT(journal->Prune(kStart + options_.kept_for + absl::Minutes(30)), IsOk());
  EXPECT_FALSE(journal->GetSession("s-old").ok());
  EXPECT_TRUE(journal->GetSession("s-young").ok());
  ASSERT_THAT(journal->Prune(kStart + 100 * options_.kept_for), IsOk());
  EXPECT_TRUE(journal->GetSession("s-live").ok());
}

TEST_F(JournalTest, ContentsOfEndedSessionsMakeRoomOldestFirst) {
  options_.content_bytes_max = 10;
  std::unique_ptr<Journal> journal = Open();
  for (int i = 0; i < 3; ++i) {
    std::string id = absl::StrCat("s-", i);
    ASSERT_THAT(journal->AddSession(NewSession(id)), IsOk());
    CELLBLOCK_ASSERT_OK_AND_ASSIGN(int64_t left_out, journal->FinishExecution(Done(NewExecution(absl::StrCat("x-", i), id)), {NewArtifact(absl::StrCat("a-", i), absl::StrCat("four", i))}));
    EXPECT_EQ(left_out, i == 2 ? 1 : 0) << "10 bytes fit, the sessions live";
    if (i == 2) break;
  }
  EXPECT_EQ(Content(*journal, "a-2"), "its content is not kept any more");
  EXPECT_FALSE(journal->GetArtifact("a-2")->kept);
  ASSERT_THAT(journal->EndSession("s-1", LifeState::kClosed, "", kStart), IsOk());
  ASSERT_THAT(journal->EndSession("s-0", LifeState::kClosed, "", kStart + absl::Seconds(1)), IsOk());
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(int64_t left_out, journal->FinishExecution(Done(NewExecution("x-3", "s-2")), {NewArtifact("a-3", "five5")}));
  EXPECT_EQ(left_out, 0);
  EXPECT_EQ(Content(*journal, "a-3"), "five5");
  EXPECT_EQ(Content(*journal, "a-0"), "four0");
  EXPECT_EQ(Content(*journal, "a-1"), "its content is not kept any more") << "ended first";
  EXPECT_TRUE(journal->GetExecution("x-1").ok()) << "its record stays";
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(left_out, journal->FinishExecution(Done(NewExecution("x-4", "s-2")), {NewArtifact("a-4", "more than all")}));
  EXPECT_EQ(left_out, 1);
  EXPECT_EQ(Content(*journal, "a-0"), "four0") << "no room is made for what can never fit";
}

TEST_F(JournalTest, MakingRoomSparesWhatTheSameCallNames) {
  options_.content_bytes_max = 10;
  std::unique_ptr<Journal> journal = Open();
  for (const char* id : {"s-old", "s-new"}) ASSERT_THAT(journal->AddSession(NewSession(id)), IsOk());
  ASSERT_THAT(journal->FinishExecution(Done(NewExecution("x-1", "s-old")), {NewArtifact("a-1", "same"), NewArtifact("a-2", "gone!")}), IsOk());
  ASSERT_THAT(journal->EndSession("s-old", LifeState::kClosed, "", kStart), IsOk());
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(int64_t left_out, journal->FinishExecution(Done(NewExecution("x-2", "s-new")), {NewArtifact("b-1", "same"), NewArtifact("b-2", "fresh")}));
  EXPECT_EQ(left_out, 0);
  EXPECT_EQ(Content(*journal, "b-1"), "same");
  EXPECT_EQ(Content(*journal, "b-2"), "fresh");
  EXPECT_EQ(Content(*journal, "a-2"), "its content is not kept any more");
  EXPECT_EQ(journal->content_bytes(), 9);
}

TEST_F(JournalTest, AFullDatabaseForgetsTheOldestEndedSession) {
  options_.database_bytes_max = 1 << 20;
  std::unique_ptr<Journal> journal = Open();
  std::string record(100'000, 'r');
  absl::Status status;
  int written = 0;
  for (int i = 0; i < 30 && status.ok(); ++i, ++written) {
    std::string id = absl::StrCat("s-", i);
    ASSERT_THAT(journal->AddSession(NewSession(id)), IsOk());
    status = journal->FinishExecution(Done(NewExecution(absl::StrCat("x-", i), id), 1, record), {}).status();
    ASSERT_THAT(status, IsOk());
    ASSERT_THAT(journal->EndSession(id, LifeState::kClosed, "", kStart + absl::Seconds(i)), IsOk());
  }
  EXPECT_EQ(written, 30);
  EXPECT_FALSE(journal->GetSession("s-0").ok());
  EXPECT_EQ(journal->GetExecution("x-29")->record_json, record);
  ASSERT_THAT(journal->AddSession(NewSession("s-live")), IsOk());
  EXPECT_THAT(journal->FinishExecution(Done(NewExecution("x-big", "s-live"), 1, std::string(2 << 20, 'r')), {}), StatusIs(absl::StatusCode::kResourceExhausted, _));
  EXPECT_TRUE(journal->GetSession("s-live").ok());
}

TEST_F(JournalTest, ARequestRunsOnceHoweverOftenItComes) {
  std::unique_ptr<Journal> journal = Open();
  EXPECT_EQ(*journal->ClaimRequest("anna", "key", "hash", "x-1", kStart), "x-1");
  EXPECT_EQ(*journal->ClaimRequest("anna", "key", "hash", "x-2", kStart), "x-1");
  EXPECT_EQ(*journal->ClaimRequest("ben", "key", "hash", "x-3", kStart), "x-3") << "another's key";
  EXPECT_THAT(journal->ClaimRequest("anna", "key", "other", "x-4", kStart), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("another request")));
  ASSERT_THAT(journal->ForgetRequest("anna", "key", "x-1", false), IsOk());
  EXPECT_EQ(*journal->ClaimRequest("anna", "key", "other", "x-5", kStart), "x-5");
  ASSERT_THAT(journal->Prune(kStart + options_.requests_kept_for + absl::Seconds(1)), IsOk());
  EXPECT_EQ(*journal->ClaimRequest("anna", "key", "hash", "x-6", kStart), "x-6");
}

TEST_F(JournalTest, AnOrderlyEndLosesNothingAndTellsLiveSessionsThatTheyDied) {
  {
    std::unique_ptr<Journal> journal = Open();
    for (const char* id : {"s-live", "s-closed"}) ASSERT_THAT(journal->AddSession(NewSession(id)), IsOk());
    ASSERT_THAT(journal->EndSession("s-closed", LifeState::kClosed, "closed by its owner", kStart), IsOk());
    ASSERT_THAT(journal->FinishExecution(Done(NewExecution("x-1", "s-live")), {NewArtifact("a-1", "pixels")}), IsOk());
    ASSERT_THAT(journal->AddExecution(NewExecution("x-2", "s-live")), IsOk());
  }
  std::unique_ptr<Journal> journal = Open(kStart + absl::Hours(1));
  EXPECT_EQ(journal->recovered().sessions_died, 1);
  EXPECT_EQ(journal->recovered().executions_lost, 1);
  EXPECT_EQ(journal->recovered().contents_removed, 0);
  EXPECT_EQ(journal->GetSession("s-live")->state, LifeState::kDied);
  EXPECT_THAT(journal->GetSession("s-live")->reason, HasSubstr("supervisor ended"));
  EXPECT_EQ(journal->GetSession("s-live")->ended_at, kStart + absl::Hours(1));
  EXPECT_EQ(journal->GetSession("s-closed")->state, LifeState::kClosed);
  EXPECT_EQ(journal->GetExecution("x-1")->state, CallState::kDone);
  EXPECT_EQ(journal->GetExecution("x-2")->state, CallState::kLost);
  EXPECT_EQ(Content(*journal, "a-1"), "pixels");
  EXPECT_EQ(journal->content_bytes(), 6);
}

TEST_F(JournalTest, ContentsThatNobodyNamesAndDamagedOnesGoAfterACrash) {
  {
    std::unique_ptr<Journal> journal = Open();
    ASSERT_THAT(journal->AddSession(NewSession("s-1")), IsOk());
    ASSERT_THAT(journal->FinishExecution(Done(NewExecution("x-1", "s-1")), {NewArtifact("a-1", "whole"), NewArtifact("a-2", "damaged")}), IsOk());
  }
  ASSERT_THAT(Blobs::Open(top_ / "journal/blobs")->Take(Write("stray", "stray"), Digest("stray")), IsOk());
  std::filesystem::path damaged = top_ / "journal/blobs" / Digest("damaged").substr(0, 2) / Digest("damaged");
  std::filesystem::remove(damaged);
  std::ofstream(damaged) << "DAMAGED";
  ASSERT_EQ(system(("sqlite3 " + (top_ / "journal/journal.sqlite").string() + " 'DELETE FROM orderly'").c_str()), 0) << "as after a power cut";
  std::unique_ptr<Journal> journal = Open();
  EXPECT_EQ(journal->recovered().contents_removed, 2);
  EXPECT_EQ(Content(*journal, "a-1"), "whole");
  EXPECT_EQ(Content(*journal, "a-2"), "its content is not kept any more");
}

TEST_F(JournalTest, OnlyOneProcessHasIt) {
  std::unique_ptr<Journal> journal = Open();
  EXPECT_THAT(Journal::Open(options_, kStart), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("another supervisor")));
  journal.reset();
  EXPECT_NE(Open(), nullptr);
}

TEST_F(JournalTest, AFileThatIsNoJournalIsToldAndLeftAlone) {
  std::filesystem::create_directory(top_ / "journal");
  Write("journal/journal.sqlite", "this is somebody's text file, long enough to have a header of a hundred bytes; it is not a database at all, no");
  options_.folder = top_ / "journal";
  EXPECT_THAT(Journal::Open(options_, kStart), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("move")));
  EXPECT_GT(std::filesystem::file_size(top_ / "journal/journal.sqlite"), 90u);
}

TEST_F(JournalTest, ANewerJournalIsRefused) {
  { Open(); }
  ASSERT_EQ(system(("sqlite3 " + (top_ / "journal/journal.sqlite").string() + " 'PRAGMA user_version = 99'").c_str()), 0);
  EXPECT_THAT(Journal::Open(options_, kStart), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("newer Cellblock")));
}

TEST_F(JournalTest, NobodyElseCanReadIt) {
  std::unique_ptr<Journal> journal = Open();
  ASSERT_THAT(journal->AddSession(NewSession("s-1")), IsOk());
  for (const auto& entry : std::filesystem::recursive_directory_iterator(top_ / "journal")) {
    struct stat info;
    ASSERT_EQ(stat(entry.path().c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 077, 0u) << entry.path();
  }
}

// Written by a process that is killed in the middle, over and over: what it had answered is there.
TEST_F(JournalTest, WhatWasAnsweredSurvivesAKill) {
  int64_t answered = 0;
  for (int life = 0; life < 8; ++life) {
    std::unique_ptr<Journal> journal;
    const std::string session = absl::StrCat("s-", life);
    const int64_t last = LastAnsweredBeforeKill(20'000 + 17'000 * static_cast<unsigned>(life), [&](int64_t i) {
      if (i == 0) journal = Open();
      if (i == 0 && !journal->AddSession(NewSession(session)).ok()) return false;
      const std::string id = absl::StrCat(life, "-", i);
      return journal->FinishExecution(Done(NewExecution("x-" + id, session)), {NewArtifact("a-" + id, "content of " + id)}).ok();
    });
    journal = Open();
    for (int64_t i = 0; i <= last; ++i) {
      std::string id = absl::StrCat(life, "-", i);
      EXPECT_EQ(journal->GetExecution("x-" + id)->state, CallState::kDone) << id;
      EXPECT_EQ(Content(*journal, "a-" + id), "content of " + id);
    }
    EXPECT_LE(journal->recovered().contents_removed, 1) << "of the call that was being written";
    answered += last + 1;
  }
  EXPECT_GT(answered, 20);
}

TEST_F(JournalTest, TheLogIsWrittenBackWhileOthersWrite) {
  const std::unique_ptr<Journal> journal = Open();
  ASSERT_THAT(journal->AddSession(NewSession("s")), IsOk());
  EXPECT_FALSE(journal->has_long_log());
  const std::string record = absl::StrCat("\"", std::string(20'000, 'x'), "\"");
  int64_t written = 0;
  auto write = [&] {
    ++written;
    ASSERT_THAT(journal->FinishExecution(Done(NewExecution(absl::StrCat("x", written), "s"), written, record), {}), IsOk());
  };
  while (written < 1000 && !journal->has_long_log()) write();
  ASSERT_LT(written, 1000) << "a thousand pages are soon full";
  std::atomic<bool> done = false;
  std::thread keeper([&] {
    while (!done) EXPECT_THAT(journal->Checkpoint(), IsOk());
  });
  for (int i = 0; i < 200; ++i) write();
  done = true;
  keeper.join();
  ASSERT_THAT(journal->Checkpoint(), IsOk());
  write();  // begins the log anew
  EXPECT_FALSE(journal->has_long_log());
  EXPECT_EQ(journal->ListExecutions("s", 0, kPageMax)->size(), static_cast<size_t>(written));
}

TEST_F(JournalTest, ManyThreadsWriteAtOnce) {
  std::unique_ptr<Journal> journal = Open();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::string session = absl::StrCat("s-", t);
      EXPECT_THAT(journal->AddSession(NewSession(session)), IsOk());
      for (int i = 0; i < 50; ++i) {
        ExecutionEntry execution = NewExecution(absl::StrCat("x-", t, "-", i), session);
        EXPECT_THAT(journal->AddExecution(execution), IsOk());
        EXPECT_THAT(journal->FinishExecution(Done(execution, i + 1), {}), IsOk());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int t = 0; t < 4; ++t) EXPECT_EQ(journal->ListExecutions(absl::StrCat("s-", t), 0, 100)->size(), 50u);
}

}  // namespace
}  // namespace cellblock::store
