// Reads .ipynb files; see notebook.h. The only file of this room that includes Boost.JSON, whose streaming parser is used: a tree of a
// hostile 64 MiB file ("[[[[1,1,…") would take a gigabyte, the cells' sources take what they are.
#include <algorithm>
#include <utility>

#include <boost/json/basic_parser_impl.hpp>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "capture/utf8.h"
#include "render/notebook.h"

namespace cellblock::render {
namespace {

constexpr size_t kDepthMax = 256;      // outputs of widgets nest deeper than the parser's default of 32
constexpr size_t kShortTextMax = 128;  // keys and names that mean something to us are far shorter

// Where in the document the parser stands: what the container around the current value is.
enum class Place {
  kTop,           // the document's object
  kWorksheets,    // nbformat 3: an array of
  kWorksheet,     // objects with cells
  kCells,
  kCell,
  kSource,        // a cell's source as a list of strings
  kMetadata,
  kKernelSpec,    // metadata.kernelspec
  kLanguageInfo,  // metadata.language_info
  kOther,         // outputs and the like: skipped
};

// A word of the file, perhaps cut, for a message that may go to a terminal.
std::string Shown(absl::string_view word) { return absl::Utf8SafeCHexEscape(capture::ToValidUtf8(word)); }

// Receives the parser's events. Sets `ec` and `problem` to stop it.
class Handler {
 public:
  using error_code = boost::json::error_code;
  using string_view = boost::json::string_view;
  static constexpr std::size_t max_object_size = ~std::size_t{0};
  static constexpr std::size_t max_array_size = ~std::size_t{0};
  static constexpr std::size_t max_key_size = ~std::size_t{0};
  static constexpr std::size_t max_string_size = ~std::size_t{0};

  std::vector<NotebookCell> cells;
  std::string problem;
  bool too_many_cells = false;
  int64_t nbformat = -1;
  std::string language;

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }

  bool on_object_begin(error_code& ec) {
    if (places_.empty()) return Enter(Place::kTop);
    switch (places_.back()) {
      case Place::kWorksheets: return Enter(Place::kWorksheet);
      case Place::kCells: return BeginCell(ec);
      case Place::kSource: return Stop(ec, absl::StrCat("part of the source of ", ThisCell(), " is not a string"));
      case Place::kTop: return key_ == "cells" ? Stop(ec, "\"cells\" is not a list") : Enter(key_ == "metadata" ? Place::kMetadata : Place::kOther);
      case Place::kMetadata:
        return Enter(key_ == "kernelspec" ? Place::kKernelSpec : key_ == "language_info" ? Place::kLanguageInfo : Place::kOther);
      case Place::kCell:
        if (IsSourceKey()) return Stop(ec, absl::StrCat("the source of ", ThisCell(), " is neither a string nor a list of strings"));
        return Enter(Place::kOther);
      default: return Enter(Place::kOther);
    }
  }
  bool on_object_end(std::size_t, error_code& ec) {
    if (places_.back() == Place::kCell && !EndCell(ec)) return false;
    return Leave();
  }

  bool on_array_begin(error_code& ec) {
    if (places_.empty()) return Stop(ec, "the document is a list, not a notebook");
    switch (places_.back()) {
      case Place::kTop:
        if (key_ == "cells") return Enter(Place::kCells);
        return Enter(key_ == "worksheets" ? Place::kWorksheets : Place::kOther);
      case Place::kWorksheet: return Enter(key_ == "cells" ? Place::kCells : Place::kOther);
      case Place::kCell: return Enter(IsSourceKey() ? Place::kSource : Place::kOther);
      case Place::kCells: return Stop(ec, absl::StrCat(ThisCell(), " is not an object"));
      case Place::kSource: return Stop(ec, absl::StrCat("part of the source of ", ThisCell(), " is not a string"));
      default: return Enter(Place::kOther);
    }
  }
  bool on_array_end(std::size_t, error_code&) { return Leave(); }

  bool on_key_part(string_view part, std::size_t total, error_code&) {
    if (total == part.size()) key_.clear();
    AppendShort(part, &key_);
    return true;
  }
  bool on_key(string_view part, std::size_t total, error_code& ec) { return on_key_part(part, total, ec); }

  bool on_string_part(string_view part, std::size_t total, error_code& ec) {
    if (places_.empty()) return Stop(ec, "the document is a string, not a notebook");
    const bool first = total == part.size();
    switch (places_.back()) {
      case Place::kTop:
        if (key_ == "cells") return Stop(ec, "\"cells\" is not a list");
        break;
      case Place::kSource: source_.append(part.data(), part.size()); break;
      case Place::kCell:
        if (IsSourceKey()) source_.append(part.data(), part.size());
        if (key_ == "cell_type") TakeShort(part, first, &cell_type_);
        if (key_ == "language") TakeShort(part, first, &language);  // nbformat 3
        break;
      case Place::kCells: return Stop(ec, absl::StrCat(ThisCell(), " is not an object"));
      case Place::kKernelSpec:
        if (key_ == "language") TakeShort(part, first, &language);
        break;
      case Place::kLanguageInfo:
        if (key_ == "name") TakeShort(part, first, &language);
        break;
      default: break;
    }
    return true;
  }
  bool on_string(string_view part, std::size_t total, error_code& ec) { return on_string_part(part, total, ec); }

  bool on_number_part(string_view, error_code&) { return true; }
  bool on_int64(std::int64_t value, string_view, error_code& ec) {
    if (!places_.empty() && places_.back() == Place::kTop && key_ == "nbformat") {
      nbformat = value;
      return true;
    }
    return Scalar(ec);
  }
  bool on_uint64(std::uint64_t, string_view, error_code& ec) { return Scalar(ec); }
  bool on_double(double, string_view, error_code& ec) { return Scalar(ec); }
  bool on_bool(bool, error_code& ec) { return Scalar(ec); }
  bool on_null(error_code& ec) { return Scalar(ec); }
  bool on_comment_part(string_view, error_code&) { return true; }
  bool on_comment(string_view, error_code&) { return true; }

 private:
  bool Enter(Place place) {
    places_.push_back(place);
    return true;
  }
  bool Leave() {
    places_.pop_back();
    return true;
  }
  bool Stop(error_code& ec, std::string what) {
    problem = std::move(what);
    ec = boost::json::error::syntax;  // any error stops the parser; `problem` is what is told
    return false;
  }

  std::string ThisCell() const { return absl::StrCat("cell ", cells.size() + 1); }

  // Code cells of nbformat 3 call their source "input".
  bool IsSourceKey() const { return key_ == "source" || key_ == "input"; }

  // A number, true, false or null, where something else may be needed.
  bool Scalar(error_code& ec) {
    if (places_.empty()) return Stop(ec, "the document is a single value, not a notebook");
    if (places_.back() == Place::kCells) return Stop(ec, absl::StrCat(ThisCell(), " is not an object"));
    if (places_.back() == Place::kSource || (places_.back() == Place::kCell && IsSourceKey())) {
      return Stop(ec, absl::StrCat("the source of ", ThisCell(), " is neither a string nor a list of strings"));
    }
    if (places_.back() == Place::kTop && key_ == "cells") return Stop(ec, "\"cells\" is not a list");
    return true;
  }

  bool BeginCell(error_code& ec) {
    if (cells.size() == kNotebookCellsMax) {
      too_many_cells = true;
      return Stop(ec, absl::StrCat("the notebook has more than ", kNotebookCellsMax, " cells; split it into several"));
    }
    cell_type_.clear();
    source_.clear();
    return Enter(Place::kCell);
  }

  bool EndCell(error_code& ec) {
    NotebookCell cell;
    if (cell_type_ == "code") {
      cell.kind = CellKind::kCode;
    } else if (cell_type_ == "markdown" || cell_type_ == "heading" || cell_type_ == "html") {  // the latter two: nbformat 3
      cell.kind = CellKind::kMarkdown;
    } else if (cell_type_ == "raw") {
      cell.kind = CellKind::kRaw;
    } else if (cell_type_.empty()) {
      return Stop(ec, absl::StrCat(ThisCell(), " has no \"cell_type\""));
    } else {
      return Stop(ec, absl::StrCat(ThisCell(), " has the unknown \"cell_type\" \"", Shown(cell_type_), "\"; code, markdown and raw are known"));
    }
    cell.source = std::move(source_);
    source_ = std::string();
    cells.push_back(std::move(cell));
    return true;
  }

  static void AppendShort(string_view part, std::string* text) {
    text->append(part.data(), std::min<size_t>(part.size(), kShortTextMax - std::min(kShortTextMax, text->size())));
  }
  static void TakeShort(string_view part, bool first, std::string* text) {
    if (first) text->clear();
    AppendShort(part, text);
  }

  std::vector<Place> places_;  // at most kDepthMax
  std::string key_;            // the last one read: the current member's while no container is between
  std::string cell_type_;
  std::string source_;
};

// "line 3, column 7", from 1, in characters.
std::string Position(absl::string_view json, size_t offset) {
  offset = std::min(offset, json.size());
  absl::string_view before = json.substr(0, offset);
  size_t line_begin = before.rfind('\n');
  line_begin = line_begin == absl::string_view::npos ? 0 : line_begin + 1;
  return absl::StrCat("line ", std::count(before.begin(), before.end(), '\n') + 1, ", column ",
                      capture::CountCharacters(before.substr(line_begin)) + 1);
}

// Whether the parser stopped behind an escape such as \ud800, which the other half must follow; it calls that a syntax error like others.
bool EndsInLeadingSurrogate(absl::string_view before) {
  if (absl::EndsWith(before, "\\")) before.remove_suffix(1);  // of another escape
  if (before.size() < 6) return false;
  const std::string escape = absl::AsciiStrToLower(before.substr(before.size() - 6));
  if (!absl::StartsWith(escape, "\\ud") || !absl::StrContains("89ab", escape.substr(3, 1))) return false;
  size_t backslashes = 0;  // an even number of them stands for backslashes
  for (size_t at = before.size() - 6; at < before.size() && before[at] == '\\'; --at) ++backslashes;
  return backslashes % 2 == 1;
}

std::string SyntaxProblem(absl::string_view json, size_t offset, const boost::json::error_code& ec) {
  if (offset >= json.size() || ec == boost::json::error::incomplete) return "the file ends in the middle of the JSON text; was it saved whole?";
  if (ec == boost::json::error::too_deep) return absl::StrCat("the JSON text nests deeper than ", kDepthMax, " levels");
  if (ec == boost::json::error::illegal_leading_surrogate || ec == boost::json::error::illegal_trailing_surrogate ||
      EndsInLeadingSurrogate(json.substr(0, offset))) {
    return "a \\u escape here names half of a surrogate pair (\\ud800 – \\udfff), which is no character; write the whole pair, or the character itself";
  }
  absl::string_view rest = json.substr(offset);
  for (absl::string_view number : {"NaN", "Infinity", "-Infinity"}) {
    if (absl::StartsWith(rest, number)) return absl::StrCat(number, " is not JSON; open the notebook in Jupyter, clear its outputs and save it again");
  }
  return absl::StrCat("not JSON (", ec.message(), "); is this an .ipynb file?");
}

absl::Status CheckLanguage(absl::string_view language) {
  const std::string lower = absl::AsciiStrToLower(language);
  if (lower.empty() || absl::StartsWith(lower, "python") || lower == "ipython") return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the notebook's language is \"", Shown(language), "\"; only Python notebooks can be run"));
}

}  // namespace

absl::StatusOr<std::vector<NotebookCell>> ParseNotebook(absl::string_view json) {
  if (json.size() > kNotebookBytesMax) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the notebook has ", json.size(), " bytes; at most ", kNotebookBytesMax, " are taken. Clear its outputs and save it again"));
  }
  absl::ConsumePrefix(&json, "\xEF\xBB\xBF");  // byte order mark
  boost::json::parse_options options;
  options.max_depth = kDepthMax;
  boost::json::basic_parser<Handler> parser(options);
  boost::json::error_code ec;
  size_t used = parser.write_some(/*more=*/false, json.data(), json.size(), ec);
  Handler& handler = parser.handler();
  size_t trailing = used;
  if (!ec) {
    while (trailing < json.size() && absl::ascii_isspace(static_cast<unsigned char>(json[trailing]))) ++trailing;
  }
  if (ec || trailing < json.size()) {
    std::string what = !ec                       ? "something follows the end of the JSON text"
                       : handler.problem.empty() ? SyntaxProblem(json, used, ec)
                                                 : handler.problem;
    std::string message = absl::StrCat(Position(json, ec ? used : trailing), ": ", what);
    return handler.too_many_cells ? absl::ResourceExhaustedError(message) : absl::InvalidArgumentError(message);
  }
  if (handler.nbformat < 0) return absl::InvalidArgumentError("not a notebook: it has no \"nbformat\" number at its top level");
  if (handler.nbformat < 3 || handler.nbformat > 4) {
    return absl::InvalidArgumentError(
        absl::StrCat("nbformat ", handler.nbformat, " is not known; 3 and 4 are. Open the notebook in Jupyter and save it again"));
  }
  absl::Status language = CheckLanguage(handler.language);
  if (!language.ok()) return language;
  return std::move(handler.cells);
}

}  // namespace cellblock::render
