// Fuzzes what looks at a guest's files: any bytes as a name give harmless text, as content a well-formed type and perhaps a size; a name
// against globs gives an answer in bounded time.
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/match.h"
#include "artifact/glob.h"
#include "artifact/image_size.h"
#include "artifact/mime.h"
#include "artifact/names.h"
#include "base/log.h"
#include "capture/utf8.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cellblock::artifact;  // NOLINT: one function
  static MimeSniffer sniffer;
  absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  absl::string_view name = bytes.substr(0, 64);
  std::string label = EscapeName(name);
  CELLBLOCK_CHECK(cellblock::capture::IsValidUtf8(label));
  CELLBLOCK_CHECK(label.size() <= 6 * name.size());
  for (char c : label) CELLBLOCK_CHECK(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F);
  std::string mime = sniffer.Sniff(bytes, name);
  CELLBLOCK_CHECK(mime.size() <= 127 && absl::StrContains(mime, "/"));
  for (const char* type : {"image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml"}) {
    auto image_size = ImageSize(type, bytes);
    CELLBLOCK_CHECK(!image_size.has_value() || (image_size->first > 0 && image_size->second > 0));
  }
  Glob(name).Matches(bytes);
  CELLBLOCK_CHECK(Glob("**").Matches(bytes));
  return 0;
}
