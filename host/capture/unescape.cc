// See unescape.h.
#include "capture/unescape.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "capture/utf8.h"

namespace cellblock::capture {
namespace {

// What stands at the front of a text.
struct Spelling {
  enum class Kind { kNone, kIncomplete, kWhole };
  Kind kind = Kind::kNone;
  size_t bytes = 0;
  uint32_t value = 0;
  bool is_byte = false;
};
constexpr Spelling kNone = {};
constexpr Spelling kIncomplete = {.kind = Spelling::Kind::kIncomplete};

Spelling Character(size_t bytes, uint32_t value) {
  if (value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return kNone;
  return {Spelling::Kind::kWhole, bytes, value, false};
}

std::optional<uint32_t> Digit(char c, uint32_t base) {
  const unsigned char byte = static_cast<unsigned char>(c);
  if (absl::ascii_isdigit(byte)) return static_cast<uint32_t>(c - '0');
  if (base == 16 && absl::ascii_isxdigit(byte)) return static_cast<uint32_t>(absl::ascii_tolower(byte) - 'a' + 10);
  return std::nullopt;
}

// A backslash, a letter and exactly `digits` hexadecimal ones.
Spelling Hex(absl::string_view text, size_t digits) {
  uint32_t value = 0;
  for (size_t i = 2; i < 2 + digits; ++i) {
    if (i == text.size()) return kIncomplete;
    const std::optional<uint32_t> digit = Digit(text[i], 16);
    if (!digit.has_value()) return kNone;
    value = value << 4 | *digit;
  }
  return {Spelling::Kind::kWhole, 2 + digits, value, false};
}

Spelling Unit(absl::string_view text) {
  const Spelling first = Hex(text, 4);
  if (first.kind != Spelling::Kind::kWhole || first.value < 0xD800 || first.value > 0xDBFF) {
    return first.kind == Spelling::Kind::kWhole ? Character(first.bytes, first.value) : first;
  }
  const absl::string_view rest = text.substr(first.bytes);
  if (rest.size() < 2) return absl::StartsWith("\\u", rest) ? kIncomplete : kNone;
  if (!absl::StartsWith(rest, "\\u")) return kNone;
  const Spelling second = Hex(rest, 4);
  if (second.kind != Spelling::Kind::kWhole) return second;
  if (second.value < 0xDC00 || second.value > 0xDFFF) return kNone;
  return Character(first.bytes + second.bytes, 0x10000 + ((first.value - 0xD800) << 10) + (second.value - 0xDC00));
}

Spelling Backslash(absl::string_view text, bool bytes) {
  if (text.size() == 1) return kIncomplete;
  constexpr absl::string_view kLetters = "abfnrtv", kMeant = "\a\b\f\n\r\t\v";
  const char kind = text[1];
  if (const size_t letter = kLetters.find(kind); letter != absl::string_view::npos) return Character(2, static_cast<uint32_t>(kMeant[letter]));
  if (absl::ascii_ispunct(static_cast<unsigned char>(kind))) return Character(2, static_cast<uint32_t>(kind));
  if (kind == 'u') return Unit(text);
  if (kind != 'x' && kind != 'U') return kNone;
  Spelling spelling = Hex(text, kind == 'x' ? 2 : 8);
  if (spelling.kind != Spelling::Kind::kWhole) return spelling;
  if (kind == 'U') return Character(spelling.bytes, spelling.value);
  spelling.is_byte = bytes;
  return spelling;
}

Spelling HtmlNumber(absl::string_view text) {
  const bool hex = text.size() > 2 && (text[2] == 'x' || text[2] == 'X');
  const uint32_t base = hex ? 16 : 10;
  const size_t begin = hex ? 3 : 2, digits_max = hex ? 6 : 7;  // of U+10FFFF
  uint32_t value = 0;
  for (size_t i = begin; i < text.size(); ++i) {
    if (text[i] == ';') return i == begin ? kNone : Character(i + 1, value);
    const std::optional<uint32_t> digit = Digit(text[i], base);
    if (!digit.has_value() || i - begin == digits_max) return kNone;
    value = value * base + *digit;
  }
  return kIncomplete;
}

Spelling Html(absl::string_view text) {
  if (text.size() > 1 && text[1] == '#') return HtmlNumber(text);
  constexpr absl::string_view kNames[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"}, kMeant = "&<>\"'";
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (absl::StartsWith(text, kNames[i])) return Character(kNames[i].size(), static_cast<uint32_t>(kMeant[i]));
    if (absl::StartsWith(kNames[i], text)) return kIncomplete;
  }
  return text == "&" ? kIncomplete : kNone;
}

}  // namespace

void Unescaper::Append(const SpelledByte& byte, Sink sink) {
  if (held_size_ == 0 && !Begins(byte.byte)) return sink(byte);
  held_[held_size_] = byte;
  text_[held_size_++] = static_cast<char>(byte.byte);
  Settle(/*ended=*/false, sink);
}

void Unescaper::Finish(Sink sink) { Settle(/*ended=*/true, sink); }

// Lets out what is decided; never leaves kEscapeBytesMax bytes, for no escape is longer.
void Unescaper::Settle(bool ended, Sink sink) {
  while (held_size_ > 0) {
    if (!Begins(held_[0].byte)) {
      PassOn(1, sink);
      continue;
    }
    const absl::string_view text(text_.data(), held_size_);
    const Spelling found = escapes_ == Escapes::kHtml ? Html(text) : Backslash(text, escapes_ == Escapes::kBackslashBytes);
    if (found.kind == Spelling::Kind::kIncomplete && !ended) return;
    if (found.kind == Spelling::Kind::kWhole) {
      Spell(found.bytes, found.value, found.is_byte, sink);
    } else {
      PassOn(1, sink);
    }
  }
}

void Unescaper::PassOn(size_t count, Sink sink) {
  for (size_t i = 0; i < count; ++i) sink(held_[i]);
  std::copy(held_.begin() + static_cast<ptrdiff_t>(count), held_.begin() + static_cast<ptrdiff_t>(held_size_), held_.begin());
  std::copy(text_.begin() + static_cast<ptrdiff_t>(count), text_.begin() + static_cast<ptrdiff_t>(held_size_), text_.begin());
  held_size_ -= count;
}

void Unescaper::Spell(size_t count, uint32_t value, bool is_byte, Sink sink) {
  const uint64_t begin = held_[0].begin, end = held_[count - 1].end;
  std::string character;
  if (is_byte) {
    character.push_back(static_cast<char>(value));
  } else {
    AppendCharacter(static_cast<char32_t>(value), &character);
  }
  PassOn(count, [](const SpelledByte&) {});
  for (char c : character) sink({static_cast<uint8_t>(c), begin, end});
}

}  // namespace cellblock::capture
