// See frame.h.
#include "wire/frame.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/log.h"

namespace cellblock::wire {
namespace {

constexpr uint32_t kMagic = 0x31464243;  // "CBF1"

struct Header {
  uint32_t magic;
  uint16_t type;
  uint16_t zero;
  uint64_t nonce;
  uint32_t length;
} __attribute__((packed));
static_assert(sizeof(Header) == kFrameHeaderBytes);

bool IsKnown(uint16_t type) { return (type >= 1 && type <= 3) || (type >= 16 && type <= 24); }

}  // namespace

std::string EncodeFrame(FrameType type, uint64_t nonce, absl::string_view body) {
  CELLBLOCK_CHECK(body.size() <= UINT32_MAX);
  Header header = {kMagic, static_cast<uint16_t>(type), 0, nonce, static_cast<uint32_t>(body.size())};
  std::string bytes;
  bytes.reserve(sizeof(header) + body.size());
  bytes.append(reinterpret_cast<const char*>(&header), sizeof(header));
  bytes.append(body.data(), body.size());
  return bytes;
}

size_t FrameParser::BodyBytesMax(FrameType type) const {
  switch (type) {
    case FrameType::kDisplay:
    case FrameType::kUpdate:
    case FrameType::kResult:
    case FrameType::kExecute:
      return bundle_bytes_max_;
    case FrameType::kSync:
    case FrameType::kAck:
      return 0;
    default:
      return kSmallFrameBytesMax;
  }
}

absl::StatusOr<std::optional<Frame>> FrameParser::Next() {
  if (!broken_.ok()) return broken_;
  if (buffered_bytes() < kFrameHeaderBytes) {
    buffer_.erase(0, consumed_);
    consumed_ = 0;
    return std::nullopt;
  }
  Header header;
  std::memcpy(&header, buffer_.data() + consumed_, sizeof(header));
  if (header.magic != kMagic || header.zero != 0 || !IsKnown(header.type)) {
    broken_ = absl::InvalidArgumentError("not a frame");
    return broken_;
  }
  FrameType type = static_cast<FrameType>(header.type);
  if (header.length > BodyBytesMax(type)) {
    broken_ = absl::InvalidArgumentError(absl::StrCat("frame of type ", header.type, " with ", uint32_t{header.length}, " bytes; at most ", BodyBytesMax(type)));
    return broken_;
  }
  if (buffered_bytes() < kFrameHeaderBytes + header.length) {
    if (consumed_ > 0) {
      buffer_.erase(0, consumed_);
      consumed_ = 0;
    }
    return std::nullopt;
  }
  Frame frame;
  frame.type = type;
  frame.nonce = header.nonce;
  frame.body.assign(buffer_, consumed_ + kFrameHeaderBytes, header.length);
  consumed_ += kFrameHeaderBytes + header.length;
  return frame;
}

}  // namespace cellblock::wire
