// See names.h.
#include "artifact/names.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "capture/utf8.h"

namespace cellblock::artifact {
namespace {

bool IsUnsafe(char32_t c) {
  if (c < 0x20 || (c >= 0x7F && c < 0xA0)) return true;   // controls
  if (c == 0xAD || c == 0x061C || c == 0x180E) return true;  // soft hyphen, Arabic letter mark, Mongolian vowel separator
  if (c == 0x200B || c == 0x200E || c == 0x200F) return true;  // zero-width space, direction marks; U+200C and D join letters and emoji
  if (c >= 0x2028 && c <= 0x202E) return true;             // separators, embeddings, overrides
  if (c >= 0x2060 && c <= 0x206F) return true;             // word joiner, invisible operators, isolates
  if (c == 0xFEFF || (c >= 0xFFF9 && c <= 0xFFFB)) return true;  // byte order mark, annotations
  return c >= 0xE0000 && c <= 0xE0FFF;                     // tags
}

}  // namespace

std::string EscapeName(absl::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    capture::Utf8Sequence sequence = capture::ScanSequence(bytes);
    if (sequence.kind == capture::Utf8Sequence::Kind::kCharacter) {
      size_t at = 0;
      char32_t character = capture::NextCharacter(bytes, &at);
      if (character == U'\\') {
        text += "\\\\";
      } else if (IsUnsafe(character)) {
        const bool large = character > 0xFFFF;
        absl::StrAppend(&text, large ? "\\U" : "\\u", absl::Hex(static_cast<uint32_t>(character), large ? absl::kZeroPad8 : absl::kZeroPad4));
      } else {
        text.append(bytes.data(), sequence.bytes);
      }
    } else {
      for (char byte : bytes.substr(0, sequence.bytes)) absl::StrAppend(&text, "\\x", absl::Hex(static_cast<uint8_t>(byte), absl::kZeroPad2));
    }
    bytes.remove_prefix(sequence.bytes);
  }
  return text;
}

}  // namespace cellblock::artifact
