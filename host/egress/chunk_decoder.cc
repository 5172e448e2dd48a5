// See chunk_decoder.h.
#include "egress/chunk_decoder.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "base/status_macros.h"
#include "egress/http_fields.h"

namespace cellblock::egress {
namespace {

constexpr int kSizeDigitsMax = 16;   // of a uint64_t: it cannot overflow

absl::Status Broken(absl::string_view what) { return absl::InvalidArgumentError(absl::StrCat("chunked body: ", what)); }

}  // namespace

absl::StatusOr<size_t> ChunkDecoder::Feed(absl::string_view in, std::string& out) {
  size_t used = 0;
  while (used < in.size() && state_ != State::kDone) {
    if (state_ == State::kData) {
      const size_t take = static_cast<size_t>(std::min<uint64_t>(left_, in.size() - used));
      out.append(in.data() + used, take);
      used += take;
      left_ -= take;
      if (left_ == 0) state_ = State::kDataCr;
      continue;
    }
    absl::Status step = Step(in[used]);
    if (!step.ok()) {
      state_ = State::kBroken;
      return step;
    }
    ++used;
  }
  return used;
}

absl::Status ChunkDecoder::Step(char c) {
  switch (state_) {
    case State::kSize:
      return StepSize(c);
    case State::kSizeLf:
      if (c != '\n') return Broken("CR without LF after a size");
      digits_ = 0;
      state_ = left_ > 0 ? State::kData : State::kTrailer;
      return absl::OkStatus();
    case State::kDataCr:
      if (c != '\r') return Broken("a chunk is longer than its size says");
      state_ = State::kDataLf;
      return absl::OkStatus();
    case State::kDataLf:
      if (c != '\n') return Broken("CR without LF after a chunk");
      state_ = State::kSize;
      return absl::OkStatus();
    case State::kTrailer:
    case State::kTrailerLf:
      return StepTrailer(c);
    case State::kData:
    case State::kDone:
    case State::kBroken:
      break;
  }
  return Broken("broken before");
}

absl::Status ChunkDecoder::StepSize(char c) {
  if (absl::ascii_isxdigit(static_cast<unsigned char>(c))) {
    if (++digits_ > kSizeDigitsMax) return Broken("a size of more than 16 digits");
    const char low = absl::ascii_tolower(static_cast<unsigned char>(c));
    left_ = left_ << 4 | static_cast<uint64_t>(low <= '9' ? low - '0' : low - 'a' + 10);
    return absl::OkStatus();
  }
  if (c == ';') return Broken("chunk extensions are not taken");
  if (c != '\r' || digits_ == 0) return Broken("a size is hex digits, then CR LF");
  state_ = State::kSizeLf;
  return absl::OkStatus();
}

absl::Status ChunkDecoder::StepTrailer(char c) {
  if (++trailer_bytes_ > kTrailerBytesMax) return Broken("trailers of more than 4 KiB");
  if (state_ == State::kTrailerLf) {
    if (c != '\n') return Broken("CR without LF in a trailer");
    return EndTrailerLine();
  }
  if (c == '\n') return Broken("LF without CR in a trailer");
  if (c == '\r') {
    state_ = State::kTrailerLf;
  } else {
    line_.push_back(c);
  }
  return absl::OkStatus();
}

absl::Status ChunkDecoder::EndTrailerLine() {
  if (line_.empty()) {
    state_ = State::kDone;
    return absl::OkStatus();
  }
  CELLBLOCK_RETURN_IF_ERROR(ParseFieldLine(line_).status());
  line_.clear();
  state_ = State::kTrailer;
  return absl::OkStatus();
}

}  // namespace cellblock::egress
