// See json_lines.h.
#include "observe/json_lines.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "render/json_writer.h"
#include "sys/files.h"

namespace cellblock::observe {
namespace {

constexpr absl::Duration kTellAgainAfter = absl::Minutes(1);  // often enough for who looks late, too seldom to fill a log

}  // namespace

absl::StatusOr<std::unique_ptr<JsonLines>> JsonLines::Open(const std::string& path, int64_t bytes_max) {
  std::unique_ptr<JsonLines> log(new JsonLines(path, bytes_max));
  CELLBLOCK_RETURN_IF_ERROR(log->Reopen());
  return log;
}

absl::Status JsonLines::Reopen() {
  if (path_ == "-") return absl::OkStatus();
  CELLBLOCK_ASSIGN_OR_RETURN(file_, sys::Open(path_, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0600));
  struct stat found = {};
  bytes_ = fstat(file_.get(), &found) == 0 ? found.st_size : 0;
  return absl::OkStatus();
}

void JsonLines::Rotate() {
  for (int i = kLogFilesMax - 1; i > 0; --i) {
    const std::string from = i == 1 ? path_ : absl::StrCat(path_, ".", i - 1);
    rename(from.c_str(), absl::StrCat(path_, ".", i).c_str());  // the oldest is replaced; one that is not there does not matter
  }
  absl::Status opened = Reopen();
  if (opened.ok()) return;
  Log(LogLevel::kError, absl::StrCat("log ", path_, ": ", opened.message()));
  bytes_ = 0;  // what is open goes on, under its new name: until it is full again, or every line would move the files once more
}

void JsonLines::Write(absl::string_view object) {
  std::lock_guard<std::mutex> lock(mutex_);
  const std::string lost = lost_ > 0 ? LostLine() : "";  // with the line that follows or not at all, so that no gap goes untold
  const absl::Status written = Append(absl::StrCat(lost, object, "\n"));
  if (!written.ok()) return Lose(written);
  if (lost_ == 0) return;
  Log(LogLevel::kError, absl::StrCat("log ", path_, " takes lines again; ", lost_, " were lost"));
  lost_ = 0;
  told_ = absl::InfinitePast();
}

// All of the lines or nothing of them.
absl::Status JsonLines::Append(absl::string_view lines) {
  const int64_t bytes = static_cast<int64_t>(lines.size());
  if (path_ != "-" && bytes_ > 0 && bytes_ + bytes > bytes_max_) Rotate();
  const off_t end = path_ == "-" ? -1 : lseek(file_.get(), 0, SEEK_END);
  const absl::Status written = sys::WriteAll(path_ == "-" ? STDERR_FILENO : file_.get(), lines);
  if (written.ok()) bytes_ += bytes;
  // Without the part that a full disk has taken, or the next would stand behind it.
  if (!written.ok() && end >= 0 && ftruncate(file_.get(), end) != 0) bytes_ += bytes;
  return written;
}

std::string JsonLines::LostLine() const {
  std::string line;
  render::JsonWriter json(&line);
  json.BeginObject();
  json.Key("time");
  json.Time(absl::Now());
  json.Member("event", "lines_lost");
  json.Member("count", lost_);
  json.Key("since");
  json.Time(lost_since_);
  json.EndObject();
  return absl::StrCat(line, "\n");
}

void JsonLines::Lose(const absl::Status& why) {
  const absl::Time now = absl::Now();
  if (lost_++ == 0) lost_since_ = now;
  if (now - told_ < kTellAgainAfter) return;
  told_ = now;
  Log(LogLevel::kError, absl::StrCat("log ", path_, " takes no lines: ", why.message(), "; ", lost_, " lost so far"));
}

}  // namespace cellblock::observe
