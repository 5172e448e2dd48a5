// See head_tail.h.
#include "capture/head_tail.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "capture/utf8.h"

namespace cellblock::capture {

namespace {

// Appends, and lets the buffer grow by doubling but never beyond `bytes_max`, which std::string by itself would overshoot twofold.
void AppendWithin(absl::string_view text, size_t bytes_max, std::string* buffer) {
  size_t needed = buffer->size() + text.size();
  if (needed > buffer->capacity()) buffer->reserve(std::min(bytes_max, std::max(needed, 2 * buffer->capacity())));
  buffer->append(text.data(), text.size());
}

}  // namespace

std::string CutMarker(uint64_t dropped_bytes, bool head_ends_line) {
  std::string digits = absl::StrCat(dropped_bytes);
  std::string grouped;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) grouped.push_back(',');
    grouped.push_back(digits[i]);
  }
  return absl::StrCat(head_ends_line ? "" : "\n", "… [", grouped, dropped_bytes == 1 ? " byte" : " bytes", " left out] …\n");
}

void HeadTail::Append(absl::string_view text) {
  total_bytes_ += text.size();
  if (!head_closed_) {
    size_t fits = FloorToCharacter(text, cap_bytes_ / 2 - head_.size());
    AppendWithin(text.substr(0, fits), cap_bytes_ / 2, &head_);
    text.remove_prefix(fits);
    head_closed_ = !text.empty();
  }
  AppendToTail(text);
}

void HeadTail::AppendToTail(absl::string_view text) {
  size_t capacity = cap_bytes_ - head_.size();  // fixed from here on: the head is closed as soon as the tail gets a byte
  if (text.size() > capacity) text.remove_prefix(text.size() - capacity);
  size_t grows = std::min(capacity - ring_.size(), text.size());
  AppendWithin(text.substr(0, grows), capacity, &ring_);
  text.remove_prefix(grows);
  while (!text.empty()) {
    size_t run = std::min(text.size(), ring_.size() - ring_start_);
    std::memcpy(&ring_[ring_start_], text.data(), run);
    ring_start_ = (ring_start_ + run) % ring_.size();
    text.remove_prefix(run);
  }
}

HeadTail::Tail HeadTail::tail() {
  std::rotate(ring_.begin(), ring_.begin() + static_cast<ptrdiff_t>(ring_start_), ring_.end());
  ring_start_ = 0;
  absl::string_view kept = ring_;
  uint64_t dropped = total_bytes_ - head_.size() - kept.size();
  while (dropped > 0 && !kept.empty() && (static_cast<uint8_t>(kept.front()) & 0xC0) == 0x80) {
    kept.remove_prefix(1);
    ++dropped;
  }
  return {kept, dropped};
}

}  // namespace cellblock::capture
