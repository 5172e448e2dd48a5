// What a session made, written into a folder of the host that may hold traps.
#include "app/output_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "app/atomic_write.h"
#include "app/safe_name.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sys/files.h"
#include "tests/support/captured_stream.h"
#include "tests/support/fake_host.h"
#include "tests/support/status_matchers.h"

namespace cellblock::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class OutputFolderTest : public ::testing::Test {
 protected:
  OutputFolder Open() {
    absl::StatusOr<OutputFolder> folder = OutputFolder::Create(root_ / "out");
    EXPECT_THAT(folder, IsOk());
    return *std::move(folder);
  }
  std::string Stored(const std::string& content) { return store_.Write(absl::StrCat("blob-", ++blobs_), content); }
  Playback Play() { return Playback(options_); }
  // Names in out/, sorted.
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root_ / "out")) {
      names.push_back(entry.path().lexically_relative(root_ / "out").string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  TemporaryFolder root_, store_;
  ExecuteOptions options_;
  int blobs_ = 0;
};

TEST_F(OutputFolderTest, SavesFilesUnderTheirOwnPathAndChartsByNumber) {
  OutputFolder out = Open();
  const SaveReport report =
      out.Save(Play().Artifact("summary.csv", Stored("a,b\n")).Artifact("sub/deep/x.txt", Stored("x")).Image("one").Image("two").record());
  EXPECT_THAT(report.problems, IsEmpty());
  EXPECT_THAT(report.saved, SizeIs(4));
  EXPECT_EQ(root_.Read("out/summary.csv"), "a,b\n");
  EXPECT_EQ(root_.Read("out/sub/deep/x.txt"), "x");
  EXPECT_EQ(root_.Read("out/chart-1.png"), "one");
  EXPECT_EQ(root_.Read("out/chart-2.png"), "two");
  EXPECT_EQ(report.saved[2].path, root_ / "out/chart-1.png");
  EXPECT_TRUE(report.saved[2].is_chart);
}

TEST_F(OutputFolderTest, DoesNotSaveAPictureThatIsAFileToo) {
  OutputFolder out = Open();
  out.Save(Play().Artifact("plot.png", Stored("pixels"), Sha256Hex("pixels")).Image("pixels").Image("new").Image("new").record());
  EXPECT_THAT(Names(), ElementsAre("chart-1.png", "chart-2.png", "plot.png")) << "two that look alike are two";
  EXPECT_EQ(root_.Read("out/chart-1.png"), "new");
}

TEST_F(OutputFolderTest, GivesTheFormatsOfOneChartOneNumber) {
  OutputFolder out = Open();
  Result both;
  both.mime = {{"image/png", "p", false}, {"image/svg+xml", "s"}};
  out.Save(Play().Image("first").Bundle(Event::Type::kDisplay, both).Image("third").record());
  EXPECT_THAT(Names(), ElementsAre("chart-1.png", "chart-2.png", "chart-2.svg", "chart-3.png"));
}

TEST_F(OutputFolderTest, ReplacesAFileOfAnEarlierRun) {
  root_.Write("out/summary.csv", "old content, longer than the new one");
  root_.Write("out/chart-1.png", "old");
  OutputFolder out = Open();
  out.Save(Play().Artifact("summary.csv", Stored("new")).Image("new chart").record());
  EXPECT_EQ(root_.Read("out/summary.csv"), "new");
  EXPECT_EQ(root_.Read("out/chart-1.png"), "new chart");
  EXPECT_THAT(Names(), ElementsAre("chart-1.png", "summary.csv"));  // and no temporary file
}

TEST_F(OutputFolderTest, NeverWritesOverWhatWentIn) {
  root_.Write("out/script.py", "the user's");
  root_.Write("out/chart-1.png", "the user's");
  root_.Write("out/other.csv", "old");
  OutputFolder out = Open();
  out.Protect(root_ / "out/script.py");
  std::filesystem::create_symlink(root_ / "out/chart-1.png", root_ / "link.png");
  out.Protect(root_ / "link.png");
  out.Protect(root_ / "none");
  for (const char* content : {"first", "second"}) {
    const SaveReport report = out.Save(Play().Artifact("script.py", Stored(content)).Artifact("other.csv", Stored(content)).Image("chart").record());
    EXPECT_THAT(report.problems, IsEmpty());
  }
  EXPECT_EQ(root_.Read("out/script.py"), "the user's");
  EXPECT_EQ(root_.Read("out/chart-1.png"), "the user's");
  EXPECT_EQ(root_.Read("out/script-2.py"), "second");
  EXPECT_EQ(root_.Read("out/other.csv"), "second");
  EXPECT_THAT(Names(), ElementsAre("chart-1.png", "chart-2.png", "chart-3.png", "other.csv", "script-2.py", "script.py"));
}

TEST_F(OutputFolderTest, NumbersAChartAroundAFileOfThatName) {
  OutputFolder out = Open();
  out.Save(Play().Artifact("chart-1.png", Stored("mine")).Image("captured").record());
  EXPECT_EQ(root_.Read("out/chart-1.png"), "mine");
  EXPECT_EQ(root_.Read("out/chart-2.png"), "captured");
}

TEST_F(OutputFolderTest, MovesAChartAwayForALaterFileOfThatName) {
  OutputFolder out = Open();
  out.Save(Play().Image("captured").record());
  const SaveReport report = out.Save(Play().Artifact("chart-1.png", Stored("mine")).Image("another").record());
  EXPECT_THAT(report.problems, IsEmpty());
  EXPECT_EQ(root_.Read("out/chart-1.png"), "mine");
  EXPECT_EQ(root_.Read("out/chart-2.png"), "captured");
  EXPECT_EQ(root_.Read("out/chart-3.png"), "another");
}

TEST_F(OutputFolderTest, ALaterCallReplacesItsOwnFile) {
  OutputFolder out = Open();
  out.Save(Play().Artifact("log.txt", Stored("1")).record());
  out.Save(Play().Artifact("log.txt", Stored("1 2")).record());
  EXPECT_EQ(root_.Read("out/log.txt"), "1 2");
  EXPECT_THAT(Names(), ElementsAre("log.txt"));
}

TEST_F(OutputFolderTest, TellsApartNamesThatAreEscapedAlike) {
  OutputFolder out = Open();
  out.Save(Play().Artifact(".env", Stored("hidden")).Artifact("%2Eenv", Stored("spelled out")).record());
  EXPECT_EQ(root_.Read("out/%2Eenv"), "hidden");
  EXPECT_EQ(root_.Read("out/%2Eenv-2"), "spelled out");
}

TEST_F(OutputFolderTest, NoNameLeavesTheFolder) {
  OutputFolder out = Open();
  const SaveReport report = out.Save(Play().Artifact("../escaped.txt", Stored("x")).Artifact("/etc/escaped.txt", Stored("y")).record());
  EXPECT_THAT(report.problems, IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(root_ / "escaped.txt"));
  EXPECT_THAT(Names(), ElementsAre("%2E.", "%2E./escaped.txt", "etc", "etc/escaped.txt"));
}

TEST_F(OutputFolderTest, NeitherFollowsNorReplacesASymbolicLink) {
  const std::string victim = root_.Write("victim.txt", "precious");
  std::filesystem::create_directories(root_ / "out");
  std::filesystem::create_symlink(victim, root_ / "out/summary.csv");
  std::filesystem::create_symlink(root_ / "nothing-yet", root_ / "out/chart-1.png");
  OutputFolder out = Open();
  const SaveReport report = out.Save(Play().Artifact("summary.csv", Stored("evil")).Image("evil").record());
  EXPECT_THAT(report.problems, ElementsAre(HasSubstr("summary.csv is a symbolic link"), HasSubstr("chart-1.png is a symbolic link")));
  EXPECT_EQ(root_.Read("victim.txt"), "precious");
  EXPECT_TRUE(std::filesystem::is_symlink(root_ / "out/summary.csv"));
  EXPECT_FALSE(std::filesystem::exists(root_ / "nothing-yet"));
}

TEST_F(OutputFolderTest, DoesNotFollowALinkInTheMiddleOfAPath) {
  std::filesystem::create_directories(root_ / "elsewhere");
  std::filesystem::create_directories(root_ / "out");
  std::filesystem::create_directory_symlink(root_ / "elsewhere", root_ / "out/charts");
  OutputFolder out = Open();
  const SaveReport report = out.Save(Play().Artifact("charts/a.png", Stored("evil")).Artifact("fine.txt", Stored("fine")).record());
  EXPECT_THAT(report.problems, ElementsAre(HasSubstr("charts is a symbolic link")));
  EXPECT_TRUE(std::filesystem::is_empty(root_ / "elsewhere"));
  EXPECT_EQ(root_.Read("out/fine.txt"), "fine");  // one problem does not stop the rest
}

TEST_F(OutputFolderTest, RefusesAFolderOrPipeInTheWay) {
  std::filesystem::create_directories(root_ / "out/a.csv");
  ASSERT_EQ(mkfifo((root_ / "out/b.csv").c_str(), 0600), 0);
  root_.Write("out/c", "a file");
  OutputFolder out = Open();
  const SaveReport report =
      out.Save(Play().Artifact("a.csv", Stored("x")).Artifact("b.csv", Stored("x")).Artifact("c/d", Stored("x")).record());
  EXPECT_THAT(report.problems, ElementsAre(HasSubstr("a.csv is a folder"), HasSubstr("b.csv is a special file"), HasSubstr("c is a file")));
}

TEST_F(OutputFolderTest, WritesNothingExecutable) {
  OutputFolder out = Open();
  const std::string stored = Stored("#!/bin/sh\n");
  chmod(stored.c_str(), 04755);
  out.Save(Play().Artifact("run.sh", stored).record());
  struct stat found = {};
  ASSERT_EQ(stat((root_ / "out/run.sh").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07111, 0u);
}

TEST_F(OutputFolderTest, ReportsACopyThatIsNotWhatTheRecordSays) {
  OutputFolder out = Open();
  Playback play = Play();
  Record& record =
      play.Artifact("short.txt", Stored("1234")).Artifact("long.txt", Stored("1234")).Artifact("none.txt", store_ / "none").record();
  record.artifacts[0].size_bytes = 5;
  record.artifacts[1].size_bytes = 3;
  const SaveReport report = out.Save(record);
  EXPECT_THAT(report.problems,
              ElementsAre(HasSubstr("shorter than the record says"), HasSubstr("more than 3 bytes"), HasSubstr("none.txt was not saved")));
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(OutputFolderTest, KeepsTheRestWhenTheStoredCopyIsALink) {
  OutputFolder out = Open();
  std::filesystem::create_symlink("/etc/passwd", store_ / "link");
  EXPECT_THAT(out.Save(Play().Artifact("x", store_ / "link").record()).problems, SizeIs(1));
}

TEST_F(OutputFolderTest, MakesParentsAndTakesALinkThatTheUserNamed) {
  EXPECT_THAT(OutputFolder::Create(root_ / "a/b/c/"), IsOk());
  std::filesystem::create_directory_symlink(root_ / "a/b", root_ / "named");
  EXPECT_THAT(OutputFolder::Create(root_ / "named"), IsOk());
}

TEST_F(OutputFolderTest, RefusesWhatIsNoFolder) {
  const std::string file = root_.Write("file", "x");
  EXPECT_THAT(OutputFolder::Create(file), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("Not a directory")));
  EXPECT_THAT(OutputFolder::Create(file + "/sub"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("Not a directory")));
}

TEST(AtomicWriteTest, LeavesTheTargetAloneWhenFillingFails) {
  TemporaryFolder folder;
  folder.Write("a.txt", "old");
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(UniqueFd fd, sys::Open(folder.path(), O_RDONLY | O_DIRECTORY));
  const absl::Status status = WriteBeneath(fd.get(), {"a.txt"}, IfExists::kReplace, [](int) { return absl::DataLossError("broken"); });
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss, HasSubstr("write a.txt: broken")));
  EXPECT_EQ(folder.Read("a.txt"), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(AtomicWriteTest, RefusesAnExistingFileWhenAskedTo) {
  TemporaryFolder folder;
  folder.Write("a.txt", "old");
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(UniqueFd fd, sys::Open(folder.path(), O_RDONLY | O_DIRECTORY));
  const auto fill = [](int target) { return sys::WriteAll(target, "new"); };
  EXPECT_THAT(WriteBeneath(fd.get(), {"a.txt"}, IfExists::kRefuse, fill), StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("a.txt")));
  EXPECT_THAT(WriteBeneath(fd.get(), {"b.txt"}, IfExists::kRefuse, fill), IsOk());
  EXPECT_EQ(folder.Read("a.txt"), "old");
  EXPECT_EQ(folder.Read("b.txt"), "new");
  // Also when the name is taken only after the look at it.
  EXPECT_THAT(WriteBeneath(fd.get(), {"c.txt"}, IfExists::kRefuse,
                           [&](int target) {
                             folder.Write("c.txt", "theirs");
                             return fill(target);
                           }),
              StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("c.txt")));
  EXPECT_EQ(folder.Read("c.txt"), "theirs");
}

}  // namespace
}  // namespace cellblock::app
