// Files of the host that sessions read without a copy: the same bytes in each of them, and nothing that code does there changes them.
// Tests only.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "sys/files.h"
#include "tests/support/session_fixture.h"

namespace cellblock {
namespace {

using testing::HasSubstr;

class AttachedFilesTest : public SessionTest {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "attached-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    file_ = Write("big.csv", "a,b\n1,2\n");
  }
  void TearDown() override {
    End();
    std::filesystem::remove_all(folder_);
  }
  std::string Write(const std::string& name, const std::string& content, mode_t mode = 0444) {
    const std::string path = absl::StrCat(folder_, "/", name);
    std::ofstream(path) << content;
    EXPECT_EQ(chmod(path.c_str(), mode), 0);
    return path;
  }
  static SessionOptions Attached(std::vector<AttachedFile> files) {
    SessionOptions options;
    options.attached = std::move(files);
    return options;
  }
  absl::Status WhyNot(std::vector<AttachedFile> files) { return TestHost().CreateSession(Policy{}, Attached(std::move(files))).status(); }

  std::string folder_, file_;
};

TEST_F(AttachedFilesTest, AreReadWhereTheyWereAttached) {
  const std::string other = Write("été 数.csv", "x\n");
  Use({}, Attached({{"big.csv", file_}, {"folder/sub/été 数.csv", other}}));
  EXPECT_EQ(Value("open('big.csv').read()"), "'a,b\\n1,2\\n'");
  EXPECT_EQ(Value("open('/mnt/data/folder/sub/été 数.csv').read()"), "'x\\n'");
  EXPECT_EQ(Value("import pandas as pd\nint(pd.read_csv('big.csv').b.sum())"), "2");
  EXPECT_EQ(RunBash("cat folder/sub/*.csv big.csv").stdout_text, "x\na,b\n1,2\n");
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(const std::string content, Get(session(), "big.csv"));
  EXPECT_EQ(content, "a,b\n1,2\n");
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(const std::vector<FileEntry> entries, session().ListFiles());
  ASSERT_THAT(PathsOf(entries), testing::ElementsAre("big.csv", "folder/sub/été 数.csv"));
  EXPECT_TRUE(entries[0].read_only);
  EXPECT_EQ(entries[0].size_bytes, 8);
}

TEST_F(AttachedFilesTest, CannotBeChangedFromWithinWhileACopyCan) {
  Use({}, Attached({{"big.csv", file_}, {"folder/x", file_}}));
  const Record record = Run(R"(
import errno, os, shutil
def outcome(what):
    try:
        what()
        return 'done'
    except OSError as error:
        return 'mounted' if error.errno == errno.EBUSY else 'refused' if error.errno in (errno.EROFS, errno.EACCES) else repr(error)
def tries(name):
    return [outcome(lambda: open(name, 'a')), outcome(lambda: os.truncate(name, 0)), outcome(lambda: os.chmod(name, 0o666)), outcome(lambda: os.utime(name)),
            outcome(lambda: os.rename(name, name + '2')), outcome(lambda: os.replace(shutil.copyfile(name, 'other'), name)), outcome(lambda: os.remove(name))]
print(tries('big.csv'))
shutil.copyfile('big.csv', 'own.csv')
print(tries('own.csv')[:4])
print(outcome(lambda: shutil.rmtree('folder')), open('big.csv').read() == 'a,b\n1,2\n' and open('folder/x').read() == 'a,b\n1,2\n')
)");
  EXPECT_THAT(record, EndedWell());
  EXPECT_EQ(record.stdout_text,
            "['refused', 'refused', 'refused', 'refused', 'mounted', 'mounted', 'mounted']\n['done', 'done', 'done', 'done']\nmounted True\n");
  EXPECT_EQ(sys::ReadFile(file_, 100).value_or(""), "a,b\n1,2\n");
}

TEST_F(AttachedFilesTest, AreNoArtifactsAndCountForNoLimit) {
  Policy policy;
  policy.limits.workspace_bytes = int64_t{1} << 20;
  const std::string large = Write("large", std::string(3 << 20, 'x'));
  Use(policy, Attached({{"large", large}}));
  const Record record = Run("len(open('large').read())");
  EXPECT_EQ(ValueText(record), "3145728");
  EXPECT_THAT(record, HitNothing());
  EXPECT_TRUE(record.artifacts.empty());
  EXPECT_THAT(PathsOf(Run("open('own', 'w').write('x' * 1000)").artifacts), testing::ElementsAre("own"));
}

TEST_F(AttachedFilesTest, AreOneFileInManySessions) {
  std::vector<std::unique_ptr<Session>> sessions;
  for (int i = 0; i < 5; ++i) sessions.push_back(NewSession({}, Attached({{"big.csv", file_}})));
  const std::string inode = ValueIn(*sessions[0], "import os\nos.stat('big.csv').st_ino");
  for (const auto& session : sessions) EXPECT_EQ(ValueIn(*session, "import os\nos.stat('big.csv').st_ino"), inode);
}

TEST_F(AttachedFilesTest, StayWhatTheyWereWhenTheirNameIsTakenAway) {
  Use({}, Attached({{"big.csv", file_}}));
  ASSERT_EQ(unlink(file_.c_str()), 0);
  Write("big.csv", "another file");
  EXPECT_EQ(Value("open('big.csv').read()"), "'a,b\\n1,2\\n'");
  EXPECT_THAT(session().Restart(), IsOk());
  EXPECT_EQ(Value("open('big.csv').read()"), "'a,b\\n1,2\\n'");
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(const std::string content, Get(session(), "big.csv"));
  EXPECT_EQ(content, "a,b\n1,2\n");
}

TEST_F(AttachedFilesTest, AreNotWrittenOverFromOutside) {
  Use({}, Attached({{"folder/x", file_}}));
  for (const char* path : {"folder/x", "folder"}) {
    EXPECT_THAT(session().RemoveFile(path), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("attached to the session read-only"))) << path;
  }
  EXPECT_THAT(Put(session(), "folder/x", "new"), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("attached to the session read-only")));
  EXPECT_THAT(Put(session(), "folder/y", "new"), IsOk());
  EXPECT_THAT(session().RemoveFile("folder/y"), IsOk());
  EXPECT_EQ(Value("open('folder/x').read()"), "'a,b\\n1,2\\n'");
}

TEST_F(AttachedFilesTest, AreKnownUnderAnotherFolderNameToo) {
  Use({}, Attached({{"folder/x", file_}}));
  EXPECT_THAT(Run("import os; os.rename('folder', 'other'); os.mkdir('folder'); open('folder/x', 'w').write('own')"), EndedWell());
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(const std::vector<FileEntry> entries, session().ListFiles());
  ASSERT_THAT(PathsOf(entries), testing::ElementsAre("folder/x", "other/x"));
  EXPECT_FALSE(entries[0].read_only);
  EXPECT_TRUE(entries[1].read_only);
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::string content, Get(session(), "folder/x"));
  EXPECT_EQ(content, "own");
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(content, Get(session(), "other/x"));
  EXPECT_EQ(content, "a,b\n1,2\n");
  EXPECT_THAT(session().PreviewFile("other/x", 1), IsOk());
  EXPECT_THAT(session().RemoveFile("other/x"), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("read-only")));
  EXPECT_THAT(Put(session(), "other/x", "new"), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("read-only")));
  EXPECT_FALSE(session().RemoveFile("other").ok());
  EXPECT_EQ(Value("open('other/x').read()"), "'a,b\\n1,2\\n'");
}

TEST_F(AttachedFilesTest, APreviewThatTakesTooMuchMemoryLeavesTheVariables) {
  Policy policy;
  policy.limits.memory_bytes = int64_t{160} << 20;
  Use(policy);
  EXPECT_THAT(Run("kept = bytearray(b'x') * (90 << 20)\nwith open('f.csv', 'w') as f:\n    for i in range(150_000): f.write(f'{i * 7919 % 1000003}.{i},{i}text{i}\\n')"), EndedWell());
  const absl::StatusOr<std::string> preview = session().PreviewFile("f.csv", 1);
  if (!preview.ok()) {
    EXPECT_THAT(preview, StatusIs(absl::StatusCode::kAborted, HasSubstr("no answer")));
  }
  EXPECT_EQ(Value("len(kept)"), "94371840");
}

TEST_F(AttachedFilesTest, ALinkIsNoFile) {
  Use({}, Attached({{"x", file_}}));
  EXPECT_THAT(Run("import os; os.symlink('/etc/passwd', 'link'); os.symlink('x', 'near')"), EndedWell());
  for (const char* name : {"link", "near", "link/x"}) {
    EXPECT_THAT(Get(session(), name), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("link"))) << name;
    EXPECT_THAT(session().PreviewFile(name, 1), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("link"))) << name;
  }
}

TEST_F(AttachedFilesTest, WhatCannotBeAttachedIsRefusedWithTheReason) {
  EXPECT_THAT(WhyNot({{"../x", file_}}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("refused")));
  EXPECT_THAT(WhyNot({{"x", "big.csv"}}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("must be absolute")));
  EXPECT_THAT(WhyNot({{"x", file_}, {"x", file_}}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("two files")));
  EXPECT_THAT(WhyNot({{"x", file_}, {"x/y", file_}}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("which is a file")));
  EXPECT_THAT(WhyNot(std::vector<AttachedFile>(65, {"x", file_})), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("at most 64")));
  EXPECT_THAT(WhyNot({{"x", folder_}}), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("no regular file")));
  EXPECT_THAT(WhyNot({{"x", folder_ + "/missing"}}), StatusIs(absl::StatusCode::kNotFound, testing::_));
  ASSERT_EQ(mkfifo((folder_ + "/fifo").c_str(), 0644), 0);
  EXPECT_THAT(WhyNot({{"x", folder_ + "/fifo"}}), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("no regular file")));
  std::vector<AttachedFile> many;
  for (int i = 0; i < 64; ++i) many.push_back({absl::StrCat("f", i), file_});
  EXPECT_THAT(WhyNot(many), IsOk());
}

TEST_F(AttachedFilesTest, OneThatTheSessionsUserMayNotReadIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "missing: root, whose sessions have users of their own";
  const std::string closed = Write("closed", "x", 0600);
  EXPECT_THAT(WhyNot({{"x", closed}}), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("chmod o+r")));
  ASSERT_EQ(chmod(closed.c_str(), 0604), 0);
  EXPECT_THAT(WhyNot({{"x", closed}}), IsOk());
}

TEST_F(AttachedFilesTest, NoDescriptorOfTheHostComesAlong) {
  Use({}, Attached({{"big.csv", file_}, {"other", file_}}));
  Record record = Run("import os\nprint(sorted(os.readlink(f'/proc/self/fd/{fd}') for fd in os.listdir('/proc/self/fd') if os.path.exists(f'/proc/self/fd/{fd}')))");
  EXPECT_THAT(record.stdout_text, testing::Not(HasSubstr(folder_)));
  EXPECT_THAT(record.stdout_text, testing::Not(HasSubstr("big.csv")));
}

}  // namespace
}  // namespace cellblock
