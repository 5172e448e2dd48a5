// See cell_input.h.
#include "app/cell_input.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "app/terminal_text.h"
#include "base/status_macros.h"
#include "sys/files.h"

namespace cellblock::app {
namespace {

bool IsBlank(absl::string_view line) { return absl::StripAsciiWhitespace(line).empty(); }
bool IsIndented(absl::string_view line) { return !line.empty() && (line[0] == ' ' || line[0] == '\t'); }

}  // namespace

void CellScanner::Feed(absl::string_view line) {
  if (empty_ && IsBlank(line)) return;
  if (empty_) cell_magic_ = absl::StartsWith(absl::StripLeadingAsciiWhitespace(line), "%%");
  empty_ = false;
  if (cell_magic_) return;
  line_ = line;
  at_ = 0;
  const bool starts_statement = quote_ == 0 && depth_ == 0 && !continued_;
  const bool more_shell = shell_ && continued_;
  continued_ = more_shell && absl::EndsWith(absl::StripAsciiWhitespace(line), "\\");
  if (more_shell) return;
  if (starts_statement && StartStatement()) return;
  while (at_ < line_.size()) {
    if (quote_ != 0) {
      StepInString();
    } else {
      Step();
    }
  }
  if (quote_ == 0 && depth_ == 0 && !continued_) {
    if (last_ == ':') block_ = true;
    last_ = 0;
  }
}

CellState CellScanner::state() const {
  if (cell_magic_) return CellState::kBlock;
  if (quote_ != 0 || depth_ > 0 || continued_ || decorated_) return CellState::kOpen;
  return block_ ? CellState::kBlock : CellState::kComplete;
}

// True: the whole line is none of Python's. Brackets and quotes of "!ls (" and "%time f(" mean nothing here.
bool CellScanner::StartStatement() {
  const absl::string_view text = absl::StripAsciiWhitespace(line_);
  if (text.empty() || text[0] == '#') return true;  // a comment neither opens nor ends a block
  block_ = IsIndented(line_);
  decorated_ = line_[0] == '@';
  shell_ = text[0] == '!' || text[0] == '%';
  if (!shell_) return false;
  continued_ = absl::EndsWith(text, "\\");
  return true;
}

void CellScanner::Step() {
  const char c = line_[at_];
  if (c == '#') {
    at_ = line_.size();
    return;
  }
  if (c == '\'' || c == '"') {
    triple_ = At(1) == c && At(2) == c;
    quote_ = last_ = c;
    at_ += triple_ ? 3 : 1;
    return;
  }
  if (c == '\\' && (At(1) == '\n' || at_ + 1 == line_.size())) {
    continued_ = true;
    at_ = line_.size();
    return;
  }
  if (c == '(' || c == '[' || c == '{') ++depth_;
  if ((c == ')' || c == ']' || c == '}') && depth_ > 0) --depth_;
  if (!absl::ascii_isspace(static_cast<unsigned char>(c))) last_ = c;
  ++at_;
}

void CellScanner::StepInString() {
  const char c = line_[at_];
  if (c == '\\') {
    at_ += 2;
  } else if (c == quote_ && (!triple_ || (At(1) == c && At(2) == c))) {
    at_ += triple_ ? 3 : 1;
    quote_ = 0;
  } else {
    if (c == '\n' && !triple_) quote_ = 0;  // never closed on its line: Python will say so
    ++at_;
  }
}

namespace {

absl::Status TooLong(size_t cell_bytes_max) {
  return absl::ResourceExhaustedError(
      absl::StrCat("a cell of more than ", ReadableBytes(static_cast<int64_t>(cell_bytes_max)), " (limits.code_size)"));
}

class StreamLines : public LineSource {
 public:
  StreamLines(int fd, size_t line_bytes_max) : fd_(fd), line_bytes_max_(line_bytes_max) {}

  absl::StatusOr<Line> Read(const std::string&) override {
    while (true) {
      const size_t end = buffer_.find('\n', searched_);
      if (end != std::string::npos) return Take(end, /*skip=*/1);
      searched_ = buffer_.size();
      if (searched_ > line_bytes_max_) return absl::ResourceExhaustedError(absl::StrCat("a line of more than ", line_bytes_max_, " bytes"));
      std::array<char, 4096> chunk;
      const ssize_t count = read(fd_, chunk.data(), chunk.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return sys::ErrnoStatus("read standard input");
      if (count == 0) {
        if (buffer_.empty()) return Line{Kind::kEnd, ""};
        return Take(buffer_.size(), /*skip=*/0);
      }
      buffer_.append(chunk.data(), static_cast<size_t>(count));
    }
  }

 private:
  absl::StatusOr<Line> Take(size_t end, size_t skip) {
    std::string text = buffer_.substr(0, end);
    buffer_.erase(0, end + skip);
    searched_ = 0;
    if (absl::EndsWith(text, "\r")) text.pop_back();
    return Line{Kind::kLine, std::move(text)};
  }

  const int fd_;
  const size_t line_bytes_max_;
  std::string buffer_;
  size_t searched_ = 0;
};

class InteractiveInput : public CellInput {
 public:
  InteractiveInput(LineSource& lines, size_t cell_bytes_max) : lines_(lines), cell_bytes_max_(cell_bytes_max) {}

  absl::StatusOr<Input> Next(int64_t number) override {
    const std::string first = absl::StrCat("In [", number, "]: ");
    const std::string more = std::string(first.size() - 5, ' ') + "...: ";
    std::string code;
    CellScanner scanner;
    while (true) {
      CELLBLOCK_ASSIGN_OR_RETURN(const LineSource::Line line, lines_.Read(code.empty() ? first : more));
      if (line.kind == LineSource::Kind::kCancelled) return Input{Input::Kind::kCancelled, ""};
      if (line.kind == LineSource::Kind::kEnd) {
        if (code.empty()) return Input{Input::Kind::kEnd, ""};
        return Input{Input::Kind::kCell, code};
      }
      const bool blank = IsBlank(line.text);
      if (!blank) lines_.Remember(line.text);
      if (code.empty() && blank) continue;
      if (code.empty() && line.text[0] == ':') return Input{Input::Kind::kCommand, line.text};
      if (code.size() + line.text.size() >= cell_bytes_max_) return TooLong(cell_bytes_max_);
      if (blank && scanner.state() != CellState::kOpen) return Input{Input::Kind::kCell, code};
      const std::string whole = absl::StrCat(line.text, "\n");
      code += whole;
      scanner.Feed(whole);
      if (scanner.state() == CellState::kComplete) return Input{Input::Kind::kCell, code};
    }
  }

 private:
  LineSource& lines_;
  const size_t cell_bytes_max_;
};

class StreamInput : public CellInput {
 public:
  StreamInput(LineSource& lines, size_t cell_bytes_max) : lines_(lines), cell_bytes_max_(cell_bytes_max) {}

  absl::StatusOr<Input> Next(int64_t) override {
    std::string code;
    CellScanner scanner;
    while (true) {
      CELLBLOCK_ASSIGN_OR_RETURN(const LineSource::Line line, Take());
      if (line.kind != LineSource::Kind::kLine) {
        if (code.empty()) return Input{Input::Kind::kEnd, ""};
        return Input{Input::Kind::kCell, code};
      }
      const bool blank = IsBlank(line.text);
      if (code.empty() && blank) continue;
      if (code.empty() && line.text[0] == ':') return Input{Input::Kind::kCommand, line.text};
      if (code.size() + line.text.size() >= cell_bytes_max_) return TooLong(cell_bytes_max_);
      if (blank) {
        CELLBLOCK_ASSIGN_OR_RETURN(const bool ends, EndsCell(scanner.state()));
        if (ends) return Input{Input::Kind::kCell, code};
      }
      const std::string whole = absl::StrCat(line.text, "\n");
      code += whole;
      scanner.Feed(whole);
    }
  }

 private:
  absl::StatusOr<bool> EndsCell(CellState state) {
    if (state != CellState::kBlock) return state == CellState::kComplete;
    if (!ahead_.has_value()) {
      CELLBLOCK_ASSIGN_OR_RETURN(ahead_, lines_.Read(""));
    }
    if (ahead_->kind != LineSource::Kind::kLine || IsBlank(ahead_->text)) return true;
    const absl::string_view text = ahead_->text;
    const bool goes_on = IsIndented(text) || absl::StartsWith(text, "else") || absl::StartsWith(text, "elif ") ||
                         absl::StartsWith(text, "except") || absl::StartsWith(text, "finally");
    return !goes_on;
  }

  absl::StatusOr<LineSource::Line> Take() {
    if (!ahead_.has_value()) return lines_.Read("");
    LineSource::Line line = *std::move(ahead_);
    ahead_.reset();
    return line;
  }

  LineSource& lines_;
  const size_t cell_bytes_max_;
  std::optional<LineSource::Line> ahead_;
};

}  // namespace

CellState Classify(absl::string_view code) {
  CellScanner scanner;
  for (absl::string_view line : absl::StrSplit(code, '\n')) scanner.Feed(absl::StrCat(line, "\n"));
  return scanner.state();
}

std::unique_ptr<LineSource> MakeStreamLines(int fd, size_t line_bytes_max) { return std::make_unique<StreamLines>(fd, line_bytes_max); }

std::unique_ptr<CellInput> MakeInteractiveInput(LineSource& lines, size_t cell_bytes_max) {
  return std::make_unique<InteractiveInput>(lines, cell_bytes_max);
}

std::unique_ptr<CellInput> MakeStreamInput(LineSource& lines, size_t cell_bytes_max) {
  return std::make_unique<StreamInput>(lines, cell_bytes_max);
}

}  // namespace cellblock::app
