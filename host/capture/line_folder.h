// Folds carriage-return progress to its last state, as a terminal shows it: "10%\r20%\r100%\n" becomes "100%\n". Runs in the
// supervisor, on valid UTF-8 that a guest caused, with a bounded buffer even for a line of 1 GB.
//
// The rule: a carriage return moves back to the start of the row, and what follows overwrites it character by character, so
// "abc\rX\n" becomes "Xbc\n" as on a terminal (and in Jupyter); bars that get shorter pad with spaces for that reason. "\r\n" is a
// newline. A row is a line, or kRowColumnsMax characters of a longer one: the screen is that wide, and a carriage return does not
// reach rows above. Every character takes one column; backspaces and escape sequences are characters like others. A return at the
// very end of the text changes nothing that is visible and is dropped.
#ifndef CELLBLOCK_CAPTURE_LINE_FOLDER_H_
#define CELLBLOCK_CAPTURE_LINE_FOLDER_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"

namespace cellblock::capture {

class LineFolder {
 public:
  static constexpr size_t kRowColumnsMax = 16 * 1024;  // longer progress lines than any real one; 64 KiB a stream at most

  // Receives the text that no carriage return can change any more, in order. The first piece of a row comes while shown_bytes() and
  // shown_is_stale() still speak of that row.
  using Commit = absl::FunctionRef<void(absl::string_view)>;

  void Append(absl::string_view text, Commit commit);  // whole characters
  void Finish(Commit commit);                          // the row as it stands is final

  // A reader who follows live has seen the first shown_bytes() of the row, or, when stale, an earlier state of them.
  size_t shown_bytes() const { return shown_bytes_; }
  bool shown_is_stale() const { return stale_; }
  std::string RowText() const;
  std::string UnshownText() const;       // what follows the shown part; only when not stale
  void MarkShown(size_t bytes);          // the first `bytes` of RowText() have been shown

 private:
  void WriteAppending(absl::string_view text, Commit commit);
  void AppendToRow(absl::string_view text, Commit commit);
  size_t WriteOverwriting(absl::string_view text, Commit commit);
  void StartOverwriting();
  void CommitRow(absl::string_view ending, Commit commit);

  // A row without a return is plain text in row_. Once a return overwrites it, it is one cell a character, so that an overwrite
  // with a character of another length costs the same.
  std::string row_;
  size_t row_columns_ = 0;
  bool returned_ = false;           // a return came at the end of what was read; a newline may follow
  bool overwriting_ = false;
  std::vector<char32_t> cells_;
  size_t cursor_ = 0;

  size_t shown_bytes_ = 0;
  size_t shown_columns_ = 0;        // known only while overwriting
  bool stale_ = false;
};

}  // namespace cellblock::capture

#endif  // CELLBLOCK_CAPTURE_LINE_FOLDER_H_
