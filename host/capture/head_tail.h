// Keeps the head and the tail of a text within a cap and counts what fell out between, in memory that grows with what was written
// but never beyond the cap. Runs in the supervisor, on valid UTF-8 of any length that a guest caused.
#ifndef CELLBLOCK_CAPTURE_HEAD_TAIL_H_
#define CELLBLOCK_CAPTURE_HEAD_TAIL_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace cellblock::capture {

// "\n… [123,456 bytes left out] …\n"; the first newline is left away where the head already ends a line.
std::string CutMarker(uint64_t dropped_bytes, bool head_ends_line);
inline constexpr size_t kCutMarkerBytesMax = 64;

class HeadTail {
 public:
  // The head takes the longest prefix of whole characters within half of the cap, the tail what the head leaves of it; text of
  // up to `cap_bytes` is therefore kept whole.
  explicit HeadTail(size_t cap_bytes) : cap_bytes_(cap_bytes) {}

  void Append(absl::string_view text);  // whole characters
  uint64_t total_bytes() const { return total_bytes_; }

  const std::string& head() const { return head_; }
  // Starts at a character border. Valid until the next call. `dropped_bytes` is exact: head + dropped + tail = total.
  struct Tail {
    absl::string_view text;
    uint64_t dropped_bytes = 0;
  };
  Tail tail();

 private:
  void AppendToTail(absl::string_view text);

  size_t cap_bytes_;
  uint64_t total_bytes_ = 0;
  std::string head_;
  bool head_closed_ = false;
  std::string ring_;        // the newest bytes; once full, the oldest stands at ring_start_
  size_t ring_start_ = 0;
};

}  // namespace cellblock::capture

#endif  // CELLBLOCK_CAPTURE_HEAD_TAIL_H_
