// See log.h.
#include "base/log.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace cellblock {
namespace {

constexpr size_t kLineBytesMax = 4096;  // PIPE_BUF: a pipe write up to this size is not interleaved (pipe(7))
LogLevel g_level = LogLevel::kWarning;

}  // namespace

void SetLogLevel(LogLevel level) { g_level = level; }

bool IsLogged(LogLevel level) { return level >= g_level; }

void Log(LogLevel level, absl::string_view message) {
  if (!IsLogged(level)) return;
  std::string line = absl::StrCat("cellblock[", getpid(), "] ", absl::string_view(&"DIWE"[static_cast<int>(level)], 1), " ", message);
  if (line.size() > kLineBytesMax - 1) line.resize(kLineBytesMax - 1);
  line.push_back('\n');
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

void FailCheck(const char* condition, const char* file, int line) {
  Log(LogLevel::kError, absl::StrCat("CHECK failed at ", file, ":", line, ": ", condition));
  std::abort();
}

}  // namespace cellblock
