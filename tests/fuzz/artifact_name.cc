// Fuzzes the names of files that a guest made, as they are shown: any bytes give valid UTF-8 without a character that breaks a line,
// reorders or hides text, at most six times as long, from which the bytes can be had back.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "absl/strings/match.h"
#include "artifact/names.h"
#include "base/log.h"
#include "capture/utf8.h"

namespace {

using namespace cellblock;  // NOLINT: one file

// What the escapes say, and no escape but the four.
std::string Unescape(const std::string& name) {
  std::string bytes;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '\\') {
      bytes.push_back(name[i]);
      continue;
    }
    const char kind = name[++i];
    if (kind == '\\') {
      bytes.push_back('\\');
      continue;
    }
    CELLBLOCK_CHECK(kind == 'x' || kind == 'u' || kind == 'U');
    const size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : 8;
    CELLBLOCK_CHECK(i + digits < name.size());
    const uint32_t number = static_cast<uint32_t>(std::strtoul(name.substr(i + 1, digits).c_str(), nullptr, 16));
    kind == 'x' ? bytes.push_back(static_cast<char>(number)) : capture::AppendCharacter(number, &bytes);
    i += digits;
  }
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string name = artifact::EscapeName(bytes);
  CELLBLOCK_CHECK(capture::IsValidUtf8(name) && name.size() <= 6 * size);
  for (size_t at = 0; at < name.size();) {
    const char32_t c = capture::NextCharacter(name, &at);
    CELLBLOCK_CHECK(c >= 0x20 && (c < 0x7f || c >= 0xa0));
    CELLBLOCK_CHECK((c < 0x2028 || c > 0x202e) && (c < 0x2066 || c > 0x2069) && c != 0xfeff && c != 0x200e && c != 0x200f);
  }
  CELLBLOCK_CHECK(Unescape(name) == bytes);
  // A separator is neither made nor lost: what had no "/" shows none.
  CELLBLOCK_CHECK(absl::StrContains(name, '/') == absl::StrContains(bytes, '/'));
  return 0;
}
