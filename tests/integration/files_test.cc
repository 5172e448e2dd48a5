// Files into, out of and inside a session's workspace, with the names that people use and with what a hostile guest leaves there.
// Tests only.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/unique_fd.h"
#include "sys/files.h"
#include "tests/support/session_fixture.h"

namespace cellblock {
namespace {

class FilesTest : public SessionTest {
 protected:
  std::vector<std::string> Listed() {
    absl::StatusOr<std::vector<FileEntry>> entries = session().ListFiles();
    EXPECT_THAT(entries, IsOk());
    return entries.ok() ? PathsOf(*entries) : std::vector<std::string>();
  }
};

TEST_F(FilesTest, NamesThatPeopleUseStayAsTheyAre) {
  const std::vector<std::string> names = {"Données – été (1).csv", "数据.csv", "a'b.csv", "\"quoted\".csv", "📈 plan.csv", "back\\slash.csv", "a;b|c&d.csv",
                                          "-rf", "name with  two spaces", "été/sous dossier/ü.csv", ".hidden", "%41.csv", "a:b.csv", std::string(255, 'n')};
  for (const std::string& name : names) EXPECT_THAT(Put(session(), name, absl::StrCat("content of ", name)), IsOk()) << name;
  Record record = Run("import os\nfound = []\nfor folder, _, files in os.walk('.'):\n    for f in files:\n        p = os.path.relpath(os.path.join(folder, f))\n        assert open(p).read() == 'content of ' + p, p\n        found.append(p)\nprint(*sorted(found), sep='\\n')");
  EXPECT_THAT(record, EndedWell());
  std::vector<std::string> expected = names;
  std::sort(expected.begin(), expected.end());
  std::string lines;
  for (const std::string& name : expected) absl::StrAppend(&lines, name, "\n");
  EXPECT_EQ(record.stdout_text, lines);
  EXPECT_EQ(Listed(), expected);
  for (const std::string& name : names) {
    CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::string content, Get(session(), name));
    EXPECT_EQ(content, absl::StrCat("content of ", name));
  }
  EXPECT_TRUE(record.artifacts.empty()) << "uploads are no artifacts of a call";
}

TEST_F(FilesTest, NamesThatLeaveTheWorkspaceAreRefused) {
  std::string deep = "d";
  for (int i = 0; i < 40; ++i) deep += "/d";
  for (const std::string& name : std::vector<std::string>{"", "/etc/passwd", "/workspace/a", "..", "../a", "a/../../b", "a/..", ".", "./a", "a//b", "a/", std::string("a\0b", 3), "a\nb", "a\rb", "\x1b[2J",
                                                          "\x7f", std::string(256, 'n'), std::string(1025, 'n'), deep}) {
    EXPECT_THAT(Put(session(), name, "x"), StatusIs(absl::StatusCode::kInvalidArgument, testing::HasSubstr("refused"))) << name;
    EXPECT_THAT(Get(session(), name), StatusIs(absl::StatusCode::kInvalidArgument, testing::HasSubstr("refused"))) << name;
  }
  EXPECT_TRUE(Listed().empty());
}

TEST_F(FilesTest, AnUploadReplacesTheFileOfThatName) {
  EXPECT_THAT(Put(session(), "a.csv", "first, and longer"), IsOk());
  EXPECT_EQ(Value("f = open('a.csv'); open('a.csv').read()"), "'first, and longer'");
  EXPECT_THAT(Put(session(), "a.csv", "second"), IsOk());
  EXPECT_EQ(Value("open('a.csv').read()"), "'second'");
  EXPECT_EQ(Value("f.read()"), "'first, and longer'") << "who had it open reads the old one, whole";
  EXPECT_THAT(Listed(), testing::ElementsAre("a.csv"));
}

TEST_F(FilesTest, AFileIsTheSessionsOwnToChange) {
  EXPECT_THAT(Put(session(), "folder/a.csv", "x"), IsOk());
  Record record = Run("import os\nopen('folder/a.csv', 'a').write('y'); os.chmod('folder/a.csv', 0o600); os.rename('folder/a.csv', 'folder/b.csv'); open('folder/new', 'w').close()\nos.stat('folder').st_uid == os.getuid()");
  EXPECT_THAT(record, EndedWell());
  EXPECT_EQ(ValueText(record), "True");
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::string content, Get(session(), "folder/b.csv"));
  EXPECT_EQ(content, "xy");
}

TEST_F(FilesTest, AnUploadReachesTheCallThatRunsWholeAndIsNoArtifactOfIt) {
  const std::string content(3 << 20, 'x');
  Policy policy;
  policy.session.queue = 0;  // an upload takes no turn
  Use(policy);
  ExecuteOptions options;
  options.on_event = [&](const Event& event, const Record&) {
    if (event.type == Event::Type::kStdout && event.text == "ready\n") {
      EXPECT_THAT(Put(session(), "in/go.bin", content), IsOk());
    }
  };
  const Record record = Run(
      "import os, time\nopen('made.txt', 'w').write('by the call')\nprint('ready', flush=True)\nend = time.monotonic() + 60\n"
      "while not os.path.exists('in/go.bin') and time.monotonic() < end: time.sleep(0.001)\n"
      "print(os.path.getsize('in/go.bin'), sorted(os.listdir('in')))",
      options);
  EXPECT_THAT(record, EndedWell());
  EXPECT_EQ(record.stdout_text, absl::StrCat("ready\n", content.size(), " ['go.bin']\n"));
  EXPECT_THAT(PathsOf(record.artifacts), testing::ElementsAre("made.txt"));
  EXPECT_LT(record.receipt.written_bytes, 1 << 20) << "the call did not write it";
  const Record changed = Run("open('in/go.bin', 'a').write('more')");
  EXPECT_THAT(PathsOf(changed.artifacts), testing::ElementsAre("in/go.bin"));
}

TEST_F(FilesTest, AFileCanBeRemovedWhileACallRuns) {
  ASSERT_THAT(Put(session(), "stop", ""), IsOk());
  ExecuteOptions options;
  options.on_event = [&](const Event& event, const Record&) {
    if (event.type == Event::Type::kStdout) {
      EXPECT_THAT(session().RemoveFile("stop"), IsOk());
    }
  };
  const Record record = Run("import os, time\nprint('ready', flush=True)\nend = time.monotonic() + 60\nwhile os.path.exists('stop') and time.monotonic() < end: time.sleep(0.001)\nos.path.exists('stop')", options);
  EXPECT_EQ(ValueText(record), "False");
}

TEST_F(FilesTest, AFolderIsNoFile) {
  EXPECT_THAT(Run("import os; os.mkdir('d'); open('f', 'w').close()"), EndedWell());
  EXPECT_THAT(Put(session(), "d", "x"), StatusIs(absl::StatusCode::kInvalidArgument, testing::HasSubstr("a folder of that name exists")));
  EXPECT_FALSE(Put(session(), "f/below", "x").ok());
  EXPECT_THAT(Get(session(), "d"), StatusIs(absl::StatusCode::kFailedPrecondition, testing::HasSubstr("no regular file")));
  EXPECT_THAT(Get(session(), "missing"), StatusIs(absl::StatusCode::kNotFound, testing::_));
}

TEST_F(FilesTest, ALinkThatTheGuestPlantedIsReplacedNotFollowed) {
  char outside[] = "/tmp/cellblock-test-XXXXXX";
  UniqueFd file(mkstemp(outside));
  ASSERT_THAT(sys::WriteAll(file.get(), "of the host"), IsOk());
  EXPECT_THAT(Run(absl::StrCat("import os; os.symlink('", outside, "', 'target'); os.symlink('/', 'parent'); os.symlink('/proc/1/root/etc', 'proc')")), EndedWell());
  EXPECT_THAT(Put(session(), "target", "mine"), IsOk());
  EXPECT_THAT(sys::ReadFile(outside, 100).value_or(""), "of the host");
  EXPECT_EQ(Value("os.path.islink('target'), open('target').read()"), "(False, 'mine')");
  EXPECT_FALSE(Put(session(), absl::StrCat("parent", outside), "x").ok());
  EXPECT_FALSE(Put(session(), "parent/workspace/a", "x").ok());
  EXPECT_FALSE(Put(session(), "proc/a", "x").ok());
  EXPECT_THAT(sys::ReadFile(outside, 100).value_or(""), "of the host");
  unlink(outside);
}

TEST_F(FilesTest, LinksAreNotReadEither) {
  EXPECT_THAT(Run("import os; os.symlink('/etc/passwd', 'link'); os.symlink('/etc', 'folder'); os.symlink('real', 'inside'); open('real', 'w').write('x')"), EndedWell());
  for (const char* name : {"link", "folder/passwd", "inside"}) EXPECT_FALSE(Get(session(), name).ok()) << name;
  EXPECT_THAT(Listed(), testing::ElementsAre("real"));
}

TEST_F(FilesTest, AFifoDoesNotHoldTheSupervisor) {
  EXPECT_THAT(Run("import os; os.mkfifo('fifo')"), EndedWell());
  EXPECT_THAT(Get(session(), "fifo"), StatusIs(absl::StatusCode::kFailedPrecondition, testing::HasSubstr("no regular file")));
  EXPECT_THAT(Put(session(), "fifo", "replaced"), IsOk());
  EXPECT_EQ(Value("open('fifo').read()"), "'replaced'");
}

TEST_F(FilesTest, AFolderThatTheGuestClosedIsAnError) {
  EXPECT_THAT(Run("import os; os.mkdir('d'); open('d/f', 'w').close(); os.chmod('d', 0)"), EndedWell());
  EXPECT_THAT(Put(session(), "d/new", "x"), StatusIs(absl::StatusCode::kPermissionDenied, testing::_));
  EXPECT_EQ(Value("os.chmod('d', 0o700); os.listdir('d')"), "['f']");
}

TEST_F(FilesTest, AnUploadThatDoesNotFitLeavesTheOldFile) {
  Policy policy;
  policy.limits.workspace_bytes = 2 << 20;
  policy.limits.file_bytes = 1 << 20;
  Use(policy);
  EXPECT_THAT(Put(session(), "a", "old"), IsOk());
  EXPECT_THAT(Put(session(), "exact", std::string(1 << 20, 'x')), IsOk());
  EXPECT_THAT(Put(session(), "a", std::string((1 << 20) + 1, 'x')), StatusIs(absl::StatusCode::kResourceExhausted, testing::HasSubstr("file_size")));
  EXPECT_THAT(Put(session(), "b", std::string(1 << 20, 'x')), StatusIs(absl::StatusCode::kResourceExhausted, testing::HasSubstr("limits.workspace")));
  EXPECT_THAT(Listed(), testing::ElementsAre("a", "exact"));
  EXPECT_EQ(Value("open('a').read()"), "'old'");
}

TEST_F(FilesTest, ADownloadKeepsEveryByte) {
  EXPECT_THAT(Run("n = open('all', 'wb').write(bytes(range(256)) * 1000)"), EndedWell());
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::string content, Get(session(), "all"));
  ASSERT_EQ(content.size(), 256'000u);
  for (size_t i = 0; i < content.size(); ++i) ASSERT_EQ(static_cast<unsigned char>(content[i]), i % 256);
  EXPECT_THAT(Run("open('empty', 'w').close()"), EndedWell());
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::string empty, Get(session(), "empty"));
  EXPECT_EQ(empty, "");
}

TEST_F(FilesTest, NamesThatAreNoTextAreListedEscaped) {
  EXPECT_THAT(Run("import os\nos.close(os.open(b'\\xff\\xfe', os.O_CREAT)); os.close(os.open(b'new\\nline', os.O_CREAT))"), EndedWell());
  EXPECT_THAT(Listed(), testing::UnorderedElementsAre("\\xff\\xfe", "new\\u000aline"));
}

TEST_F(FilesTest, ArtifactsAreWhatTheCallMadeOrChanged) {
  EXPECT_THAT(Put(session(), "input.csv", "a,b\n1,2\n"), IsOk());
  Record record = Run("import os\nos.mkdir('out')\nopen('out/made.csv', 'w').write('x,y\\n1,2\\n')\nopen('/tmp/private', 'w').write('x')\nopen('.hidden', 'w').write('x')\nopen('/mnt/data/alias.json', 'w').write('{}')");
  ASSERT_THAT(PathsOf(record.artifacts), testing::ElementsAre("alias.json", "out/made.csv"));
  const Artifact& artifact = record.artifacts[1];
  EXPECT_TRUE(artifact.created);
  EXPECT_EQ(artifact.size_bytes, 8);
  EXPECT_EQ(artifact.call, 1);
  EXPECT_EQ(artifact.sha256, "81bf9fa83c6f7f151bd491a98cd7d933de3965289e3ebd77c6c425f7eaa16392");
  EXPECT_EQ(sys::ReadFile(artifact.stored_at, 100).value_or(""), "x,y\n1,2\n");
  record = Run("open('out/made.csv', 'a').write('3,4\\n'); open('input.csv').read()");
  ASSERT_THAT(PathsOf(record.artifacts), testing::ElementsAre("out/made.csv"));
  EXPECT_FALSE(record.artifacts[0].created);
  EXPECT_TRUE(Run("1").artifacts.empty());
}

TEST_F(FilesTest, AChartSavedToTheWorkspaceIsAnArtifactWithItsSize) {
  Record record = Run("import matplotlib.pyplot as plt\nplt.figure(figsize=(4, 3), dpi=100); plt.plot([1, 2]); plt.savefig('chart.png'); plt.close()");
  ASSERT_EQ(record.artifacts.size(), 1u);
  EXPECT_EQ(record.artifacts[0].mime, "image/png");
  ASSERT_TRUE(record.artifacts[0].image_size.has_value());
  EXPECT_EQ(*record.artifacts[0].image_size, std::make_pair(int64_t{400}, int64_t{300}));
}

}  // namespace
}  // namespace cellblock
