// Arguments into values, and what is said about wrong ones.
#include "app/command_line.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cellblock::app {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

template <typename Options>
Options Parsed(const std::vector<std::string>& arguments) {
  Invocation invocation = ParseCommandLine(arguments);
  if (Options* options = std::get_if<Options>(&invocation)) return *options;
  const Answer* answer = std::get_if<Answer>(&invocation);
  ADD_FAILURE() << (answer == nullptr ? "another command" : answer->text);
  return {};
}

std::string WrongText(const std::vector<std::string>& arguments) {
  Invocation invocation = ParseCommandLine(arguments);
  const Answer* answer = std::get_if<Answer>(&invocation);
  if (answer == nullptr || !answer->is_error) return "(accepted)";
  return answer->text;
}

std::string HelpFor(const std::vector<std::string>& arguments) {
  Invocation invocation = ParseCommandLine(arguments);
  const Answer* answer = std::get_if<Answer>(&invocation);
  if (answer == nullptr || answer->is_error) return "(no help)";
  return answer->text;
}

TEST(CommandLineTest, RunTakesAScriptWithFilesAndFolder) {
  const RunOptions options = Parsed<RunOptions>({"run", "report.py", "--file", "a.csv", "--file", "b.csv:c.csv", "--out", "out/"});
  EXPECT_EQ(options.source.path, "report.py");
  EXPECT_THAT(options.session.files, ElementsAre("a.csv", "b.csv:c.csv"));
  EXPECT_EQ(options.out, "out/");
  EXPECT_EQ(options.session.policy, "default");
  EXPECT_FALSE(options.json || options.keep_going || options.quiet);
}

TEST(CommandLineTest, OptionsMayStandBeforeTheScript) {
  const RunOptions options =
      Parsed<RunOptions>({"run", "--file", "a.csv", "--env", "A=1", "--env", "B==2", "report.py", "--json", "--keep-going", "-q"});
  EXPECT_EQ(options.source.path, "report.py");
  EXPECT_THAT(options.session.files, ElementsAre("a.csv"));
  EXPECT_THAT(options.session.environment, ElementsAre(Pair("A", "1"), Pair("B", "=2")));
  EXPECT_TRUE(options.json && options.keep_going && options.quiet);
}

TEST(CommandLineTest, RefusesOptionsWithAnEmptyValue) {
  for (const char* option : {"--out", "--save-notebook", "--policy", "--timeout", "--memory", "--seed", "--language", "--python-env"}) {
    EXPECT_THAT(WrongText({"run", "x.py", option, ""}), HasSubstr(absl::StrCat("cellblock: ", option, " is empty"))) << option;
  }
  EXPECT_THAT(WrongText({"repl", "--out", ""}), HasSubstr("--out is empty"));
  EXPECT_THAT(WrongText({"doctor", "--policy", ""}), HasSubstr("--policy is empty"));
  EXPECT_EQ(Parsed<RunOptions>({"run", "-c", ""}).source.code, "");  // no code is code
}

TEST(CommandLineTest, RunTakesCode) {
  const RunOptions options = Parsed<RunOptions>({"run", "-c", "1 + 1"});
  EXPECT_EQ(options.source.code, "1 + 1");
  EXPECT_EQ(Parsed<RunOptions>({"run", "-c", "-1"}).source.code, "-1");
  EXPECT_EQ(Parsed<RunOptions>({"run", "-c", "--x"}).source.code, "--x");
  EXPECT_EQ(Parsed<RunOptions>({"run", "-c", "[1, 2]"}).source.code, "[1, 2]");
  EXPECT_EQ(Parsed<RunOptions>({"run", "-c", ""}).source.code, "");
}

TEST(CommandLineTest, RunTakesStandardInput) { EXPECT_EQ(Parsed<RunOptions>({"run", "-"}).source.path, "-"); }

TEST(CommandLineTest, WhatStandsBehindTheDashesIsTheScripts) {
  const RunOptions options = Parsed<RunOptions>({"run", "x.py", "--", "--json", "--help", "--", "a b", ""});
  EXPECT_THAT(options.arguments, ElementsAre("--json", "--help", "--", "a b", ""));
  EXPECT_FALSE(options.json);
  EXPECT_THAT(Parsed<RunOptions>({"run", "-c", "1", "--", "arg"}).arguments, ElementsAre("arg"));
  EXPECT_THAT(Parsed<RunOptions>({"run", "x.py", "--"}).arguments, IsEmpty());
}

TEST(CommandLineTest, FilesKeepBracketsAndCommas) {
  EXPECT_THAT(Parsed<RunOptions>({"run", "x.py", "--file", "[1,2].csv", "--file", "a,b.csv"}).session.files,
              ElementsAre("[1,2].csv", "a,b.csv"));
}

TEST(CommandLineTest, ReadsLimits) {
  const SessionChoices choices =
      Parsed<RunOptions>({"run", "x.py", "--timeout", "90s", "--memory=4GiB", "--seed", "18446744073709551615"}).session;
  EXPECT_EQ(choices.timeout, absl::Seconds(90));
  EXPECT_EQ(choices.memory_bytes, int64_t{4} << 30);
  EXPECT_EQ(choices.seed, UINT64_MAX);
  EXPECT_EQ(Parsed<RunOptions>({"run", "x.py", "--timeout", "30"}).session.timeout, absl::Seconds(30));
  EXPECT_EQ(Parsed<RunOptions>({"run", "x.py", "--timeout", "1.5"}).session.timeout, absl::Milliseconds(1500));
}

TEST(CommandLineTest, RefusesWrongLimits) {
  EXPECT_THAT(WrongText({"run", "x.py", "--timeout", "soon"}), HasSubstr("--timeout soon"));
  EXPECT_THAT(WrongText({"run", "x.py", "--timeout", "."}), HasSubstr("--timeout"));
  EXPECT_THAT(WrongText({"run", "x.py", "--memory", "2GB"}), HasSubstr("--memory 2GB"));
  EXPECT_THAT(WrongText({"run", "x.py", "--seed", "-1"}), HasSubstr("--seed"));
  EXPECT_THAT(WrongText({"run", "x.py", "--env", "A"}), HasSubstr("NAME=VALUE"));
  EXPECT_THAT(WrongText({"run", "x.py", "--env", "=A"}), HasSubstr("NAME=VALUE"));
  EXPECT_THAT(WrongText({"run", "x.py", "--language", "ruby"}), HasSubstr("python or bash"));
}

TEST(CommandLineTest, SuggestsNearCommandsAndOptions) {
  EXPECT_THAT(WrongText({"rnu"}), AllOf(HasSubstr("no command 'rnu'"), HasSubstr("did you mean run")));
  EXPECT_THAT(WrongText({"doctr"}), HasSubstr("did you mean doctor"));
  EXPECT_THAT(WrongText({"report.py"}), HasSubstr("did you mean: cellblock run report.py"));
  EXPECT_THAT(WrongText({"run", "x.py", "--jsno"}), AllOf(HasSubstr("no option --jsno"), HasSubstr("--json")));
  EXPECT_THAT(WrongText({"run", "x.py", "--polcy=strict"}), HasSubstr("--policy"));
  EXPECT_THAT(WrongText({"policy", "chek", "x"}), HasSubstr("did you mean check"));
  EXPECT_THAT(WrongText({"--json", "run"}), HasSubstr("no option --json before a command"));
}

TEST(CommandLineTest, SaysWhatIsMissingOrTooMuch) {
  EXPECT_THAT(WrongText({"run"}), HasSubstr("Give a script, - for standard input, or -c CODE"));
  EXPECT_THAT(WrongText({"run", "a.py", "b.py"}), HasSubstr("'b.py' is one argument too many"));
  EXPECT_THAT(WrongText({"run", "a.py", "-c", "1"}), HasSubstr("both -c and 'a.py'"));
  EXPECT_THAT(WrongText({"run", "a.py", "--out"}), HasSubstr("--out"));
  EXPECT_THAT(WrongText({"run", "a.py", "--out", "a", "--out", "b"}), HasSubstr("--out"));
  EXPECT_THAT(WrongText({"policy"}), HasSubstr("policy check"));
  EXPECT_THAT(WrongText({"policy", "diff", "a"}), HasSubstr("two policies"));
  EXPECT_THAT(WrongText({"policy", "explain", "a"}), HasSubstr("at least one URL"));
  EXPECT_THAT(WrongText({"policy", "print", "a", "b"}), HasSubstr("one policy"));
  EXPECT_THAT(WrongText({"policy", "check"}), HasSubstr("at least one policy"));
  EXPECT_THAT(WrongText({"repl", "x.py"}), HasSubstr("'x.py' is one argument too many"));
  EXPECT_THAT(WrongText({"repl", "--", "x"}), HasSubstr("no arguments behind --"));
}

TEST(CommandLineTest, EscapesWhatItRepeats) { EXPECT_THAT(WrongText({"\x1b[2J"}), AllOf(HasSubstr("^[[2J"), Not(HasSubstr("\x1b")))); }

TEST(CommandLineTest, HelpIsThereInEveryForm) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{{"--help"}, {"-h"}, {"help"}}) {
    EXPECT_THAT(HelpFor(arguments), AllOf(HasSubstr("Usage: cellblock COMMAND"), HasSubstr("Exit codes:")));
  }
  EXPECT_THAT(HelpFor({"run", "--help"}), HasSubstr("--keep-going"));
  EXPECT_THAT(HelpFor({"help", "repl"}), HasSubstr("Ctrl-C"));
  EXPECT_THAT(HelpFor({"policy", "check", "-h"}), HasSubstr("policy diff"));
  EXPECT_THAT(HelpFor({"doctor", "--help"}), HasSubstr("layers"));
  EXPECT_THAT(WrongText({"help", "rnu"}), HasSubstr("did you mean run"));
  EXPECT_THAT(WrongText({}), HasSubstr("Usage: cellblock COMMAND"));
}

TEST(CommandLineTest, EveryOptionOfRunAndReplStandsInItsHelp) {
  for (const char* option : {"-c", "--file", "--out", "--save-notebook", "--json", "--policy", "--timeout", "--memory", "--seed", "--env",
                             "--language", "--keep-going", "--python-env", "--quiet"}) {
    EXPECT_THAT(HelpFor({"run", "--help"}), HasSubstr(absl::StrCat(option, " "))) << option;
  }
  for (const char* option :
       {"--file", "--out", "--policy", "--timeout", "--memory", "--seed", "--env", "--python-env", "--no-history", "--quiet"}) {
    EXPECT_THAT(HelpFor({"repl", "--help"}), HasSubstr(absl::StrCat(option, " "))) << option;
  }
}

TEST(CommandLineTest, PrintsItsVersion) {
  EXPECT_THAT(HelpFor({"--version"}), ::testing::MatchesRegex("cellblock [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST(CommandLineTest, PolicyDoctorAndRepl) {
  EXPECT_THAT(Parsed<PolicyOptions>({"policy", "check", "a", "b"}).policies, ElementsAre("a", "b"));
  EXPECT_EQ(Parsed<PolicyOptions>({"policy", "diff", "a", "b"}).action, PolicyAction::kDiff);
  const PolicyOptions explain = Parsed<PolicyOptions>({"policy", "explain", "a", "https://b.example/", "--method", "POST"});
  EXPECT_EQ(explain.action, PolicyAction::kExplain);
  EXPECT_EQ(explain.method, "POST");
  EXPECT_THAT(explain.policies, ElementsAre("a", "https://b.example/"));
  EXPECT_TRUE(Parsed<DoctorOptions>({"doctor", "--json"}).json);
  EXPECT_EQ(Parsed<DoctorOptions>({"doctor", "--policy", "strict"}).policy, "strict");
  EXPECT_TRUE(Parsed<ReplOptions>({"repl", "--no-history"}).no_history);
}

TEST(CommandLineTest, ServeTakesHowItIsWatched) {
  const ServeOptions plain = Parsed<ServeOptions>({"serve"});
  EXPECT_EQ(plain.log_format, LogFormat::kText);
  EXPECT_FALSE(plain.metrics_open);
  const ServeOptions watched = Parsed<ServeOptions>({"serve", "--log-format", "json", "--metrics-open"});
  EXPECT_EQ(watched.log_format, LogFormat::kJson);
  EXPECT_TRUE(watched.metrics_open);
  EXPECT_THAT(WrongText({"serve", "--log-format", "xml"}), HasSubstr("--log-format xml: text or json is wanted"));
}

}  // namespace
}  // namespace cellblock::app
