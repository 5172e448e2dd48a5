// File wrappers, above all the one that opens what a guest may have made.
#include "sys/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace cellblock::sys {
namespace {

class FilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "/files-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    CELLBLOCK_ASSERT_OK_AND_ASSIGN(fd_, Open(folder_, O_RDONLY | O_DIRECTORY));
  }
  void TearDown() override { ASSERT_EQ(system(("rm -rf '" + folder_ + "'").c_str()), 0); }
  std::string folder_;
  UniqueFd fd_;
};

TEST_F(FilesTest, OpenBeneathOpensAPlainFile) {
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(UniqueFd file, OpenBeneath(fd_.get(), "a.txt", O_WRONLY | O_CREAT, 0600));
  ASSERT_THAT(WriteAll(file.get(), "hello"), IsOk());
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(UniqueFd again, OpenBeneath(fd_.get(), "a.txt", O_RDONLY));
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::string text, ReadAll(again.get(), 5));
  EXPECT_EQ(text, "hello");
}

TEST_F(FilesTest, OpenBeneathRefusesLinksDotsAndAbsolutePaths) {
  ASSERT_EQ(symlinkat("/etc/passwd", fd_.get(), "link"), 0);
  ASSERT_EQ(symlinkat("/etc", fd_.get(), "folder"), 0);
  ASSERT_EQ(symlinkat(".", fd_.get(), "self"), 0);
  for (const char* path : {"link", "folder/passwd", "self/link", "../x", "/etc/passwd", ".."}) {
    EXPECT_FALSE(OpenBeneath(fd_.get(), path, O_RDONLY).ok()) << path;
  }
}

TEST_F(FilesTest, ReadAllStopsAtItsMaximum) {
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(UniqueFd file, OpenBeneath(fd_.get(), "b", O_RDWR | O_CREAT, 0600));
  ASSERT_THAT(WriteAll(file.get(), "123456"), IsOk());
  ASSERT_EQ(lseek(file.get(), 0, SEEK_SET), 0);
  EXPECT_THAT(ReadAll(file.get(), 5), StatusIs(absl::StatusCode::kResourceExhausted, ::testing::HasSubstr("larger than 5")));
  ASSERT_EQ(lseek(file.get(), 0, SEEK_SET), 0);
  EXPECT_THAT(ReadAll(file.get(), 6), IsOk());
}

TEST_F(FilesTest, CopyAllCopiesUpToItsMaximum) {
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(UniqueFd source, OpenBeneath(fd_.get(), "c", O_RDWR | O_CREAT, 0600));
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(UniqueFd target, OpenBeneath(fd_.get(), "d", O_RDWR | O_CREAT, 0600));
  ASSERT_THAT(WriteAll(source.get(), std::string(100'000, 'x')), IsOk());
  ASSERT_EQ(lseek(source.get(), 0, SEEK_SET), 0);
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(int64_t copied, CopyAll(source.get(), target.get(), 100'000));
  EXPECT_EQ(copied, 100'000);
  ASSERT_EQ(lseek(source.get(), 0, SEEK_SET), 0);
  EXPECT_THAT(CopyAll(source.get(), target.get(), 99'999), StatusIs(absl::StatusCode::kOutOfRange, ::testing::HasSubstr("99999")));
}

TEST_F(FilesTest, DescriptorsAreCloseOnExec) {
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(PipePair pipe, MakePipe());
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(UniqueFd event, MakeEventFd());
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(UniqueFd copy, DuplicateAbove(event.get(), 100));
  EXPECT_GE(copy.get(), 100);
  for (int fd : {pipe.read.get(), pipe.write.get(), event.get(), copy.get(), fd_.get()}) EXPECT_NE(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
}

TEST(ErrnoStatusTest, NamesTheObject) { EXPECT_THAT(Open("/no/such/file", O_RDONLY), StatusIs(absl::StatusCode::kNotFound, ::testing::HasSubstr("/no/such/file"))); }

}  // namespace
}  // namespace cellblock::sys
