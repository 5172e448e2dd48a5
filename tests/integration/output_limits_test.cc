// Bounds of what goes in (code, arguments, waiting calls) and of what comes out (text, results, errors), at their edges. Tests only.
#include <atomic>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "sys/files.h"
#include "tests/support/session_fixture.h"

namespace cellblock {
namespace {

class OutputLimitsTest : public SessionTest {
 protected:
  Session& UseOutput(int64_t bytes) {
    Policy policy;
    policy.limits.output_bytes = bytes;
    return Use(policy);
  }
};

TEST_F(OutputLimitsTest, TextOfExactlyTheLimitIsWhole) {
  UseOutput(10'000);
  Record record = Run("print('x' * 9999)");
  EXPECT_EQ(record.stdout_text, std::string(9999, 'x') + "\n");
  EXPECT_FALSE(record.stdout_truncation.has_value());
  EXPECT_THAT(record, HitNothing());
  EXPECT_EQ(record.receipt.output_bytes, 10'000);
}

TEST_F(OutputLimitsTest, OneByteMoreIsCutInTheMiddleAndCounted) {
  UseOutput(10'000);
  Record record = Run("print('first' + 'x' * 9990 + 'last', end='xx')");
  EXPECT_THAT(record, EndedWell());
  EXPECT_THAT(record, Hit("output"));
  EXPECT_THAT(record.stdout_text, testing::AllOf(testing::StartsWith("firstx"), testing::EndsWith("xlastxx")));
  ASSERT_TRUE(record.stdout_truncation.has_value());
  EXPECT_GE(record.stdout_truncation->dropped_bytes, 1);
  EXPECT_EQ(record.stdout_truncation->head_bytes + record.stdout_truncation->tail_bytes + record.stdout_truncation->dropped_bytes, 10'001);
  EXPECT_EQ(record.receipt.output_bytes, 10'001);
}

TEST_F(OutputLimitsTest, TheWholeTextOfACutStreamIsAnArtifactWhereThePolicySaysSo) {
  Policy policy;
  policy.limits.output_bytes = 10'000;
  policy.artifacts.full_output_bytes = int64_t{1} << 20;
  policy.redact = {"secret"};
  Use(policy);
  Record record = Run("for i in range(2000): print(i, 'secret é')\nprint('10%\\r20%\\r30%')");
  ASSERT_TRUE(record.stdout_truncation.has_value());
  ASSERT_EQ(record.artifacts.size(), 1u);
  EXPECT_EQ(record.artifacts[0].id, record.stdout_truncation->artifact_id);
  EXPECT_EQ(record.artifacts[0].path, "stdout-of-call-1.txt");
  std::string whole;
  for (int i = 0; i < 2000; ++i) absl::StrAppend(&whole, i, " *** é\n");
  EXPECT_EQ(sys::ReadFile(record.artifacts[0].stored_at, 1 << 20).value_or(""), whole + "30%\n");
  EXPECT_TRUE(Run("print('short')").artifacts.empty());
  policy.artifacts.full_output_bytes = 0;
  Use(policy);
  record = Run("print('x' * 20000)");
  EXPECT_TRUE(record.artifacts.empty());
  EXPECT_EQ(record.stdout_truncation->artifact_id, "");
}

TEST_F(OutputLimitsTest, AWholeTextBeyondItsOwnLimitIsKeptToThere) {
  Policy policy;
  policy.limits.output_bytes = 10'000;
  policy.artifacts.full_output_bytes = 100'001;
  Use(policy);
  const Record record = Run("import sys\nprint('é' * 100_000, file=sys.stderr)");
  ASSERT_EQ(record.artifacts.size(), 1u);
  EXPECT_EQ(record.artifacts[0].size_bytes, 100'000) << "no half character";
  EXPECT_EQ(record.stderr_truncation->artifact_id, record.artifacts[0].id);
  EXPECT_THAT(record, Hit("artifacts"));
  EXPECT_THAT(Run("print('x' * 100_000)"), testing::Not(Hit("artifacts"))) << "of exactly the limit";
}

TEST_F(OutputLimitsTest, EachStreamHasTheLimitToItself) {
  UseOutput(10'000);
  Record record = Run("import sys\nprint('x' * 9000)\nprint('y' * 9000, file=sys.stderr)");
  EXPECT_THAT(record, HitNothing());
  record = Run("print('x' * 9000)\nprint('y' * 12000, file=sys.stderr)");
  EXPECT_EQ(record.stdout_text.size(), 9001u);
  EXPECT_FALSE(record.stdout_truncation.has_value());
  EXPECT_TRUE(record.stderr_truncation.has_value());
  EXPECT_LE(record.stderr_text.size(), 10'200u);
}

TEST_F(OutputLimitsTest, TheLimitIsPerCall) {
  UseOutput(10'000);
  for (int i = 0; i < 3; ++i) EXPECT_THAT(Run("print('x' * 9000)"), HitNothing());
}

TEST_F(OutputLimitsTest, CharactersAreNeverSplitByTheCut) {
  UseOutput(10'001);
  Record record = Run("print('é' * 20000)");
  EXPECT_THAT(record, Hit("output"));
  EXPECT_THAT(record.stdout_text, testing::Not(testing::HasSubstr("\xef\xbf\xbd")));
}

TEST_F(OutputLimitsTest, EventsHoldNoMoreThanTheLimitEither) {
  UseOutput(10'000);
  size_t live = 0;
  ExecuteOptions options;
  options.on_event = [&](const Event& event, const Record&) { live += event.text.size(); };
  Record record = Run("for i in range(20_000): print(i)", options);
  size_t kept = 0;
  for (const Event& event : record.events) kept += event.text.size();
  EXPECT_LE(kept, 10'200u);
  EXPECT_LE(live, 10'200u);
  EXPECT_THAT(record.stdout_text, testing::AllOf(testing::StartsWith("0\n1\n"), testing::EndsWith("\n19999\n")));
}

TEST_F(OutputLimitsTest, AsManyResultsAsAllowedAreKept) {
  Policy policy;
  policy.limits.results = 5;
  Use(policy);
  Record record = Run("for i in range(4): display(i)\n4");
  EXPECT_THAT(record, HitNothing());
  EXPECT_EQ(record.results.size(), 5u);
  record = Run("for i in range(6): display(i)");
  EXPECT_THAT(record, EndedWell());
  EXPECT_THAT(record, Hit("results"));
  EXPECT_EQ(record.results.size(), 5u);
  EXPECT_EQ(MimeOf(record, 4, "text/plain"), "4");
}

TEST_F(OutputLimitsTest, ResultsHaveALimitOfBytesTogether) {
  Policy policy;
  policy.limits.result_bytes = 100'000;
  Use(policy);
  Record record = Run("from IPython.display import HTML\nfor i in range(4): display(HTML('x' * 20_000))");
  EXPECT_THAT(record, HitNothing());
  EXPECT_EQ(CountMime(record, "text/html"), 4u);
  record = Run("for i in range(8): display(HTML('x' * 20_000))");
  EXPECT_THAT(record, EndedWell());
  EXPECT_THAT(record, Hit("results"));
  EXPECT_EQ(CountMime(record, "text/html"), 4u);
}

TEST_F(OutputLimitsTest, ASingleResultBeyondTheLimitIsNamedNotSent) {
  Policy policy;
  policy.limits.result_bytes = 100'000;
  Use(policy);
  Record record = Run("from IPython.display import HTML\nHTML('x' * 200_000)");
  EXPECT_THAT(record, EndedWell());
  EXPECT_EQ(CountMime(record, "text/html"), 0u);
  EXPECT_THAT(ValueText(record), testing::HasSubstr("200,000 bytes"));
  EXPECT_EQ(Value("1"), "1");
}

TEST_F(OutputLimitsTest, AVeryLongErrorIsCut) {
  Record record = Run("raise ValueError('x' * 10_000_000)");
  EXPECT_THAT(record, EndedWithError("ValueError"));
  EXPECT_LE(ErrorOf(record).value.size(), size_t{64} << 10);
  EXPECT_LE(ErrorOf(record).traceback.size(), size_t{128} << 10);
  EXPECT_THAT(Run("def f(): f()\nf()"), EndedWithError("RecursionError"));
}

TEST_F(OutputLimitsTest, CodeOfExactlyTheLimitRuns) {
  Policy policy;
  policy.limits.code_bytes = 2048;
  Use(policy);
  std::string code = "1 + 1 #";
  code.resize(2048, '-');
  EXPECT_EQ(Value(code), "2");
  code += '-';
  EXPECT_THAT(session().Execute(code), StatusIs(absl::StatusCode::kInvalidArgument, testing::AllOf(testing::HasSubstr("2049"), testing::HasSubstr("2048"))));
}

TEST_F(OutputLimitsTest, ALargeCellRuns) {
  std::string code = "total = 0\n";
  while (code.size() < (size_t{4} << 20) - 100) code += "total += 1  # a line of a generated script\n";
  EXPECT_THAT(Run(code), EndedWell());
  EXPECT_EQ(Value("total > 90_000"), "True");
}

TEST_F(OutputLimitsTest, ANulInTheCodeIsRefused) {
  EXPECT_THAT(session().Execute(absl::string_view("1\0+1", 4)), StatusIs(absl::StatusCode::kInvalidArgument, testing::HasSubstr("NUL")));
}

TEST_F(OutputLimitsTest, CodeThatIsNoTextIsAnErrorOfTheCell) {
  absl::StatusOr<Record> record = session().Execute("x = '\xff\xfe'");
  // Python source is UTF-8; what is not is refused before it runs, by either side.
  if (record.ok()) {
    EXPECT_EQ(record->status, CallStatus::kError);
  } else {
    EXPECT_THAT(record, StatusIs(absl::StatusCode::kInvalidArgument, testing::HasSubstr("UTF-8")));
  }
  EXPECT_EQ(Value("1"), "1");
}

TEST_F(OutputLimitsTest, ArgumentsReachTheCodeUpToTheirNumber) {
  ExecuteOptions options;
  options.arguments.assign(1000, "a");
  Record record = Run("import sys; len(sys.argv), sys.argv[1], sys.argv[1000]", options);
  EXPECT_EQ(ValueText(record), "(1001, 'a', 'a')");
  options.arguments.push_back("a");
  EXPECT_THAT(session().Execute("1", options), StatusIs(absl::StatusCode::kInvalidArgument, testing::HasSubstr("1000 arguments")));
}

TEST_F(OutputLimitsTest, ArgumentsReachTheCodeUpToTheirSize) {
  ExecuteOptions options;
  options.arguments = {std::string(128 * 1024 - 1, 'a')};
  EXPECT_EQ(ValueText(Run("import sys; len(sys.argv[1])", options)), "131071");
  options.arguments[0] += 'a';
  EXPECT_THAT(session().Execute("1", options), StatusIs(absl::StatusCode::kInvalidArgument, testing::HasSubstr("131072 bytes")));
  options.arguments = {std::string("a\0b", 3)};
  EXPECT_THAT(session().Execute("1", options), StatusIs(absl::StatusCode::kInvalidArgument, testing::HasSubstr("NUL")));
}

TEST_F(OutputLimitsTest, BashTakesTheSameArguments) {
  ExecuteOptions options;
  options.arguments.assign(1000, "a b");
  EXPECT_EQ(RunBash("echo $#; echo \"$1|${1000}\"", options).stdout_text, "1000\na b|a b\n");
  options.arguments = {std::string(128 * 1024 - 1, 'a')};
  EXPECT_EQ(RunBash("echo ${#1}", options).stdout_text, "131071\n");
  options.arguments = {"", "'", "$HOME", "--", "-c"};
  EXPECT_EQ(RunBash("printf '[%s]' \"$@\"", options).stdout_text, "[]['][$HOME][--][-c]");
}

TEST_F(OutputLimitsTest, ABoundedNumberOfCallsWaits) {
  Policy policy;
  policy.session.queue = 2;
  Use(policy);
  EXPECT_THAT(Run("order = []"), EndedWell());
  std::atomic<bool> running = false;
  std::atomic<int> ended = 0;
  std::vector<std::thread> callers;
  callers.emplace_back([&] {
    ExecuteOptions options;
    options.on_event = [&](const Event&, const Record&) { running = true; };
    EXPECT_THAT(Run("import time\nprint('go', flush=True)\ntime.sleep(60)", options), Ended(CallStatus::kInterrupted, SessionState::kKept));
  });
  ASSERT_TRUE(Eventually([&] { return running.load(); }));
  for (int i = 0; i < 2; ++i) {
    callers.emplace_back([&, i] {
      EXPECT_THAT(Run(absl::StrCat("order.append(", i, ")")), EndedWell());
      ++ended;
    });
    // Until it waits: no outside sign tells, so the next one is only sent after a while.
    absl::SleepFor(absl::Milliseconds(300));
  }
  EXPECT_EQ(ended, 0);
  EXPECT_THAT(session().Execute("order.append('too many')"), StatusIs(absl::StatusCode::kResourceExhausted, testing::HasSubstr("session.queue")));
  // Listing files and interrupting do not wait behind calls.
  EXPECT_THAT(session().ListFiles(), IsOk());
  session().Interrupt();
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(Value("order"), "[0, 1]");
}

TEST_F(OutputLimitsTest, AQueueOfNoneRejectsASecondCall) {
  Policy policy;
  policy.session.queue = 0;
  Use(policy);
  absl::Status second;
  ExecuteOptions options;
  options.on_event = [&](const Event&, const Record&) {
    std::thread([&] { second = session().Execute("1").status(); }).join();
  };
  EXPECT_THAT(Run("print('go', flush=True)", options), EndedWell());
  EXPECT_THAT(second, StatusIs(absl::StatusCode::kResourceExhausted, testing::HasSubstr("session.queue")));
  EXPECT_EQ(Value("1"), "1");
}

}  // namespace
}  // namespace cellblock
