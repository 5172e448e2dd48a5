// See event_log.h.
#include "capture/event_log.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/log.h"

namespace cellblock::capture {

void EventLog::AddText(Event::Type stream, absl::string_view text, absl::Duration time, bool late) {
  CELLBLOCK_CHECK(stream == Event::Type::kStdout || stream == Event::Type::kStderr);
  if (text.empty()) return;
  size_t& last = last_of_stream_[(stream == Event::Type::kStderr ? 2 : 0) + (late ? 1 : 0)];
  bool soon = time - last_text_time_ < kMergeWithin || text_events_ >= kAlwaysMergeFrom;
  bool neighbour = last != kNone && last + 1 == events_.size();
  // One place stays reserved for the first text of each kind of stream that has not spoken yet.
  size_t reserved = 0;
  for (size_t index : last_of_stream_) reserved += index == kNone ? 1 : 0;
  bool full = last != kNone && text_events_ + reserved >= kTextEventsMax;
  if (full && LeaveOutCleared()) return AddText(stream, text, time, late);
  last_text_time_ = time;
  if ((neighbour && soon) || full) {
    events_[last].text.append(text.data(), text.size());
    return;
  }
  last = events_.size();
  ++text_events_;
  Event event;
  event.type = stream;
  event.time = time;
  event.text = std::string(text);
  event.late = late;
  events_.push_back(std::move(event));
}

bool EventLog::LeaveOutCleared() {
  auto is_text = [](const Event& event) { return event.type == Event::Type::kStdout || event.type == Event::Type::kStderr; };
  // A clear that waits for output is still to come when it is the last one.
  size_t last = events_.size();
  while (last > 0 && !(events_[last - 1].type == Event::Type::kClear && (!events_[last - 1].wait || last < events_.size()))) --last;
  if (last <= 1) return false;
  events_.erase(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(last - 1));
  text_events_ = static_cast<size_t>(std::count_if(events_.begin(), events_.end(), is_text));
  other_events_ = events_.size() - text_events_;
  for (size_t& index : last_of_stream_) index = index == kNone || index < last - 1 ? kNone : index - (last - 1);
  return true;
}

bool EventLog::Add(Event event) {
  if (other_events_ >= kOtherEventsMax && !LeaveOutCleared()) return false;
  ++other_events_;
  events_.push_back(std::move(event));
  return true;
}

}  // namespace cellblock::capture
