// Server-Sent Events (the HTML standard, section 9.2) on their way from the thread of a call to the connection. Bounded: a client that
// does not read loses the stream, and not the server its memory. Supervisor. Thread-safe.
#ifndef CELLBLOCK_FRONT_HTTP_EVENT_STREAM_H_
#define CELLBLOCK_FRONT_HTTP_EVENT_STREAM_H_

#include <functional>
#include <mutex>
#include <string>

#include "absl/strings/string_view.h"

namespace cellblock::front {

inline constexpr size_t kStreamBytesMax = size_t{96} << 20;  // more than a call's record under the default limits

// One event: its type, its number, its data as `data:` lines. A line's end in `data` begins the next of them; CR alone counts as one.
std::string EncodeEvent(absl::string_view type, absl::string_view id, absl::string_view data);

class EventStream {
 public:
  void Began(const std::string& execution_id);
  void Push(std::string text);            // dropped once the stream is closed or overflowed
  void Close();                           // nothing follows

  // For the connection: `wake` is called, from any thread, when there is something to take.
  void OnChange(std::function<void()> wake);
  std::string Take();                     // all that is there
  bool finished();                        // closed, and all taken
  bool overflowed();
  std::string execution_id();             // "" until it is known

 private:
  std::mutex mutex_;                      // of what follows
  std::string text_, execution_id_;
  bool closed_ = false;
  bool overflowed_ = false;
  std::function<void()> wake_;
};

}  // namespace cellblock::front

#endif  // CELLBLOCK_FRONT_HTTP_EVENT_STREAM_H_
