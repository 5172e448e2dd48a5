// Frames on the stream between supervisor and worker: a fixed header, then fields (fields.h). The supervisor's FrameParser is the
// one decoder of what a worker sends: it checks the header, the type's own cap and the call's nonce before it keeps a byte of body.
// Supervisor and guest; everything from a worker is hostile.
#ifndef CELLBLOCK_WIRE_FRAME_H_
#define CELLBLOCK_WIRE_FRAME_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cellblock::wire {

enum class FrameType : uint16_t {
  // supervisor → worker
  kStart = 1,      // StartSession, before any user code
  kExecute = 2,    // ExecuteCell
  kAck = 3,        // both output pipes were drained after a frame that asked for it
  // worker → supervisor
  kReady = 16,     // WorkerReady, to each StartSession
  kFailed = 17,    // WorkerFailed: the lock-down did not hold; the worker ends
  kDisplay = 18,   // GuestOutput
  kUpdate = 19,    // GuestOutput
  kClear = 20,     // GuestClear
  kResult = 21,    // GuestOutput
  kError = 22,     // GuestError
  kSync = 23,      // empty: asks for an acknowledgement
  kDone = 24,      // CellDone, ends a call
};

struct Frame {
  FrameType type = FrameType::kSync;
  uint64_t nonce = 0;   // of the call; 0 outside calls
  std::string body;
};

inline constexpr size_t kFrameHeaderBytes = 20;
inline constexpr size_t kSmallFrameBytesMax = 256 * 1024;  // every type but those that carry a bundle or code

// Header and body, ready to be written.
std::string EncodeFrame(FrameType type, uint64_t nonce, absl::string_view body);

// Not thread-safe. After an error every further call fails: the peer is to be killed.
class FrameParser {
 public:
  // `bundle_bytes_max`: cap on the body of kDisplay, kUpdate, kResult and kExecute frames.
  explicit FrameParser(size_t bundle_bytes_max) : bundle_bytes_max_(bundle_bytes_max) {}

  void set_bundle_bytes_max(size_t bytes) { bundle_bytes_max_ = bytes; }  // of frames whose header has not come yet
  void Append(absl::string_view bytes) { buffer_.append(bytes.data(), bytes.size()); }
  // The next whole frame; nullopt until more bytes come; kInvalidArgument for anything a well-behaved peer never sends.
  absl::StatusOr<std::optional<Frame>> Next();
  size_t buffered_bytes() const { return buffer_.size() - consumed_; }

 private:
  size_t BodyBytesMax(FrameType type) const;

  size_t bundle_bytes_max_;
  std::string buffer_;
  size_t consumed_ = 0;
  absl::Status broken_;
};

}  // namespace cellblock::wire

#endif  // CELLBLOCK_WIRE_FRAME_H_
