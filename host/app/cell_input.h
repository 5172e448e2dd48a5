// Lines into cells, for `cellblock repl`: when is what was typed complete? Decided here, by brackets, quotes, colons and indentation, not
// by asking the session: that would count as a call and could run beside the user's own. Supervisor; no side effects but reading.
#ifndef CELLBLOCK_APP_CELL_INPUT_H_
#define CELLBLOCK_APP_CELL_INPUT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cellblock::app {

enum class CellState {
  kComplete,
  kOpen,   // an open bracket, string or backslash: more must come, blank lines or not
  kBlock,  // a compound statement or a cell magic: more may come, a blank line ends it
};

// Reads lines as CPython's tokenizer would, as far as it must to know what is open after them.
class CellScanner {
 public:
  void Feed(absl::string_view line);  // with its line feed
  CellState state() const;

 private:
  char At(size_t offset) const { return at_ + offset < line_.size() ? line_[at_ + offset] : '\0'; }
  bool StartStatement();
  void Step();
  void StepInString();

  absl::string_view line_;
  size_t at_ = 0;
  bool empty_ = true;
  bool cell_magic_ = false;
  char quote_ = 0;
  bool triple_ = false;
  int64_t depth_ = 0;
  bool shell_ = false;      // the last statement is none of Python's
  bool continued_ = false;  // the last line ends with a backslash
  bool decorated_ = false;  // the last statement is a decorator: what it decorates must come
  bool block_ = false;      // the last statement is indented, or ends with a colon
  char last_ = 0;           // last character of the statement that counts
};

// Of whole code at once.
CellState Classify(absl::string_view code);

// Where lines come from: a terminal with editing, or a pipe.
class LineSource {
 public:
  enum class Kind { kLine, kEnd, kCancelled };
  struct Line {
    Kind kind = Kind::kEnd;
    std::string text;  // without its line end
  };
  virtual ~LineSource() = default;
  virtual absl::StatusOr<Line> Read(const std::string& prompt) = 0;
  virtual void Remember(const std::string& line) {}  // for the history
};

// Lines of a file or pipe, of at most `line_bytes_max` bytes: beyond it kResourceExhausted.
std::unique_ptr<LineSource> MakeStreamLines(int fd, size_t line_bytes_max);

// What the person gave: a cell to run, a command of the repl (":files"), nothing (cancelled with Ctrl-C), or the end.
struct Input {
  enum class Kind { kCell, kCommand, kCancelled, kEnd };
  Kind kind = Kind::kEnd;
  std::string text;
};

class CellInput {
 public:
  virtual ~CellInput() = default;
  // `number`: of the cell to come, for the prompt. kResourceExhausted: over `cell_bytes_max`.
  virtual absl::StatusOr<Input> Next(int64_t number) = 0;
};

// Each line runs as soon as it is complete; a block ends with an empty line.
std::unique_ptr<CellInput> MakeInteractiveInput(LineSource& lines, size_t cell_bytes_max);

// For input that nobody types: an empty line ends a cell. Inside an indented block it does not when an indented line or else, elif, except
// or finally follows; two empty lines always do, unless a bracket or string is open.
std::unique_ptr<CellInput> MakeStreamInput(LineSource& lines, size_t cell_bytes_max);

}  // namespace cellblock::app

#endif  // CELLBLOCK_APP_CELL_INPUT_H_
