// Runs every hostile cell of cells/, and its twin. After each the supervisor must answer, the next session be clean, and nothing of the
// old one be left; at the end of a run (--gtest_repeat) this process must be as it was before. Tests only.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "sys/files.h"
#include "tests/escape/host_services.h"
#include "tests/escape/hostile_cell.h"
#include "tests/support/helper_processes.h"
#include "tests/support/left_behind.h"
#include "tests/support/session_fixture.h"

namespace cellblock {
namespace {

const std::vector<HostileCell>& AllCells() {
  static const auto* cells = new std::vector<HostileCell>(LoadHostileCells(std::string(CELLBLOCK_TEST_SOURCE) + "/tests/escape/cells"));
  return *cells;
}

std::vector<HostileCell> CellsWithTwins() {
  std::vector<HostileCell> cells;
  for (const HostileCell& cell : AllCells()) {
    if (cell.Get("twin", "") != "within") cells.push_back(cell);
  }
  return cells;
}

// Without the newlines at its end, which a line of a cell's head cannot name.
std::string Stripped(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

// Counts before the first session's host and after the last one's end, once in each iteration.
class NothingIsLeft : public testing::EmptyTestEventListener {
  void OnTestIterationStart(const testing::UnitTest&, int) override { before_ = CountLeftBehind(); }
  void OnTestIterationEnd(const testing::UnitTest&, int iteration) override {
    if (iteration == 0) {
      first_ = CountLeftBehind();  // what a process opens once, when first needed, and keeps
      EXPECT_LE(first_.descriptors, before_.descriptors + kOpenedOnce);
      first_.descriptors = before_.descriptors;
      EXPECT_EQ(first_, before_);
      return;
    }
    EXPECT_TRUE(Eventually([this] { return CountLeftBehind() == before_; })) << CountLeftBehind() << "; before: " << before_;
  }
  static constexpr size_t kOpenedOnce = 2;
  LeftBehind before_{}, first_{};
};
[[maybe_unused]] const bool kListens = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new NothingIsLeft);
  return true;
}();

class HostileCellTest : public SessionTest, public testing::WithParamInterface<HostileCell> {
 protected:
  Record RunCell(const HostileCell& cell, const std::string& policy_key, const std::string& argument) {
    absl::StatusOr<Policy> policy = cell.LoadPolicyOf(policy_key);
    EXPECT_THAT(policy, IsOk());
    Use(policy.ok() ? *policy : Policy());
    grace_ = session().policy().limits.wall_grace;
    return RunCellIn(session(), cell, argument);
  }

  Record RunCellIn(Session& in, const HostileCell& cell, const std::string& argument) {
    ExecuteOptions options = WithTimeout(cell.timeout());
    options.language = cell.is_bash ? Language::kBash : Language::kPython;
    options.arguments = ArgumentsOf(cell, argument);
    return RunIn(in, cell.code, options);
  }

  std::vector<std::string> ArgumentsOf(const HostileCell& cell, const std::string& first) {
    std::vector<std::string> arguments = {first};
    if (cell.Get("needs", "") == "host services") {
      if (services_ == nullptr) services_ = std::make_unique<HostServices>();
      arguments.insert(arguments.end(), services_->arguments().begin(), services_->arguments().end());
    }
    return arguments;
  }

  void ExpectAsWritten(const HostileCell& cell, const Record& record) {
    std::string status(CallStatusName(record.status).data(), CallStatusName(record.status).size());
    std::string state(SessionStateName(record.session_state).data(), SessionStateName(record.session_state).size());
    EXPECT_THAT(cell.Alternatives("status", "ok"), testing::Contains(status)) << testing::PrintToString(record);
    EXPECT_THAT(cell.Alternatives("session", "kept"), testing::Contains(state)) << testing::PrintToString(record);
    if (cell.Has("error")) {
      EXPECT_THAT(cell.Alternatives("error", ""), testing::Contains(ErrorOf(record).name));
    }
    if (cell.Has("stdout")) {
      EXPECT_THAT(Stripped(record.stdout_text), testing::MatchesRegex(cell.Get("stdout", ""))) << testing::PrintToString(record);
    }
    if (cell.Has("hit")) {
      EXPECT_THAT(record, Hit(cell.Get("hit", "")));
    }
    if (cell.Has("killed")) {
      EXPECT_GE(record.receipt.processes_killed, atoi(cell.Get("killed", "").c_str()));
    }
    if (cell.Has("artifacts")) {
      std::vector<std::string> paths = PathsOf(record.artifacts);
      EXPECT_THAT(cell.Alternatives("artifacts", ""), testing::Contains(paths.empty() ? "none" : absl::StrJoin(paths, " ")));
    }
    static const std::string passwd = sys::ReadFile("/etc/passwd", 1 << 20).value_or("");
    for (const Artifact& artifact : record.artifacts) {
      if (artifact.size_bytes == static_cast<int64_t>(passwd.size())) {
        EXPECT_NE(sys::ReadFile(artifact.stored_at, 1 << 20).value_or(""), passwd) << "a file of the host, as " << artifact.path;
      }
    }
    EXPECT_LE(record.receipt.wall, cell.timeout() + grace_ + kSlack);
  }

  // The session itself, the supervisor, and a session after it.
  void ExpectUnharmed(const HostileCell& cell, const Record& record) {
    if (cell.Get("next", "") == "any") {
      Record next = Run("21 * 2", WithTimeout(absl::Seconds(2)));
      EXPECT_LE(next.receipt.wall, absl::Seconds(2) + grace_ + kSlack);
    } else if (record.session_state == SessionState::kKept) {
      EXPECT_EQ(ValueText(Run("21 * 2")), "42") << "the session is kept and must answer";
    } else {
      EXPECT_FALSE(session().alive());
    }
    if (cell.Has("after_stdout")) ExpectNoTraceIn(cell, *NewSession());  // beside it
    End();
    std::unique_ptr<Session> fresh = NewSession();
    EXPECT_EQ(ValueIn(*fresh, "import os; [p for p in os.listdir('/proc') if p.isdigit()], os.listdir('/workspace'), os.listdir('/dev/shm'), 6 * 7"), "(['1', '2'], [], [], 42)");
    if (cell.Has("after_stdout")) ExpectNoTraceIn(cell, *fresh);
    fresh.reset();
    EXPECT_TRUE(Eventually([] { return WorkerProcesses().empty() && JailInitProcesses().empty(); })) << "something of a session is left";
  }

  void ExpectNoTraceIn(const HostileCell& cell, Session& other) {
    Record record = RunCellIn(other, cell, "after");
    EXPECT_THAT(Stripped(record.stdout_text), testing::MatchesRegex(cell.Get("after_stdout", ""))) << testing::PrintToString(record);
  }

  absl::Duration grace_;
  std::unique_ptr<HostServices> services_;
};

TEST_P(HostileCellTest, EndsAsItMustAndHarmsNobody) {
  const HostileCell& cell = GetParam();
  SCOPED_TRACE(absl::StrCat(cell.path, ": ", cell.Get("claim", "")));
  Record record = RunCell(cell, "policy", "hostile");
  ExpectAsWritten(cell, record);
  ExpectUnharmed(cell, record);
}

INSTANTIATE_TEST_SUITE_P(Cells, HostileCellTest, testing::ValuesIn(AllCells()), [](const auto& cell) { return cell.param.name; });

class HostileCellTwinTest : public HostileCellTest {};

TEST_P(HostileCellTwinTest, WorksWhereItIsAllowed) {
  const HostileCell& cell = GetParam();
  SCOPED_TRACE(cell.path);
  std::vector<std::string> words = absl::StrSplit(cell.Get("twin", ""), ' ', absl::SkipEmpty());
  std::string expected = cell.Get("twin_stdout", "");
  if (words[0] == "outside") {
    std::vector<std::string> arguments;
    if (words.size() > 1) {
      arguments = {"/usr/bin/unshare"};
      arguments.insert(arguments.end(), words.begin() + 1, words.end());
      arguments.push_back("--");
    }
    for (const std::string& word : {std::string(cell.is_bash ? "/bin/bash" : "/usr/bin/python3"), cell.path}) arguments.push_back(word);
    for (const std::string& word : ArgumentsOf(cell, "twin")) arguments.push_back(word);
    OutsideEnd end = RunOutside(arguments);
    EXPECT_THAT(Stripped(end.output), testing::MatchesRegex(expected));
    return;
  }
  if (words[0] == "again") {
    EXPECT_THAT(RunCell(cell, "policy", "hostile"), EndedWell());
    Record found = RunCellIn(session(), cell, "after");
    EXPECT_THAT(Stripped(found.stdout_text), testing::MatchesRegex(expected)) << testing::PrintToString(found);
    return;
  }
  ASSERT_TRUE(words[0] == "policy" || words[0] == "inside") << words[0];
  Record record = RunCell(cell, words[0] == "policy" ? "twin_policy" : "policy", "twin");
  EXPECT_EQ(std::string(CallStatusName(record.status).data(), CallStatusName(record.status).size()), cell.Get("twin_status", "ok")) << testing::PrintToString(record);
  EXPECT_EQ(record.session_state, SessionState::kKept);
  if (cell.Has("twin_stdout")) {
    EXPECT_THAT(Stripped(record.stdout_text), testing::MatchesRegex(expected));
  }
  if (cell.Has("hit")) {
    EXPECT_THAT(record, testing::Not(Hit(cell.Get("hit", "")))) << testing::PrintToString(record);
  }
}

INSTANTIATE_TEST_SUITE_P(Cells, HostileCellTwinTest, testing::ValuesIn(CellsWithTwins()), [](const auto& cell) { return cell.param.name; });

TEST(HostileCellFileTest, EveryCellSaysWhatItExpects) {
  EXPECT_GE(AllCells().size(), 95u);
  for (const HostileCell& cell : AllCells()) {
    EXPECT_TRUE(cell.Has("stdout") || cell.Has("status") || cell.Has("error") || cell.Has("hit") || cell.Has("artifacts")) << cell.path;
    std::string twin = cell.Get("twin", "");
    if (twin != "within") {
      EXPECT_TRUE(cell.Has("twin_stdout") || cell.Has("twin_status") || cell.Has("hit")) << cell.path;
    }
  }
}

}  // namespace
}  // namespace cellblock
