// See log.h.
#include "base/log.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace cellblock {
namespace {

constexpr size_t kLineBytesMax = 4096;  // PIPE_BUF: a pipe write up to this size is not interleaved (pipe(7))
constexpr size_t kSubjectBytesMax = 128;
constexpr size_t kEndBytesMax = 8;      // of a line: what closes it
LogLevel g_level = LogLevel::kWarning;
LogFormat g_format = LogFormat::kText;

// Of the UTF-8 sequence that the text begins with; 0 when it is none (RFC 3629).
size_t SequenceBytes(absl::string_view text) {
  auto byte = [&](size_t i) { return i < text.size() ? static_cast<uint8_t>(text[i]) : uint8_t{0}; };
  auto follows = [&](size_t from, size_t count) {
    for (size_t i = from; i < count; ++i) {
      if ((byte(i) & 0xc0) != 0x80) return false;
    }
    return true;
  };
  const uint8_t first = byte(0), second = byte(1);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return follows(1, 2) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const bool is_short = first == 0xe0 && second < 0xa0, is_surrogate = first == 0xed && second > 0x9f;
    return !is_short && !is_surrogate && follows(1, 3) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const bool is_short = first == 0xf0 && second < 0x90, is_beyond = first == 0xf4 && second > 0x8f;
    return !is_short && !is_beyond && follows(1, 4) ? 4 : 0;
  }
  return 0;
}

// As much of it as fits, as the inside of a JSON string. render/json_writer.h is for rooms above this one.
void AppendEscaped(std::string* line, absl::string_view text, size_t line_bytes_max) {
  while (!text.empty()) {
    const size_t count = SequenceBytes(text);
    const char c = text.front();
    std::string piece = count == 0 ? "\xef\xbf\xbd" : std::string(text.substr(0, count));
    if (c == '"' || c == '\\') piece = {'\\', c};
    if (c == '\n') piece = "\\n";
    if (static_cast<uint8_t>(c) < 0x20 && c != '\n') {
      char hex[8];
      snprintf(hex, sizeof(hex), "\\u%04x", static_cast<unsigned>(c));
      piece = hex;
    }
    if (line->size() + piece.size() > line_bytes_max) return;
    *line += piece;
    text.remove_prefix(std::max<size_t>(count, 1));
  }
}

std::string TextLine(LogLevel level, absl::string_view message, const LogSubject& subject) {
  std::string line = absl::StrCat("cellblock[", getpid(), "] ", absl::string_view(&"DIWE"[static_cast<int>(level)], 1), " ", message);
  if (!subject.session_id.empty()) absl::StrAppend(&line, " session=", subject.session_id.substr(0, kSubjectBytesMax));
  if (!subject.request_id.empty()) absl::StrAppend(&line, " request=", subject.request_id.substr(0, kSubjectBytesMax));
  if (line.size() > kLineBytesMax - 1) line.resize(kLineBytesMax - 1);
  // Parts of it may be a guest's or a client's: no line of theirs, and nothing that a terminal obeys.
  for (char& c : line) {
    if (static_cast<uint8_t>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return line;
}

std::string JsonLine(LogLevel level, absl::string_view message, const LogSubject& subject) {
  static constexpr const char* kNames[] = {"debug", "info", "warning", "error"};
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  tm parts = {};
  gmtime_r(&now.tv_sec, &parts);
  char seconds[32], micros[24];
  strftime(seconds, sizeof(seconds), "%Y-%m-%dT%H:%M:%S", &parts);
  snprintf(micros, sizeof(micros), ".%06ldZ", now.tv_nsec / 1000);
  std::string line = absl::StrCat(R"({"time":")", seconds, micros, R"(","level":")", kNames[static_cast<int>(level)], R"(","pid":)", getpid());
  auto member = [&line](const char* name, absl::string_view text, size_t line_bytes_max) {
    absl::StrAppend(&line, ",\"", name, "\":\"");
    AppendEscaped(&line, text, line_bytes_max);
    line += '"';
  };
  // Before the message, which may leave no room for them.
  if (!subject.session_id.empty()) member("session_id", subject.session_id.substr(0, kSubjectBytesMax), kLineBytesMax / 3);
  if (!subject.request_id.empty()) member("request_id", subject.request_id.substr(0, kSubjectBytesMax), kLineBytesMax / 2);
  member("message", message, kLineBytesMax - kEndBytesMax);
  line += '}';
  return line;
}

}  // namespace

void SetLogLevel(LogLevel level) { g_level = level; }
void SetLogFormat(LogFormat format) { g_format = format; }
LogFormat CurrentLogFormat() { return g_format; }

bool IsLogged(LogLevel level) { return level >= g_level; }

std::string LogLine(LogFormat format, LogLevel level, absl::string_view message, const LogSubject& subject) {
  return absl::StrCat(format == LogFormat::kJson ? JsonLine(level, message, subject) : TextLine(level, message, subject), "\n");
}

void Log(LogLevel level, absl::string_view message, const LogSubject& subject) {
  if (!IsLogged(level)) return;
  const std::string line = LogLine(g_format, level, message, subject);
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

void FailCheck(const char* condition, const char* file, int line) {
  Log(LogLevel::kError, absl::StrCat("CHECK failed at ", file, ":", line, ": ", condition));
  std::abort();
}

}  // namespace cellblock
