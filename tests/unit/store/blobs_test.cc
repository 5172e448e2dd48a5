// Contents by hash: whole or not there.
#include "store/blobs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <vector>

#include "sys/files.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/store/folder_of_test.h"

namespace cellblock::store {
namespace {

using ::testing::_;
using ::testing::HasSubstr;

class BlobsTest : public FolderOfTest {
 protected:
  Blobs Open() { return *Blobs::Open(top_ / "blobs"); }
  std::string PlaceOf(const std::string& content) { return top_ / "blobs" / Digest(content).substr(0, 2) / Digest(content); }
};

TEST_F(BlobsTest, KeepsAContentUnderItsHash) {
  Blobs blobs = Open();
  ASSERT_THAT(blobs.Take(Write("a", "content"), Digest("content")), IsOk());
  ASSERT_THAT(blobs.Take(Write("b", "content"), Digest("content")), IsOk()) << "once more";
  std::filesystem::remove(top_ / "a");
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(UniqueFd file, blobs.OpenBlob(Digest("content"), 7));
  EXPECT_EQ(*sys::ReadAll(file.get(), 100), "content");
  EXPECT_TRUE(blobs.IsWhole(Digest("content"), Digest("content")));
  struct stat info;
  ASSERT_EQ(stat((top_ / "blobs").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
}

TEST_F(BlobsTest, CopiesWhereItCannotLink) {
  Blobs blobs = Open();
  if (access("/dev/shm", W_OK) != 0) GTEST_SKIP() << "no second file system to copy from";
  std::string other = "/dev/shm/cellblock-blobs-" + std::to_string(getpid());
  std::ofstream(other) << "elsewhere";
  ASSERT_THAT(blobs.Take(other, Digest("elsewhere")), IsOk());
  unlink(other.c_str());
  EXPECT_TRUE(blobs.IsWhole(Digest("elsewhere"), Digest("elsewhere")));
  EXPECT_TRUE(std::filesystem::is_empty(top_ / "blobs/incoming"));
}

TEST_F(BlobsTest, AnOpenFileIsOneInodeWithNoOther) {
  Blobs blobs = Open();
  const UniqueFd file(open(top_.c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0600));
  ASSERT_TRUE(file.valid());
  ASSERT_THAT(sys::WriteAll(file.get(), "content"), IsOk());
  struct stat own, first, second;
  ASSERT_THAT(blobs.TakeOpen(file.get(), Digest("one")), IsOk());
  ASSERT_THAT(blobs.TakeOpen(file.get(), Digest("two")), IsOk());
  ASSERT_EQ(fstat(file.get(), &own), 0);
  ASSERT_EQ(stat(PlaceOf("one").c_str(), &first), 0);
  ASSERT_EQ(stat(PlaceOf("two").c_str(), &second), 0);
  EXPECT_EQ(own.st_ino, first.st_ino) << "it had no name: no copy is needed";
  EXPECT_NE(own.st_ino, second.st_ino);
  EXPECT_TRUE(blobs.IsWhole(Digest("two"), Digest("content")));
  EXPECT_FALSE(blobs.IsWhole(Digest("two"), Digest("two")));
}

TEST_F(BlobsTest, ARenamedOneIsThereUnderItsNewNameAlone) {
  Blobs blobs = Open();
  ASSERT_THAT(blobs.Take(Write("a", "content"), Digest("content")), IsOk());
  ASSERT_THAT(blobs.Rename(Digest("content"), Digest("other")), IsOk());
  EXPECT_TRUE(blobs.IsWhole(Digest("other"), Digest("content")));
  EXPECT_THAT(blobs.OpenBlob(Digest("content"), 7), StatusIs(absl::StatusCode::kNotFound, _));
  EXPECT_FALSE(blobs.Rename(Digest("content"), Digest("other")).ok());
}

TEST_F(BlobsTest, AnInterruptedCopyIsRemoved) {
  { Open(); }
  Write("blobs/incoming/0123456789abcdef", "half");
  Open();
  EXPECT_TRUE(std::filesystem::is_empty(top_ / "blobs/incoming"));
}

TEST_F(BlobsTest, DoesNotServeWhatIsDamaged) {
  Blobs blobs = Open();
  ASSERT_THAT(blobs.Take(Write("a", "content"), Digest("content")), IsOk());
  std::ofstream(PlaceOf("content"), std::ios::trunc) << "con";
  EXPECT_THAT(blobs.OpenBlob(Digest("content"), 7), StatusIs(absl::StatusCode::kDataLoss, _));
  std::ofstream(PlaceOf("content"), std::ios::trunc) << "CONTENT";
  EXPECT_FALSE(blobs.IsWhole(Digest("content"), Digest("content")));
}

TEST_F(BlobsTest, TellsAllAndRemovesOne) {
  Blobs blobs = Open();
  for (const char* content : {"one", "two", "three"}) ASSERT_THAT(blobs.Take(Write(content, content), Digest(content)), IsOk());
  std::filesystem::create_directories(top_ / "blobs/zz");
  Write("blobs/zz/stranger", "x");
  ASSERT_THAT(blobs.Remove(Digest("two")), IsOk());
  ASSERT_THAT(blobs.Remove(Digest("two")), IsOk()) << "gone already";
  std::vector<std::string> seen;
  int64_t bytes = 0;
  ASSERT_THAT(blobs.ForEach([&](const std::string& sha256, int64_t size) {
    seen.push_back(sha256);
    bytes += size;
  }),
              IsOk());
  EXPECT_THAT(seen, ::testing::UnorderedElementsAre(Digest("one"), Digest("three")));
  EXPECT_EQ(bytes, 8);
  EXPECT_THAT(blobs.OpenBlob(Digest("two"), 3), StatusIs(absl::StatusCode::kNotFound, HasSubstr("not kept")));
}

TEST_F(BlobsTest, TakesNoNameThatIsNoHash) {
  Blobs blobs = Open();
  std::string path = Write("a", "x");
  for (const std::string& name : {std::string(), std::string("../../etc/passwd"), std::string(63, 'a'), std::string(64, 'A'), std::string(65, 'a'), std::string(62, 'a') + "/x"}) {
    EXPECT_THAT(blobs.Take(path, name), StatusIs(absl::StatusCode::kInvalidArgument, _)) << name;
    EXPECT_THAT(blobs.OpenBlob(name, 1), StatusIs(absl::StatusCode::kInvalidArgument, _)) << name;
    EXPECT_THAT(blobs.Remove(name), StatusIs(absl::StatusCode::kInvalidArgument, _)) << name;
    EXPECT_FALSE(blobs.IsWhole(name, Digest("x"))) << name;
  }
}

TEST_F(BlobsTest, RefusesAFolderThatOthersCanWrite) {
  std::filesystem::create_directory(top_ / "blobs");
  chmod((top_ / "blobs").c_str(), 0777);
  EXPECT_THAT(Blobs::Open(top_ / "blobs"), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("chmod 700")));
}

TEST_F(BlobsTest, FollowsNoLink) {
  std::filesystem::create_directory_symlink("/tmp", top_ / "blobs");
  EXPECT_FALSE(Blobs::Open(top_ / "blobs").ok());
}

}  // namespace
}  // namespace cellblock::store
