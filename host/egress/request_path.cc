// See request_path.h.
#include "egress/request_path.h"

#include <algorithm>
#include <array>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"

namespace cellblock::egress {
namespace {

// NUL . / ; \ and the first bytes of their overlong UTF-8, which old servers decode.
constexpr std::array<absl::string_view, 8> kMeaningful = {"00", "2e", "2f", "3b", "5c", "c0", "c1", "e0"};

bool IsHexPair(absl::string_view text) {
  return text.size() == 2 && absl::ascii_isxdigit(static_cast<unsigned char>(text[0])) && absl::ascii_isxdigit(static_cast<unsigned char>(text[1]));
}

absl::string_view EscapeAmbiguity(absl::string_view path) {
  for (size_t i = path.find('%'); i != absl::string_view::npos; i = path.find('%', i + 1)) {
    size_t digits = i + 1;
    while (path.substr(digits, 2) == "25") digits += 2;   // "%252e" is "%2e" to who decodes twice
    const absl::string_view pair = path.substr(digits, 2);
    if (!IsHexPair(pair) && (digits == i + 1 || absl::StartsWith(absl::AsciiStrToLower(pair), "u"))) return "a \"%\" without two hex digits";
    if (!IsHexPair(pair)) continue;
    if (std::find(kMeaningful.begin(), kMeaningful.end(), absl::AsciiStrToLower(pair)) != kMeaningful.end()) return "an encoded \"/\", \"\\\", \";\", \".\" or NUL";
  }
  return "";
}

}  // namespace

absl::string_view PathOf(absl::string_view target) {
  const absl::string_view path = target.substr(0, target.find('?'));
  return path.empty() ? absl::string_view("/") : path;
}

absl::string_view PathAmbiguity(absl::string_view path) {
  if (absl::StrContains(path, '\\')) return "a \"\\\"";
  if (absl::StrContains(path, "//")) return "a \"//\"";
  for (absl::string_view segment : absl::StrSplit(path, '/')) {
    const absl::string_view name = segment.substr(0, segment.find(';'));
    if (name == "." || name == "..") return "a segment \".\" or \"..\"";
  }
  return EscapeAmbiguity(path);
}

bool PathFits(absl::string_view prefix, absl::string_view path) {
  if (!absl::StartsWith(path, prefix)) return false;
  return path.size() == prefix.size() || absl::EndsWith(prefix, "/") || path[prefix.size()] == '/';
}

}  // namespace cellblock::egress
