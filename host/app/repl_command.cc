// See repl_command.h.
#include "app/repl_command.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "app/call_runner.h"
#include "app/cell_input.h"
#include "app/exit_codes.h"
#include "app/output_folder.h"
#include "app/repl_commands.h"
#include "app/signals.h"
#include "app/terminal_lines.h"
#include "policy/units.h"

namespace cellblock::app {
namespace {

struct CloseFile {
  void operator()(FILE* file) const { fclose(file); }
};
using OwnedFile = std::unique_ptr<FILE, CloseFile>;

// libedit wants streams; closing ours must not close the descriptors.
OwnedFile StreamOn(int fd, const char* mode) {
  const int copy = dup(fd);
  return OwnedFile(copy < 0 ? nullptr : fdopen(copy, mode));
}

// Where cells come from, and how to wake it from a signal.
struct Keyboard {
  OwnedFile in, out, err;
  std::unique_ptr<TerminalLines> terminal;  // null when nobody types
  std::unique_ptr<LineSource> stream;
  std::unique_ptr<CellInput> input;
};

absl::Status OpenKeyboard(const ReplOptions& options, const Context& context, size_t cell_bytes_max, Console& console, Keyboard* keyboard) {
  if (!context.stdin_is_terminal || !context.console.stdout_is_terminal) {
    keyboard->stream = MakeStreamLines(context.stdin_fd, cell_bytes_max);
    keyboard->input = MakeStreamInput(*keyboard->stream, cell_bytes_max);
    return absl::OkStatus();
  }
  keyboard->in = StreamOn(context.stdin_fd, "r");
  keyboard->out = StreamOn(context.console.stdout_fd, "w");
  keyboard->err = StreamOn(context.console.stderr_fd, "w");
  if (!keyboard->in || !keyboard->out || !keyboard->err) return absl::ResourceExhaustedError("the terminal could not be opened again");
  const std::string history = options.no_history ? "" : HistoryFile(context.surroundings);
  FILE* const in = keyboard->in.get();
  FILE* const out = keyboard->out.get();
  FILE* const err = keyboard->err.get();
  absl::StatusOr<std::unique_ptr<TerminalLines>> lines = TerminalLines::Create(in, out, err, history);
  if (!lines.ok()) {
    console.Note(absl::StrCat("no history: ", lines.status().message()));
    lines = TerminalLines::Create(in, out, err, "");
    if (!lines.ok()) return lines.status();
  }
  keyboard->terminal = *std::move(lines);
  keyboard->input = MakeInteractiveInput(*keyboard->terminal, cell_bytes_max);
  return absl::OkStatus();
}

void Greet(const Session& session, bool for_person, Console& console) {
  if (!for_person) return;
  const Limits& limits = session.policy().limits;
  console.Note(absl::StrCat("policy ", session.policy().name, ": ", policy::DurationText(limits.wall), " a call, ",
                            policy::SizeText(limits.memory_bytes), " memory; :help for commands, Ctrl-D to end"));
}

class Repl {
 public:
  Repl(Session& session, CallRunner& runner, CellInput& input, Console& console, bool for_person)
      : session_(session), runner_(runner), input_(input), console_(console), for_person_(for_person) {}

  int Run() {
    int64_t number = 1;
    while (runner_.end_signal() == 0 && !console_.stdout_closed()) {
      absl::StatusOr<Input> input = input_.Next(number);
      if (!input.ok()) {
        console_.Problem(input.status().message());
        Remember(ExitCodeFor(input.status(), kExitLimit));
        if (for_person_) continue;
        break;  // what follows in the stream is the rest of a cell
      }
      if (input->kind == Input::Kind::kEnd) break;
      if (input->kind == Input::Kind::kCommand) {
        if (RunReplCommand(input->text, {session_, console_, last_}) == ReplNext::kEnd) break;
      } else if (input->kind == Input::Kind::kCell) {
        if (RunCell(input->text) == ReplNext::kEnd) break;
        ++number;
      }
    }
    if (console_.stdout_closed()) return ExitCodeOfLostOutput(console_);
    const int signal = runner_.end_signal();
    if (signal != 0) return ExitCodeOfSignal(signal);
    if (runner_.save_failed()) Remember(kExitHost);
    return for_person_ && !ended_by_code_ ? kExitOk : exit_code_;
  }

 private:
  ReplNext RunCell(const std::string& code) {
    if (!session_.alive()) {
      if (absl::Status restarted = session_.Restart(); !restarted.ok()) {
        console_.Problem(absl::StrCat("the session could not be restarted: ", restarted.message()));
        Remember(kExitHost);
        return ReplNext::kGoOn;
      }
      console_.Note("new interpreter: variables are gone, files are kept");
    }
    absl::StatusOr<Record> record = runner_.Run(code, {});
    if (!record.ok()) {
      console_.Problem(record.status().message());
      Remember(ExitCodeFor(record.status(), kExitLimit));
      return ReplNext::kGoOn;
    }
    if (record->status == CallStatus::kExited && record->session_state == SessionState::kKept) {
      ended_by_code_ = true;  // exit() ends a cell everywhere; here it is also how people leave
      exit_code_ = ExitCodeFor(*record, session_.policy(), Language::kPython);
      return ReplNext::kEnd;
    }
    Remember(ExitCodeFor(*record, session_.policy(), Language::kPython));
    last_ = *std::move(record);
    if (runner_.charts_not_kept() > charts_told_) {
      console_.Note("a chart was made and not kept; start with --out DIR to keep charts");
      charts_told_ = runner_.charts_not_kept();
    }
    return ReplNext::kGoOn;
  }

  void Remember(int code) {
    if (exit_code_ == kExitOk) exit_code_ = code;
  }

  Session& session_;
  CallRunner& runner_;
  CellInput& input_;
  Console& console_;
  const bool for_person_;
  std::optional<Record> last_;
  int64_t charts_told_ = 0;
  bool ended_by_code_ = false;
  int exit_code_ = kExitOk;
};

}  // namespace

std::string HistoryFile(const Surroundings& surroundings) {
  if (const auto state = surroundings.environment("XDG_STATE_HOME"); state.has_value() && !state->empty() && (*state)[0] == '/') {
    return absl::StrCat(*state, "/cellblock/history");
  }
  if (const auto home = surroundings.environment("HOME"); home.has_value() && !home->empty()) {
    return absl::StrCat(*home, "/.local/state/cellblock/history");
  }
  return "";
}

int ReplCommand(const ReplOptions& options, const Context& context) {
  ConsoleOptions console_options = context.console;
  console_options.quiet = options.quiet;
  Console console(console_options);
  const auto fail = [&](const absl::Status& status, int exit_code) {
    console.Problem(status.message());
    return exit_code;
  };

  absl::StatusOr<Policy> policy = ChoosePolicy(options.session, context);
  if (!policy.ok()) return fail(policy.status(), ExitCodeFor(policy.status(), kExitUsage));
  absl::StatusOr<UploadPlan> uploads = PlanUploads(options.session.files);
  if (!uploads.ok()) return fail(uploads.status(), kExitUsage);
  std::optional<OutputFolder> folder;
  if (!options.out.empty()) {
    absl::StatusOr<OutputFolder> created = OutputFolder::Create(options.out);
    if (!created.ok()) return fail(created.status(), kExitUsage);
    folder.emplace(*std::move(created));
    for (const Upload& upload : uploads->uploads) folder->Protect(upload.source);
  }
  LiveSession live;
  if (std::optional<Failure> failure = StartSession(options.session, *policy, *uploads, context, console, &live)) {
    return fail(failure->status, failure->exit_code);
  }
  Keyboard keyboard;
  if (absl::Status opened = OpenKeyboard(options, context, static_cast<size_t>(policy->limits.code_bytes), console, &keyboard);
      !opened.ok()) {
    return fail(opened, kExitHost);
  }
  absl::StatusOr<std::unique_ptr<SignalWatch>> signals = SignalWatch::Create();
  if (!signals.ok()) return fail(signals.status(), kExitHost);

  CallRunnerOptions runner_options;
  runner_options.output_folder = folder.has_value() ? &*folder : nullptr;
  runner_options.signals = signals->get();
  runner_options.exit_now = context.exit_now;
  TerminalLines* const terminal = keyboard.terminal.get();
  if (terminal != nullptr) {
    runner_options.on_idle_signal = [terminal](int signal) { terminal->Cancel(/*end=*/signal != SIGINT); };
  } else {
    // Reading a pipe cannot be given up half-way: the process ends, and its helpers with it.
    runner_options.on_idle_signal = [&](int signal) { context.exit_now(ExitCodeOfSignal(signal)); };
  }
  CallRunner runner(*live.session, console, std::move(runner_options));
  Greet(*live.session, terminal != nullptr, console);
  const int exit_code = Repl(*live.session, runner, *keyboard.input, console, terminal != nullptr).Run();
  if (terminal != nullptr) {
    if (absl::Status saved = terminal->SaveHistory(); !saved.ok())
      console.Note(absl::StrCat("the history was not saved: ", saved.message()));
  }
  return exit_code;
}

}  // namespace cellblock::app
