// The events of one call, in order and bounded: neighbouring text of one stream is merged, and at the maximum what a later clear has
// wiped off is left out. Runs in the supervisor; the guest decides
// how many writes there are.
#ifndef CELLBLOCK_CAPTURE_EVENT_LOG_H_
#define CELLBLOCK_CAPTURE_EVENT_LOG_H_

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "cellblock/record.h"

namespace cellblock::capture {

class EventLog {
 public:
  static constexpr size_t kTextEventsMax = 10'000;
  static constexpr size_t kOtherEventsMax = 10'000;
  // Text that comes this soon after the last of its stream joins it, so that a write per character makes no event per character.
  static constexpr absl::Duration kMergeWithin = absl::Milliseconds(50);
  // From here on neighbours are merged whatever the time between them.
  static constexpr size_t kAlwaysMergeFrom = kTextEventsMax / 2;

  // `stream` is kStdout or kStderr; empty text is ignored. At the maximum, text joins the last event of its stream, so that none is
  // lost; only its order among the other stream's text is.
  void AddText(Event::Type stream, absl::string_view text, absl::Duration time, bool late);
  // Any other event. False at the maximum: the event is not kept.
  bool Add(Event event);

  const std::vector<Event>& events() const { return events_; }
  std::vector<Event> Take() { return std::move(events_); }

 private:
  // Leaves out what came before the last clear that has taken effect. False when there is nothing to gain.
  bool LeaveOutCleared();
  std::vector<Event> events_;
  size_t text_events_ = 0;
  size_t other_events_ = 0;
  absl::Duration last_text_time_ = -absl::InfiniteDuration();
  static constexpr size_t kNone = ~size_t{0};
  std::array<size_t, 4> last_of_stream_ = {kNone, kNone, kNone, kNone};  // index by (stderr, late)
};

}  // namespace cellblock::capture

#endif  // CELLBLOCK_CAPTURE_EVENT_LOG_H_
