// Shared files in the journal: each owner's contents apart, within bounds, there after a kill, and brought over from older journals.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <limits>

#include "absl/strings/str_cat.h"
#include "store/journal.h"
#include "store/schema.h"
#include "sys/files.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/store/folder_of_test.h"

namespace cellblock::store {
namespace {

using ::testing::_;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const absl::Time kStart = absl::FromUnixSeconds(1'800'000'000);
constexpr int64_t kNoBound = std::numeric_limits<int64_t>::max();

class SharedFilesTest : public FolderOfTest {
 protected:
  void Open() {
    journal_.reset();
    options_.folder = top_ / "journal";
    absl::StatusOr<std::unique_ptr<Journal>> journal = Journal::Open(options_, kStart);
    ASSERT_THAT(journal, IsOk());
    journal_ = *std::move(journal);
  }
  static SharedFile NewFile(const std::string& owner, const std::string& name, const std::string& content) {
    return {owner, name, Digest(content), static_cast<int64_t>(content.size()), "text/csv", kStart};
  }
  UniqueFd Upload(const std::string& content) {
    UniqueFd file(open(top_.c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0600));
    EXPECT_THAT(sys::WriteAll(file.get(), content), IsOk());
    return file;
  }
  absl::Status Put(const std::string& owner, const std::string& name, const std::string& content, int64_t bytes_max = kNoBound) {
    return journal_->PutSharedFile(NewFile(owner, name, content), Upload(content).get(), bytes_max);
  }
  // What a session of this owner reads; pinned and given back.
  std::string Content(const std::string& owner, const std::string& name) {
    const absl::StatusOr<SharedFile> file = journal_->PinSharedFile(owner, name);
    if (!file.ok()) return std::string(file.status().message());
    const absl::StatusOr<UniqueFd> content = journal_->OpenShared(*file);
    std::string text = content.ok() ? sys::ReadAll(content->get(), 1 << 20).value_or("?") : std::string(content.status().message());
    journal_->UnpinSharedFile(*file);
    return text;
  }
  ino_t Inode(const std::string& owner, const std::string& name) {
    const absl::StatusOr<SharedFile> file = journal_->PinSharedFile(owner, name);
    struct stat info = {};
    if (!file.ok() || stat(journal_->ContentPath(*file).c_str(), &info) != 0) return 0;
    EXPECT_EQ(info.st_nlink, 1u);
    EXPECT_EQ(info.st_mode & 0777, 0444u) << "a session's user opens it";
    journal_->UnpinSharedFile(*file);
    return info.st_ino;
  }
  // A call of this owner's leaves a file of this content.
  void MakeArtifact(const std::string& owner, const std::string& content) {
    SessionEntry session;
    session.id = "s-" + owner;
    session.owner = owner;
    session.created_at = kStart;
    ASSERT_THAT(journal_->AddSession(session), IsOk());
    ExecutionEntry execution;
    execution.id = "x-" + owner;
    execution.session_id = session.id;
    execution.accepted_at = kStart;
    ArtifactEntry artifact;
    artifact.id = "a-" + owner;
    artifact.sha256 = Digest(content);
    artifact.size_bytes = static_cast<int64_t>(content.size());
    artifact.stored_at = Write("made", content);
    ASSERT_THAT(journal_->FinishExecution(execution, {artifact}), IsOk());
  }
  std::filesystem::path BlobOf(const std::string& name) { return top_ / "journal/blobs" / name.substr(0, 2) / name; }
  std::filesystem::path ApartOf(const std::string& owner, const std::string& content) { return BlobOf(Digest(absl::StrCat("shared ", Digest(content), " ", owner))); }
  int64_t BlobsOnDisk() {
    int64_t count = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(top_ / "journal/blobs")) count += entry.is_regular_file() ? 1 : 0;
    return count;
  }
  // A journal as the version before wrote it: the contents by their hash alone.
  void MakeOldJournal(const std::vector<SharedFile>& files, const std::vector<std::string>& contents) {
    std::filesystem::create_directory(top_ / "journal");
    absl::StatusOr<Database> old = Database::Open(top_ / "journal/journal.sqlite", int64_t{1} << 30);
    ASSERT_THAT(old, IsOk());
    for (size_t step : {0, 1}) ASSERT_THAT(old->RunScript(kMigrations[step]), IsOk());
    ASSERT_THAT(old->RunScript("PRAGMA user_version = 2"), IsOk());
    for (const SharedFile& file : files) {
      ASSERT_THAT(old->Run("INSERT INTO shared_files VALUES (?1, ?2, ?3, ?4, ?5, ?6)", {file.owner, file.name, file.sha256, file.size_bytes, file.mime, TimeValue(file.created_at)}), IsOk());
    }
    const Blobs blobs = *Blobs::Open(top_ / "journal/blobs");
    for (const std::string& content : contents) {
      ASSERT_THAT(blobs.TakeOpen(Upload(content).get(), Digest(content)), IsOk());
      ASSERT_THAT(blobs.LetOthersRead(Digest(content)), IsOk());
    }
  }

  JournalOptions options_;
  std::unique_ptr<Journal> journal_;
};

TEST_F(SharedFilesTest, EqualContentsOfTwoOwnersAreTwoFiles) {
  Open();
  MakeArtifact("anna", "same");
  ASSERT_THAT(Put("anna", "a", "same"), IsOk());
  ASSERT_THAT(Put("ben", "a", "same"), IsOk());
  ASSERT_THAT(Put("ben", "b", "same"), IsOk());
  EXPECT_NE(Inode("anna", "a"), Inode("ben", "a"));
  EXPECT_EQ(Inode("ben", "b"), Inode("ben", "a")) << "of one owner each content is there once";
  struct stat made;
  ASSERT_EQ(stat(BlobOf(Digest("same")).c_str(), &made), 0);
  EXPECT_NE(Inode("anna", "a"), made.st_ino) << "what a call made is none of them";
  EXPECT_EQ(journal_->content_bytes(), 12);
  ASSERT_THAT(journal_->RemoveSharedFile("anna", "a"), IsOk());
  EXPECT_EQ(Content("ben", "a"), "same");
  ASSERT_THAT(journal_->RemoveSharedFile("ben", "a"), IsOk());
  EXPECT_EQ(Content("ben", "b"), "same") << "its other name is there";
  ASSERT_THAT(journal_->RemoveSharedFile("ben", "b"), IsOk());
  EXPECT_EQ(journal_->content_bytes(), 4);
}

TEST_F(SharedFilesTest, OneUploadThatIsPutTwiceIsTwoFilesToo) {
  Open();
  const UniqueFd upload = Upload("same");
  for (const char* owner : {"anna", "ben"}) ASSERT_THAT(journal_->PutSharedFile(NewFile(owner, "a", "same"), upload.get(), kNoBound), IsOk());
  EXPECT_NE(Inode("anna", "a"), Inode("ben", "a"));
}

TEST_F(SharedFilesTest, WhatASessionHasStaysUntilItGivesItBack) {
  Open();
  ASSERT_THAT(Put("anna", "a", "first"), IsOk());
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(const SharedFile one, journal_->PinSharedFile("anna", "a"));
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(const SharedFile other, journal_->PinSharedFile("anna", "a"));
  ASSERT_THAT(Put("anna", "a", "second"), IsOk());
  ASSERT_THAT(journal_->RemoveSharedFile("anna", "a"), IsOk());
  EXPECT_THAT(journal_->PinSharedFile("anna", "a"), StatusIs(absl::StatusCode::kNotFound, _));
  EXPECT_EQ(journal_->content_bytes(), 5) << "the first one, which they have";
  journal_->UnpinSharedFile(one);
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(const UniqueFd content, journal_->OpenShared(other));
  EXPECT_EQ(*sys::ReadAll(content.get(), 100), "first");
  journal_->UnpinSharedFile(other);
  EXPECT_EQ(journal_->content_bytes(), 0);
  EXPECT_EQ(BlobsOnDisk(), 0);
}

TEST_F(SharedFilesTest, AnOwnerHasWhatItsBoundAllowsAndNoByteMore) {
  Open();
  ASSERT_THAT(Put("ben", "big", std::string(100, 'b')), IsOk()) << "another's is not counted";
  ASSERT_THAT(Put("anna", "a", "12345", 10), IsOk());
  ASSERT_THAT(Put("anna", "b", "67890", 10), IsOk());
  EXPECT_THAT(Put("anna", "c", "x", 10), StatusIs(absl::StatusCode::kResourceExhausted, AllOf(HasSubstr("10 bytes together (shared_bytes), 10 are taken"), Not(HasSubstr("110")))));
  EXPECT_THAT(Put("anna", "c", "12345", 10), IsOk()) << "a content that is there costs nothing";
  EXPECT_THAT(Put("anna", "b", "abcde", 10), IsOk()) << "what is replaced makes room";
  EXPECT_THAT(Put("anna", "b", "abcdef", 10), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("5 are taken, with those that sessions still have, and this one does not fit")));
  EXPECT_EQ(Content("anna", "b"), "abcde") << "what was refused changes nothing";
  EXPECT_THAT(Put("anna", "a", "", 10), IsOk());
  EXPECT_THAT(Put("anna", "e", "x", 10), StatusIs(absl::StatusCode::kResourceExhausted, _)) << "the other name has that content still";
  EXPECT_EQ(journal_->content_bytes(), 110);
}

// Otherwise a token could put, attach and remove until the store is full.
TEST_F(SharedFilesTest, WhatSessionsAloneStillHaveCountsForItsOwner) {
  Open();
  ASSERT_THAT(Put("anna", "a", "12345", 10), IsOk());
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(const SharedFile pinned, journal_->PinSharedFile("anna", "a"));
  ASSERT_THAT(Put("anna", "a", "67890", 10), IsOk());
  EXPECT_THAT(Put("anna", "a", "123456", 10), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("5 are taken")));
  EXPECT_THAT(Put("anna", "b", "x", 10), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("10 are taken")));
  EXPECT_THAT(Put("anna", "b", "12345", 10), IsOk()) << "a name again for what they have";
  EXPECT_THAT(Put("ben", "b", "x", 10), IsOk());
  ASSERT_THAT(journal_->RemoveSharedFile("anna", "b"), IsOk());
  journal_->UnpinSharedFile(pinned);
  EXPECT_THAT(Put("anna", "b", "vwxyz", 10), IsOk());
}

TEST_F(SharedFilesTest, AllTogetherHaveHalfOfTheStoreAndNobodyIsToldOfOthers) {
  options_.content_bytes_max = 20;
  Open();
  ASSERT_THAT(Put("ben", "b", "1234567"), IsOk());
  EXPECT_THAT(Put("anna", "a", "1234"), StatusIs(absl::StatusCode::kResourceExhausted, AllOf(HasSubstr("may have 10 bytes together"), HasSubstr("this token's have 0"), Not(HasSubstr("7")))));
  EXPECT_THAT(Put("anna", "a", "123"), IsOk());
  EXPECT_THAT(Put("ben", "c", "x"), StatusIs(absl::StatusCode::kResourceExhausted, _));
  EXPECT_THAT(Put("ben", "b", "7654321"), IsOk()) << "replaced, it counts once";
}

TEST_F(SharedFilesTest, BeforeAContentHasComeItsBoundIsToldAndNeverTooSmall) {
  options_.content_bytes_max = 40;
  Open();
  ASSERT_THAT(Put("anna", "a", "1234567"), IsOk());
  auto room = [&](const std::string& owner, const std::string& name, int64_t bytes_max) { return journal_->RoomForSharedFile(owner, name, bytes_max)->bytes_max; };
  EXPECT_EQ(room("ben", "a", 10), 10);
  EXPECT_EQ(room("ben", "a", 100), 13) << "what the others leave of the half";
  EXPECT_THAT(journal_->RoomForSharedFile("ben", "a", 100)->beyond, StatusIs(absl::StatusCode::kResourceExhausted, AllOf(HasSubstr("all tokens may have 20 bytes"), HasSubstr("this token's have 0"))));
  EXPECT_EQ(room("anna", "a", 10), 10) << "in place of what is there";
  EXPECT_EQ(room("anna", "b", 10), 7) << "it may be the same as the other";
  EXPECT_THAT(Put("anna", "b", "1234567", 10), IsOk());
  EXPECT_EQ(room("anna", "c", 20), 13);
}

TEST_F(SharedFilesTest, AtMostAThousandOfOneOwner) {
  Open();
  for (int64_t i = 0; i < kSharedFilesMax; ++i) ASSERT_THAT(Put("anna", absl::StrCat(i), "same"), IsOk());
  EXPECT_THAT(Put("anna", "more", "same"), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("1000 shared files")));
  EXPECT_THAT(journal_->RoomForSharedFile("anna", "more", 100), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("1000 shared files")));
  EXPECT_THAT(Put("anna", "0", "other"), IsOk()) << "in place of one";
  EXPECT_THAT(Put("ben", "a", "same"), IsOk());
}

TEST_F(SharedFilesTest, ARowThatCannotBeWrittenLeavesNoContent) {
  options_.database_bytes_max = 1 << 20;
  Open();
  ASSERT_THAT(Put("anna", "a", "there"), IsOk());
  SharedFile file = NewFile("anna", "b", "stray");
  file.mime = std::string(2 << 20, 'm');
  EXPECT_THAT(journal_->PutSharedFile(file, Upload("stray").get(), kNoBound), StatusIs(absl::StatusCode::kResourceExhausted, _));
  file = NewFile("anna", "a", "in place");
  file.mime = std::string(2 << 20, 'm');
  EXPECT_THAT(journal_->PutSharedFile(file, Upload("in place").get(), kNoBound), StatusIs(absl::StatusCode::kResourceExhausted, _));
  EXPECT_EQ(journal_->content_bytes(), 5);
  EXPECT_EQ(BlobsOnDisk(), 1);
  EXPECT_EQ(Content("anna", "a"), "there");
}

TEST_F(SharedFilesTest, ADamagedOneIsToldAndHealedByAnotherUpload) {
  Open();
  ASSERT_THAT(Put("anna", "a", "content"), IsOk());
  std::filesystem::permissions(ApartOf("anna", "content"), std::filesystem::perms::owner_write, std::filesystem::perm_options::add);
  std::filesystem::resize_file(ApartOf("anna", "content"), 3);
  EXPECT_THAT(journal_->PinSharedFile("anna", "a"), StatusIs(absl::StatusCode::kDataLoss, _));
  ASSERT_THAT(Put("anna", "a", "content"), IsOk());
  EXPECT_EQ(Content("anna", "a"), "content");
}

TEST_F(SharedFilesTest, AreThereAgainAndCountedAfterTheNextStart) {
  Open();
  ASSERT_THAT(Put("anna", "a", "12345"), IsOk());
  ASSERT_THAT(Put("ben", "a", "12345"), IsOk());
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(const SharedFile pinned, journal_->PinSharedFile("ben", "a"));
  ASSERT_THAT(journal_->RemoveSharedFile("ben", "a"), IsOk());  // its session ends with the supervisor
  Open();
  EXPECT_EQ(journal_->recovered().contents_removed, 1);
  EXPECT_EQ(journal_->content_bytes(), 5);
  EXPECT_EQ(Content("anna", "a"), "12345");
  EXPECT_THAT(Put("anna", "b", "x", 5), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("5 are taken")));
}

TEST_F(SharedFilesTest, AfterACrashDamagedOnesAndStraysAreNotServed) {
  Open();
  ASSERT_THAT(Put("anna", "a", "whole"), IsOk());
  ASSERT_THAT(Put("anna", "b", "damaged"), IsOk());
  journal_.reset();
  std::filesystem::remove(ApartOf("anna", "damaged"));
  std::ofstream(ApartOf("anna", "damaged")) << "DAMAGED";
  ASSERT_THAT(Blobs::Open(top_ / "journal/blobs")->TakeOpen(Upload("stray").get(), Digest("stray")), IsOk());
  ASSERT_EQ(system(("sqlite3 " + (top_ / "journal/journal.sqlite").string() + " 'DELETE FROM orderly'").c_str()), 0) << "as after a power cut";
  Open();
  EXPECT_EQ(journal_->recovered().contents_removed, 2);
  EXPECT_EQ(Content("anna", "a"), "whole");
  EXPECT_EQ(Content("anna", "b"), "its content is not kept any more");
}

// Written by a process that is killed in the middle, over and over: what it had answered is there, and nothing else.
TEST_F(SharedFilesTest, WhatWasAnsweredSurvivesAKill) {
  int64_t answered = 0;
  for (int life = 0; life < 6; ++life) {
    const int64_t last = LastAnsweredBeforeKill(20'000 + 17'000 * static_cast<unsigned>(life), [&](int64_t i) {
      if (i == 0) Open();
      return Put(absl::StrCat("owner ", life), absl::StrCat(i), absl::StrCat("content of ", i)).ok();
    });
    Open();
    for (int64_t i = 0; i <= last; ++i) EXPECT_EQ(Content(absl::StrCat("owner ", life), absl::StrCat(i)), absl::StrCat("content of ", i));
    EXPECT_LE(journal_->recovered().contents_removed, 1) << "of the one that was being written";
    journal_.reset();
    answered += last + 1;
  }
  EXPECT_GT(answered, 20);
}

TEST_F(SharedFilesTest, ThoseOfAnOlderJournalAreBroughtApart) {
  MakeOldJournal({NewFile("anna", "a", "same"), NewFile("anna", "again", "same"), NewFile("ben", "a", "same"), NewFile("ben", "own", "of ben"), NewFile("ben", "lost", "lost")},
                 {"same", "of ben", "stray"});
  struct stat before;
  ASSERT_EQ(stat(BlobOf(Digest("of ben")).c_str(), &before), 0);
  Open();
  EXPECT_EQ(Content("anna", "a"), "same");
  EXPECT_EQ(Inode("anna", "again"), Inode("anna", "a"));
  EXPECT_EQ(Content("ben", "a"), "same");
  EXPECT_NE(Inode("ben", "a"), Inode("anna", "a"));
  EXPECT_EQ(Inode("ben", "own"), before.st_ino) << "what one owner alone has is not copied";
  EXPECT_EQ(Content("ben", "lost"), "its content is not kept any more");
  EXPECT_EQ(journal_->ListSharedFiles("ben")->size(), 3u);
  EXPECT_EQ(BlobsOnDisk(), 3);
  EXPECT_EQ(journal_->content_bytes(), 14);
  Open();
  EXPECT_EQ(journal_->recovered().contents_removed, 0);
  EXPECT_EQ(Content("anna", "a"), "same");
}

TEST_F(SharedFilesTest, WhatAnArtifactHasIsCopiedOutOfAnOlderJournal) {
  MakeOldJournal({NewFile("anna", "a", "same")}, {"same"});
  Open();
  MakeArtifact("anna", "same");
  journal_.reset();
  // As of old: one blob for both.
  std::filesystem::remove(ApartOf("anna", "same"));
  ASSERT_EQ(system(("sqlite3 " + (top_ / "journal/journal.sqlite").string() + " \"UPDATE shared_files SET content = ''\"").c_str()), 0);
  Open();
  struct stat made;
  ASSERT_EQ(stat(BlobOf(Digest("same")).c_str(), &made), 0);
  EXPECT_NE(Inode("anna", "a"), made.st_ino);
  EXPECT_EQ(Content("anna", "a"), "same");
  EXPECT_EQ(BlobsOnDisk(), 2);
}

TEST_F(SharedFilesTest, BringingThemApartMayBeInterrupted) {
  MakeOldJournal({NewFile("anna", "a", "same"), NewFile("ben", "a", "same"), NewFile("ben", "own", "of ben")}, {"same", "of ben"});
  // One is copied, and one renamed; no row says so yet.
  const Blobs blobs = *Blobs::Open(top_ / "journal/blobs");
  ASSERT_THAT(blobs.TakeOpen(Upload("same").get(), ApartOf("anna", "same").filename().string()), IsOk());
  ASSERT_THAT(blobs.Rename(Digest("of ben"), ApartOf("ben", "of ben").filename().string()), IsOk());
  Open();
  EXPECT_EQ(Content("anna", "a"), "same");
  EXPECT_EQ(Content("ben", "a"), "same");
  EXPECT_EQ(Content("ben", "own"), "of ben");
  EXPECT_NE(Inode("ben", "a"), Inode("anna", "a"));
  EXPECT_EQ(BlobsOnDisk(), 3);
}

}  // namespace
}  // namespace cellblock::store
