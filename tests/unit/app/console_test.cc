// What a person reads of a call, and where.
#include "app/console.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "app/signals.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sys/files.h"
#include "tests/support/captured_stream.h"
#include "tests/support/fake_host.h"
#include "tests/support/status_matchers.h"

namespace cellblock::app {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ConsoleTest : public ::testing::Test {
 protected:
  ConsoleOptions Options(bool terminal = false) {
    ConsoleOptions options;
    options.stdout_fd = out_.fd();
    options.stderr_fd = err_.fd();
    options.stdout_is_terminal = options.stderr_is_terminal = terminal;
    return options;
  }
  // Plays a call on the console as a session would.
  Playback Play(Console& console) {
    execute_.on_event = [&console](const Event& event, const Record& so_far) { console.PrintEvent(event, so_far); };
    return Playback(execute_);
  }

  CapturedStream out_, err_;
  ExecuteOptions execute_;
};

TEST_F(ConsoleTest, KeepsTheStreamsApart) {
  Console console(Options());
  Play(console).Stdout("one\n").Stderr("warning\n").Value("42");
  EXPECT_EQ(out_.text(), "one\n42\n");
  EXPECT_EQ(err_.text(), "warning\n");
}

TEST_F(ConsoleTest, PutsAValueOnALineOfItsOwn) {
  Console console(Options());
  Play(console).Stdout("no line end").Value("42");
  EXPECT_EQ(out_.text(), "no line end\n42\n");
}

TEST_F(ConsoleTest, LeavesOutputWithoutALineEndAsItIs) {
  Console console(Options());
  Play(console).Stdout("a").Stdout("b");
  EXPECT_EQ(out_.text(), "ab");
}

TEST_F(ConsoleTest, ShowsDisplayedTextButNotAPicturesText) {
  Console console(Options());
  Play(console).Display("a table").Image("\x89PNG");
  EXPECT_EQ(out_.text(), "a table\n");
}

TEST_F(ConsoleTest, TellsAValueThatIsAPicture) {
  Console console(Options());
  Play(console).Image("\x89PNG", "", Event::Type::kResult);
  EXPECT_EQ(out_.text(), "<Figure size 640x480 with 1 Axes>\n");
}

TEST_F(ConsoleTest, PrintsErrorAndHintOnStandardError) {
  Console console(Options());
  Play(console).Stdout("before\n").Error("NameError", "name 'x' is not defined", "did you mean 'y'?");
  EXPECT_EQ(out_.text(), "before\n");
  EXPECT_EQ(err_.text(), "Traceback (most recent call last):\nNameError: name 'x' is not defined\nhint: did you mean 'y'?\n");
}

TEST_F(ConsoleTest, NeutralisesOnATerminalOnly) {
  Console plain(Options(false));
  Play(plain).Stdout("\x1b[31mred\n");
  EXPECT_EQ(out_.text(), "\x1b[31mred\n");
  CapturedStream screen;
  ConsoleOptions options = Options(true);
  options.stdout_fd = screen.fd();
  Console terminal(options);
  Play(terminal).Stdout("\x1b[31mred\n").Value("\x9b");
  EXPECT_EQ(screen.text(), "^[[31mred\n\\x9b\n");
}

TEST_F(ConsoleTest, JudgesEachStreamByItself) {
  ConsoleOptions options = Options(false);
  options.stderr_is_terminal = true;
  Console console(options);
  Play(console).Stdout("\x1b\n").Stderr("\x1b\n");
  EXPECT_EQ(out_.text(), "\x1b\n");
  EXPECT_EQ(err_.text(), "^[\n");
}

TEST_F(ConsoleTest, EndingOfAGoodCallIsSilent) {
  Console console(Options());
  Playback play = Play(console);
  play.Stdout("x\n");
  console.PrintEnding(play.record());
  EXPECT_EQ(err_.text(), "");
}

TEST_F(ConsoleTest, EndingTellsReasonLimitsRefusalsAndCuts) {
  Console console(Options());
  Playback play = Play(console);
  Record& record = play.Status(CallStatus::kTimeout, "stopped after 120 s (limits.wall)").record();
  record.receipt.limits_hit = {{"wall", "stopped after 2min"}, {"processes", "128 processes"}, {"output", "cut"}};
  record.denials = {{"network", "example.com\n", "network is off", 3}};
  record.stdout_truncation = StreamTruncation{1024, 2048, 5 << 20};
  record.receipt.processes_killed = 2;
  console.PrintEnding(record);
  EXPECT_EQ(err_.text(),
            "cellblock: stopped after 120 s (limits.wall)\n"
            "cellblock: limit reached: processes: 128 processes\n"
            "cellblock: --timeout DURATION gives a cell more time\n"
            "cellblock: refused: network example.com^J (network is off), 3 times\n"
            "cellblock: standard output was cut: 5 MiB left out between the first 1 KiB and the last 2 KiB (limits.output)\n"
            "cellblock: 2 processes still running at the end of the call: ended (keep_processes in the policy keeps them)\n");
}

TEST_F(ConsoleTest, EndingDoesNotRepeatAnException) {
  Console console(Options());
  Record error = Play(console).Error("ValueError", "1").record();
  error.reason = "ValueError: 1";
  console.PrintEnding(error);
  EXPECT_EQ(err_.text(), "Traceback (most recent call last):\nValueError: 1\n");
  Record bash;
  bash.status = CallStatus::kError;
  bash.reason = "the script ended with exit code 3";
  console.PrintEnding(bash);
  EXPECT_THAT(err_.text(), HasSubstr("cellblock: the script ended with exit code 3\n"));
}

TEST_F(ConsoleTest, EndingTellsALimitThatTheCodeSurvived) {
  Console console(Options());
  Record record;
  record.status = CallStatus::kOk;
  record.receipt.limits_hit = {{"memory", "an allocation was refused"}};
  console.PrintEnding(record);
  EXPECT_EQ(err_.text(), "cellblock: limit reached: memory: an allocation was refused\n");
}

TEST_F(ConsoleTest, EndingNeverStaysSilentAboutAKill) {
  for (CallStatus status : {CallStatus::kInterrupted, CallStatus::kTimeout, CallStatus::kCpuLimit, CallStatus::kOutOfMemory,
                            CallStatus::kKilled, CallStatus::kRejected, CallStatus::kLost}) {
    CapturedStream err;
    ConsoleOptions options = Options();
    options.stderr_fd = err.fd();
    Console console(options);
    Record record;
    record.status = status;
    console.PrintEnding(record);
    EXPECT_THAT(err.text(), ::testing::MatchesRegex("cellblock: .+\n")) << static_cast<int>(status);
  }
}

TEST_F(ConsoleTest, TellsAnExitCode) {
  Console console(Options());
  console.PrintEnding(Play(console).Exit(3).record());
  EXPECT_EQ(err_.text(), "cellblock: the code ended itself with exit code 3\n");
}

TEST_F(ConsoleTest, QuietDropsNotesNotProblems) {
  ConsoleOptions options = Options();
  options.quiet = true;
  Console console(options);
  console.Note("chart saved");
  console.Problem("disk full");
  EXPECT_EQ(err_.text(), "cellblock: disk full\n");
}

TEST_F(ConsoleTest, StatusLineVanishesBeforeOtherOutput) {
  ConsoleOptions options = Options(true);
  options.stdout_fd = err_.fd();  // one screen
  Console console(options);
  console.Status("cell 1 of 2");
  Play(console).Stdout("hello\n");
  EXPECT_EQ(err_.text(), "cellblock: cell 1 of 2\r\x1b[Khello\n");
}

TEST_F(ConsoleTest, StatusLineIsForTerminalsAlone) {
  Console console(Options());
  console.Status("cell 1 of 2");
  EXPECT_EQ(err_.text(), "");
}

TEST_F(ConsoleTest, NoticesThatTheReaderWentAway) {
  SurviveClosedPipes();
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(sys::PipePair pipe, sys::MakePipe());
  ConsoleOptions options = Options();
  options.stdout_fd = pipe.write.get();
  Console console(options);
  console.Write("first");
  EXPECT_FALSE(console.stdout_closed());
  pipe.read.Reset();
  console.Write("second");
  EXPECT_TRUE(console.stdout_closed());
  EXPECT_FALSE(console.stdout_failed());
  console.Write("third");
  EXPECT_EQ(err_.text(), "");
}

TEST_F(ConsoleTest, TellsOnceThatStandardOutputCannotBeWritten) {
  UniqueFd full(open("/dev/full", O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(full.valid());
  ConsoleOptions options = Options();
  options.stdout_fd = full.get();
  Console console(options);
  EXPECT_FALSE(console.stdout_failed());
  Play(console).Stdout("first\n").Value("2");
  console.Write("third");
  EXPECT_TRUE(console.stdout_closed());
  EXPECT_TRUE(console.stdout_failed());
  EXPECT_EQ(err_.text(), "cellblock: standard output could not be written: No space left on device\n");
}

TEST_F(ConsoleTest, IgnoresAnEventThatNamesNoResult) {
  Console console(Options());
  Event event;
  event.type = Event::Type::kDisplay;
  event.result = 7;
  console.PrintEvent(event, Record());
  EXPECT_EQ(out_.text(), "");
}

}  // namespace
}  // namespace cellblock::app
