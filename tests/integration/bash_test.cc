// Calls in bash: in the worker's jail, beside it, with the same files. Tests only.
#include <signal.h>
#include <stdlib.h>

#include "absl/strings/str_cat.h"
#include "tests/support/session_fixture.h"

namespace cellblock {
namespace {

class BashTest : public SessionTest {};

TEST_F(BashTest, StandardStreamsCanBeOpenedAgain) {
  Record record = RunBash("echo a >/dev/stderr; echo b | tee /dev/stderr; echo c >/dev/stdout");
  EXPECT_EQ(record.stdout_text, "b\nc\n");
  EXPECT_EQ(record.stderr_text, "a\nb\n");
  EXPECT_EQ(Run("open('/dev/stdout', 'w').write('d'); None").stdout_text, "d");
}

TEST_F(BashTest, OutputAndSuccess) {
  Record record = RunBash("echo out; echo err >&2");
  EXPECT_THAT(record, EndedWell());
  EXPECT_EQ(record.stdout_text, "out\n");
  EXPECT_EQ(record.stderr_text, "err\n");
  EXPECT_EQ(record.exit_code, 0);
  EXPECT_TRUE(record.results.empty());
}

TEST_F(BashTest, TheExitCodeIsTheScripts) {
  for (int code : {1, 2, 42, 255}) {
    Record record = RunBash(absl::StrCat("exit ", code));
    EXPECT_THAT(record, Ended(CallStatus::kError, SessionState::kKept));
    EXPECT_EQ(record.exit_code, code);
    EXPECT_THAT(record.reason, testing::HasSubstr(absl::StrCat(code)));
  }
  EXPECT_EQ(RunBash("no_such_command").exit_code, 127);
  EXPECT_EQ(RunBash("/etc/passwd").exit_code, 126);
  EXPECT_EQ(RunBash("if").exit_code, 2);
}

TEST_F(BashTest, ASignalIsKilledAndTheSessionKept) {
  EXPECT_THAT(Run("x = 7"), EndedWell());
  Record record = RunBash("echo before; kill -SEGV $$");
  EXPECT_THAT(record, Ended(CallStatus::kKilled, SessionState::kKept));
  EXPECT_EQ(record.signal, SIGSEGV);
  EXPECT_EQ(record.stdout_text, "before\n");
  EXPECT_EQ(Value("x"), "7");
}

TEST_F(BashTest, PipesEndQuietlyWhenTheirReaderHasEnough) {
  Record record = RunBash("yes | head -2; seq 1 100000 | head -1; set -o pipefail; yes | true; echo ${PIPESTATUS[0]}");
  EXPECT_THAT(record, EndedWell());
  EXPECT_EQ(record.stdout_text, "y\ny\n1\n141\n") << "128 + SIGPIPE";
  EXPECT_EQ(record.stderr_text, "");
}

TEST_F(BashTest, StandardInputIsAtItsEnd) {
  Record record = RunBash("cat; read x; echo read $?; python3 -c 'input()' 2>&1 | tail -1");
  EXPECT_EQ(record.stdout_text, "read 1\nEOFError: EOF when reading a line\n");
}

TEST_F(BashTest, FilesAreThoseOfPython) {
  EXPECT_THAT(Run("open('from python.txt', 'w').write('p')"), EndedWell());
  Record record = RunBash("cat 'from python.txt'; echo -n b > 'from bash.txt'; pwd; echo $HOME; ls /mnt/data /home/user");
  EXPECT_EQ(record.stdout_text, "p/workspace\n/workspace\n/home/user:\nfrom bash.txt\nfrom python.txt\n\n/mnt/data:\nfrom bash.txt\nfrom python.txt\n");
  EXPECT_THAT(PathsOf(record.artifacts), testing::ElementsAre("from bash.txt"));
  EXPECT_EQ(Value("open('from bash.txt').read()"), "'b'");
}

TEST_F(BashTest, VariablesOfAScriptEndWithIt) {
  EXPECT_THAT(RunBash("export A=1; cd /tmp"), EndedWell());
  EXPECT_EQ(RunBash("echo ${A-unset}; pwd").stdout_text, "unset\n/workspace\n");
}

TEST_F(BashTest, ScriptsOfAnySizeRun) {
  for (size_t size : {size_t{99'000}, size_t{101'000}, size_t{140'000}, size_t{2'000'000}}) {
    std::string script = "n=0\n";
    while (script.size() < size) script += "n=$((n + 1))  # one line of a long script\n";
    script += "echo $n; echo \"$0 $#\"; exit 3\n";
    Record record = RunBash(script);
    EXPECT_EQ(record.exit_code, 3) << size;
    EXPECT_THAT(record.stdout_text, testing::AllOf(testing::StartsWith(absl::StrCat((script.size() - 4) / 42)), testing::EndsWith(" 0\n"))) << size;
    EXPECT_EQ(record.stderr_text, "");
  }
}

TEST_F(BashTest, BackgroundChildrenDoNotHoldTheCall) {
  Record record = RunBash("sleep 300 & sleep 300 & (setsid sleep 300 &) ; echo started", WithTimeout(absl::Seconds(20)));
  EXPECT_THAT(record, EndedWell());
  EXPECT_EQ(record.stdout_text, "started\n");
  EXPECT_EQ(record.receipt.processes_killed, 3);
  EXPECT_EQ(RunBash("pgrep -c sleep").stdout_text, "0\n");
}

TEST_F(BashTest, ATimeoutEndsThePipeline) {
  Record record = RunBash("echo so far; (sleep 300 | cat) ; echo never", WithTimeout(absl::Milliseconds(500)));
  EXPECT_THAT(record, Ended(CallStatus::kTimeout, SessionState::kKept));
  EXPECT_EQ(record.stdout_text, "so far\n");
  EXPECT_EQ(RunBash("pgrep -c 'sleep|cat'").stdout_text, "0\n");
}

TEST_F(BashTest, AnInterruptEndsTheScriptAndItsPrograms) {
  ExecuteOptions options;
  options.on_event = [this](const Event&, const Record&) { session().Interrupt(); };
  Record record = RunBash("echo go; sleep 300; echo never", options);
  EXPECT_THAT(record, Ended(CallStatus::kInterrupted, SessionState::kKept));
  EXPECT_EQ(record.stdout_text, "go\n");
}

TEST_F(BashTest, TheTraceOfAScriptIsItsStandardError) {
  Record record = RunBash("set -euxo pipefail\nA=1\nfalse | true\necho never");
  EXPECT_THAT(record, Ended(CallStatus::kError, SessionState::kKept));
  EXPECT_THAT(record.stderr_text, testing::HasSubstr("+ A=1"));
}

TEST_F(BashTest, TheEnvironmentIsClean) {
  Policy policy;
  policy.environment = {{"FROM_POLICY", "one two"}};
  SessionOptions options;
  options.environment = {{"FROM_CALLER", "ü"}};
  setenv("CELLBLOCK_TEST_SECRET", "of the supervisor", 1);
  Use(policy, options);
  EXPECT_EQ(RunBash("echo \"$FROM_POLICY|$FROM_CALLER|$USER|$(id -u)|$(hostname)\"").stdout_text, "one two|ü|user|1000|cellblock\n");
  EXPECT_EQ(RunBash("env | grep -c SECRET").stdout_text, "0\n");
  EXPECT_EQ(Value("import os; os.environ['FROM_POLICY'], os.environ['FROM_CALLER'], 'CELLBLOCK_TEST_SECRET' in os.environ"), "('one two', 'ü', False)");
  unsetenv("CELLBLOCK_TEST_SECRET");
}

TEST_F(BashTest, ItsProgramsAreThere) {
  Record record = RunBash("for p in awk bc cat grep jq sed sort sqlite3 tar tr unzip zip xargs find diff gzip; do command -v $p >/dev/null || echo missing $p; done; echo '{\"a\": [1, 2]}' | jq -c .a");
  EXPECT_EQ(record.stdout_text, "[1,2]\n");
}

TEST_F(BashTest, PythonOfBashHasTheSamePackages) {
  EXPECT_EQ(RunBash("python3 -c 'import pandas, numpy; print(pandas.DataFrame({\"a\": [1, 2]}).a.sum())'").stdout_text, "3\n");
}

TEST_F(BashTest, CodeOfExactlyTheLimitRuns) {
  Policy policy;
  policy.limits.code_bytes = 200'000;
  Use(policy);
  std::string script = "echo ran #";
  script.resize(200'000, '-');
  EXPECT_EQ(RunBash(script).stdout_text, "ran\n");
  ExecuteOptions options;
  options.language = Language::kBash;
  EXPECT_THAT(session().Execute(script + "-", options), StatusIs(absl::StatusCode::kInvalidArgument, testing::HasSubstr("code_size")));
}

}  // namespace
}  // namespace cellblock
