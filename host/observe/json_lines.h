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
#include "absl/time/time.h"
#include "base/unique_fd.h"

namespace cellblock::observe {

inline constexpr int kLogFilesMax = 5;                      // NAME and NAME.1 … NAME.4

class JsonLines {
 public:
  // Appends to the file (mode 0600); "-": to standard error, without a bound.
  static absl::StatusOr<std::unique_ptr<JsonLines>> Open(const std::string& path, int64_t bytes_max);

  // `object` without its newline. That lines are lost is told on standard error, at once and then once a minute; before the first line that
  // can be written again the log itself gets {"time", "event": "lines_lost", "count", "since"}.
  void Write(absl::string_view object);

 private:
  JsonLines(std::string path, int64_t bytes_max) : path_(std::move(path)), bytes_max_(bytes_max) {}
  absl::Status Reopen();
  void Rotate();
  absl::Status Append(absl::string_view lines);
  std::string LostLine() const;
  void Lose(const absl::Status& why);

  const std::string path_;
  const int64_t bytes_max_;
  std::mutex mutex_;                                        // of what follows
  UniqueFd file_;
  int64_t bytes_ = 0;
  int64_t lost_ = 0;                                        // lines that could not be written and of which the log does not tell yet
  absl::Time lost_since_;                                   // when the first of them was to be written
  absl::Time told_ = absl::InfinitePast();                  // on standard error, of lost lines
};

}  // namespace cellblock::observe

#endif  // CELLBLOCK_OBSERVE_JSON_LINES_H_
