// Copies: exact bytes, hash and count, nothing left after a failure, names that are ids only.
#include "artifact/store.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "tests/unit/artifact/workspace_fixture.h"

namespace cellblock::artifact {
namespace {

using ::testing::HasSubstr;

class ArtifactStoreTest : public WorkspaceTest {
 protected:
  UniqueFd Open(const std::string& path) const { return UniqueFd(open(In(path).c_str(), O_RDONLY | O_CLOEXEC)); }
};

TEST_F(ArtifactStoreTest, CopiesBytesAndHashesThem) {
  Write("abc", "abc");
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(StoredCopy copy, store_->Copy(Open("abc").get(), 100));
  EXPECT_EQ(copy.size_bytes, 3);
  EXPECT_EQ(copy.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");  // FIPS 180-2, appendix B.1
  EXPECT_EQ(copy.head, "abc");
  EXPECT_EQ(Read(copy.path), "abc");
  EXPECT_EQ(copy.id.size(), 32u);
  EXPECT_EQ(copy.path, StorePath() + "/" + copy.id);
  struct stat info;
  ASSERT_EQ(stat(copy.path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(ArtifactStoreTest, EmptyFileIsAFile) {
  Write("empty", "");
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(StoredCopy copy, store_->Copy(Open("empty").get(), 0));
  EXPECT_EQ(copy.size_bytes, 0);
  EXPECT_EQ(copy.sha256, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST_F(ArtifactStoreTest, StopsAtTheByteItWasToldTo) {
  std::string content;
  for (int i = 0; i < 700'000; ++i) content.push_back(static_cast<char>(i * 31));
  Write("f", content);
  for (int64_t max : {int64_t{1}, int64_t{262'144}, int64_t{262'145}, int64_t{699'999}, int64_t{700'000}, int64_t{700'001}}) {
    CELLBLOCK_ASSERT_OK_AND_ASSIGN(StoredCopy copy, store_->Copy(Open("f").get(), max));
    EXPECT_EQ(Read(copy.path), content.substr(0, static_cast<size_t>(max)));
    EXPECT_EQ(copy.size_bytes, std::min<int64_t>(max, 700'000));
    EXPECT_EQ(copy.head, content.substr(0, std::min<size_t>(static_cast<size_t>(max), kHeadBytesMax)));
  }
}

TEST_F(ArtifactStoreTest, IdsDiffer) {
  Write("f", "x");
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(StoredCopy a, store_->Copy(Open("f").get(), 1));
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(StoredCopy b, store_->Copy(Open("f").get(), 1));
  EXPECT_NE(a.id, b.id);
}

TEST_F(ArtifactStoreTest, FailureLeavesNothingBehind) {
  EXPECT_FALSE(store_->Copy(-1, 10).ok());
  EXPECT_EQ(StoredFiles(), 0u);
}

TEST_F(ArtifactStoreTest, RemovesByIdAndByNothingElse) {
  Write("f", "x");
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(StoredCopy copy, store_->Copy(Open("f").get(), 1));
  for (const char* id : {"", "..", "../workspace/f", "0123456789abcdef0123456789abcde", "0123456789abcdef0123456789abcdeg", "0123456789ABCDEF0123456789ABCDEF"}) {
    EXPECT_THAT(store_->Remove(id), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("not an artifact id")));
  }
  EXPECT_THAT(store_->Remove(copy.id), IsOk());
  EXPECT_THAT(store_->Remove(copy.id), StatusIs(absl::StatusCode::kNotFound, HasSubstr(copy.id)));
  EXPECT_EQ(StoredFiles(), 0u);
}

TEST_F(ArtifactStoreTest, RefusesALinkAndAFolderThatOthersCanWrite) {
  ASSERT_EQ(symlink(StorePath().c_str(), (top_ + "/link").c_str()), 0);
  EXPECT_FALSE(ArtifactStore::Open(top_ + "/link").ok());
  EXPECT_FALSE(ArtifactStore::Open(top_ + "/none").ok());
  ASSERT_EQ(chmod(StorePath().c_str(), 0777), 0);
  EXPECT_THAT(ArtifactStore::Open(StorePath()), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("chmod 700")));
}

}  // namespace
}  // namespace cellblock::artifact
