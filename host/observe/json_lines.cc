// See json_lines.h.
#include "observe/json_lines.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "sys/files.h"

namespace cellblock::observe {

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
  const std::string line = absl::StrCat(object, "\n");
  std::lock_guard<std::mutex> lock(mutex_);
  if (path_ != "-" && bytes_ > 0 && bytes_ + static_cast<int64_t>(line.size()) > bytes_max_) Rotate();
  const off_t end = path_ == "-" ? -1 : lseek(file_.get(), 0, SEEK_END);
  const absl::Status written = sys::WriteAll(path_ == "-" ? STDERR_FILENO : file_.get(), line);
  if (written.ok()) bytes_ += static_cast<int64_t>(line.size());
  // Without the part that a full disk has taken, or the next line would stand behind it.
  if (!written.ok() && end >= 0 && ftruncate(file_.get(), end) != 0) bytes_ += static_cast<int64_t>(line.size());
  if (!written.ok() && !failing_) Log(LogLevel::kError, absl::StrCat("log ", path_, " takes no lines: ", written.message()));
  failing_ = !written.ok();
}

}  // namespace cellblock::observe
