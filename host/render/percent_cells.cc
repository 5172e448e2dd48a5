// Scripts with cell markers; see notebook.h.
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "render/notebook.h"
#include "render/quoted_cell.h"

namespace cellblock::render {
namespace {

bool IsBlank(absl::string_view text) { return absl::StripAsciiWhitespace(text).empty(); }

// Takes one line, with its ending, off the front.
absl::string_view TakeLine(absl::string_view* text) {
  absl::string_view line = text->substr(0, text->find('\n') + 1);  // npos + 1 is 0: then the rest
  if (line.empty()) line = *text;
  text->remove_prefix(line.size());
  return line;
}

// Follows Python's strings and comments just far enough to know whether a line starts inside a triple-quoted string.
class StringTracker {
 public:
  bool inside() const { return quote_ != 0; }

  void Read(absl::string_view line) {
    size_t at = 0;
    while (at < line.size()) {
      char c = line[at];
      if (quote_ != 0) {
        if (c == '\\') {
          ++at;
        } else if (IsTriple(line, at, quote_)) {
          quote_ = 0;
          at += 2;
        }
      } else if (c == '#') {
        return;
      } else if (c == '"' || c == '\'') {
        if (IsTriple(line, at, c)) {
          quote_ = c;
          at += 2;
        } else {
          at = EndOfPlainString(line, at);
        }
      }
      ++at;
    }
  }

 private:
  static bool IsTriple(absl::string_view line, size_t at, char quote) { return line.substr(at, 3) == std::string(3, quote); }
  static size_t EndOfPlainString(absl::string_view line, size_t at) {
    char quote = line[at++];
    while (at < line.size() && line[at] != quote) at += line[at] == '\\' ? 2 : 1;
    return at;
  }

  char quote_ = 0;  // of the triple-quoted string that is open
};

// The kind of the cell that `line` opens; none when it is no marker.
std::optional<CellKind> MarkerKind(absl::string_view line) {
  if (!absl::ConsumePrefix(&line, "#")) return std::nullopt;
  const bool close = absl::StartsWith(line, "%%");
  line = absl::StripAsciiWhitespace(line);
  if (absl::ConsumePrefix(&line, "%%")) {
    // "# %%time" is a magic that was commented out; "#%%Title" is how Spyder's users write.
    if (!close && !line.empty() && absl::ascii_isalpha(static_cast<unsigned char>(line.front()))) return std::nullopt;
    if (absl::StrContains(line, "[markdown]") || absl::StrContains(line, "[md]")) return CellKind::kMarkdown;
    if (absl::StrContains(line, "[raw]")) return CellKind::kRaw;
    return CellKind::kCode;
  }
  if (!absl::ConsumePrefix(&line, "In[")) return std::nullopt;
  while (!line.empty() && (line.front() == ' ' || absl::ascii_isdigit(static_cast<unsigned char>(line.front())))) line.remove_prefix(1);
  return line == "]" || line == "]:" ? std::optional<CellKind>(CellKind::kCode) : std::nullopt;
}

bool HoldsOnlyComments(absl::string_view text) {
  while (!text.empty()) {
    absl::string_view line = absl::StripAsciiWhitespace(TakeLine(&text));
    if (!line.empty() && line.front() != '#') return false;
  }
  return true;
}

// The text of a Markdown or raw cell, which stands in comments or in one triple-quoted string.
std::string Uncommented(absl::string_view text) {
  absl::string_view stripped = absl::StripAsciiWhitespace(text);
  for (absl::string_view quotes : {"\"\"\"", "'''"}) {
    if (stripped.size() >= 6 && absl::StartsWith(stripped, quotes) && absl::EndsWith(stripped, quotes)) {
      return std::string(absl::StripAsciiWhitespace(stripped.substr(3, stripped.size() - 6)));
    }
  }
  std::string result;
  while (!text.empty()) {
    absl::string_view line = TakeLine(&text);
    if (absl::ConsumePrefix(&line, "#")) absl::ConsumePrefix(&line, " ");
    result.append(line.data(), line.size());
  }
  return result;
}

// Without blank lines at its ends.
void AddCell(absl::string_view text, CellKind kind, int64_t first_line, std::vector<NotebookCell>* cells) {
  while (!text.empty()) {
    absl::string_view rest = text;
    if (!IsBlank(TakeLine(&rest))) break;
    text = rest;
    ++first_line;
  }
  text = absl::StripTrailingAsciiWhitespace(text);
  if (text.empty()) return;
  if (std::optional<std::string> quoted = kind == CellKind::kCode ? UnquoteCell(text) : std::nullopt; quoted.has_value()) {
    cells->push_back({.source = *std::move(quoted), .first_line = first_line + 1});  // below the call
    return;
  }
  cells->push_back({.source = kind == CellKind::kCode ? std::string(text) : Uncommented(text), .kind = kind, .first_line = first_line});
}

}  // namespace

bool IsRunnable(const NotebookCell& cell) { return cell.kind == CellKind::kCode && !IsBlank(cell.source); }

absl::StatusOr<std::vector<NotebookCell>> SplitPercentCells(absl::string_view script) {
  if (script.size() > kNotebookBytesMax) {
    return absl::ResourceExhaustedError(absl::StrCat("the script has ", script.size(), " bytes; at most ", kNotebookBytesMax, " are taken"));
  }
  absl::ConsumePrefix(&script, "\xEF\xBB\xBF");  // byte order mark
  std::vector<NotebookCell> cells;
  StringTracker strings;
  absl::string_view rest = script;
  size_t cell_begin = 0;
  int64_t line_number = 0, cell_first_line = 1;
  std::optional<CellKind> kind;  // none before the first marker
  auto add = [&](size_t end) {
    absl::string_view text = script.substr(cell_begin, end - cell_begin);
    if (!kind.has_value() && HoldsOnlyComments(text)) return;
    AddCell(text, kind.value_or(CellKind::kCode), cell_first_line, &cells);
  };
  while (!rest.empty()) {
    size_t line_begin = script.size() - rest.size();
    absl::string_view line = TakeLine(&rest);
    ++line_number;
    std::optional<CellKind> opens = strings.inside() ? std::nullopt : MarkerKind(line);
    if (opens.has_value()) {
      add(line_begin);
      kind = opens;
      cell_begin = script.size() - rest.size();
      cell_first_line = line_number + 1;
      if (cells.size() > kNotebookCellsMax) break;
    } else {
      strings.Read(line);
    }
  }
  if (!kind.has_value()) {
    if (IsBlank(script)) return cells;
    cells.push_back({.source = std::string(script)});
    return cells;
  }
  add(script.size());
  if (cells.size() > kNotebookCellsMax) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the script has more than ", kNotebookCellsMax, " cells (at line ", line_number, "); split it into several files"));
  }
  return cells;
}

}  // namespace cellblock::render
