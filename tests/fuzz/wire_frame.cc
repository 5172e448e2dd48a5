// Fuzzes the decoder of what a worker sends: the first byte says how the bytes are cut. Frames come out the same for every cut, within
// their caps, and encode to the bytes that they came from; after an error nothing comes any more. Bodies that are messages encode to
// what decodes to the same.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "base/log.h"
#include "wire/frame.h"
#include "wire/messages.h"

namespace {

using namespace cellblock::wire;  // NOLINT: one file

constexpr size_t kBundleBytesMax = 2048;

template <typename Message>
void CheckBody(absl::string_view body) {
  absl::StatusOr<Message> message = DecodeBody<Message>(body);
  if (!message.ok()) return;
  const std::string encoded = EncodeBody(*message);
  absl::StatusOr<Message> again = DecodeBody<Message>(encoded);
  CELLBLOCK_CHECK(again.ok() && EncodeBody(*again) == encoded);
}

void CheckMessage(const Frame& frame) {
  switch (frame.type) {
    case FrameType::kReady:
      return CheckBody<WorkerReady>(frame.body);
    case FrameType::kFailed:
      return CheckBody<WorkerFailed>(frame.body);
    case FrameType::kDisplay:
    case FrameType::kUpdate:
    case FrameType::kResult:
      return CheckBody<GuestOutput>(frame.body);
    case FrameType::kClear:
      return CheckBody<GuestClear>(frame.body);
    case FrameType::kError:
      return CheckBody<GuestError>(frame.body);
    case FrameType::kDone:
      return CheckBody<CellDone>(frame.body);
    default:
      return;
  }
}

struct Parsed {
  std::string encoded;   // of all frames, in order
  bool ok = true;
};

Parsed Parse(absl::string_view bytes, size_t piece) {
  FrameParser parser(kBundleBytesMax);
  Parsed parsed;
  while (parsed.ok && !bytes.empty()) {
    parser.Append(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    while (true) {
      absl::StatusOr<std::optional<Frame>> frame = parser.Next();
      parsed.ok = frame.ok();
      if (!frame.ok() || !frame->has_value()) break;
      CELLBLOCK_CHECK((*frame)->body.size() <= std::max(kBundleBytesMax, kSmallFrameBytesMax));
      CheckMessage(**frame);
      parsed.encoded += EncodeFrame((*frame)->type, (*frame)->nonce, (*frame)->body);
    }
  }
  if (!parsed.ok) {
    parser.Append(EncodeFrame(FrameType::kSync, 1, ""));
    CELLBLOCK_CHECK(!parser.Next().ok());
  }
  return parsed;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const absl::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Parsed whole = Parse(bytes, bytes.size()), pieces = Parse(bytes, 1 + data[0]);
  CELLBLOCK_CHECK(whole.ok == pieces.ok && whole.encoded == pieces.encoded);
  CELLBLOCK_CHECK(absl::StartsWith(bytes, whole.encoded));
  return 0;
}
