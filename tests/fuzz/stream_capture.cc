// Fuzzes the capture of guest output: the first bytes choose cap, pieces and redaction, the rest is the stream. Whatever it is, the text
// is valid and bounded, does not depend on the pieces, and holds no redacted string.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "base/log.h"
#include "capture/stream_capture.h"

namespace {

using namespace cellblock::capture;  // NOLINT: one file

constexpr absl::string_view kSecret = "s3cr";

struct Captured {
  std::string text;
  size_t live_bytes = 0;
};

Captured Capture(absl::string_view bytes, const StreamCaptureOptions& options, size_t piece) {
  StreamCapture capture(options);
  Captured result;
  absl::Time now = absl::UnixEpoch();
  auto take = [&result](const std::string& text) {
    CELLBLOCK_CHECK(IsValidUtf8(text));
    result.live_bytes += text.size();
  };
  while (!bytes.empty()) {
    take(capture.Append(bytes.substr(0, piece), now));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    now += absl::Milliseconds(70);
    if (bytes.size() % 3 == 0) take(capture.Border(now));
    take(capture.Poll(now));
  }
  take(capture.Finish());
  result.text = capture.TakeText();
  CELLBLOCK_CHECK(IsValidUtf8(result.text));
  size_t bound = static_cast<size_t>(options.cap_bytes) + kCutMarkerBytesMax;
  CELLBLOCK_CHECK(result.text.size() <= bound && result.live_bytes <= bound);
  return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::shared_ptr<const RedactionSet> secrets = *RedactionSet::Create({std::string(kSecret), "s3cs3cr3t", "a&\"\\n"});
  if (size < 3) return 0;
  StreamCaptureOptions options{.cap_bytes = 16 + 2 * data[0]};
  if ((data[1] & 1) != 0) options.redact = secrets;
  size_t piece = 1 + data[2] % 32;
  absl::string_view bytes(reinterpret_cast<const char*>(data + 3), size - 3);
  Captured whole = Capture(bytes, options, bytes.size() + 1);
  CELLBLOCK_CHECK(Capture(bytes, options, piece).text == whole.text);
  // Overwriting can spell the secret anew, so only a stream without returns shows that it is gone.
  if (options.redact != nullptr && !absl::StrContains(bytes, "\r")) CELLBLOCK_CHECK(!absl::StrContains(whole.text, kSecret));
  return 0;
}
