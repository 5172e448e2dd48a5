// See start_bench.h.
#include "app/start_bench.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "base/status_macros.h"

namespace cellblock::app {
namespace {

constexpr int kSessions = 25;
constexpr int kCells = 200;
constexpr absl::Duration kFillDeadline = absl::Seconds(10);
constexpr absl::Duration kQuiet = absl::Milliseconds(20);

class Column {
 public:
  void Add(absl::Duration duration) { durations_.push_back(duration); }
  void Show(const char* name, bool is_part, std::vector<BenchRow>& rows) {
    if (durations_.empty()) return;
    std::sort(durations_.begin(), durations_.end());
    rows.push_back({name, durations_[durations_.size() / 2], durations_.front(), is_part});
  }

 private:
  std::vector<absl::Duration> durations_;
};

class StopWatch {
 public:
  absl::Duration elapsed() const { return absl::Now() - start_; }

 private:
  absl::Time start_ = absl::Now();
};

absl::Status RunCell(Session& session) {
  ExecuteOptions options;
  const bool is_python = session.policy().languages.python;
  options.language = is_python ? Language::kPython : Language::kBash;
  CELLBLOCK_ASSIGN_OR_RETURN(const Record record, session.Execute(is_python ? "1+1" : ":", options));
  return record.status == CallStatus::kOk ? absl::OkStatus() : absl::InternalError(absl::StrCat("a cell did not end well: ", record.reason));
}

absl::Status MeasureBuilt(Host& host, const Policy& policy, std::vector<BenchRow>& rows) {
  Column first, built, first_cell, cell, end;
  constexpr std::pair<const char*, absl::Duration StartTimings::*> kSteps[] = {
      {"control group", &StartTimings::cgroup}, {"jail: namespaces and mounts", &StartTimings::jail}, {"workspace", &StartTimings::workspace},
      {"fork of the interpreter", &StartTimings::fork}, {"lock-down", &StartTimings::lock_down}, {"the interpreter's own start", &StartTimings::interpreter}};
  std::vector<Column> steps(std::size(kSteps));
  for (int i = 0; i <= kSessions; ++i) {
    StopWatch making;
    CELLBLOCK_ASSIGN_OR_RETURN(std::unique_ptr<Session> session, host.CreateSession(policy));
    (i == 0 ? first : built).Add(making.elapsed());
    StopWatch calling;
    CELLBLOCK_RETURN_IF_ERROR(RunCell(*session));
    if (i == 0) continue;
    first_cell.Add(calling.elapsed());
    const StartTimings timings = session->start_timings();
    for (size_t k = 0; k < steps.size(); ++k) steps[k].Add(timings.*kSteps[k].second);
    for (int k = 0; i == kSessions && k < kCells; ++k) {
      StopWatch again;
      CELLBLOCK_RETURN_IF_ERROR(RunCell(*session));
      cell.Add(again.elapsed());
    }
    StopWatch ending;
    session.reset();
    end.Add(ending.elapsed());
  }
  first.Show("first session of a host: its template imports the packages", false, rows);
  built.Show("session, built", false, rows);
  for (size_t k = 0; k < steps.size(); ++k) steps[k].Show(kSteps[k].first, true, rows);
  first_cell.Show("its first cell", false, rows);
  cell.Show("a later cell", false, rows);
  end.Show("its end", false, rows);
  return absl::OkStatus();
}

absl::Status MeasureHandedOut(Host& host, const Policy& policy, std::vector<BenchRow>& rows) {
  CELLBLOCK_RETURN_IF_ERROR(host.CreateSession(policy).status());
  Column taken, both;
  for (int i = 0; i < kSessions; ++i) {
    for (const absl::Time until = absl::Now() + kFillDeadline; host.usage().pool.ready == 0 && absl::Now() < until;) absl::SleepFor(absl::Milliseconds(1));
    if (host.usage().pool.ready == 0) return absl::OkStatus();  // memory is short: the rows are left out
    absl::SleepFor(kQuiet);
    StopWatch making;
    CELLBLOCK_ASSIGN_OR_RETURN(std::unique_ptr<Session> session, host.CreateSession(policy));
    const absl::Duration made = making.elapsed();
    CELLBLOCK_RETURN_IF_ERROR(RunCell(*session));
    if (session->start_timings().hand_out == absl::ZeroDuration()) continue;  // the pool had none
    taken.Add(made);
    both.Add(making.elapsed());
  }
  taken.Show("session, from the pool", false, rows);
  both.Show("the same with its first cell", false, rows);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<BenchRow>> MeasureSessions(const Policy& policy, const HostOptions& options, const Context& context) {
  std::vector<BenchRow> rows;
  HostOptions own = options;
  own.pool = PoolOptions();
  CELLBLOCK_ASSIGN_OR_RETURN(std::unique_ptr<Host> host, context.create_host(own));
  CELLBLOCK_RETURN_IF_ERROR(MeasureBuilt(*host, policy, rows));
  own.pool.ready_max = own.pool.ready_min = 2;
  CELLBLOCK_ASSIGN_OR_RETURN(host, context.create_host(own));
  CELLBLOCK_RETURN_IF_ERROR(MeasureHandedOut(*host, policy, rows));
  return rows;
}

std::string BenchTable(const std::vector<BenchRow>& rows, const std::string& policy) {
  std::string text = absl::StrFormat("%d sessions under '%s', one after another:\n%64s %11s\n", kSessions, policy, "median", "least");
  for (const BenchRow& row : rows) {
    const std::string name = absl::StrCat(row.is_part ? "    " : "  ", row.name);
    absl::StrAppendFormat(&text, "%-58s%9.3f ms %8.3f ms\n", name, absl::ToDoubleMilliseconds(row.median), absl::ToDoubleMilliseconds(row.least));
  }
  absl::StrAppend(&text, "Machines differ and are noisy: compare figures of one run. docs/performance.md tells what they are made of.\n\n");
  return text;
}

}  // namespace cellblock::app
