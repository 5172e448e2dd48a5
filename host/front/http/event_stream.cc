// See event_stream.h.
#include "front/http/event_stream.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace cellblock::front {

std::string EncodeEvent(absl::string_view type, absl::string_view id, absl::string_view data) {
  std::string text = absl::StrCat("event: ", type, "\n");
  if (!id.empty()) absl::StrAppend(&text, "id: ", id, "\n");
  while (true) {
    const size_t end = data.find_first_of("\r\n");
    absl::StrAppend(&text, "data: ", data.substr(0, end), "\n");
    if (end == absl::string_view::npos) break;
    const bool pair = data.substr(end, 2) == "\r\n";
    data.remove_prefix(end + (pair ? 2 : 1));
  }
  text += '\n';
  return text;
}

void EventStream::Began(const std::string& execution_id) {
  std::lock_guard<std::mutex> lock(mutex_);
  execution_id_ = execution_id;
}

std::string EventStream::execution_id() {
  std::lock_guard<std::mutex> lock(mutex_);
  return execution_id_;
}

void EventStream::Push(std::string text) {
  std::function<void()> wake;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closed_ || overflowed_) return;
    if (text_.size() + text.size() > kStreamBytesMax) {
      overflowed_ = true;
      text_.clear();
    } else {
      text_ += text;
    }
    wake = wake_;
  }
  if (wake) wake();
}

void EventStream::Close() {
  std::function<void()> wake;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    wake = wake_;
  }
  if (wake) wake();
}

void EventStream::OnChange(std::function<void()> wake) {
  std::lock_guard<std::mutex> lock(mutex_);
  wake_ = std::move(wake);
}

std::string EventStream::Take() {
  std::lock_guard<std::mutex> lock(mutex_);
  return std::exchange(text_, std::string());
}

bool EventStream::finished() {
  std::lock_guard<std::mutex> lock(mutex_);
  return closed_ && text_.empty();
}

bool EventStream::overflowed() {
  std::lock_guard<std::mutex> lock(mutex_);
  return overflowed_;
}

}  // namespace cellblock::front
