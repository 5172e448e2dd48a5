// Uploads and downloads against a tree that the other side made to deceive.
#include "session/workspace.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sys/files.h"
#include "tests/support/status_matchers.h"

namespace cellblock::session {
namespace {

using ::testing::HasSubstr;

class WorkspaceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "/workspace-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    top_ = pattern;
    ASSERT_EQ(mkdir((top_ + "/workspace").c_str(), 0755), 0);
    CELLBLOCK_ASSERT_OK_AND_ASSIGN(folder_, sys::Open(top_ + "/workspace", O_RDONLY | O_DIRECTORY));
  }
  void TearDown() override { ASSERT_EQ(system(("rm -rf '" + top_ + "'").c_str()), 0); }
  absl::Status Put(absl::string_view path, const std::string& content, int64_t bytes_max = 1 << 20) {
    std::string source = top_ + "/source";
    absl::StatusOr<UniqueFd> write = sys::Open(source, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (!write.ok() || !sys::WriteAll(write->get(), content).ok()) return absl::InternalError("source");
    absl::StatusOr<UniqueFd> read = sys::Open(source, O_RDONLY);
    return PutFrom(read->get(), path, bytes_max);
  }
  absl::Status PutFrom(int source, absl::string_view path, int64_t bytes_max) {
    absl::StatusOr<ReceivedFile> file = ReceiveFile(folder_.get(), 0, source, path, bytes_max);
    return file.ok() ? PlaceFile(0, *file) : file.status();
  }
  std::string Content(const std::string& path) { return sys::ReadFile(top_ + "/workspace/" + path, 1 << 20).value_or("(missing)"); }
  std::string top_;
  UniqueFd folder_;
};

TEST_F(WorkspaceTest, TakesAnyNameAPersonWouldUse) {
  for (const char* name : {"Données – été (1).csv", "数据.csv", "a'b \"c\".csv", "📈.csv", "-rf", "deep/er/file.txt", "...", ".hidden", "a\\b"}) {
    EXPECT_THAT(Put(name, name), IsOk()) << name;
    EXPECT_EQ(Content(name), name);
  }
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::vector<FileEntry> files, ListFiles(folder_.get()));
  EXPECT_EQ(files.size(), 9u);
}

TEST_F(WorkspaceTest, RefusesWhatIsNoPlainRelativePath) {
  std::string long_name(256, 'x');
  for (absl::string_view path : {absl::string_view(""), absl::string_view("/etc/passwd"), absl::string_view("../x"), absl::string_view("a/../b"), absl::string_view("a//b"), absl::string_view("a/"),
                                 absl::string_view("."), absl::string_view("a\0b", 3), absl::string_view("a\nb"), absl::string_view(long_name)}) {
    EXPECT_THAT(Put(path, "x"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is refused"))) << path;
  }
  EXPECT_THAT(Put(std::string(255, 'x'), "x"), IsOk()) << "NAME_MAX itself is fine";
}

TEST_F(WorkspaceTest, ReplacesWholeAndLeavesTheOldFileWhenItFails) {
  ASSERT_THAT(Put("a.csv", "old"), IsOk());
  ASSERT_THAT(Put("a.csv", "new"), IsOk());
  EXPECT_EQ(Content("a.csv"), "new");
  EXPECT_THAT(Put("a.csv", "too long", 3), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("limits.file_size")));
  EXPECT_EQ(Content("a.csv"), "new");
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::vector<FileEntry> files, ListFiles(folder_.get()));
  EXPECT_EQ(files.size(), 1u) << "no temporary file is left";
}

TEST_F(WorkspaceTest, AFileHasNoNameBeforeAllOfItIsThere) {
  ASSERT_THAT(Put("a.csv", "old"), IsOk());
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(write(ends[1], "new", 3), 3);
  close(ends[1]);
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(ReceivedFile file, ReceiveFile(folder_.get(), 0, ends[0], "a.csv", 10));
  close(ends[0]);
  EXPECT_EQ(file.bytes, 3);
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::vector<FileEntry> files, ListFiles(folder_.get()));
  EXPECT_EQ(files.size(), 1u);
  EXPECT_EQ(Content("a.csv"), "old");
  ASSERT_THAT(PlaceFile(0, file), IsOk());
  EXPECT_EQ(Content("a.csv"), "new");
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(files, ListFiles(folder_.get()));
  EXPECT_EQ(files.size(), 1u);
}

TEST_F(WorkspaceTest, NeverWritesThroughALink) {
  ASSERT_EQ(mkdir((top_ + "/outside").c_str(), 0755), 0);
  ASSERT_EQ(symlink("../outside", (top_ + "/workspace/folder").c_str()), 0);
  ASSERT_EQ(symlink("../outside/target", (top_ + "/workspace/file").c_str()), 0);
  EXPECT_FALSE(Put("folder/x", "x").ok());
  EXPECT_NE(access((top_ + "/outside/x").c_str(), F_OK), 0);
  EXPECT_THAT(Put("file", "x"), IsOk()) << "the link itself is replaced";
  EXPECT_NE(access((top_ + "/outside/target").c_str(), F_OK), 0);
}

TEST_F(WorkspaceTest, RefusesAFileInAFoldersPlace) {
  ASSERT_EQ(mkdir((top_ + "/workspace/d").c_str(), 0755), 0);
  EXPECT_THAT(Put("d", "x"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("a folder of that name exists")));
}

TEST_F(WorkspaceTest, AFileThatIsTooLargeNamesItsLimitAlone) {
  EXPECT_THAT(Put("a", "12345", 5), IsOk());
  EXPECT_THAT(Put("a", "123456", 5), StatusIs(absl::StatusCode::kResourceExhausted, testing::AllOf(testing::HasSubstr("limits.file_size allows 5"), testing::Not(testing::HasSubstr("limits.workspace")))));
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);  // whose size nobody knows before
  ASSERT_EQ(write(ends[1], "123456", 6), 6);
  close(ends[1]);
  EXPECT_THAT(PutFrom(ends[0], "a", 5), StatusIs(absl::StatusCode::kResourceExhausted, testing::HasSubstr("limits.file_size")));
  close(ends[0]);
  EXPECT_EQ(Content("a"), "12345");
}

TEST_F(WorkspaceTest, MakesFoldersThatAreMissing) {
  for (const char* path : {"a/b/c", "a/b", "été", "a/b/c"}) EXPECT_THAT(MakeFolder(folder_.get(), 0, path), IsOk()) << path;
  EXPECT_THAT(Put("a/b/c/file", "x"), IsOk());
  struct stat info;
  ASSERT_EQ(stat((top_ + "/workspace/été").c_str(), &info), 0);
  EXPECT_TRUE(S_ISDIR(info.st_mode));
  EXPECT_THAT(MakeFolder(folder_.get(), 0, "../a"), StatusIs(absl::StatusCode::kInvalidArgument, testing::HasSubstr("refused")));
  EXPECT_THAT(MakeFolder(folder_.get(), 0, "a/b/c/file"), StatusIs(absl::StatusCode::kInvalidArgument, testing::HasSubstr("a file of that name exists")));
  EXPECT_THAT(MakeFolder(folder_.get(), 0, "a/b/c/file/d"), StatusIs(absl::StatusCode::kInvalidArgument, testing::HasSubstr("a file of that name exists")));
  ASSERT_EQ(symlink("/tmp", (top_ + "/workspace/link").c_str()), 0);
  EXPECT_FALSE(MakeFolder(folder_.get(), 0, "link/out").ok());
}

TEST_F(WorkspaceTest, ReadsRegularFilesOnlyAndNeverBlocks) {
  ASSERT_THAT(Put("plain", "content"), IsOk());
  ASSERT_EQ(mkfifo((top_ + "/workspace/fifo").c_str(), 0600), 0);
  ASSERT_EQ(symlink("/etc/passwd", (top_ + "/workspace/link").c_str()), 0);
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(UniqueFd target, sys::Open(top_ + "/target", O_RDWR | O_CREAT, 0600));
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(const UniqueFd plain, OpenFile(folder_.get(), "plain"));
  EXPECT_THAT(sys::CopyAll(plain.get(), target.get(), 100), IsOk());
  EXPECT_EQ(sys::ReadFile(top_ + "/target", 100).value_or(""), "content");
  EXPECT_THAT(OpenFile(folder_.get(), "fifo"), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("no regular file")));
  EXPECT_FALSE(OpenFile(folder_.get(), "link").ok());
  EXPECT_FALSE(OpenFile(folder_.get(), "missing").ok());
}

}  // namespace
}  // namespace cellblock::session
