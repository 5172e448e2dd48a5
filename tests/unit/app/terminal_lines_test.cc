// Line editing on a terminal of the test's own.
#include "app/terminal_lines.h"

#include <fcntl.h>
#include <locale.h>
#include <pty.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sys/files.h"
#include "tests/support/captured_stream.h"
#include "tests/support/status_matchers.h"

namespace cellblock::app {
namespace {

class TerminalLinesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    setlocale(LC_CTYPE, "C.UTF-8");
    int master = -1, slave = -1;
    ASSERT_EQ(openpty(&master, &slave, nullptr, nullptr, nullptr), 0);
    master_.Reset(master);
    in_ = fdopen(slave, "r");
    out_ = fdopen(dup(slave), "w");
    setenv("TERM", "xterm", 1);
    setenv("EDITRC", "/dev/null", 1);  // the developer's own ~/.editrc stays out of it
    // The keyboard's side must be read, or the editor blocks on a full terminal.
    reader_ = std::thread([this] {
      char chunk[1024];
      for (ssize_t count = read(master_.get(), chunk, sizeof(chunk)); count > 0; count = read(master_.get(), chunk, sizeof(chunk))) {
        std::lock_guard<std::mutex> lock(mutex_);
        screen_.append(chunk, static_cast<size_t>(count));
        changed_.notify_all();
      }
    });
  }
  void TearDown() override {
    fclose(in_);
    fclose(out_);  // the last descriptor of the terminal's side: the reader sees an error and ends
    reader_.join();
  }
  std::unique_ptr<TerminalLines> Open(const std::string& history) {
    absl::StatusOr<std::unique_ptr<TerminalLines>> lines = TerminalLines::Create(in_, out_, out_, history);
    EXPECT_THAT(lines, IsOk());
    return *std::move(lines);
  }
  // Reads a line while `act` runs on another thread, which starts when the prompt stands there: before, the terminal is not yet the
  // editor's, and would take Ctrl-D and the like for itself.
  std::string ReadWhile(TerminalLines& lines, const std::function<void()>& act) {
    // Each prompt is another one, so that what is still drawn of the last line is not taken for it.
    const std::string prompt = absl::StrCat("In [", ++prompts_, "]: ");
    std::thread other([&] {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait_for(lock, std::chrono::seconds(20), [&] { return screen_.find(prompt) != std::string::npos; });
      lock.unlock();
      WaitForEditor();
      act();
    });
    absl::StatusOr<LineSource::Line> line = lines.Read(prompt);
    other.join();
    EXPECT_THAT(line, IsOk());
    if (!line.ok()) return "(error)";
    return line->kind == LineSource::Kind::kEnd ? "(end)" : line->kind == LineSource::Kind::kCancelled ? "(cancelled)" : line->text;
  }
  // libedit writes the prompt, then takes the terminal over.
  void WaitForEditor() {
    termios settings = {};
    for (int i = 0; i < 2000 && tcgetattr(master_.get(), &settings) == 0 && (settings.c_lflag & ICANON) != 0; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_EQ(settings.c_lflag & ICANON, 0u);
  }
  std::string ReadTyped(TerminalLines& lines, const std::string& keys) {
    return ReadWhile(lines, [&] { EXPECT_THAT(sys::WriteAll(master_.get(), keys), IsOk()); });
  }

  UniqueFd master_;
  FILE* in_ = nullptr;
  FILE* out_ = nullptr;
  std::thread reader_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string screen_;
  int prompts_ = 0;
  TemporaryFolder folder_;
};

TEST_F(TerminalLinesTest, ReadsAndEditsLines) {
  std::unique_ptr<TerminalLines> lines = Open("");
  EXPECT_EQ(ReadTyped(*lines, "x = 2\n"), "x = 2");
  EXPECT_EQ(ReadTyped(*lines,
                      "bc\x01"
                      "a\n"),
            "abc");  // Ctrl-A goes to the start
  EXPECT_EQ(ReadTyped(*lines,
                      "数据 é\x7f"
                      "ü\n"),
            "数据 ü");
  EXPECT_EQ(ReadTyped(*lines, "\n"), "");
}

TEST_F(TerminalLinesTest, UpArrowBringsALineBack) {
  std::unique_ptr<TerminalLines> lines = Open("");
  lines->Remember("first = 1");
  EXPECT_EQ(ReadTyped(*lines, "\x1b[A\n"), "first = 1");
}

TEST_F(TerminalLinesTest, CtrlDEnds) {
  std::unique_ptr<TerminalLines> lines = Open("");
  EXPECT_EQ(ReadTyped(*lines, "\x04"), "(end)");
}

TEST_F(TerminalLinesTest, CancelGivesUpALineFromAnotherThread) {
  std::unique_ptr<TerminalLines> lines = Open("");
  EXPECT_EQ(ReadWhile(*lines, [&] { lines->Cancel(/*end=*/false); }), "(cancelled)");
  EXPECT_EQ(ReadTyped(*lines, "whole\n"), "whole");
  EXPECT_EQ(ReadWhile(*lines, [&] { lines->Cancel(/*end=*/true); }), "(end)");
}

TEST_F(TerminalLinesTest, HistoryOutlivesTheSessionAndIsPrivate) {
  const std::string file = folder_ / "state/cellblock/history";
  {
    std::unique_ptr<TerminalLines> lines = Open(file);
    lines->Remember("a = 1");
    lines->Remember("b = 2");
    EXPECT_THAT(lines->SaveHistory(), IsOk());
  }
  EXPECT_EQ(folder_.Read("state/cellblock/history"), "a = 1\nb = 2\n");
  struct stat found = {};
  ASSERT_EQ(stat(file.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);
  std::unique_ptr<TerminalLines> again = Open(file);
  EXPECT_EQ(ReadTyped(*again, "\x1b[A\x1b[A\n"), "a = 1");
}

TEST_F(TerminalLinesTest, HistoryIsBounded) {
  const std::string file = folder_ / "history";
  std::unique_ptr<TerminalLines> lines = Open(file);
  for (int i = 0; i < kHistoryLinesMax + 5; ++i) lines->Remember(absl::StrCat("line ", i));
  EXPECT_THAT(lines->SaveHistory(), IsOk());
  const std::string text = folder_.Read("history");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), kHistoryLinesMax);
  EXPECT_THAT(text, ::testing::StartsWith("line 5\n"));
  folder_.Write("huge", std::string(kHistoryBytesMax + 1, 'x'));
  EXPECT_THAT(TerminalLines::Create(in_, out_, out_, folder_ / "huge"), StatusIs(absl::StatusCode::kResourceExhausted, ::testing::_));
}

TEST_F(TerminalLinesTest, DoesNotWriteHistoryThroughALink) {
  const std::string victim = folder_.Write("victim", "precious");
  ASSERT_EQ(symlink(victim.c_str(), (folder_ / "history").c_str()), 0);
  std::unique_ptr<TerminalLines> lines = Open(folder_ / "history");
  lines->Remember("x");
  EXPECT_THAT(lines->SaveHistory(), StatusIs(absl::StatusCode::kFailedPrecondition, ::testing::HasSubstr("symbolic link")));
  EXPECT_EQ(folder_.Read("victim"), "precious");
}

}  // namespace
}  // namespace cellblock::app
