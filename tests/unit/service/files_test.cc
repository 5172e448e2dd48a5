// Files: plain relative names alone, refused with a code and a reason; they come and go while a call runs.
#include <sys/stat.h>

#include "artifact/given_path.h"
#include "tests/unit/service/service_fixture.h"

namespace cellblock::service {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class FilesTest : public ServiceTest {
 protected:
  absl::StatusOr<FileInfo> Put(const std::string& session, absl::string_view path, const std::string& content = "x") {
    const UniqueFd source = *sys::Open(folder_.Write("source", content), O_RDONLY);
    return service().PutFile(By(anna_), session, path, source.get(), "");
  }
  absl::StatusOr<FileInfo> Get(const std::string& session, absl::string_view path, std::string* content = nullptr) {
    const UniqueFd target = *sys::Open(folder_.Write("target", ""), O_RDWR);
    absl::StatusOr<FileInfo> info = service().GetFile(By(anna_), session, path, target.get());
    if (content != nullptr) *content = *sys::ReadFile(folder_.PathOf("target"), 1 << 20);
    return info;
  }
};

TEST_F(FilesTest, ComeBackAsTheyWere) {
  const std::string session = NewSessionOf(anna_);
  for (const std::string path : {"a.csv", "d/e/Données – été (1) 数据 📈 'q' \"q\".csv"}) {
    ASSERT_THAT(Put(session, path, "a,b\n1,2\n"), IsOk());
    std::string content;
    const absl::StatusOr<FileInfo> info = Get(session, path, &content);
    ASSERT_THAT(info, IsOk());
    EXPECT_EQ(content, "a,b\n1,2\n");
    EXPECT_EQ(info->entry.size_bytes, 8);
    EXPECT_EQ(info->sha256.size(), 64u);
  }
  EXPECT_EQ(service().ListFiles(By(anna_), session)->size(), 2u);
  EXPECT_THAT(service().RemoveFile(By(anna_), session, "d"), IsOk());
  EXPECT_EQ(service().ListFiles(By(anna_), session)->size(), 1u);
}

TEST_F(FilesTest, NamesThatAreNoPlainRelativePathsAreRefusedByEveryVerb) {
  const std::string session = NewSessionOf(anna_);
  const std::string longest(artifact::kGivenPartBytesMax, 'x');
  std::string deepest = "d";
  for (int i = 1; i < artifact::kGivenPartsMax; ++i) deepest += "/d";
  for (const std::string& path : {std::string(), std::string("/etc/passwd"), std::string(".."), std::string("../x"), std::string("a/../b"), std::string("./a"), std::string("a//b"), std::string("a/"),
                                  std::string("a\0b", 3), std::string("a\nb"), longest + "x", deepest + "/d", std::string(artifact::kGivenPathBytesMax + 1, 'x')}) {
    const auto refused = AllOf(HasCode("file_name_refused"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is refused")));
    EXPECT_THAT(Put(session, path), refused) << path;
    EXPECT_THAT(Get(session, path), refused) << path;
    EXPECT_THAT(service().RemoveFile(By(anna_), session, path), refused) << path;
  }
  EXPECT_EQ(service().ListFiles(By(anna_), session)->size(), 0u);
  for (const std::string& path : {longest, deepest, std::string("..."), std::string("a\\b")}) EXPECT_THAT(Put(session, path), IsOk()) << path;
}

TEST_F(FilesTest, WhatIsNotThereOrNoFileIsTold) {
  const std::string session = NewSessionOf(anna_);
  EXPECT_THAT(Get(session, "a"), HasCode("file_not_found"));
  EXPECT_THAT(service().RemoveFile(By(anna_), session, "a"), HasCode("file_not_found"));
  ASSERT_EQ(mkfifo(folder_.PathOf("workspace/pipe").c_str(), 0600), 0);
  EXPECT_THAT(Get(session, "pipe"), HasCode("not_a_file"));
  ASSERT_THAT(Put(session, "a"), IsOk());
  EXPECT_THAT(Get(session, "a"), IsOk());
}

TEST_F(FilesTest, OneThatIsTooLargeIsToldByItsLimit) {
  folder_.Write("policies/small.yaml", "limits: {file_size: 1MiB}\n");
  ASSERT_THAT(shelf_.Read(), IsOk());
  NewSession wanted;
  wanted.policy = "small";
  const std::string session = NewSessionOf(anna_, wanted);
  EXPECT_THAT(Put(session, "a", std::string(1 << 20, 'x')), IsOk());
  EXPECT_THAT(Put(session, "a", std::string((1 << 20) + 1, 'x')), AllOf(HasCode("file_too_large"), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("limits.file_size"))));
}

TEST_F(FilesTest, ComeAndGoWhileACallRuns) {
  const std::string session = NewSessionOf(anna_);  // session.queue: 1
  Begin(By(anna_), session, "wait");
  world_.WaitUntilRuns("wait");
  Begin(By(anna_), session, "2");
  ASSERT_TRUE(Waiting(anna_, session, 1));
  EXPECT_THAT(Put(session, "a", "seen by the call"), IsOk()) << "also with a full queue";
  EXPECT_THAT(Get(session, "a"), IsOk());
  EXPECT_THAT(service().RemoveFile(By(anna_), session, "a"), IsOk());
  EXPECT_EQ(service().GetSession(By(anna_), session)->state, "busy");
}

TEST_F(FilesTest, KeepASessionFromBeingIdle) {
  const std::string session = NewSessionOf(anna_);
  const absl::Time before = service().GetSession(By(anna_), session)->expires_at;
  ASSERT_THAT(Put(session, "a"), IsOk());
  EXPECT_GT(service().GetSession(By(anna_), session)->expires_at, before);
}

TEST_F(FilesTest, OfASessionThatHasEndedAreGone) {
  const std::string session = NewSessionOf(anna_);
  ASSERT_THAT(Put(session, "a"), IsOk());
  ASSERT_THAT(service().CloseSession(By(anna_), session), IsOk());
  EXPECT_THAT(Put(session, "a"), HasCode("session_closed"));
  EXPECT_THAT(Get(session, "a"), HasCode("session_closed"));
  EXPECT_THAT(service().RemoveFile(By(anna_), session, "a"), HasCode("session_closed"));
}

}  // namespace
}  // namespace cellblock::service
