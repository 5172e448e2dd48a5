// See byte_redactor.h.
#include "egress/byte_redactor.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace cellblock::egress {
namespace {

constexpr size_t kLineBreakBytes = 4;  // CR and LF, as JSON spells them

std::string Hex(char c, bool upper) {
  const std::string hex = absl::BytesToHexString(absl::string_view(&c, 1));
  return upper ? absl::AsciiStrToUpper(hex) : hex;
}

// Every byte but letters, digits and those of `kept`; with a null `kept` those too.
std::string PercentEncode(absl::string_view value, const char* kept, bool upper) {
  std::string text;
  for (char c : value) {
    const bool stays = kept != nullptr && (absl::ascii_isalnum(static_cast<unsigned char>(c)) || absl::StrContains(kept, c));
    stays ? text.push_back(c) : absl::StrAppend(&text, "%", Hex(c, upper));
  }
  return text;
}

std::string JsonEscape(absl::string_view value, absl::string_view as_number, bool slash, bool upper) {
  std::string text;
  for (char c : value) {
    if (absl::StrContains(as_number, c)) {
      absl::StrAppend(&text, "\\u00", Hex(c, upper));
    } else if (c == '"' || c == '\\' || (slash && c == '/')) {
      absl::StrAppend(&text, "\\", absl::string_view(&c, 1));
    } else if (c == '\t') {
      text += "\\t";
    } else {
      text.push_back(c);
    }
  }
  return text;
}

// The characters of a base64 text that these bytes alone decide when `offset` other bytes precede them in their group of three.
std::string Base64Core(absl::string_view value, size_t offset, bool url_safe) {
  std::string text;
  absl::Base64Escape(absl::StrCat(std::string(offset, 'x'), value), &text);
  const size_t first = (offset * 8 + 5) / 6, end = (offset + value.size()) * 8 / 6;
  text = first < end ? text.substr(first, end - first) : "";
  return url_safe ? absl::StrReplaceAll(text, {{"+", "-"}, {"/", "_"}}) : text;
}

// Every byte but letters and digits as a number: "&#43;", "&#x2b;".
std::string ByNumbers(absl::string_view value, bool as_hex) {
  std::string text;
  for (char c : value) {
    const auto number = static_cast<unsigned char>(c);
    if (absl::ascii_isalnum(number)) {
      text.push_back(c);
    } else {
      absl::StrAppend(&text, "&#", as_hex ? "x" : "", as_hex ? absl::StrCat(absl::Hex(number)) : absl::StrCat(number), ";");
    }
  }
  return text;
}

// Lines of base64 have 60 to 76 characters.
size_t LineBreakBytesMax(const std::string& needle) { return kLineBreakBytes * (1 + needle.size() / 60); }

// Bytes of the line break that a text begins with, also as JSON spells it; 0: none.
size_t LineBreakAt(absl::string_view text) {
  if (absl::StartsWith(text, "\r") || absl::StartsWith(text, "\n")) return 1;
  return absl::StartsWith(text, "\\r") || absl::StartsWith(text, "\\n") ? 2 : 0;
}

// Bytes of `text` that spell the needle; 0: none.
size_t Spelled(absl::string_view text, const std::string& needle) {
  size_t at = 0, breaks = 0;
  for (size_t i = 0; i < needle.size(); ++at, ++i) {
    // Where needle and line break begin alike, it is the needle.
    while (i > 0 && at < text.size() && text[at] != needle[i]) {
      const size_t line_break = LineBreakAt(text.substr(at));
      breaks += line_break;
      if (line_break == 0 || breaks > LineBreakBytesMax(needle)) return 0;
      at += line_break;
    }
    if (at >= text.size() || text[at] != needle[i]) return 0;
  }
  return at;
}

}  // namespace

std::vector<std::string> SpellingsOf(absl::string_view value) {
  std::vector<std::string> spellings = {std::string(value)};
  const auto add = [&spellings](std::string text) {
    if (std::find(spellings.begin(), spellings.end(), text) == spellings.end()) spellings.push_back(std::move(text));
  };
  for (bool upper : {true, false}) {
    for (const char* kept : {static_cast<const char*>(nullptr), "-._~", "-._~/", "-._~!'()*", "-._~$&+=:@"}) add(PercentEncode(value, kept, upper));
    add(absl::StrReplaceAll(PercentEncode(value, "-._~", upper), {{"%20", "+"}}));
    for (absl::string_view as_number : {"", "<>&", "<>&'\"+"}) {
      for (bool slash : {false, true}) add(JsonEscape(value, as_number, slash, upper));
    }
  }
  add(absl::StrReplaceAll(value, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#x27;"}}));
  add(absl::StrReplaceAll(value, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&#34;"}, {"'", "&#39;"}}));
  add(absl::StrReplaceAll(value, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}, {"/", "&#x2F;"}, {"`", "&#x60;"}, {"=", "&#x3D;"}}));
  add(absl::StrReplaceAll(value, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#039;"}}));
  add(absl::StrReplaceAll(value, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&#34;"}, {"'", "&#39;"}, {"+", "&#43;"}}));
  add(absl::StrReplaceAll(value, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}}));
  add(absl::StrReplaceAll(value, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}}));
  add(absl::StrReplaceAll(value, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&apos;"}}));
  for (bool as_hex : {false, true}) add(ByNumbers(value, as_hex));
  add(JsonEscape(JsonEscape(value, "", false, false), "", false, false));
  for (bool url_safe : {false, true}) {
    for (size_t offset : {0, 1, 2}) add(Base64Core(value, offset, url_safe));
  }
  return spellings;
}

ByteRedactor::ByteRedactor(std::vector<std::string> needles) {
  for (std::string& needle : needles) {
    if (needle.size() < kNeedleBytesMin) continue;
    longest_ = std::max(longest_, needle.size() + LineBreakBytesMax(needle));
    std::vector<std::string>& same_first = needles_[static_cast<uint8_t>(needle[0])];
    same_first.push_back(std::move(needle));
  }
}

std::string ByteRedactor::Feed(absl::string_view bytes) {
  held_.append(bytes.data(), bytes.size());
  return Take(false);
}

std::string ByteRedactor::Finish() { return Take(true); }

size_t ByteRedactor::MatchAt(size_t at) const {
  const absl::string_view rest = absl::string_view(held_).substr(at);
  size_t longest = 0;
  for (const std::string& needle : needles_[static_cast<uint8_t>(rest[0])]) longest = std::max(longest, Spelled(rest, needle));
  return longest;
}

std::string ByteRedactor::Take(bool is_last) {
  std::string out;
  size_t at = 0, covered_end = covered_;
  for (; at < held_.size() && (is_last || held_.size() - at >= longest_); ++at) {
    const size_t match = MatchAt(at);
    if (match > 0 && at >= covered_end) {
      absl::StrAppend(&out, kRedacted);
      ++replaced_;
    }
    covered_end = std::max(covered_end, match > 0 ? at + match : 0);
    if (at >= covered_end) out.push_back(held_[at]);
  }
  held_.erase(0, at);
  covered_ = covered_end > at ? covered_end - at : 0;
  return out;
}

}  // namespace cellblock::egress
