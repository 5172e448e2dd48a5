// UTF-8 helpers for text that a guest wrote: bytes in, valid text out, never cut inside a character. Runs in the supervisor; the
// input is hostile. Pure functions and one small state, without allocation beyond the output.
#ifndef CELLBLOCK_CAPTURE_UTF8_H_
#define CELLBLOCK_CAPTURE_UTF8_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace cellblock::capture {

// U+FFFD, which stands for bytes that are no text.
inline constexpr absl::string_view kReplacementCharacter = "\xEF\xBF\xBD";

// Turns a byte stream that arrives in arbitrary pieces into valid UTF-8. Every maximal subpart of an ill-formed sequence becomes one
// U+FFFD, as browsers do (WHATWG Encoding) and Unicode recommends (chapter 3, "U+FFFD Substitution of Maximal Subparts"); so the
// same bytes give the same text however they are split. Holds back at most 3 bytes: the start of a character still to come.
class Utf8Decoder {
 public:
  void Append(absl::string_view bytes, std::string* text);
  // The stream ended: a character that never came whole becomes U+FFFD. The decoder can be used again afterwards.
  void Finish(std::string* text);
  size_t held_bytes() const { return held_size_; }

 private:
  // Completes the held character from the front of `bytes`; returns how many of them it used.
  size_t CompleteHeld(absl::string_view bytes, std::string* text);

  char held_[4] = {};
  size_t held_size_ = 0;
};

bool IsValidUtf8(absl::string_view bytes);
// The whole of `bytes` through a Utf8Decoder.
std::string ToValidUtf8(absl::string_view bytes);

// The following take valid UTF-8.
size_t CountCharacters(absl::string_view text);
// The largest character border at or below `offset`; `text.size()` when the offset lies beyond it.
size_t FloorToCharacter(absl::string_view text, size_t offset);
// Decodes the character at `*position` and moves behind it.
char32_t NextCharacter(absl::string_view text, size_t* position);
void AppendCharacter(char32_t character, std::string* text);

// What stands at the front of `bytes` (not empty): one character, an ill-formed maximal subpart, or the start of a character that
// ends with the input.
struct Utf8Sequence {
  enum class Kind { kCharacter, kIllFormed, kIncomplete };
  Kind kind;
  size_t bytes;
};
Utf8Sequence ScanSequence(absl::string_view bytes);

}  // namespace cellblock::capture

#endif  // CELLBLOCK_CAPTURE_UTF8_H_
