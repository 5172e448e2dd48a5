// See repl_commands.h.
#include "app/repl_commands.h"

#include <fcntl.h>

#include <algorithm>
#include <filesystem>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "app/atomic_write.h"
#include "app/terminal_text.h"
#include "app/uploads.h"
#include "base/status_macros.h"
#include "base/unique_fd.h"
#include "policy/text.h"
#include "policy/units.h"
#include "render/record_json.h"
#include "sys/files.h"

namespace cellblock::app {
namespace {

using Words = std::vector<std::string>;

struct Command {
  const char* name;
  const char* arguments;
  const char* help;
  size_t words_min;
  size_t words_max;
  absl::Status (*run)(const Words& words, ReplState& state);
};
const std::vector<Command>& Commands();

absl::Status Help(const Words&, ReplState& state) {
  std::string text =
      "Type Python; the value of the last expression is printed. A block ends with an empty line. Ctrl-C interrupts the running\n"
      "cell and keeps the session, Ctrl-D ends it. Lines that start with a colon are commands:\n\n";
  for (const Command& command : Commands()) {
    absl::StrAppendFormat(&text, "  %-24s %s\n", absl::StrCat(command.name, *command.arguments == '\0' ? "" : " ", command.arguments),
                          command.help);
  }
  state.console.Write(text);
  return absl::OkStatus();
}

absl::Status Files(const Words&, ReplState& state) {
  CELLBLOCK_ASSIGN_OR_RETURN(const std::vector<FileEntry> files, state.session.ListFiles());
  std::string text;
  for (const FileEntry& file : files) {
    absl::StrAppendFormat(&text, "%12s  %s  %s\n", ReadableBytes(file.size_bytes),
                          absl::FormatTime("%Y-%m-%d %H:%M", file.modified_at, absl::LocalTimeZone()), NeutralizeLine(file.path));
  }
  state.console.Write(files.empty() ? "/workspace is empty\n" : text);
  return absl::OkStatus();
}

absl::Status Put(const Words& words, ReplState& state) {
  CELLBLOCK_ASSIGN_OR_RETURN(const UploadPlan plan, PlanUploads({words.begin() + 1, words.end()}));
  LeftOut left_out = plan.left_out;
  for (const Upload& upload : plan.uploads) {
    CELLBLOCK_ASSIGN_OR_RETURN(const bool put, PutUpload(upload, state.session, &left_out));
    if (put) state.console.Note(absl::StrCat(NeutralizeLine(upload.source), " → /workspace/", NeutralizeLine(upload.target)));
  }
  for (const std::string& line : LeftOutLines(left_out)) state.console.Note(line);
  return absl::OkStatus();
}

absl::Status Get(const Words& words, ReplState& state) {
  CELLBLOCK_ASSIGN_OR_RETURN(const std::string source, WorkspacePath(words[1]));
  std::filesystem::path target = words.size() > 2 ? words[2] : std::filesystem::path(source).filename().string();
  std::error_code error;
  if (std::filesystem::is_directory(target, error)) target /= std::filesystem::path(source).filename();
  const std::filesystem::path parent = target.has_parent_path() ? target.parent_path() : std::filesystem::path(".");
  if (!target.has_filename()) return absl::InvalidArgumentError(absl::StrCat(NeutralizeLine(target.string()), " is no name for a file"));
  CELLBLOCK_ASSIGN_OR_RETURN(UniqueFd folder, sys::Open(parent.string(), O_RDONLY | O_DIRECTORY));
  CELLBLOCK_RETURN_IF_ERROR(WriteBeneath(folder.get(), {target.filename().string()}, IfExists::kRefuse,
                                         [&](int fd) { return state.session.GetFile(source, fd); }));
  state.console.Note(absl::StrCat("/workspace/", NeutralizeLine(source), " → ", NeutralizeLine(target.string())));
  return absl::OkStatus();
}

absl::Status Restart(const Words&, ReplState& state) {
  CELLBLOCK_RETURN_IF_ERROR(state.session.Restart());
  state.console.Note("new interpreter: variables are gone, files are kept");
  return absl::OkStatus();
}

absl::Status ShowLimits(const Words&, ReplState& state) {
  const Limits& limits = state.session.policy().limits;
  std::string text = absl::StrCat("policy ", NeutralizeLine(state.session.policy().name), "\n");
  const auto row = [&](const char* name, const std::string& value) { absl::StrAppendFormat(&text, "  %-20s %s\n", name, value); };
  row("time a call", policy::DurationText(limits.wall));
  if (limits.cpu.has_value()) row("CPU time a call", policy::DurationText(*limits.cpu));
  row("CPUs", absl::StrCat(limits.cpus));
  row("memory", policy::SizeText(limits.memory_bytes));
  row("processes", absl::StrCat(limits.processes));
  row("workspace", absl::StrCat(policy::SizeText(limits.workspace_bytes), ", ", limits.workspace_files, " files"));
  row("largest file", policy::SizeText(limits.file_bytes));
  row("output a call", absl::StrCat(policy::SizeText(limits.output_bytes), " for each stream"));
  text += "layers\n";
  for (const Layer& layer : state.session.layers()) {
    row(NeutralizeLine(layer.name).c_str(),
        absl::StrCat(NeutralizeLine(layer.state), layer.detail.empty() ? "" : ", ", NeutralizeLine(layer.detail)));
  }
  state.console.Write(text);
  return absl::OkStatus();
}

absl::Status Last(const Words& words, ReplState& state) {
  if (!state.last.has_value()) return absl::InvalidArgumentError("nothing has run yet");
  const Record& record = *state.last;
  if (words.size() > 1 && words[1] == "json") {
    state.console.Write(absl::StrCat(render::RenderRecordJson(record), "\n"));
    return absl::OkStatus();
  }
  if (words.size() > 1) return absl::InvalidArgumentError("':last' prints a summary, ':last json' the whole record");
  const Receipt& receipt = record.receipt;
  std::string text = absl::StrFormat("call %d: %s, the session is %s\n", record.call, std::string(CallStatusName(record.status)),
                                     std::string(SessionStateName(record.session_state)));
  const auto row = [&](const char* name, const std::string& value) { absl::StrAppendFormat(&text, "  %-14s %s\n", name, value); };
  row("time", absl::StrFormat("%.3f s, CPU %.3f s", absl::ToDoubleSeconds(receipt.wall), absl::ToDoubleSeconds(receipt.cpu)));
  row("memory peak", ReadableBytes(receipt.memory_peak_bytes));
  row("processes peak", absl::StrCat(receipt.processes_peak));
  row("output", ReadableBytes(receipt.output_bytes));
  row("written", ReadableBytes(receipt.written_bytes));
  for (const LimitHit& hit : receipt.limits_hit) row("limit reached", NeutralizeLine(absl::StrCat(hit.name, ": ", hit.detail)));
  for (const Artifact& artifact : record.artifacts) {
    row(artifact.created ? "created" : "modified",
        absl::StrCat(NeutralizeLine(artifact.path), " (", ReadableBytes(artifact.size_bytes), ")"));
  }
  state.console.Write(text);
  return absl::OkStatus();
}

absl::Status Quit(const Words&, ReplState&) { return absl::OkStatus(); }  // RunReplCommand ends

const std::vector<Command>& Commands() {
  static const auto* const commands = new std::vector<Command>{
      {":help", "", "this list", 1, 1, Help},
      {":files", "", "what is in /workspace", 1, 1, Files},
      {":put", "SRC[:NAME] …", "copy files or folders of this machine into /workspace", 2, 1000, Put},
      {":get", "NAME [DEST]", "copy a file out of /workspace; never replaces one", 2, 3, Get},
      {":limits", "", "the session's limits and layers", 1, 1, ShowLimits},
      {":last", "[json]", "what the last call used, or its whole record", 1, 2, Last},
      {":restart", "", "a new interpreter over the same files", 1, 1, Restart},
      {":quit", "", "end (Ctrl-D does too)", 1, 1, Quit},
  };
  return *commands;
}

const Command* FindCommand(const std::string& name) {
  for (const Command& command : Commands()) {
    if (name == command.name) return &command;
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> SplitWords(absl::string_view line) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote == 0 && absl::ascii_isspace(static_cast<unsigned char>(c))) {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
      in_word = true;
    } else if (quote != 0 && c == quote) {
      quote = 0;
    } else {
      const bool escapes = c == '\\' && quote != '\'' && i + 1 < line.size();
      word.push_back(escapes ? line[++i] : c);
      in_word = true;
    }
  }
  if (quote != 0) return absl::InvalidArgumentError(absl::StrCat("a quote (", absl::string_view(&quote, 1), ") that is not closed"));
  if (in_word) words.push_back(std::move(word));
  return words;
}

ReplNext RunReplCommand(absl::string_view line, ReplState state) {
  absl::StatusOr<std::vector<std::string>> words = SplitWords(line);
  if (!words.ok()) {
    state.console.Problem(words.status().message());
    return ReplNext::kGoOn;
  }
  const Command* command = FindCommand(words->front());
  if (command == nullptr) {
    std::vector<std::string> names;
    for (const Command& known : Commands()) names.emplace_back(known.name);
    state.console.Problem(absl::StrCat("no command ", NeutralizeLine(words->front()),
                                       policy::DidYouMean(policy::NearWords(words->front(), names)), " (:help lists them)"));
    return ReplNext::kGoOn;
  }
  if (words->size() < command->words_min || words->size() > command->words_max) {
    state.console.Problem(absl::StrCat("write it as: ", command->name, *command->arguments == '\0' ? "" : " ", command->arguments));
    return ReplNext::kGoOn;
  }
  if (absl::Status done = command->run(*words, state); !done.ok()) state.console.Problem(done.message());
  return command->run == Quit ? ReplNext::kEnd : ReplNext::kGoOn;
}

}  // namespace cellblock::app
