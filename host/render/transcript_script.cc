// A transcript as a script with cell markers; see transcript.h.
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "capture/utf8.h"
#include "render/notebook.h"
#include "render/quoted_cell.h"
#include "render/transcript.h"
#include "render/transcript_parts.h"

namespace cellblock::render {
namespace {

constexpr size_t kTitleNoteMax = 200;

bool IsWordCharacter(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || (static_cast<unsigned char>(c) & 0x80) != 0; }

// Whether `word` stands in `text` by itself.
bool HasWord(absl::string_view text, absl::string_view word) {
  for (size_t at = text.find(word); at != absl::string_view::npos; at = text.find(word, at + 1)) {
    const bool begins = at == 0 || !IsWordCharacter(text[at - 1]);
    const size_t end = at + word.size();
    if (begins && (end == text.size() || !IsWordCharacter(text[end]))) return true;
  }
  return false;
}

// `x = !ls`, `a, b = %magic`: only names stand before the sign.
bool AssignsFromIPython(absl::string_view line) {
  const size_t equals = line.find('=');
  if (equals == absl::string_view::npos) return false;
  for (char c : line.substr(0, equals)) {
    if (!IsWordCharacter(c) && !absl::StrContains(" \t.,()[]*", c)) return false;
  }
  const absl::string_view value = absl::StripLeadingAsciiWhitespace(line.substr(equals + 1));
  return absl::StartsWith(value, "!") || absl::StartsWith(value, "%");
}

// `?x`, `x.y?`, `x??`
bool AsksForHelp(absl::string_view line) {
  if (absl::StartsWith(line, "?")) return true;
  if (!absl::EndsWith(line, "?")) return false;
  for (char c : line) {
    if (!IsWordCharacter(c) && c != '.' && c != '*' && c != '?') return false;
  }
  return true;
}

// Whether the code uses what IPython has beyond Python. A line inside a string may look so too: then the code is quoted in vain.
bool NeedsIPython(absl::string_view code) {
  const bool has_coroutines = HasWord(code, "async") && HasWord(code, "def");
  for (absl::string_view line : absl::StrSplit(code, '\n')) {
    const absl::string_view text = absl::StripAsciiWhitespace(line);
    if (absl::StartsWith(text, "%") || absl::StartsWith(text, "!") || AsksForHelp(text) || AssignsFromIPython(text)) return true;
    // At the top level: outside of a coroutine any await is there, beside one those that are not indented.
    const bool is_inner = has_coroutines && !line.empty() && absl::ascii_isspace(static_cast<unsigned char>(line.front()));
    if (!is_inner && (HasWord(text, "await") || absl::StartsWith(text, "async for ") || absl::StartsWith(text, "async with "))) return true;
  }
  return false;
}

// The record tells what no other program than Python can.
bool IsNoPython(const TranscriptCall& call) {
  if (!call.record.has_value() || !call.record->error.has_value()) return false;
  const std::string& name = call.record->error->name;
  return name == "SyntaxError" || name == "IndentationError" || name == "TabError";
}

// NUL and a byte order mark, which Python takes in the middle of no file, and a lone \r, which ends a line for Python alone.
bool HasOddCharacters(absl::string_view code) {
  if (absl::StartsWith(code, "\xEF\xBB\xBF")) return true;
  for (size_t i = 0; i < code.size(); ++i) {
    if (code[i] == '\0' || (code[i] == '\r' && code.substr(i + 1, 1) != "\n")) return true;
  }
  return false;
}

// Without blank lines at its ends, as SplitPercentCells gives cells.
absl::string_view Trimmed(absl::string_view code) {
  const absl::string_view text = absl::StripLeadingAsciiWhitespace(code);
  const size_t last_blank = code.substr(0, code.size() - text.size()).rfind('\n');
  return absl::StripTrailingAsciiWhitespace(last_blank == absl::string_view::npos ? code : code.substr(last_blank + 1));
}

// Whether SplitPercentCells gives the code back as one cell and still sees the marker after it: asked, not foretold.
bool SurvivesSplitting(absl::string_view code) {
  auto cells = SplitPercentCells(absl::StrCat("# %%\n", code, "\n\n# %%\nnext\n"));
  return cells.ok() && cells->size() == 2 && (*cells)[0].source == Trimmed(code) && (*cells)[0].kind == CellKind::kCode && (*cells)[1].source == "next";
}

std::string CellBody(const TranscriptCall& call) {
  if (call.language == Language::kBash) return QuoteCell(absl::StrCat("%%bash\n", call.code));
  const std::string code = capture::ToValidUtf8(call.code);
  if (HasOddCharacters(code) || IsNoPython(call) || NeedsIPython(code) || !SurvivesSplitting(code)) return QuoteCell(code);
  return absl::StrCat(Trimmed(code), "\n");
}

// A marker's title must not hold a tag, which would make it a cell of another kind.
std::string TitleText(absl::string_view text) { return absl::StrReplaceAll(OneLine(text, kTitleNoteMax), {{"[", "("}, {"]", ")"}}); }

std::string Cell(const TranscriptCall& call, size_t) {
  std::string title = CallLabel(call);
  if (const std::string start = StartOf(call); !start.empty()) absl::StrAppend(&title, ", ", start);
  absl::StrAppend(&title, ", ", EndingLabel(call));
  if (call.record.has_value() && call.record->status == CallStatus::kRejected) absl::StrAppend(&title, ", never ran");
  if (const std::string note = NoteOf(call); !note.empty()) absl::StrAppend(&title, ": ", TitleText(note));
  return absl::StrCat("\n# %% ", title, "\n", CellBody(call));
}

std::string Head(const Transcript& transcript, const TranscriptLayout& layout) {
  return absl::StrCat("# %% [markdown]\n# # Session ", OneLine(transcript.session_id, kTranscriptNameMax), "\n#\n# Policy ", OneLine(transcript.policy, kTranscriptNameMax), ", ",
                      layout.calls(), layout.calls() == 1 ? " call" : " calls", ". To run it: `ipython` and this file's name, or cell by cell. What plain Python\n",
                      "# would not take (bash, magics) is quoted for `get_ipython().run_cell`.\n");
}

}  // namespace

std::string RenderTranscriptScript(const Transcript& transcript, size_t bytes_max) {
  TranscriptLayout layout(transcript, bytes_max, Cell);
  std::string out = Head(transcript, layout);
  for (size_t i = 0; i < layout.calls(); ++i) out.append(layout.code(i));
  if (const std::string sentence = layout.LeftOutCalls(); !sentence.empty()) absl::StrAppend(&out, "\n# %% [markdown]\n# ", sentence, "\n");
  return out;
}

}  // namespace cellblock::render
