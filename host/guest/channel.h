// The worker's end of its socket to the supervisor: blocking frames. Guest. After a fork by user code the child has no channel.
#ifndef CELLBLOCK_GUEST_CHANNEL_H_
#define CELLBLOCK_GUEST_CHANNEL_H_

#include <string>

#include "absl/status/statusor.h"
#include "wire/frame.h"

namespace cellblock::guest {

inline constexpr int kChannelFd = 3;

// One per process, since a fork handler must find it. Used with the GIL held.
class Channel {
 public:
  explicit Channel(size_t code_bytes_max);

  // Whether a frame, the first bytes of one, or the end comes within `milliseconds`.
  bool IsReadableWithin(int milliseconds);
  // Blocks; interrupts don't end it. kUnavailable when the supervisor has gone, or in a child forked by user code.
  absl::StatusOr<wire::Frame> Receive();
  absl::Status Send(wire::FrameType type, uint64_t nonce, absl::string_view body);
  // Sent together with the next frame, in one write: most cells end with a value and nothing after it.
  void Hold(wire::FrameType type, uint64_t nonce, absl::string_view body) { held_ += wire::EncodeFrame(type, nonce, body); }
  // Sends, and returns once both output pipes were drained.
  absl::Status SendAndWait(wire::FrameType type, uint64_t nonce, absl::string_view body);

 private:
  wire::FrameParser parser_;
  std::string held_;
};

}  // namespace cellblock::guest

#endif  // CELLBLOCK_GUEST_CHANNEL_H_
