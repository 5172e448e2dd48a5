// A log of JSON objects, one a line, in a file of bounded size: when it is full it becomes NAME.1, NAME.1 becomes NAME.2 and so on.
// Supervisor. Thread-safe.
#ifndef CELLBLOCK_OBSERVE_JSON_LINES_H_
#define CELLBLOCK_OBSERVE_JSON_LINES_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/unique_fd.h"

namespace cellblock::observe {

inline constexpr int kLogFilesMax = 5;                      // NAME and NAME.1 … NAME.4

class JsonLines {
 public:
  // Appends to the file (mode 0600); "-": to standard error, without a bound.
  static absl::StatusOr<std::unique_ptr<JsonLines>> Open(const std::string& path, int64_t bytes_max);

  // `object` without its newline. What cannot be written is told on standard error, once until it can be again.
  void Write(absl::string_view object);

 private:
  JsonLines(std::string path, int64_t bytes_max) : path_(std::move(path)), bytes_max_(bytes_max) {}
  absl::Status Reopen();
  void Rotate();

  const std::string path_;
  const int64_t bytes_max_;
  std::mutex mutex_;                                        // of what follows
  UniqueFd file_;
  int64_t bytes_ = 0;
  bool failing_ = false;
};

}  // namespace cellblock::observe

#endif  // CELLBLOCK_OBSERVE_JSON_LINES_H_
