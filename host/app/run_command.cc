// See run_command.h.
#include "app/run_command.h"

#include <fcntl.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "app/atomic_write.h"
#include "app/call_runner.h"
#include "app/console.h"
#include "app/exit_codes.h"
#include "app/output_folder.h"
#include "app/signals.h"
#include "app/terminal_text.h"
#include "app/uploads.h"
#include "base/status_macros.h"
#include "render/notebook.h"
#include "render/record_json.h"
#include "sys/files.h"

namespace cellblock::app {
namespace {

constexpr size_t kProgressCellsMin = 11;                         // fewer need no progress where nobody watches
constexpr const char* kEndOfScript = "from cellblock_guest import ending\nending.run()";
constexpr int64_t kNotebookOutputBytesMax = int64_t{256} << 20;  // of all outputs together, held until the end

int Fail(Console& console, const Failure& failure) {
  console.Problem(std::string(failure.status.message()));
  return failure.exit_code;
}

// "cell 3 of 7 (weather.py, line 24)"
std::string CellLabel(const Source& source, size_t index) {
  std::string label = absl::StrCat("cell ", index + 1, " of ", source.cells.size());
  if (source.cells[index].first_line > 0) {
    absl::StrAppend(&label, " (", NeutralizeLine(source.name), ", line ", source.cells[index].first_line, ")");
  }
  return label;
}

// The records of a run, for the notebook that is written at its end.
class KeptRecords {
 public:
  explicit KeptRecords(bool wanted) : wanted_(wanted) {}

  void Add(const Record& record) {
    if (!wanted_) return;
    int64_t bytes = static_cast<int64_t>(record.stdout_text.size() + record.stderr_text.size());
    for (const Result& result : record.results) {
      for (const MimeData& data : result.mime) bytes += static_cast<int64_t>(data.data.size());
    }
    full_ = full_ || bytes_ + bytes > kNotebookOutputBytesMax;
    if (full_) return;
    bytes_ += bytes;
    records_.push_back(record);
  }
  const std::vector<Record>& records() const { return records_; }
  bool full() const { return full_; }

 private:
  const bool wanted_;
  std::vector<Record> records_;
  int64_t bytes_ = 0;
  bool full_ = false;
};

std::string ParentOf(const std::filesystem::path& path) { return path.has_parent_path() ? path.parent_path().string() : "."; }

// Told before anything runs: an hour's work should not end with "no such folder".
absl::Status CheckNotebookName(const std::string& path) {
  std::error_code error;
  const std::filesystem::path target(path);
  if (path.empty()) return absl::OkStatus();
  const std::string shown = absl::StrCat("--save-notebook ", NeutralizeLine(path), ": ");
  if (!target.has_filename()) return absl::InvalidArgumentError(absl::StrCat(shown, "name a file"));
  if (target.extension() != ".ipynb") return absl::InvalidArgumentError(absl::StrCat(shown, "the name of a notebook ends in .ipynb"));
  if (!std::filesystem::is_directory(ParentOf(target), error))
    return absl::InvalidArgumentError(absl::StrCat(shown, "there is no such folder"));
  return absl::OkStatus();
}

absl::Status WriteNotebook(const std::string& path, const Source& source, const std::vector<Record>& records) {
  const std::filesystem::path target(path);
  CELLBLOCK_ASSIGN_OR_RETURN(UniqueFd folder, sys::Open(ParentOf(target), O_RDONLY | O_DIRECTORY));
  const std::string text = render::RenderNotebook(source.notebook, records);
  return WriteBeneath(folder.get(), {target.filename().string()}, IfExists::kReplace, [&](int fd) { return sys::WriteAll(fd, text); });
}

// Runs the cells and keeps the first exit code that is not 0.
class CellLoop {
 public:
  CellLoop(const RunOptions& options, const Source& source, Session& session, CallRunner& runner, Console& console)
      : options_(options), source_(source), session_(session), runner_(runner), console_(console), kept_(!options.save_notebook.empty()) {}

  int Run() {
    for (size_t index = 0; index < source_.cells.size(); ++index) {
      if (!RunCell(index)) {
        TellNotRun(index + 1);
        break;
      }
    }
    End();
    console_.Status("");
    SaveNotebook();
    if (exit_code_ == kExitOk && runner_.save_failed()) exit_code_ = kExitHost;
    TellNotKept();
    return exit_code_;
  }

 private:
  // False: no further cell is to run.
  bool RunCell(size_t index) {
    if (runner_.end_signal() != 0) return Stop(ExitCodeOfSignal(runner_.end_signal()));
    TellProgress(index);
    ExecuteOptions execute;
    execute.language = source_.language;
    execute.file_name = source_.file_name;
    execute.arguments = options_.arguments;
    absl::StatusOr<Record> record = runner_.Run(source_.cells[index].code, std::move(execute));
    if (!record.ok()) {
      console_.Problem(
          absl::StrCat(source_.cells.size() > 1 ? absl::StrCat(CellLabel(source_, index), ": ") : "", record.status().message()));
      return Stop(ExitCodeFor(record.status(), kExitLimit));
    }
    kept_.Add(*record);
    last_status_ = record->status;
    if (options_.json) console_.Write(absl::StrCat(render::RenderRecordJson(*record), "\n"));
    if (console_.stdout_closed()) return Stop(ExitCodeOfLostOutput(console_));
    if (runner_.end_signal() != 0) return Stop(ExitCodeOfSignal(runner_.end_signal()));
    const bool killed_by_keyboard = runner_.interrupted() && record->status == CallStatus::kKilled;
    const int code = killed_by_keyboard ? kExitInterrupted : ExitCodeFor(*record, session_.policy(), source_.language);
    const bool ended_itself = record->status == CallStatus::kExited;
    if (code == kExitOk && !ended_itself) return true;
    if (code == kExitInterrupted || !options_.keep_going) return Stop(code);
    Remember(code);
    if (index + 1 == source_.cells.size()) return true;
    console_.Problem(absl::StrCat(CellLabel(source_, index), " did not end well; going on"));
    return Revive(*record, index);
  }

  // A script's end is more than that of its last cell: threads, atexit, files that were never closed.
  void End() {
    const bool was_stopped = last_status_ == CallStatus::kInterrupted || last_status_ == CallStatus::kTimeout || last_status_ == CallStatus::kCpuLimit;
    if (source_.language != Language::kPython || !last_status_.has_value() || was_stopped) return;
    if (!session_.alive() || runner_.end_signal() != 0 || console_.stdout_closed()) return;
    absl::StatusOr<Record> record = runner_.Run(kEndOfScript, {});
    if (!record.ok()) {
      console_.Problem(absl::StrCat("at the end of the script: ", record.status().message()));
      return Remember(kExitHost);
    }
    const bool is_empty = record->status == CallStatus::kOk && record->events.empty() && record->artifacts.empty();
    if (options_.json && !is_empty) console_.Write(absl::StrCat(render::RenderRecordJson(*record), "\n"));
    Remember(ExitCodeFor(*record, session_.policy(), source_.language));
  }

  // After a kill the session is gone; --keep-going goes on in a new one over the same files.
  bool Revive(const Record& record, size_t index) {
    if (record.session_state != SessionState::kGone) return true;
    if (absl::Status restarted = session_.Restart(); !restarted.ok()) {
      console_.Problem(absl::StrCat("the session could not be restarted: ", restarted.message()));
      return Stop(kExitHost);
    }
    console_.Problem(absl::StrCat("after ", CellLabel(source_, index), ": the session was restarted; files are kept, variables are gone"));
    return true;
  }

  void Remember(int code) {
    if (exit_code_ == kExitOk) exit_code_ = code;
  }

  bool Stop(int code) {
    Remember(code);
    return false;
  }

  void SaveNotebook() {
    if (options_.save_notebook.empty()) return;
    if (kept_.full()) {
      console_.Problem(absl::StrCat("the notebook holds the outputs of the first ",
                                    Counted(static_cast<int64_t>(kept_.records().size()), "cell", "cells"),
                                    " only: together they may have ", ReadableBytes(kNotebookOutputBytesMax)));
    }
    if (absl::Status written = WriteNotebook(options_.save_notebook, source_, kept_.records()); !written.ok()) {
      console_.Problem(absl::StrCat("--save-notebook ", NeutralizeLine(options_.save_notebook), ": ", written.message()));
      Remember(kExitHost);
      return;
    }
    console_.Note(absl::StrCat("notebook ", NeutralizeLine(options_.save_notebook)));
  }

  void TellProgress(size_t index) {
    if (source_.cells.size() < 2) return;
    if (console_.stderr_is_terminal()) {
      console_.Status(CellLabel(source_, index));
    } else if (source_.cells.size() >= kProgressCellsMin) {
      console_.Note(CellLabel(source_, index));
    }
  }

  void TellNotRun(size_t run) {
    const size_t left = source_.cells.size() - run;
    if (source_.cells.size() < 2 || console_.stdout_closed()) return;
    console_.Problem(absl::StrCat("stopped at ", CellLabel(source_, run - 1),
                                  left == 0 ? ""
                                            : absl::StrCat("; ", Counted(static_cast<int64_t>(left), "cell", "cells"),
                                                           " not run (--keep-going runs them all the same)")));
  }

  void TellNotKept() {
    const int64_t charts = runner_.charts_not_kept(), files = runner_.files_not_kept();
    if (charts + files == 0 || options_.json) return;
    std::string what;
    if (charts > 0) what = Counted(charts, "chart", "charts");
    if (files > 0) absl::StrAppend(&what, what.empty() ? "" : " and ", Counted(files, "file", "files"));
    console_.Note(absl::StrCat("made ", what, ", not kept; --out DIR keeps them"));
  }

  const RunOptions& options_;
  const Source& source_;
  Session& session_;
  CallRunner& runner_;
  Console& console_;
  KeptRecords kept_;
  std::optional<CallStatus> last_status_;
  int exit_code_ = kExitOk;
};

}  // namespace

int RunCommand(const RunOptions& options, const Context& context) {
  ConsoleOptions console_options = context.console;
  console_options.quiet = options.quiet;
  Console console(console_options);

  // What can be refused at once is refused before anything is started.
  absl::StatusOr<Policy> policy = ChoosePolicy(options.session, context);
  if (!policy.ok()) return Fail(console, {policy.status(), ExitCodeFor(policy.status(), kExitUsage)});
  absl::StatusOr<Source> source = LoadSource(options.source, context.stdin_fd, policy->limits.code_bytes);
  if (!source.ok()) return Fail(console, {source.status(), ExitCodeFor(source.status(), kExitUsage)});
  absl::StatusOr<UploadPlan> uploads = PlanUploads(options.session.files);
  if (!uploads.ok()) return Fail(console, {uploads.status(), kExitUsage});
  std::optional<OutputFolder> folder;
  if (!options.out.empty()) {
    absl::StatusOr<OutputFolder> created = OutputFolder::Create(options.out);
    if (!created.ok()) return Fail(console, {created.status(), kExitUsage});
    folder.emplace(*std::move(created));
    if (!options.source.code.has_value()) folder->Protect(options.source.path);
    for (const Upload& upload : uploads->uploads) folder->Protect(upload.source);
  }
  if (absl::Status writable = CheckNotebookName(options.save_notebook); !writable.ok()) return Fail(console, {writable, kExitUsage});
  if (!source->note.empty()) console.Note(source->note);
  if (source->cells.empty()) {
    console.Note(absl::StrCat(NeutralizeLine(source->name), " holds no code"));
    return kExitOk;
  }

  LiveSession live;
  if (std::optional<Failure> failure = StartSession(options.session, *policy, *uploads, context, console, &live)) {
    return Fail(console, *failure);
  }
  absl::StatusOr<std::unique_ptr<SignalWatch>> signals = SignalWatch::Create();
  if (!signals.ok()) return Fail(console, {signals.status(), kExitHost});

  CallRunnerOptions runner_options;
  runner_options.output_folder = folder.has_value() ? &*folder : nullptr;
  runner_options.signals = signals->get();
  runner_options.show_output = !options.json;
  runner_options.exit_now = context.exit_now;
  CallRunner runner(*live.session, console, std::move(runner_options));
  return CellLoop(options, *source, *live.session, runner, console).Run();
}

}  // namespace cellblock::app
