// See source.h.
#include "app/source.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "app/python_encoding.h"
#include "app/terminal_text.h"
#include "base/status_macros.h"
#include "base/unique_fd.h"
#include "sys/files.h"

namespace cellblock::app {
namespace {

// Files that people hand over in place of a script, by a slip. What else there is may well be Python.
bool LooksLikeData(const std::string& ending) {
  for (const char* known : {".csv", ".tsv", ".json", ".jsonl", ".xlsx", ".xls", ".parquet", ".txt", ".png", ".pdf", ".zip"}) {
    if (ending == known) return true;
  }
  return false;
}

std::string Ending(const std::string& path) { return absl::AsciiStrToLower(std::filesystem::path(path).extension().string()); }

// "#!/bin/bash", "#!/usr/bin/env bash", "#!/bin/sh -e"
bool HasShellLine(absl::string_view text) {
  const absl::string_view line = text.substr(0, text.find('\n'));
  if (!absl::StartsWith(line, "#!")) return false;
  for (absl::string_view shell : {"/bash", "/sh", "/dash", " bash", " sh", " dash"}) {
    const size_t at = line.find(shell);
    if (at == absl::string_view::npos) continue;
    const size_t end = at + shell.size();
    if (end == line.size() || absl::ascii_isspace(static_cast<unsigned char>(line[end]))) return true;
  }
  return false;
}

absl::StatusOr<std::string> ReadBounded(int fd, const std::string& name, int64_t bytes_max, const char* limit) {
  absl::StatusOr<std::string> bytes = sys::ReadAll(fd, static_cast<size_t>(bytes_max));
  if (absl::IsResourceExhausted(bytes.status())) {
    return absl::InvalidArgumentError(absl::StrCat(NeutralizeLine(name), " is larger than ", ReadableBytes(bytes_max), limit));
  }
  if (!bytes.ok()) return absl::InvalidArgumentError(absl::StrCat(NeutralizeLine(name), ": ", bytes.status().message()));
  return bytes;
}

absl::StatusOr<std::string> ReadSourceFile(const std::string& path, int64_t bytes_max, const char* limit) {
  UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) {
    return absl::InvalidArgumentError(absl::StrCat(NeutralizeLine(path), ": ", std::generic_category().message(errno)));
  }
  struct stat found = {};
  if (fstat(file.get(), &found) == 0 && S_ISDIR(found.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat(NeutralizeLine(path), " is a folder; name the script in it (--file takes folders in as data)"));
  }
  return ReadBounded(file.get(), path, bytes_max, limit);
}

absl::StatusOr<std::string> ReadBytes(const SourceChoices& choices, bool is_notebook, int stdin_fd, int64_t code_bytes_max) {
  const int64_t bytes_max = is_notebook ? static_cast<int64_t>(render::kNotebookBytesMax) : code_bytes_max;
  const char* limit = is_notebook ? ", the most that a notebook may have" : ", the most that the policy allows (limits.code_size)";
  if (choices.code.has_value()) {
    if (choices.code->size() > static_cast<size_t>(bytes_max)) {
      return absl::InvalidArgumentError(absl::StrCat("-c is longer than ", ReadableBytes(bytes_max), limit));
    }
    return *choices.code;
  }
  if (choices.path == "-") return ReadBounded(stdin_fd, "standard input", bytes_max, limit);
  return ReadSourceFile(choices.path, bytes_max, limit);
}

// Takes over the cells that are to run, each of which must be within the limit by itself.
absl::Status TakeCells(int64_t code_bytes_max, bool with_lines, Source* source) {
  const bool whole_script = source->notebook.size() == 1 && with_lines;
  for (const render::NotebookCell& cell : source->notebook) {
    if (!render::IsRunnable(cell) && !(whole_script && cell.kind == render::CellKind::kCode)) continue;
    if (cell.source.size() > static_cast<size_t>(code_bytes_max)) {
      return absl::InvalidArgumentError(absl::StrCat(NeutralizeLine(source->name), ": cell ", source->cells.size() + 1, " is larger than ",
                                                     ReadableBytes(code_bytes_max),
                                                     ", the most that the policy allows (limits.code_size)"));
    }
    source->cells.push_back({cell.source, with_lines ? cell.first_line : 0});
  }
  return absl::OkStatus();
}

absl::Status LoadNotebook(const std::string& bytes, const SourceChoices& choices, int64_t code_bytes_max, Source* source) {
  if (choices.language == Language::kBash) {
    return absl::InvalidArgumentError("--language bash: a notebook's cells are Python (one of bash starts with %%bash)");
  }
  absl::StatusOr<std::vector<render::NotebookCell>> cells = render::ParseNotebook(bytes);
  if (!cells.ok()) return absl::InvalidArgumentError(absl::StrCat(NeutralizeLine(source->name), ": ", cells.status().message()));
  source->notebook = *std::move(cells);
  return TakeCells(code_bytes_max, /*with_lines=*/false, source);
}

absl::Status LoadBash(const std::string& bytes, Source* source) {
  source->language = Language::kBash;
  CELLBLOCK_ASSIGN_OR_RETURN(std::string text, DecodeUtf8Source(bytes, source->name));
  if (absl::StrContains(bytes, "\r\n"))
    source->note = absl::StrCat(NeutralizeLine(source->name), ": the line ends of Windows were read as line feeds");
  render::NotebookCell cell;
  cell.source = text;
  source->notebook.push_back(std::move(cell));
  source->cells.push_back({std::move(text), 1});
  return absl::OkStatus();
}

absl::Status LoadPython(const std::string& bytes, int64_t code_bytes_max, Source* source) {
  CELLBLOCK_ASSIGN_OR_RETURN(const std::string text, DecodePythonSource(bytes, source->name));
  absl::StatusOr<std::vector<render::NotebookCell>> cells = render::SplitPercentCells(text);
  if (!cells.ok()) return absl::InvalidArgumentError(absl::StrCat(NeutralizeLine(source->name), ": ", cells.status().message()));
  source->notebook = *std::move(cells);
  // An empty script is a script: it runs, and does nothing.
  if (source->notebook.empty() && absl::StripAsciiWhitespace(text).empty()) source->notebook.emplace_back();
  return TakeCells(code_bytes_max, /*with_lines=*/true, source);
}

}  // namespace

absl::StatusOr<Source> LoadSource(const SourceChoices& choices, int stdin_fd, int64_t code_bytes_max) {
  const bool from_file = !choices.code.has_value() && choices.path != "-";
  const std::string ending = from_file ? Ending(choices.path) : "";
  if (LooksLikeData(ending) && !choices.language.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(
        NeutralizeLine(choices.path), " is no script by its name; data goes in with --file (--language python runs it all the same)"));
  }
  Source source;
  source.name = choices.code.has_value() ? "-c" : choices.path == "-" ? "standard input" : choices.path;
  const bool is_notebook = ending == ".ipynb";
  CELLBLOCK_ASSIGN_OR_RETURN(const std::string bytes, ReadBytes(choices, is_notebook, stdin_fd, code_bytes_max));
  if (is_notebook) {
    CELLBLOCK_RETURN_IF_ERROR(LoadNotebook(bytes, choices, code_bytes_max, &source));
    return source;
  }
  const bool is_bash = choices.language.has_value() ? *choices.language == Language::kBash
                                                    : ending == ".sh" || ending == ".bash" || (ending.empty() && HasShellLine(bytes));
  CELLBLOCK_RETURN_IF_ERROR(is_bash ? LoadBash(bytes, &source) : LoadPython(bytes, code_bytes_max, &source));
  const bool is_whole_file = source.cells.size() == 1 && source.cells[0].first_line == 1;
  if (from_file && is_whole_file) source.file_name = std::filesystem::path(choices.path).filename().string();
  return source;
}

}  // namespace cellblock::app
