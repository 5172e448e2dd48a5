// See json_text.h.
#include "capture/json_text.h"

#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "capture/utf8.h"

namespace cellblock::capture {
namespace {

bool IsDigit(char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); }

class Compactor {
 public:
  // Without `out` it only checks.
  Compactor(absl::string_view text, size_t depth_max, std::string* out) : text_(text), depth_max_(depth_max), out_(out) {}

  bool Run() {
    Expect expect = Expect::kValue;
    while (true) {
      SkipSpace();
      if (expect == Expect::kCommaOrEnd && open_.empty()) return at_ == text_.size();
      if (at_ == text_.size() || !Step(&expect)) return false;
    }
  }

 private:
  enum class Expect { kValue, kValueOrEnd, kKey, kKeyOrEnd, kCommaOrEnd };

  // Reads one token that `expect` allows.
  bool Step(Expect* expect) {
    char c = text_[at_];
    bool closes = !open_.empty() && c == (open_.back() == '{' ? '}' : ']');
    switch (*expect) {
      case Expect::kValueOrEnd:
      case Expect::kKeyOrEnd:
        if (closes) return Close(expect);
        return *expect == Expect::kKeyOrEnd ? Key(expect) : Value(expect);
      case Expect::kKey: return Key(expect);
      case Expect::kValue: return Value(expect);
      case Expect::kCommaOrEnd:
        if (closes) return Close(expect);
        if (c != ',') return false;
        Copy(1);
        *expect = open_.back() == '{' ? Expect::kKey : Expect::kValue;
        return true;
    }
    return false;
  }

  bool Key(Expect* expect) {
    if (!String()) return false;
    SkipSpace();
    if (at_ == text_.size() || text_[at_] != ':') return false;
    Copy(1);
    *expect = Expect::kValue;
    return true;
  }

  bool Value(Expect* expect) {
    char c = text_[at_];
    *expect = Expect::kCommaOrEnd;
    if (c == '"') return String();
    if (c == '-' || IsDigit(c)) return Number();
    if (c == 't') return Literal("true");
    if (c == 'f') return Literal("false");
    if (c == 'n') return Literal("null");
    if ((c != '{' && c != '[') || open_.size() >= depth_max_) return false;
    open_.push_back(c);
    Copy(1);
    *expect = c == '{' ? Expect::kKeyOrEnd : Expect::kValueOrEnd;
    return true;
  }

  bool Close(Expect* expect) {
    open_.pop_back();
    Copy(1);
    *expect = Expect::kCommaOrEnd;
    return true;
  }

  bool Literal(absl::string_view word) {
    if (!absl::StartsWith(text_.substr(at_), word)) return false;
    Copy(word.size());
    return true;
  }

  bool Number() {
    size_t end = at_;
    auto digits = [&] {
      size_t begin = end;
      while (end < text_.size() && IsDigit(text_[end])) ++end;
      return end > begin;
    };
    if (text_[end] == '-') ++end;
    if (end < text_.size() && text_[end] == '0') {
      ++end;
    } else if (!digits()) {
      return false;
    }
    if (end < text_.size() && text_[end] == '.') {
      ++end;
      if (!digits()) return false;
    }
    if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
      ++end;
      if (end < text_.size() && (text_[end] == '+' || text_[end] == '-')) ++end;
      if (!digits()) return false;
    }
    Copy(end - at_);
    return true;
  }

  bool String() {
    if (text_[at_] != '"') return false;
    size_t end = at_ + 1;
    while (true) {
      if (end == text_.size()) return false;
      uint8_t byte = static_cast<uint8_t>(text_[end]);
      if (byte == '"') break;
      if (byte < 0x20) return false;
      if (byte == '\\') {
        if (!Escape(&end)) return false;
      } else if (byte < 0x80) {
        ++end;
      } else {
        Utf8Sequence sequence = ScanSequence(text_.substr(end));
        if (sequence.kind != Utf8Sequence::Kind::kCharacter) return false;
        end += sequence.bytes;
      }
    }
    Copy(end + 1 - at_);
    return true;
  }

  // Moves `*end` behind the escape that starts there; surrogates only in pairs.
  bool Escape(size_t* end) {
    if (*end + 1 == text_.size()) return false;
    char kind = text_[*end + 1];
    if (kind != 'u') {
      *end += 2;
      return absl::StrContains("\"\\/bfnrt", absl::string_view(&kind, 1));
    }
    uint32_t unit = 0, second = 0;
    if (!Unit(*end, &unit) || (unit >= 0xDC00 && unit <= 0xDFFF)) return false;
    *end += 6;
    if (unit < 0xD800 || unit > 0xDFFF) return true;
    if (!Unit(*end, &second) || second < 0xDC00 || second > 0xDFFF) return false;
    *end += 6;
    return true;
  }

  bool Unit(size_t at, uint32_t* unit) const {
    if (at + 6 > text_.size() || text_[at] != '\\' || text_[at + 1] != 'u') return false;
    for (char c : text_.substr(at + 2, 4)) {
      if (!absl::ascii_isxdigit(static_cast<unsigned char>(c))) return false;
      *unit = *unit << 4 | static_cast<uint32_t>(IsDigit(c) ? c - '0' : absl::ascii_tolower(static_cast<unsigned char>(c)) - 'a' + 10);
    }
    return true;
  }

  void SkipSpace() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) ++at_;
  }
  void Copy(size_t bytes) {
    if (out_ != nullptr) out_->append(text_.data() + at_, bytes);
    at_ += bytes;
  }

  absl::string_view text_;
  size_t depth_max_;
  std::string* out_;
  size_t at_ = 0;
  std::string open_;  // the brackets around the current value
};

}  // namespace

bool AppendCompactJson(absl::string_view text, std::string* out) {
  size_t before = out->size();
  if (Compactor(text, kJsonDepthMax, out).Run()) return true;
  out->resize(before);
  return false;
}

bool IsStrictJson(absl::string_view text, size_t depth_max) { return Compactor(text, depth_max, nullptr).Run(); }

}  // namespace cellblock::capture
