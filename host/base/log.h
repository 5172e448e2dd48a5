// One line to standard error, written with a single write(2) so that lines of several processes don't mix. Every process.
// Text that came from a worker must be escaped by the caller (absl::CHexEscape) before it is logged.
#ifndef CELLBLOCK_BASE_LOG_H_
#define CELLBLOCK_BASE_LOG_H_

#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace cellblock {

enum class LogLevel { kDebug = 0, kInfo = 1, kWarning = 2, kError = 3 };

// Lines below this level are dropped. Default kWarning. Set once, before threads start.
void SetLogLevel(LogLevel level);
bool IsLogged(LogLevel level);

// Writes "cellblock[pid] W message\n". Messages over 4 KiB are cut. Thread-safe.
void Log(LogLevel level, absl::string_view message);

// For our own bugs only, never for guest bytes, files or the network: logs and aborts.
[[noreturn]] void FailCheck(const char* condition, const char* file, int line);

#define CELLBLOCK_CHECK(condition) ((condition) ? static_cast<void>(0) : ::cellblock::FailCheck(#condition, __FILE__, __LINE__))

}  // namespace cellblock

#endif  // CELLBLOCK_BASE_LOG_H_
