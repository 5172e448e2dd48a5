// `cellblock run` against a host of the test's own: what is run, printed, saved and returned.
#include "app/run_command.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "app/exit_codes.h"
#include "app/signals.h"
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
using ::testing::Not;
using ::testing::SizeIs;

class RunCommandTest : public ::testing::Test {
 protected:
  RunCommandTest() {
    context_.surroundings.executable_directory = root_ / "usr/bin";
    context_.surroundings.environment = [](const char*) { return std::nullopt; };
    context_.console.stdout_fd = out_.fd();
    context_.console.stderr_fd = err_.fd();
    context_.create_host = world_.Factory();
    context_.exit_now = [this](int code) { exited_with_ = code; };
    root_.Write("usr/share/cellblock/policies/default.yaml", "name: default\n");
    root_.Write("usr/share/cellblock/policies/tiny.yaml", "name: tiny\nlimits:\n  code_size: 1KiB\n");
    root_.Write("usr/share/cellblock/python_env/full/manifest.json", "{}");
  }

  // Runs `code` as a script of that name, with more options set by `adjust`.
  int Run(const std::string& code, const std::function<void(RunOptions&)>& adjust = {}, const std::string& name = "script.py") {
    RunOptions options;
    options.source.path = root_.Write(name, code);
    if (adjust) adjust(options);
    return RunCommand(options, context_);
  }
  static bool IsEnd(const std::string& code) { return code.find("ending.run()") != std::string::npos; }
  // The user's own.
  std::vector<std::string> CodeRun() const {
    std::vector<std::string> codes;
    for (const FakeWorld::Call& call : world_.calls) {
      if (!IsEnd(call.code)) codes.push_back(call.code);
    }
    return codes;
  }
  bool EndRan() const { return !world_.calls.empty() && IsEnd(world_.calls.back().code); }
  std::string EndOfScript() const { return "from cellblock_guest import ending\nending.run()"; }

  TemporaryFolder root_;
  CapturedStream out_, err_;
  FakeWorld world_;
  Context context_;
  std::atomic<int> exited_with_ = -1;  // told by the thread that sees signals
};

TEST_F(RunCommandTest, RunsAScriptAndPrintsItsOutputAndValue) {
  world_.scripts["print('hi')\n1 + 1\n"] = [](Playback& play, FakeSession&) { return play.Stdout("hi\n").Value("2"); };
  EXPECT_EQ(Run("print('hi')\n1 + 1\n"), kExitOk);
  EXPECT_EQ(out_.text(), "hi\n2\n");
  EXPECT_EQ(err_.text(), "");
  ASSERT_THAT(world_.calls, SizeIs(2));
  EXPECT_EQ(world_.calls[0].options.file_name, "script.py");
  EXPECT_EQ(world_.hosts[0].python_environment, root_ / "usr/share/cellblock/python_env/full");
}

TEST_F(RunCommandTest, PassesArgumentsSeedEnvironmentAndLimits) {
  EXPECT_EQ(Run("x",
                [](RunOptions& options) {
                  options.arguments = {"--year", "2024"};
                  options.session.seed = 7;
                  options.session.environment = {{"A", "1"}};
                  options.session.timeout = absl::Seconds(300);
                  options.session.memory_bytes = int64_t{4} << 30;
                }),
            kExitOk);
  EXPECT_THAT(world_.calls[0].options.arguments, ElementsAre("--year", "2024"));
  EXPECT_EQ(world_.sessions[0].seed, 7u);
  EXPECT_THAT(world_.sessions[0].environment, ElementsAre(::testing::Pair("A", "1")));
  EXPECT_EQ(world_.policies[0].limits.wall, absl::Seconds(300));
  EXPECT_EQ(world_.policies[0].limits.memory_bytes, int64_t{4} << 30);
}

TEST_F(RunCommandTest, ExitCodesTellHowItEnded) {
  struct Sample {
    CallStatus status;
    int exit_code;
  };
  for (const Sample& sample : {Sample{CallStatus::kOk, 0},
                               {CallStatus::kError, 1},
                               {CallStatus::kInterrupted, 130},
                               {CallStatus::kTimeout, 3},
                               {CallStatus::kCpuLimit, 3},
                               {CallStatus::kOutOfMemory, 3},
                               {CallStatus::kKilled, 3},
                               {CallStatus::kRejected, 4},
                               {CallStatus::kLost, 4}}) {
    world_.scripts["x"] = [&](Playback& play, FakeSession&) { return play.Status(sample.status); };
    EXPECT_EQ(Run("x"), sample.exit_code) << static_cast<int>(sample.status);
  }
}

TEST_F(RunCommandTest, ALanguageThatThePolicyTurnsOffIsToldWithItsRecord) {
  root_.Write("usr/share/cellblock/policies/bash.yaml", "name: bash\nlanguages:\n  python: false\n");
  root_.Write("usr/share/cellblock/policies/python.yaml", "name: python\nlanguages:\n  bash: false\n");
  world_.scripts["x"] = [](Playback& play, FakeSession&) { return play.Status(CallStatus::kRejected, "off in this policy"); };
  const auto under = [](const std::string& policy, bool json) {
    return [=](RunOptions& options) {
      options.session.policy = policy;
      options.json = json;
    };
  };
  EXPECT_EQ(Run("x", under("bash", false)), kExitUsage);
  EXPECT_THAT(err_.text(), HasSubstr("cellblock: off in this policy\n"));
  EXPECT_EQ(Run("x", under("python", true), "script.sh"), kExitUsage);
  EXPECT_THAT(out_.text(), AllOf(HasSubstr("\"status\":\"rejected\""), HasSubstr("\"reason\":\"off in this policy\"")));
  EXPECT_EQ(Run("x", under("bash", false), "script.sh"), kExitHost);  // the twin: on, and refused for something else
}

TEST_F(RunCommandTest, ALimitThatLeavesNoRoomToStartIsALimit) {
  world_.scripts["x"] = [](Playback& play, FakeSession&) {
    play.record().receipt.limits_hit.push_back({"processes", "fork: no more"});
    return play.Status(CallStatus::kRejected, "bash could not start (limits.processes)");
  };
  EXPECT_EQ(Run("x", {}, "script.sh"), kExitLimit);
}

TEST_F(RunCommandTest, AScriptsOwnExitCodeBecomesZeroOrOne) {
  int code = 0;
  world_.scripts["x"] = [&](Playback& play, FakeSession&) { return play.Exit(code); };
  EXPECT_EQ(Run("x"), kExitOk);
  EXPECT_EQ(err_.text(), "");
  code = 4;
  EXPECT_EQ(Run("x"), kExitUserError);
  EXPECT_THAT(err_.text(), HasSubstr("exit code 4"));
}

TEST_F(RunCommandTest, ErrorGoesToStandardErrorWithItsHint) {
  world_.scripts["x"] = [](Playback& play, FakeSession&) {
    return play.Stdout("before\n").Error("KeyError", "'a'", "the columns are b, c");
  };
  EXPECT_EQ(Run("x"), kExitUserError);
  EXPECT_EQ(out_.text(), "before\n");
  EXPECT_THAT(err_.text(), AllOf(HasSubstr("KeyError: 'a'"), HasSubstr("hint: the columns are b, c")));
}

TEST_F(RunCommandTest, JsonIsOneRecordALineAndNothingElse) {
  const std::string cells = "# %%\na\n# %%\nb\n";
  for (const char* code : {"a", "b"}) {
    world_.scripts[code] = [](Playback& play, FakeSession&) { return play.Stdout("text\n").Value("1").Image("png"); };
  }
  EXPECT_EQ(Run(cells, [](RunOptions& options) { options.json = true; }), kExitOk);
  const std::string text = out_.text();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  for (const std::string& line : {text.substr(0, text.find('\n')), text.substr(text.find('\n') + 1)}) {
    EXPECT_THAT(line, AllOf(::testing::StartsWith("{"), HasSubstr("\"status\":\"ok\""), HasSubstr("\"stdout\":\"text\\n\"")));
  }
  EXPECT_EQ(err_.text(), "");
}

TEST_F(RunCommandTest, JsonOfAFailureStillComes) {
  world_.scripts["x"] = [](Playback& play, FakeSession&) { return play.Error("E", "v").Status(CallStatus::kError); };
  EXPECT_EQ(Run("x", [](RunOptions& options) { options.json = true; }), kExitUserError);
  EXPECT_THAT(out_.text(), HasSubstr("\"status\":\"error\""));
}

TEST_F(RunCommandTest, CellsStopAtTheFirstThatFails) {
  world_.scripts["b"] = [](Playback& play, FakeSession&) { return play.Error("E", "v"); };
  EXPECT_EQ(Run("# %%\na\n# %%\nb\n# %%\nc\n"), kExitUserError);
  EXPECT_THAT(CodeRun(), ElementsAre("a", "b"));
  EXPECT_THAT(err_.text(), AllOf(HasSubstr("stopped at cell 2 of 3"), HasSubstr("line 4"), HasSubstr("1 cell not run")));
  EXPECT_EQ(world_.calls[0].options.file_name, "");  // "Cell In[n]"
}

TEST_F(RunCommandTest, KeepGoingRunsTheRestAndKeepsTheFirstExitCode) {
  world_.scripts["a"] = [](Playback& play, FakeSession&) { return play.Error("E", "v"); };
  world_.scripts["b"] = [](Playback& play, FakeSession&) { return play.Status(CallStatus::kTimeout); };
  EXPECT_EQ(Run("# %%\na\n# %%\nb\n# %%\nc\n", [](RunOptions& options) { options.keep_going = true; }), kExitUserError);
  EXPECT_THAT(CodeRun(), ElementsAre("a", "b", "c"));
  EXPECT_THAT(err_.text(), AllOf(HasSubstr("line 2) did not end well; going on"), HasSubstr("line 4) did not end well"), Not(HasSubstr("line 6)"))));
}

TEST_F(RunCommandTest, KeepGoingRestartsASessionThatIsGone) {
  world_.scripts["a"] = [](Playback& play, FakeSession&) { return play.Status(CallStatus::kOutOfMemory, "out of memory").Gone(); };
  EXPECT_EQ(Run("# %%\na\n# %%\nb\n", [](RunOptions& options) { options.keep_going = true; }), kExitLimit);
  EXPECT_EQ(world_.restarts, 1);
  EXPECT_THAT(CodeRun(), ElementsAre("a", "b"));
  EXPECT_THAT(err_.text(), HasSubstr("the session was restarted; files are kept, variables are gone"));
}

TEST_F(RunCommandTest, KeepGoingEndsWhereNoRestartIsPossible) {
  world_.scripts["a"] = [](Playback& play, FakeSession&) { return play.Status(CallStatus::kKilled).Gone(); };
  world_.restart_status = absl::InternalError("no zygote");
  EXPECT_EQ(Run("# %%\na\n# %%\nb\n", [](RunOptions& options) { options.keep_going = true; }), kExitLimit);
  EXPECT_THAT(CodeRun(), ElementsAre("a"));
  EXPECT_THAT(err_.text(), HasSubstr("could not be restarted: no zygote"));
}

TEST_F(RunCommandTest, AScriptsEndIsRunUnlessItWasStopped) {
  for (auto [status, runs] : {std::pair{CallStatus::kOk, true}, {CallStatus::kError, true}, {CallStatus::kExited, true}, {CallStatus::kTimeout, false}, {CallStatus::kInterrupted, false}}) {
    world_.scripts["a"] = [status = status](Playback& play, FakeSession&) { return play.Status(status); };
    Run("a");
    EXPECT_EQ(EndRan(), runs) << CallStatusName(status);
  }
  world_.scripts["a"] = [](Playback& play, FakeSession&) { return play.Status(CallStatus::kOutOfMemory).Gone(); };
  Run("a");
  EXPECT_FALSE(EndRan());
}

TEST_F(RunCommandTest, WhatAScriptsEndMakesIsSavedAndCounts) {
  world_.scripts[EndOfScript()] = [&](Playback& play, FakeSession&) {
    return play.Stdout("bye\n").Artifact("a.csv", root_.Write("blob", "1\n")).Status(CallStatus::kTimeout, "a thread never ended");
  };
  EXPECT_EQ(Run("a", [&](RunOptions& options) { options.out = root_ / "out"; }), kExitLimit);
  EXPECT_EQ(out_.text(), "bye\n");
  EXPECT_EQ(root_.Read("out/a.csv"), "1\n");
  EXPECT_THAT(err_.text(), HasSubstr("a thread never ended"));
}

TEST_F(RunCommandTest, JsonTellsAnEndThatDidSomething) {
  EXPECT_EQ(Run("a", [&](RunOptions& options) { options.json = true; }), kExitOk);
  const std::string one = out_.text();
  EXPECT_EQ(std::count(one.begin(), one.end(), '\n'), 1);
  world_.scripts[EndOfScript()] = [&](Playback& play, FakeSession&) { return play.Stdout("bye\n"); };
  EXPECT_EQ(Run("a", [&](RunOptions& options) { options.json = true; }), kExitOk);
  const std::string all = out_.text();
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n') - 1, 2) << "two more";
  EXPECT_THAT(all, HasSubstr("bye"));
}

TEST_F(RunCommandTest, ExitEndsTheScriptNotOnlyItsCell) {
  world_.scripts["a"] = [](Playback& play, FakeSession&) { return play.Exit(0); };
  EXPECT_EQ(Run("# %%\na\n# %%\nb\n"), kExitOk);
  EXPECT_THAT(CodeRun(), ElementsAre("a"));
}

TEST_F(RunCommandTest, TellsProgressForMoreThanTenCells) {
  std::string ten, eleven;
  for (int i = 0; i < 10; ++i) ten += "# %%\nx\n";
  eleven = ten + "# %%\nx\n";
  EXPECT_EQ(Run(ten), kExitOk);
  EXPECT_EQ(err_.text(), "");
  EXPECT_EQ(Run(eleven), kExitOk);
  EXPECT_THAT(err_.text(), AllOf(HasSubstr("cell 1 of 11"), HasSubstr("cell 11 of 11")));
}

TEST_F(RunCommandTest, SavesFilesAndChartsAndSaysWhere) {
  world_.scripts["x"] = [&](Playback& play, FakeSession&) {
    return play.Artifact("summary.csv", root_.Write("blob", "a,b\n")).Image("pixels");
  };
  EXPECT_EQ(Run("x", [&](RunOptions& options) { options.out = root_ / "out"; }), kExitOk);
  EXPECT_EQ(root_.Read("out/summary.csv"), "a,b\n");
  EXPECT_EQ(root_.Read("out/chart-1.png"), "pixels");
  EXPECT_EQ(err_.text(), absl::StrCat("cellblock: file ", root_ / "out/summary.csv", " (4 bytes)\ncellblock: chart ",
                                      root_ / "out/chart-1.png", " (6 bytes)\n"));
}

TEST_F(RunCommandTest, SaysWhatIsNotKept) {
  world_.scripts["x"] = [&](Playback& play, FakeSession&) { return play.Artifact("a", "").Image("1").Image("2"); };
  EXPECT_EQ(Run("x"), kExitOk);
  EXPECT_EQ(err_.text(), "cellblock: made 2 charts and 1 file, not kept; --out DIR keeps them\n");
}

TEST_F(RunCommandTest, WhatCannotBeSavedIsAFailure) {
  std::filesystem::create_directories(root_ / "out");
  std::filesystem::create_symlink("/dev/null", root_ / "out/a.csv");
  world_.scripts["x"] = [&](Playback& play, FakeSession&) { return play.Artifact("a.csv", root_.Write("blob", "x")); };
  EXPECT_EQ(Run("x", [&](RunOptions& options) { options.out = root_ / "out"; }), kExitHost);
  EXPECT_THAT(err_.text(), HasSubstr("a.csv was not saved"));
}

TEST_F(RunCommandTest, WritesTheNotebookWithItsOutputs) {
  world_.scripts["a"] = [](Playback& play, FakeSession&) { return play.Stdout("printed\n"); };
  world_.scripts["b"] = [](Playback& play, FakeSession&) { return play.Error("KeyError", "'k'"); };
  EXPECT_EQ(Run("# %% [markdown]\n# Title\n# %%\na\n# %%\nb\n# %%\nc\n",
                [&](RunOptions& options) { options.save_notebook = root_ / "done.ipynb"; }),
            kExitUserError);
  EXPECT_THAT(root_.Read("done.ipynb"),
              AllOf(HasSubstr("Title"), HasSubstr("printed"), HasSubstr("KeyError"), HasSubstr("\"nbformat\":4")));
  EXPECT_THAT(err_.text(), HasSubstr("notebook " + (root_ / "done.ipynb")));
}

TEST_F(RunCommandTest, QuietLeavesOnlyTheCodesOwnOutput) {
  world_.scripts["x"] = [&](Playback& play, FakeSession&) { return play.Stdout("text\n").Image("pixels"); };
  EXPECT_EQ(Run("x",
                [&](RunOptions& options) {
                  options.quiet = true;
                  options.out = root_ / "out";
                }),
            kExitOk);
  EXPECT_EQ(out_.text(), "text\n");
  EXPECT_EQ(err_.text(), "");
}

TEST_F(RunCommandTest, PutsFilesInFirst) {
  std::map<std::string, std::string> seen;
  world_.scripts["x"] = [&](Playback& play, FakeSession&) {
    seen = world_.files;
    return play;
  };
  const std::string file = root_.Write("a.csv", "1\n");
  EXPECT_EQ(Run("x", [&](RunOptions& options) { options.session.files = {file, file + ":in/b.csv"}; }), kExitOk);
  EXPECT_THAT(seen, ElementsAre(::testing::Pair("a.csv", "1\n"), ::testing::Pair("in/b.csv", "1\n")));
}

TEST_F(RunCommandTest, WhatWentInIsNotWrittenOver) {
  const std::string input = root_.Write("a.csv", "in");
  world_.scripts["x"] = [&](Playback& play, FakeSession&) { return play.Artifact("a.csv", root_.Write("blob", "out")).Artifact("script.py", root_.Write("blob2", "out")); };
  const std::string script = root_.Write("script.py", "x");
  EXPECT_EQ(Run("x",
                [&](RunOptions& options) {
                  options.source.path = script;
                  options.session.files = {input};
                  options.out = root_.path();
                }),
            kExitOk);
  EXPECT_EQ(root_.Read("a.csv"), "in");
  EXPECT_EQ(root_.Read("script.py"), "x");
  EXPECT_EQ(root_.Read("a-2.csv"), "out");
  EXPECT_EQ(root_.Read("script-2.py"), "out");
}

TEST_F(RunCommandTest, RefusesWhatIsWrongBeforeAnythingStarts) {
  const auto refused = [&](const std::function<void(RunOptions&)>& adjust, const char* why) {
    CapturedStream err;
    context_.console.stderr_fd = err.fd();
    EXPECT_EQ(Run("x", adjust), kExitUsage) << why;
    EXPECT_THAT(err.text(), HasSubstr(why));
  };
  refused([&](RunOptions& options) { options.session.policy = "nosuch"; }, "nosuch");
  refused([&](RunOptions& options) { options.source.path = root_ / "none.py"; }, "none.py");
  refused([&](RunOptions& options) { options.session.files = {root_ / "none.csv"}; }, "none.csv");
  refused([&](RunOptions& options) { options.out = root_.Write("file", ""); }, "Not a directory");
  refused([&](RunOptions& options) { options.save_notebook = root_ / "none/x.ipynb"; }, "no such folder");
  refused([&](RunOptions& options) { options.save_notebook = root_.path() + "/"; }, "name a file");
  refused([&](RunOptions& options) { options.save_notebook = options.source.path; }, "ends in .ipynb");
  refused([&](RunOptions& options) { options.session.timeout = absl::Hours(48); }, "limits.wall");
  refused([&](RunOptions& options) { options.session.memory_bytes = 1024; }, "limits.memory");
  EXPECT_THAT(world_.hosts, IsEmpty());
}

TEST_F(RunCommandTest, SaysWhatTheHostLacks) {
  world_.host_status = absl::FailedPreconditionError("user namespaces are switched off; sysctl -w kernel.unprivileged_userns_clone=1");
  EXPECT_EQ(Run("x"), kExitHost);
  EXPECT_THAT(err_.text(), HasSubstr("sysctl -w"));
  world_.host_status = absl::OkStatus();
  world_.session_status = absl::FailedPreconditionError("landlock is required");
  EXPECT_EQ(Run("x"), kExitHost);
  std::filesystem::remove_all(root_ / "usr/share/cellblock/python_env");
  EXPECT_EQ(Run("x"), kExitHost);
  EXPECT_THAT(err_.text(), HasSubstr("build-python-env --set full"));
}

TEST_F(RunCommandTest, AFullWorkspaceIsALimit) {
  world_.put_status = absl::ResourceExhaustedError("the workspace is full");
  const std::string file = root_.Write("a.csv", "1\n");
  EXPECT_EQ(Run("x", [&](RunOptions& options) { options.session.files = {file}; }), kExitLimit);
  EXPECT_THAT(err_.text(), AllOf(HasSubstr("a.csv"), HasSubstr("the workspace is full")));
  EXPECT_THAT(world_.calls, IsEmpty());
}

TEST_F(RunCommandTest, ACallThatTheHostCannotDoStopsTheRun) {
  world_.scripts["a"] = [](Playback&, FakeSession&) -> absl::StatusOr<Record> { return absl::InternalError("the helper died"); };
  EXPECT_EQ(Run("# %%\na\n# %%\nb\n", [](RunOptions& options) { options.keep_going = true; }), kExitHost);
  EXPECT_THAT(CodeRun(), ElementsAre("a"));
  EXPECT_THAT(err_.text(), HasSubstr("the helper died"));
}

TEST_F(RunCommandTest, AnEmptyScriptRunsAndDoesNothing) {
  EXPECT_EQ(Run(""), kExitOk);
  EXPECT_THAT(CodeRun(), ElementsAre(""));
  EXPECT_EQ(out_.text() + err_.text(), "");
}

TEST_F(RunCommandTest, CtrlCInterruptsTheCell) {
  world_.scripts["x"] = [&](Playback& play, FakeSession&) {
    kill(getpid(), SIGINT);
    for (int i = 0; i < 2000 && world_.interrupts == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return play.Status(CallStatus::kInterrupted);
  };
  EXPECT_EQ(Run("# %%\nx\n# %%\ny\n", [](RunOptions& options) { options.keep_going = true; }), kExitInterrupted);
  EXPECT_EQ(world_.interrupts, 1);
  EXPECT_THAT(CodeRun(), ElementsAre("x"));
}

TEST_F(RunCommandTest, ASecondCtrlCKillsAndAThirdEndsAtOnce) {
  world_.scripts["x"] = [&](Playback& play, FakeSession&) {
    for (int presses = 1; presses <= 3; ++presses) {
      kill(getpid(), SIGINT);
      for (int i = 0; i < 2000 && world_.interrupts < presses && exited_with_ < 0; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return play.Status(CallStatus::kKilled).Gone();
  };
  EXPECT_EQ(Run("x"), kExitInterrupted);
  EXPECT_EQ(world_.interrupts, 2);
  EXPECT_EQ(exited_with_, kExitInterrupted);
}

TEST_F(RunCommandTest, SigtermEndsAfterTheCell) {
  world_.scripts["x"] = [&](Playback& play, FakeSession&) {
    kill(getpid(), SIGTERM);
    for (int i = 0; i < 2000 && world_.interrupts == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return play.Image("pixels").Status(CallStatus::kInterrupted);
  };
  EXPECT_EQ(Run("x", [&](RunOptions& options) { options.out = root_ / "out"; }), kExitTerminated);
  EXPECT_EQ(root_.Read("out/chart-1.png"), "pixels");  // what was there is kept
}

TEST_F(RunCommandTest, EndsQuietlyWhenTheReaderGoesAway) {
  SurviveClosedPipes();
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(sys::PipePair pipe, sys::MakePipe());
  context_.console.stdout_fd = pipe.write.get();
  world_.scripts["x"] = [&](Playback& play, FakeSession&) {
    play.Stdout("first\n");
    pipe.read.Reset();
    play.Stdout("second\n").Stdout("third\n").Stderr("late\n").Error("KeyboardInterrupt", "");
    return play.Status(CallStatus::kInterrupted, "interrupted");
  };
  EXPECT_EQ(Run("# %%\nx\n# %%\ny\n"), kExitPipeClosed);
  EXPECT_EQ(world_.interrupts, 1);
  EXPECT_THAT(CodeRun(), ElementsAre("x"));
  EXPECT_EQ(err_.text(), "");
}

TEST_F(RunCommandTest, OutputThatCannotBeWrittenIsAnErrorOfTheHost) {
  UniqueFd full(open("/dev/full", O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(full.valid());
  context_.console.stdout_fd = full.get();
  world_.scripts["x"] = [&](Playback& play, FakeSession&) { return play.Stdout("text\n"); };
  for (const bool json : {false, true}) {
    EXPECT_EQ(Run("x", [=](RunOptions& options) { options.json = json; }), kExitHost);
  }
  EXPECT_EQ(world_.interrupts, 1);  // with --json it had ended before anything was written
  EXPECT_THAT(err_.text(), HasSubstr("cellblock: standard output could not be written: No space left on device\n"));
}

}  // namespace
}  // namespace cellblock::app
