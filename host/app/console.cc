// See console.h.
#include "app/console.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "app/charts.h"
#include "app/terminal_text.h"

namespace cellblock::app {
namespace {

// Writes all of it, also when the descriptor is non-blocking (a terminal shared with a program that made it so). Returns 0 or errno.
int WriteFully(int fd, absl::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd wait = {fd, POLLOUT, 0};
      poll(&wait, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

// What the person can do about a limit that the code ran into stands in the limit's own detail; here only the plain lead-in.
std::string LimitLine(const LimitHit& hit) {
  return absl::StrCat("limit reached: ", NeutralizeLine(hit.name), hit.detail.empty() ? "" : ": ", NeutralizeLine(hit.detail));
}

std::string DenialLine(const Denial& denial) {
  std::string line = absl::StrCat("refused: ", NeutralizeLine(denial.kind), " ", NeutralizeLine(denial.subject));
  if (!denial.rule.empty()) absl::StrAppend(&line, " (", NeutralizeLine(denial.rule), ")");
  if (denial.count > 1) absl::StrAppend(&line, ", ", denial.count, " times");
  return line;
}

std::string TruncationLine(absl::string_view stream, const StreamTruncation& cut) {
  return absl::StrCat(stream, " was cut: ", ReadableBytes(cut.dropped_bytes), " left out between the first ", ReadableBytes(cut.head_bytes),
                      " and the last ", ReadableBytes(cut.tail_bytes), " (limits.output)", cut.artifact_id.empty() ? "" : "; the whole text is an artifact");
}

// One sentence when the record brings none of its own.
std::string DefaultReason(const Record& record) {
  switch (record.status) {
    case CallStatus::kInterrupted:
      return "interrupted";
    case CallStatus::kTimeout:
      return "the time limit passed (limits.wall)";
    case CallStatus::kCpuLimit:
      return "the CPU time limit passed (limits.cpu)";
    case CallStatus::kOutOfMemory:
      return "killed: out of memory (limits.memory)";
    case CallStatus::kKilled:
      return record.signal.has_value() ? absl::StrCat("killed by signal ", *record.signal) : "killed";
    case CallStatus::kRejected:
      return "the call was not started";
    case CallStatus::kLost:
      return "the call was started and its ending is unknown";
    default:
      return "";
  }
}

// The limit that ended the call is the reason's to tell, cut output the line's about the cut.
bool IsToldOtherwise(const LimitHit& hit, const Record& record) {
  if (hit.name == "output") return record.stdout_truncation.has_value() || record.stderr_truncation.has_value();
  return (record.status == CallStatus::kTimeout && hit.name == "wall") || (record.status == CallStatus::kCpuLimit && hit.name == "cpu") ||
         (record.status == CallStatus::kOutOfMemory && hit.name == "memory");
}

// How to give more here: the record itself speaks of policies, which the command line is not alone to set.
const char* RemedyFor(const Record& record) {
  if (record.status == CallStatus::kOk) return nullptr;
  if (record.status == CallStatus::kTimeout) return "--timeout DURATION gives a cell more time";
  for (const LimitHit& hit : record.receipt.limits_hit) {
    if (hit.name == "memory") return "--memory SIZE gives the session more memory";
    if (hit.name != "artifacts") return "--policy FILE can allow more: 'cellblock policy print default' shows every limit";
  }
  return nullptr;
}

}  // namespace

absl::string_view PlainText(const Result& result) {
  for (const MimeData& data : result.mime) {
    if (data.type == "text/plain") return data.data;
  }
  return "";
}

void Console::PrintEvent(const Event& event, const Record& so_far) {
  std::lock_guard<std::mutex> lock(mutex_);
  switch (event.type) {
    case Event::Type::kStdout:
      PrintGuest(/*to_stdout=*/true, event.text);
      break;
    case Event::Type::kStderr:
      PrintGuest(/*to_stdout=*/false, event.text);
      break;
    case Event::Type::kDisplay:
    case Event::Type::kUpdate:
    case Event::Type::kResult:
      if (event.result < so_far.results.size()) PrintResult(so_far.results[event.result]);
      break;
    case Event::Type::kError:
      if (so_far.error.has_value()) PrintError(*so_far.error);
      break;
    case Event::Type::kClear:
    case Event::Type::kEgress:
      break;  // what is on a person's screen or in a file stays
  }
}

void Console::PrintResult(const Result& result) {
  // A displayed picture is announced with its path once it is saved, and its text ("<Figure size 640x480 …>") is no use to a reader. A
  // value is told even when it is a picture.
  if (!result.is_value && !PicturesOf(result).empty()) return;
  const absl::string_view text = PlainText(result);
  if (text.empty()) return;
  EndLine(/*to_stdout=*/true);
  PrintGuest(/*to_stdout=*/true, text);
  EndLine(/*to_stdout=*/true);
}

void Console::PrintError(const ErrorInfo& error) {
  EndLine(/*to_stdout=*/false);
  PrintGuest(/*to_stdout=*/false, error.traceback.empty() ? absl::StrCat(error.name, ": ", error.value) : error.traceback);
  EndLine(/*to_stdout=*/false);
  if (!error.hint.empty()) {
    PrintGuest(/*to_stdout=*/false, absl::StrCat("hint: ", error.hint));
    EndLine(/*to_stdout=*/false);
  }
}

void Console::PrintEnding(const Record& record) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (record.status == CallStatus::kExited && record.exit_code.value_or(0) != 0) {
    Line(absl::StrCat("the code ended itself with exit code ", *record.exit_code));
  }
  // An exception has been told already, with its traceback.
  const bool told = record.status == CallStatus::kError && record.error.has_value();
  const std::string reason = told ? "" : record.reason.empty() ? DefaultReason(record) : record.reason;
  if (!reason.empty()) Line(NeutralizeLine(reason));
  for (const LimitHit& hit : record.receipt.limits_hit) {
    if (!IsToldOtherwise(hit, record)) Line(LimitLine(hit));
  }
  if (const char* remedy = RemedyFor(record); remedy != nullptr) Line(remedy);
  for (const Denial& denial : record.denials) Line(DenialLine(denial));
  if (record.stdout_truncation.has_value()) Line(TruncationLine("standard output", *record.stdout_truncation));
  if (record.stderr_truncation.has_value()) Line(TruncationLine("standard error", *record.stderr_truncation));
  if (record.receipt.processes_killed > 0) {
    Line(absl::StrCat(Counted(record.receipt.processes_killed, "process", "processes"),
                      " still running at the end of the call: ended (keep_processes in the policy keeps them)"));
  }
}

void Console::Write(absl::string_view text) {
  std::lock_guard<std::mutex> lock(mutex_);
  ClearStatus();
  WriteTo(/*to_stdout=*/true, text);
}

void Console::Note(absl::string_view message) {
  if (options_.quiet) return;
  std::lock_guard<std::mutex> lock(mutex_);
  Line(message);
}

void Console::Problem(absl::string_view message) {
  std::lock_guard<std::mutex> lock(mutex_);
  Line(message);
}

void Console::Line(absl::string_view message) {
  EndLine(/*to_stdout=*/false);
  WriteTo(/*to_stdout=*/false, absl::StrCat("cellblock: ", message, "\n"));
}

void Console::Status(absl::string_view message) {
  if (!options_.stderr_is_terminal || options_.quiet) return;
  std::lock_guard<std::mutex> lock(mutex_);
  ClearStatus();
  if (message.empty()) return;
  EndLine(/*to_stdout=*/false);
  WriteFully(options_.stderr_fd, absl::StrCat("cellblock: ", message));
  status_shown_ = true;
}

void Console::ClearStatus() {
  if (!status_shown_) return;
  WriteFully(options_.stderr_fd, "\r\x1b[K");
  status_shown_ = false;
}

void Console::PrintGuest(bool to_stdout, absl::string_view text) {
  const bool terminal = to_stdout ? options_.stdout_is_terminal : options_.stderr_is_terminal;
  if (terminal) {
    WriteTo(to_stdout, Neutralize(text));
  } else {
    WriteTo(to_stdout, text);
  }
}

void Console::EndLine(bool to_stdout) {
  ClearStatus();
  const bool one_screen = options_.stdout_is_terminal && options_.stderr_is_terminal;
  const bool at_start = one_screen  ? stdout_at_line_start_ && stderr_at_line_start_
                        : to_stdout ? stdout_at_line_start_
                                    : stderr_at_line_start_;
  if (!at_start) WriteTo(to_stdout, "\n");
}

void Console::WriteTo(bool to_stdout, absl::string_view text) {
  if (text.empty() || (to_stdout && stdout_closed_)) return;
  ClearStatus();
  const int why = WriteFully(to_stdout ? options_.stdout_fd : options_.stderr_fd, text);
  if (to_stdout && why != 0) return LoseStdout(why);
  const bool at_start = text[text.size() - 1] == '\n';
  if (options_.stdout_is_terminal && options_.stderr_is_terminal) {
    stdout_at_line_start_ = stderr_at_line_start_ = at_start;
  } else {
    (to_stdout ? stdout_at_line_start_ : stderr_at_line_start_) = at_start;
  }
}

void Console::LoseStdout(int why) {
  stdout_closed_ = true;
  const bool reader_gone = why == EPIPE || why == ECONNRESET || (why == EIO && options_.stdout_is_terminal);  // the latter: hung up
  if (reader_gone) return;
  stdout_failed_ = true;
  Line(absl::StrCat("standard output could not be written: ", std::generic_category().message(why)));
}

bool Console::stdout_failed() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return stdout_failed_;
}

bool Console::stdout_closed() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return stdout_closed_;
}

}  // namespace cellblock::app
