// `cellblock repl`, fed by a pipe, and the commands that start with a colon.
#include "app/repl_command.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "app/exit_codes.h"
#include "app/repl_commands.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sys/files.h"
#include "tests/support/captured_stream.h"
#include "tests/support/fake_host.h"
#include "tests/support/status_matchers.h"

namespace cellblock::app {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ReplCommandTest : public ::testing::Test {
 protected:
  ReplCommandTest() {
    context_.surroundings.executable_directory = root_ / "usr/bin";
    context_.surroundings.environment = [](const char*) { return std::nullopt; };
    context_.console.stdout_fd = out_.fd();
    context_.console.stderr_fd = err_.fd();
    context_.create_host = world_.Factory();
    context_.exit_now = [](int) {};
    root_.Write("usr/share/cellblock/policies/default.yaml", "name: default\n");
    root_.Write("usr/share/cellblock/policies/tiny.yaml", "name: tiny\nlimits:\n  code_size: 1KiB\n");
    root_.Write("usr/share/cellblock/python_env/full/manifest.json", "{}");
  }

  int Run(const std::string& input, const std::function<void(ReplOptions&)>& adjust = {}) {
    CapturedStream in;
    EXPECT_THAT(sys::WriteAll(in.fd(), input), IsOk());
    lseek(in.fd(), 0, SEEK_SET);
    context_.stdin_fd = in.fd();
    ReplOptions options;
    if (adjust) adjust(options);
    return ReplCommand(options, context_);
  }
  std::vector<std::string> CodeRun() const {
    std::vector<std::string> codes;
    for (const FakeWorld::Call& call : world_.calls) codes.push_back(call.code);
    return codes;
  }

  TemporaryFolder root_;
  CapturedStream out_, err_;
  FakeWorld world_;
  Context context_;
};

TEST_F(ReplCommandTest, RunsCellsOfAPipeInOneSession) {
  world_.scripts["x\n"] = [](Playback& play, FakeSession&) { return play.Value("1"); };
  EXPECT_EQ(Run("x = 1\n\nx\n\ndef f():\n    pass\n\n    return x\n"), kExitOk);
  EXPECT_THAT(CodeRun(), ElementsAre("x = 1\n", "x\n", "def f():\n    pass\n\n    return x\n"));
  EXPECT_EQ(out_.text(), "1\n");
  EXPECT_EQ(err_.text(), "");
  EXPECT_EQ(world_.sessions.size(), 1u);
}

TEST_F(ReplCommandTest, GoesOnAfterAnErrorAndReturnsItsCode) {
  world_.scripts["a\n"] = [](Playback& play, FakeSession&) { return play.Error("E", "v"); };
  world_.scripts["b\n"] = [](Playback& play, FakeSession&) { return play.Status(CallStatus::kTimeout); };
  EXPECT_EQ(Run("a\n\nb\n\nc\n"), kExitUserError);
  EXPECT_THAT(CodeRun(), ElementsAre("a\n", "b\n", "c\n"));
}

TEST_F(ReplCommandTest, ExitLeaves) {
  world_.scripts["a\n"] = [](Playback& play, FakeSession&) { return play.Exit(3); };
  EXPECT_EQ(Run("a\n\nb\n"), kExitUserError);
  EXPECT_THAT(CodeRun(), ElementsAre("a\n"));
  world_.scripts["c\n"] = [](Playback& play, FakeSession&) { return play.Exit(0); };
  EXPECT_EQ(Run("c\n\nb\n"), kExitOk);
  EXPECT_THAT(CodeRun(), ElementsAre("a\n", "c\n"));
}

TEST_F(ReplCommandTest, AnEndOfTheInterpreterDoesNotLeave) {
  world_.scripts["a\n"] = [](Playback& play, FakeSession&) { return play.Exit(3).Gone(); };
  EXPECT_EQ(Run("a\n\nb\n"), kExitUserError);
  EXPECT_THAT(CodeRun(), ElementsAre("a\n", "b\n"));
}

TEST_F(ReplCommandTest, RestartsASessionThatIsGone) {
  world_.scripts["a\n"] = [](Playback& play, FakeSession&) { return play.Status(CallStatus::kKilled).Gone(); };
  EXPECT_EQ(Run("a\n\nb\n"), kExitLimit);
  EXPECT_EQ(world_.restarts, 1);
  EXPECT_THAT(CodeRun(), ElementsAre("a\n", "b\n"));
  EXPECT_THAT(err_.text(), HasSubstr("variables are gone"));
}

TEST_F(ReplCommandTest, CommandsWorkOnFiles) {
  const std::string file = root_.Write("in.csv", "1,2\n");
  EXPECT_EQ(Run(":put " + file + ":data/x.csv\n:files\n:get data/x.csv " + (root_ / "back.csv") + "\n"), kExitOk);
  EXPECT_EQ(world_.files["data/x.csv"], "1,2\n");
  EXPECT_THAT(out_.text(), AllOf(HasSubstr("4 bytes"), HasSubstr("data/x.csv")));
  EXPECT_EQ(root_.Read("back.csv"), "1,2\n");
}

TEST_F(ReplCommandTest, GetNeverReplacesAFile) {
  world_.files["x"] = "new";
  const std::string file = root_.Write("x", "mine");
  ASSERT_EQ(symlink("/nowhere", (root_ / "link").c_str()), 0);
  Run(":get x " + file + "\n:get x " + (root_ / "link") + "\n:get x '" + root_.path() + "'\n:get nothing " + (root_ / "y") +
      "\n:get ../x\n");
  EXPECT_EQ(root_.Read("x"), "mine");
  EXPECT_THAT(err_.text(), AllOf(HasSubstr("x exists already"), HasSubstr("link is a symbolic link"), HasSubstr("no file nothing"),
                                 HasSubstr("'..' cannot stand")));
  EXPECT_FALSE(std::filesystem::exists(root_ / "y"));
}

TEST_F(ReplCommandTest, TellsLimitsLayersAndTheLastCall) {
  world_.scripts["a\n"] = [](Playback& play, FakeSession&) {
    play.record().receipt.memory_peak_bytes = 5 << 20;
    play.record().receipt.limits_hit.push_back({"output", "1MiB\n"});
    return play.Artifact("made.csv", "");
  };
  EXPECT_EQ(Run(":last\n:limits\na\n\n:last\n:last json\n:last xml\n"), kExitOk);
  EXPECT_THAT(out_.text(), AllOf(HasSubstr("2min"), HasSubstr("2GiB"), HasSubstr("seccomp"), HasSubstr("watched"), HasSubstr("call 1: ok"),
                                 HasSubstr("5 MiB"), HasSubstr("made.csv"), HasSubstr("output: 1MiB^J"), HasSubstr("\"status\":\"ok\"")));
  EXPECT_THAT(err_.text(), AllOf(HasSubstr("nothing has run yet"), HasSubstr("':last json'")));
}

TEST_F(ReplCommandTest, HelpsWithCommands) {
  EXPECT_EQ(Run(":help\n:fiels\n:put\n:get 'open\n:restart\n:quit\nnot run\n"), kExitOk);
  EXPECT_THAT(out_.text(), AllOf(HasSubstr(":files"), HasSubstr(":put SRC[:NAME]"), HasSubstr("Ctrl-D")));
  EXPECT_THAT(err_.text(), AllOf(HasSubstr("no command :fiels; did you mean :files"), HasSubstr("write it as: :put SRC[:NAME]"),
                                 HasSubstr("a quote (') that is not closed"), HasSubstr("new interpreter")));
  EXPECT_EQ(world_.restarts, 1);
  EXPECT_THAT(CodeRun(), IsEmpty());
}

TEST_F(ReplCommandTest, EndsAtACellThatIsTooLong) {
  EXPECT_EQ(Run("x = '''\n" + std::string(2000, 'y') + "\n'''\n\nz\n", [](ReplOptions& options) { options.session.policy = "tiny"; }),
            kExitLimit);
  EXPECT_THAT(err_.text(), HasSubstr("more than 1"));
  EXPECT_THAT(CodeRun(), IsEmpty());
}

TEST_F(ReplCommandTest, SavesChartsOrSaysThatTheyAreLost) {
  world_.scripts["a\n"] = [](Playback& play, FakeSession&) { return play.Image("pixels"); };
  EXPECT_EQ(Run("a\n", [&](ReplOptions& options) { options.out = root_ / "out"; }), kExitOk);
  EXPECT_EQ(root_.Read("out/chart-1.png"), "pixels");
  EXPECT_EQ(Run("a\n"), kExitOk);
  EXPECT_THAT(err_.text(), HasSubstr("start with --out DIR"));
}

TEST_F(ReplCommandTest, RefusesABadStart) {
  EXPECT_EQ(Run("x\n", [](ReplOptions& options) { options.session.policy = "nosuch"; }), kExitUsage);
  world_.host_status = absl::FailedPreconditionError("no user namespaces");
  EXPECT_EQ(Run("x\n"), kExitHost);
  EXPECT_THAT(CodeRun(), IsEmpty());
}

TEST_F(ReplCommandTest, HistoryLivesInTheStateFolder) {
  Surroundings around;
  std::map<std::string, std::string> variables = {{"HOME", "/home/u"}};
  around.environment = [&](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional<std::string>(found->second);
  };
  EXPECT_EQ(HistoryFile(around), "/home/u/.local/state/cellblock/history");
  variables["XDG_STATE_HOME"] = "/state";
  EXPECT_EQ(HistoryFile(around), "/state/cellblock/history");
  variables["XDG_STATE_HOME"] = "relative";  // the specification: to be ignored
  EXPECT_EQ(HistoryFile(around), "/home/u/.local/state/cellblock/history");
  variables.clear();
  EXPECT_EQ(HistoryFile(around), "");
}

TEST(SplitWordsTest, SplitsAsAShellDoes) {
  EXPECT_THAT(SplitWords(":get  a b").value(), ElementsAre(":get", "a", "b"));
  EXPECT_THAT(SplitWords(":get 'a b' \"c \\\" d\" e\\ f ''").value(), ElementsAre(":get", "a b", "c \" d", "e f", ""));
  EXPECT_THAT(SplitWords("'a\\b'").value(), ElementsAre("a\\b"));
  EXPECT_THAT(SplitWords("\"open"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("(\")")));
}

}  // namespace
}  // namespace cellblock::app
