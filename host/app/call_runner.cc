// See call_runner.h.
#include "app/call_runner.h"

#include <signal.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "app/charts.h"
#include "app/exit_codes.h"

namespace cellblock::app {

CallRunner::CallRunner(Session& session, Console& console, CallRunnerOptions options)
    : session_(session), console_(console), options_(std::move(options)) {
  if (options_.signals != nullptr) {
    options_.signals->SetHandler([this](int signal) { OnSignal(signal); });
  }
}

CallRunner::~CallRunner() {
  if (options_.signals != nullptr) options_.signals->SetHandler(nullptr);
}

absl::StatusOr<Record> CallRunner::Run(absl::string_view code, ExecuteOptions options) {
  if (options_.show_output) {
    options.on_event = [this](const Event& event, const Record& so_far) {
      if (console_.stdout_closed()) return;
      console_.PrintEvent(event, so_far);
      // Nobody reads on (`… | head`): stop, and don't say so.
      if (console_.stdout_closed()) session_.Interrupt();
    };
  }
  {
    std::lock_guard<std::mutex> lock(mutex_);
    running_ = true;
    interrupted_ = false;
    signal_policy_.Reset();
  }
  absl::StatusOr<Record> record = session_.Execute(code, options);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    running_ = false;
  }
  if (!record.ok()) return record;
  if (options_.show_output && !console_.stdout_closed()) console_.PrintEnding(*record);
  KeepOutputs(*record);
  return record;
}

void CallRunner::KeepOutputs(const Record& record) {
  if (options_.output_folder == nullptr) {
    for (const Artifact& artifact : record.artifacts) files_not_kept_.insert(artifact.path);
    for (const Result* result : VisibleResults(record)) charts_not_kept_ += PicturesOf(*result).empty() ? 0 : 1;
    return;
  }
  const SaveReport report = options_.output_folder->Save(record);
  for (const Saved& saved : report.saved) {
    console_.Note(absl::StrCat(saved.is_chart ? "chart " : "file ", saved.path, " (", saved.detail, ")"));
  }
  for (const std::string& problem : report.problems) console_.Problem(problem);
  save_failed_ = save_failed_ || !report.problems.empty();
}

int CallRunner::end_signal() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return end_signal_;
}

bool CallRunner::interrupted() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return interrupted_;
}

void CallRunner::OnSignal(int signal) {
  SignalAction action;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    action = signal_policy_.Decide(signal);
    const bool from_keyboard = signal == SIGINT;
    if (!from_keyboard || (!running_ && !options_.on_idle_signal)) end_signal_ = signal;
    if (!running_) {
      if (options_.on_idle_signal) options_.on_idle_signal(signal);
      return;
    }
    if (from_keyboard) interrupted_ = true;
  }
  if (action == SignalAction::kAbandon) {
    console_.Problem("ended at once");
    options_.exit_now(ExitCodeOfSignal(signal));
    return;
  }
  session_.Interrupt();  // a second time, it kills
}

}  // namespace cellblock::app
