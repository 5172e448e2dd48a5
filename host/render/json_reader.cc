// See json_reader.h.
#include "render/json_reader.h"

#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "capture/utf8.h"

namespace cellblock::render {
namespace {

// Walks over text that is known to be JSON: it looks only for where things end, and never beyond the text.
class Cursor {
 public:
  explicit Cursor(absl::string_view text) : text_(text) {}

  // Skips white space; whether `c` stands there, which is then taken.
  bool Take(char c) {
    SkipSpace();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  // The next value, without the white space around it.
  absl::string_view TakeValue() {
    SkipSpace();
    const size_t begin = at_;
    size_t open = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        SkipString();
      } else if (c == '{' || c == '[') {
        ++open;
        ++at_;
      } else if (c == '}' || c == ']') {
        if (open == 0) break;  // of the container around the value
        --open;
        ++at_;
      } else if (open == 0) {
        if (c == ',' || c == ':') break;
        SkipWord();
      } else {
        ++at_;
        continue;
      }
      if (open == 0) break;
    }
    return text_.substr(begin, at_ - begin);
  }

 private:
  void SkipSpace() {
    while (at_ < text_.size() && absl::ascii_isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }

  // A number, true, false or null.
  void SkipWord() {
    while (at_ < text_.size() && !absl::ascii_isspace(static_cast<unsigned char>(text_[at_])) && text_[at_] != ',' && text_[at_] != ']' && text_[at_] != '}') ++at_;
  }

  void SkipString() {
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    at_ = at_ < text_.size() ? at_ + 1 : text_.size();
  }

  absl::string_view text_;
  size_t at_ = 0;
};

absl::string_view WithoutQuotes(absl::string_view string) { return string.size() < 2 ? string : string.substr(1, string.size() - 2); }

uint32_t HexUnit(absl::string_view digits) {
  uint32_t unit = 0;
  return absl::SimpleHexAtoi(digits, &unit) ? unit : 0xFFFD;
}

// Appends the character that the escape at `*at` (of the `u`) stands for, and moves behind it.
void AppendUnicodeEscape(absl::string_view inner, size_t* at, std::string* text) {
  uint32_t unit = HexUnit(inner.substr(*at + 1, 4));
  *at += 5;
  if (unit >= 0xD800 && unit <= 0xDBFF && *at + 6 <= inner.size()) {  // the other half follows: lone ones are not strict JSON
    unit = 0x10000 + ((unit - 0xD800) << 10) + (HexUnit(inner.substr(*at + 2, 4)) - 0xDC00);
    *at += 6;
  }
  capture::AppendCharacter(static_cast<char32_t>(unit), text);
}

}  // namespace

bool ForEachMember(absl::string_view object, absl::FunctionRef<bool(absl::string_view key, absl::string_view value)> member) {
  Cursor cursor(object);
  if (!cursor.Take('{')) return false;
  if (cursor.Take('}')) return true;
  do {
    const absl::string_view key = WithoutQuotes(cursor.TakeValue());
    if (!cursor.Take(':') || !member(key, cursor.TakeValue())) return false;
  } while (cursor.Take(','));
  return cursor.Take('}');
}

bool ForEachItem(absl::string_view array, absl::FunctionRef<bool(absl::string_view item)> item) {
  Cursor cursor(array);
  if (!cursor.Take('[')) return false;
  if (cursor.Take(']')) return true;
  do {
    if (!item(cursor.TakeValue())) return false;
  } while (cursor.Take(','));
  return cursor.Take(']');
}

bool IsJsonString(absl::string_view value) { return value.size() >= 2 && value.front() == '"'; }

std::string Unescaped(absl::string_view inner) {
  std::string text;
  text.reserve(inner.size());
  size_t at = 0;
  while (true) {
    const size_t plain = inner.substr(at).find('\\');
    if (plain == absl::string_view::npos || at + plain + 1 >= inner.size()) break;
    text.append(inner.data() + at, plain);
    at += plain + 1;
    const char kind = inner[at];
    if (kind == 'u') {
      AppendUnicodeEscape(inner, &at, &text);
      continue;
    }
    constexpr absl::string_view kLetters = "bfnrt", kMeant = "\b\f\n\r\t";
    const size_t letter = kLetters.find(kind);
    text.push_back(letter == absl::string_view::npos ? kind : kMeant[letter]);
    ++at;
  }
  text.append(inner.data() + at, inner.size() - at);
  return text;
}

}  // namespace cellblock::render
