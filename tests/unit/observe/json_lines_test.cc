// Logs of JSON lines: appended to, moved on when they are full, bounded in number and size, whole also after a full disk.
#include "observe/json_lines.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/policy/temp_directory.h"

namespace cellblock::observe {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class JsonLinesTest : public ::testing::Test {
 protected:
  std::unique_ptr<JsonLines> Open(int64_t bytes_max) {
    absl::StatusOr<std::unique_ptr<JsonLines>> log = JsonLines::Open(path_, bytes_max);
    EXPECT_THAT(log, IsOk());
    return *std::move(log);
  }
  std::vector<std::string> Lines(const std::string& suffix = "") {
    std::ifstream in(path_ + suffix);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }
  policy::TempDirectory folder_;
  const std::string path_ = folder_.PathOf("log");
};

TEST_F(JsonLinesTest, AppendsToWhatIsThereAndIsItsOwnersAlone) {
  Open(1000)->Write("{\"a\":1}");
  Open(1000)->Write("{\"a\":2}");
  EXPECT_THAT(Lines(), ElementsAre("{\"a\":1}", "{\"a\":2}"));
  struct stat found = {};
  ASSERT_EQ(stat(path_.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);
}

TEST_F(JsonLinesTest, FilesThatAreFullMoveOnAndTheOldestGoes) {
  const std::unique_ptr<JsonLines> log = Open(20);
  for (int i = 0; i < 14; ++i) log->Write(absl::StrCat("{\"n\":", 10 + i, "}"));  // nine bytes with its newline: two fit
  EXPECT_THAT(Lines(), ElementsAre("{\"n\":22}", "{\"n\":23}"));
  EXPECT_THAT(Lines(".1"), ElementsAre("{\"n\":20}", "{\"n\":21}"));
  EXPECT_THAT(Lines(".4"), ElementsAre("{\"n\":14}", "{\"n\":15}"));
  EXPECT_FALSE(std::filesystem::exists(path_ + ".5"));
}

TEST_F(JsonLinesTest, AFileIsFilledUpToItsBoundAndNoByteMore) {
  const std::unique_ptr<JsonLines> log = Open(16);
  log->Write("1234567");
  log->Write("7654321");
  EXPECT_EQ(std::filesystem::file_size(path_), 16u);
  EXPECT_FALSE(std::filesystem::exists(path_ + ".1"));
  log->Write("");
  EXPECT_EQ(std::filesystem::file_size(path_), 1u);
  EXPECT_EQ(std::filesystem::file_size(path_ + ".1"), 16u);
}

TEST_F(JsonLinesTest, WhatAFileHeldBeforeCountsToo) {
  Open(16)->Write("1234567");
  Open(16)->Write("12345678");
  EXPECT_THAT(Lines(".1"), ElementsAre("1234567"));
}

TEST_F(JsonLinesTest, ALineLongerThanTheBoundStandsAlone) {
  const std::unique_ptr<JsonLines> log = Open(4);
  log->Write("a long line");
  log->Write("b");
  EXPECT_THAT(Lines(".1"), ElementsAre("a long line"));
  EXPECT_THAT(Lines(), ElementsAre("b"));
}

TEST_F(JsonLinesTest, LinesOfManyThreadsStayWhole) {
  const std::unique_ptr<JsonLines> log = Open(1 << 20);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int j = 0; j < 200; ++j) log->Write(std::string(100, static_cast<char>('a' + i)));
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::vector<std::string> lines = Lines();
  EXPECT_EQ(lines.size(), 800u);
  for (const std::string& line : lines) EXPECT_EQ(line, std::string(100, line[0]));
}

// A limit of the file's size stands for the disk.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) : handler_(signal(SIGXFSZ, SIG_IGN)) {
    EXPECT_EQ(getrlimit(RLIMIT_FSIZE, &before_), 0);
    const rlimit small = {bytes, before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  }
  ~FullDisk() {
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &before_), 0);
    signal(SIGXFSZ, handler_);
  }

 private:
  struct rlimit before_ = {};
  void (*handler_)(int);
};

TEST_F(JsonLinesTest, ALineThatDoesNotFitOnTheDiskLeavesNoHalfOfItself) {
  const std::unique_ptr<JsonLines> log = Open(1 << 20);
  log->Write("before");
  {
    FullDisk disk(10);  // the first part is taken, then comes an error
    log->Write("too long for it");
  }
  log->Write("after");
  EXPECT_THAT(Lines(), ElementsAre("before", HasSubstr("lines_lost"), "after"));
}

TEST_F(JsonLinesTest, TellsInTheLogAndOnStandardErrorHowManyLinesWereLost) {
  const std::unique_ptr<JsonLines> log = Open(1 << 20);
  log->Write("before");
  testing::internal::CaptureStderr();
  {
    FullDisk disk(1000);  // room for what is told, which is captured in a file too
    for (int i = 0; i < 3; ++i) log->Write(std::string(1000, 'x'));
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(), AllOf(HasSubstr(path_ + " takes no lines"), HasSubstr("1 lost so far"), Not(HasSubstr("2 lost"))));
  testing::internal::CaptureStderr();
  log->Write("after");
  log->Write("and on");
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("takes lines again; 3 were lost"));
  EXPECT_THAT(Lines(), ElementsAre("before",
                                   ContainsRegex(R"(^\{"time":"20[0-9T:.-]+Z","event":"lines_lost","count":3,"since":"20[0-9T:.-]+Z"\}$)"), "after", "and on"));
}

TEST_F(JsonLinesTest, ALineIsNotWrittenBeforeTheLogCanTellOfThoseLostBeforeIt) {
  const std::unique_ptr<JsonLines> log = Open(1 << 20);
  log->Write("before");
  {
    FullDisk disk(20);
    log->Write("too long for the disk");
    log->Write("short");  // would fit, and hide the gap
  }
  log->Write("after");
  EXPECT_THAT(Lines(), ElementsAre("before", HasSubstr("\"count\":2,"), "after"));
  log->Write("more");
  EXPECT_THAT(Lines(), SizeIs(4)) << "told once";
}

TEST_F(JsonLinesTest, WhereNoNewFileCanBeOpenedTheLinesGoOnInTheOldOne) {
  const std::unique_ptr<JsonLines> log = Open(16);
  log->Write("1234567");
  log->Write("7654321");
  struct rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none = {0, before.rlim_max};  // no descriptor more than there are
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  log->Write("no file");
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_THAT(Lines(".1"), ElementsAre("1234567", "7654321", "no file"));
  EXPECT_FALSE(std::filesystem::exists(path_));
  log->Write("8bytes.");
  log->Write("is full");
  EXPECT_THAT(Lines(), ElementsAre("is full")) << "when it is full again, a new one is tried again";
  EXPECT_THAT(Lines(".2"), ElementsAre("1234567", "7654321", "no file", "8bytes."));
}

TEST_F(JsonLinesTest, WhatCannotBeOpenedIsAnError) {
  EXPECT_FALSE(JsonLines::Open(folder_.PathOf("none/log"), 100).ok());
  std::filesystem::create_symlink(folder_.Write("target", ""), folder_.PathOf("link"));
  EXPECT_FALSE(JsonLines::Open(folder_.PathOf("link"), 100).ok()) << "no link is followed";
  EXPECT_THAT(JsonLines::Open("-", 100), IsOk());
}

}  // namespace
}  // namespace cellblock::observe
