// Prints a call while it runs and what became of it. Guest text goes to the stream it was written to, everything of our own to
// standard error with the prefix "cellblock: ". On a terminal, guest text is neutralised (terminal_text.h); into a file or pipe it goes
// as it is. Supervisor; trusts nothing that it prints. Thread-safe: the signal watcher prints too.
#ifndef CELLBLOCK_APP_CONSOLE_H_
#define CELLBLOCK_APP_CONSOLE_H_

#include <mutex>
#include <string>

#include "absl/strings/string_view.h"
#include "cellblock/record.h"

namespace cellblock::app {

struct ConsoleOptions {
  int stdout_fd = 1;
  int stderr_fd = 2;
  bool stdout_is_terminal = false;
  bool stderr_is_terminal = false;
  bool quiet = false;  // no Note() and no progress: problems and what ended a call are still told
};

class Console {
 public:
  explicit Console(const ConsoleOptions& options) : options_(options) {}
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  // For ExecuteOptions::on_event.
  void PrintEvent(const Event& event, const Record& so_far);
  // After the call: what ended it, limits it hit, refusals, cut output, processes left over. Nothing for a call that went well and hit
  // nothing, and nothing twice.
  void PrintEnding(const Record& record);

  // Our own output: tables, JSON lines, help. Never neutralised.
  void Write(absl::string_view text);
  // One line for a person, dropped when quiet.
  void Note(absl::string_view message);
  // One line for a person about something that went wrong.
  void Problem(absl::string_view message);
  // One line that stays only until the next output, on a terminal; elsewhere nothing. Empty: removes it.
  void Status(absl::string_view message);

  // True once standard output takes nothing more; nothing is written to it from then on. Either its reader has gone away (EPIPE), which
  // is nobody's mistake and not told, or it could not be written (a full disk), which has been told.
  bool stdout_closed() const;
  bool stdout_failed() const;
  bool quiet() const { return options_.quiet; }
  bool stderr_is_terminal() const { return options_.stderr_is_terminal; }

 private:
  void PrintGuest(bool to_stdout, absl::string_view text);
  void EndLine(bool to_stdout);
  void PrintResult(const Result& result);
  void PrintError(const ErrorInfo& error);
  void Line(absl::string_view message);
  void ClearStatus();
  void WriteTo(bool to_stdout, absl::string_view text);
  void LoseStdout(int why);

  const ConsoleOptions options_;
  mutable std::mutex mutex_;
  bool status_shown_ = false;
  bool stdout_closed_ = false;
  bool stdout_failed_ = false;
  // Whether the last byte written there ended its line; both streams share one screen when both are terminals.
  bool stdout_at_line_start_ = true;
  bool stderr_at_line_start_ = true;
};

// The text/plain of a bundle; empty when it has none.
absl::string_view PlainText(const Result& result);

}  // namespace cellblock::app

#endif  // CELLBLOCK_APP_CONSOLE_H_
