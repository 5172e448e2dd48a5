// One line to standard error, written with a single write(2) so that lines of several processes don't mix. Every process.
// Text that came from a worker must be escaped by the caller (absl::CHexEscape) before it is logged.
#ifndef CELLBLOCK_BASE_LOG_H_
#define CELLBLOCK_BASE_LOG_H_

#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace cellblock {

enum class LogLevel { kDebug = 0, kInfo = 1, kWarning = 2, kError = 3 };
// kText: "cellblock[pid] W message". kJson: {"time", "level", "pid", "message", "session_id"?, "request_id"?}, for who collects logs.
enum class LogFormat { kText, kJson };

// What a line is about, where it is about one session or one request; cut at 128 bytes each.
struct LogSubject {
  absl::string_view session_id;
  absl::string_view request_id;
};

// Lines below this level are dropped. Default kWarning. Set once, before threads start; so is the format.
void SetLogLevel(LogLevel level);
bool IsLogged(LogLevel level);
void SetLogFormat(LogFormat format);
LogFormat CurrentLogFormat();

// Messages over 4 KiB are cut, and JSON stays JSON. Thread-safe.
void Log(LogLevel level, absl::string_view message, const LogSubject& subject = {});

// The line that Log writes, with its newline.
std::string LogLine(LogFormat format, LogLevel level, absl::string_view message, const LogSubject& subject);

// For our own bugs only, never for guest bytes, files or the network: logs and aborts.
[[noreturn]] void FailCheck(const char* condition, const char* file, int line);

#define CELLBLOCK_CHECK(condition) ((condition) ? static_cast<void>(0) : ::cellblock::FailCheck(#condition, __FILE__, __LINE__))

}  // namespace cellblock

#endif  // CELLBLOCK_BASE_LOG_H_
