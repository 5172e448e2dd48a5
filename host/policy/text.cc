// See text.h.
#include "policy/text.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace cellblock::policy {
namespace {

constexpr size_t kShownBytesMax = 64;
constexpr size_t kWordBytesMax = 64;

// Words that some YAML reader takes for a boolean, a null or a number.
constexpr std::array<absl::string_view, 12> kAmbiguous = {"true", "false", "yes", "no", "on",  "off",
                                                          "null", "none",  "y",   "n",  "inf", "nan"};

bool IsPlainSafe(absl::string_view text) {
  if (text.empty() || !(absl::ascii_isalpha(text[0]) || text[0] == '/' || text[0] == '_')) return false;
  for (char c : text) {
    if (!absl::ascii_isalnum(c) && !absl::StrContains("_./+-", c)) return false;
  }
  std::string lower = absl::AsciiStrToLower(text);
  return std::find(kAmbiguous.begin(), kAmbiguous.end(), lower) == kAmbiguous.end();
}

// `text` escaped for a YAML double-quoted scalar. Bytes that are not UTF-8 become U+FFFD: no valid policy has any.
std::string Escape(absl::string_view text) {
  std::string out;
  while (!text.empty()) {
    Character c = NextCharacter(text);
    absl::string_view raw = text.substr(0, std::max(c.bytes, 1));
    text.remove_prefix(raw.size());
    if (c.bytes < 0) {
      out += "\\uFFFD";
    } else if (c.code == '"' || c.code == '\\') {
      absl::StrAppend(&out, "\\", raw);
    } else if (c.code == '\n') {
      out += "\\n";
    } else if (c.code == '\t') {
      out += "\\t";
    } else if (c.code == '\r') {
      out += "\\r";
    } else if (IsHidden(c.code) && c.code > 0xFFFF) {
      absl::StrAppendFormat(&out, "\\U%08X", static_cast<uint32_t>(c.code));
    } else if (IsHidden(c.code)) {
      absl::StrAppendFormat(&out, "\\u%04X", static_cast<uint32_t>(c.code));
    } else {
      absl::StrAppend(&out, raw);
    }
  }
  return out;
}

// Edits (insert, delete, replace, swap of neighbours) between two words of at most kWordBytesMax bytes.
int EditDistance(absl::string_view a, absl::string_view b) {
  std::array<std::array<int, kWordBytesMax + 1>, 3> rows{};  // of i - 2, i - 1, i
  auto *before = &rows[0], *last = &rows[1], *now = &rows[2];
  for (size_t j = 0; j <= b.size(); ++j) (*last)[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    (*now)[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      int replace = (*last)[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      (*now)[j] = std::min({replace, (*last)[j] + 1, (*now)[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) (*now)[j] = std::min((*now)[j], (*before)[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, now);
  }
  return (*last)[b.size()];
}

std::string Normal(absl::string_view word) {
  std::string out = absl::AsciiStrToLower(word);
  std::replace(out.begin(), out.end(), '-', '_');
  std::replace(out.begin(), out.end(), ' ', '_');
  return out;
}

}  // namespace

Character NextCharacter(absl::string_view text) {
  if (text.empty()) return {0, 0};
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char first = byte(0);
  if (first < 0x80) return {first, 1};
  int bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < static_cast<size_t>(bytes)) return {0, -1};
  char32_t code = first & (0x7F >> bytes);
  for (int i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {0, -1};
    code = code << 6 | (byte(i) & 0x3F);
  }
  constexpr std::array<char32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[bytes] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return {0, -1};
  return {code, bytes};
}

bool IsHidden(char32_t code) {
  if (code < 0x20) return code != '\n' && code != '\t' && code != '\r';
  if (code >= 0x7F && code <= 0x9F) return true;
  if (code == 0x061C || code == 0x200E || code == 0x200F || code == 0xFEFF) return true;
  if ((code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069)) return true;
  return (code & 0xFFFE) == 0xFFFE || (code >= 0xFDD0 && code <= 0xFDEF);
}

std::string TextProblem(absl::string_view text) {
  while (!text.empty()) {
    Character c = NextCharacter(text);
    if (c.bytes < 0) return "is not UTF-8";
    bool control = c.code < 0x20 || (c.code >= 0x7F && c.code <= 0x9F);
    if (control && c.code != '\n' && c.code != '\t') {
      return absl::StrFormat("holds the control character U+%04X", static_cast<uint32_t>(c.code));
    }
    text.remove_prefix(c.bytes);
  }
  return "";
}

std::string Shown(absl::string_view text) {
  bool is_cut = text.size() > kShownBytesMax;
  if (is_cut) {
    size_t end = kShownBytesMax;
    while (end > kShownBytesMax - 3 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // not inside a character
    text = text.substr(0, end);
  }
  return absl::StrCat("\"", Escape(text), is_cut ? "\"…" : "\"");
}

std::string YamlText(absl::string_view text) {
  if (IsPlainSafe(text)) return std::string(text);
  return absl::StrCat("\"", Escape(text), "\"");
}

std::vector<std::string> NearWords(absl::string_view word, const std::vector<std::string>& known) {
  if (word.empty() || word.size() > kWordBytesMax) return {};
  std::string wanted = Normal(word);
  std::vector<std::pair<int, std::string>> found;
  for (const std::string& candidate : known) {
    if (candidate.empty() || candidate.size() > kWordBytesMax) continue;
    std::string normal = Normal(candidate);
    int distance = EditDistance(wanted, normal);
    size_t shorter = std::min(wanted.size(), normal.size());
    bool is_start = shorter >= 3 && (absl::StartsWith(wanted, normal) || absl::StartsWith(normal, wanted));
    int allowed = std::max<int>(1, static_cast<int>(std::max(wanted.size(), normal.size())) / 3);
    if (distance <= allowed || is_start) found.emplace_back(distance, candidate);
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> near;
  for (const auto& [distance, candidate] : found) {
    if (near.size() == 3 || distance > found.front().first + 1) break;
    near.push_back(candidate);
  }
  return near;
}

std::string DidYouMean(const std::vector<std::string>& near) {
  if (near.empty()) return "";
  return absl::StrCat("; did you mean ", absl::StrJoin(near, " or "), "?");
}

}  // namespace cellblock::policy
