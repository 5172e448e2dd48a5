// Reads a text as one does who knows its notation: "\u00e4" and "&lt;" become the characters they spell, each with the place where it
// is spelled. For finding redacted strings in encoded text. Runs in the supervisor; the text is the guest's.
#ifndef CELLBLOCK_CAPTURE_UNESCAPE_H_
#define CELLBLOCK_CAPTURE_UNESCAPE_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"

namespace cellblock::capture {

enum class Escapes {
  kBackslash,       // what JSON and Python's repr write: \n, \", \/, \xe4, \u00e4, \U0001f511, pairs of surrogates; \ before any punctuation
  kBackslashBytes,  // the same, but \xc3 is a byte: Python's repr of bytes
  kHtml,            // &amp; &lt; &gt; &quot; &apos; and numbers, decimal and hexadecimal
};

inline constexpr size_t kEscapeBytesMax = 12;  // \ud83d\udd11

// A byte, and the part of the source [begin, end) that spells it: one byte where it stands for itself.
struct SpelledByte {
  uint8_t byte = 0;
  uint64_t begin = 0;
  uint64_t end = 0;
};

// One stream's state. What is no escape comes out as it went in. Holds back less than kEscapeBytesMax bytes.
class Unescaper {
 public:
  using Sink = absl::FunctionRef<void(const SpelledByte&)>;

  explicit Unescaper(Escapes escapes) : escapes_(escapes) {}
  bool Begins(uint8_t byte) const { return byte == (escapes_ == Escapes::kHtml ? '&' : '\\'); }
  void Append(const SpelledByte& byte, Sink sink);
  void Finish(Sink sink);
  bool holds_any() const { return held_size_ > 0; }
  const SpelledByte& first_held() const { return held_[0]; }  // where holds_any()

 private:
  void Settle(bool ended, Sink sink);
  void PassOn(size_t count, Sink sink);
  void Spell(size_t count, uint32_t value, bool is_byte, Sink sink);

  Escapes escapes_;
  std::array<SpelledByte, kEscapeBytesMax> held_ = {};
  std::array<char, kEscapeBytesMax> text_ = {};  // the same bytes
  size_t held_size_ = 0;
};

}  // namespace cellblock::capture

#endif  // CELLBLOCK_CAPTURE_UNESCAPE_H_
