// Lines from a terminal with editing and history (libedit). Supervisor; trusts the person at the keyboard.
#ifndef CELLBLOCK_APP_TERMINAL_LINES_H_
#define CELLBLOCK_APP_TERMINAL_LINES_H_

#include <cstdio>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "app/cell_input.h"

namespace cellblock::app {

inline constexpr int kHistoryLinesMax = 1000;
inline constexpr size_t kHistoryBytesMax = size_t{1} << 20;

class TerminalLines : public LineSource {
 public:
  // `history_file`: read now and written at the end, mode 0600; empty: history for this session alone. The streams stay the caller's.
  static absl::StatusOr<std::unique_ptr<TerminalLines>> Create(FILE* in, FILE* out, FILE* err, const std::string& history_file);

  // From any thread: the line being typed is given up, as Ctrl-C does; Read() answers kCancelled. With `end` it answers kEnd.
  virtual void Cancel(bool end) = 0;
  // Writes the history file. An error is for a note: nothing else depends on it.
  virtual absl::Status SaveHistory() = 0;
};

}  // namespace cellblock::app

#endif  // CELLBLOCK_APP_TERMINAL_LINES_H_
