// Takes the chunks off a body as it arrives (RFC 9112, 7.1). Egress proxy; the bytes are hostile, whichever end they come from. Not
// thread-safe.
#ifndef CELLBLOCK_EGRESS_CHUNK_DECODER_H_
#define CELLBLOCK_EGRESS_CHUNK_DECODER_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cellblock::egress {

inline constexpr size_t kTrailerBytesMax = 4 * 1024;   // all lines together, with their ends

// Strict: no chunk extension, no bare LF, no white space, at most 16 hex digits. Trailer fields must be well-formed and are dropped.
class ChunkDecoder {
 public:
  // Appends the body's bytes to `out`; returns how many bytes of `in` were used: all of them, until the body is done. kInvalidArgument:
  // broken, for good.
  absl::StatusOr<size_t> Feed(absl::string_view in, std::string& out);
  bool done() const { return state_ == State::kDone; }

 private:
  enum class State { kSize, kSizeLf, kData, kDataCr, kDataLf, kTrailer, kTrailerLf, kDone, kBroken };

  absl::Status Step(char c);
  absl::Status StepSize(char c);
  absl::Status StepTrailer(char c);
  absl::Status EndTrailerLine();

  State state_ = State::kSize;
  uint64_t left_ = 0;             // of this chunk
  int digits_ = 0;                // of its size
  std::string line_;              // of the trailer
  size_t trailer_bytes_ = 0;
};

}  // namespace cellblock::egress

#endif  // CELLBLOCK_EGRESS_CHUNK_DECODER_H_
