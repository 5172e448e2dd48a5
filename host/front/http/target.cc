// See target.h.
#include "front/http/target.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace cellblock::front {
namespace {

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

bool DecodePercent(absl::string_view text, std::string* decoded) {
  decoded->clear();
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded->push_back(text[i]);
      continue;
    }
    const int high = i + 2 < text.size() ? HexValue(text[i + 1]) : -1, low = i + 2 < text.size() ? HexValue(text[i + 2]) : -1;
    if (high < 0 || low < 0) return false;
    decoded->push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  return true;
}

std::string EncodePercent(absl::string_view text) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string encoded;
  for (unsigned char c : text) {
    if (absl::ascii_isalnum(c) || c == '-' || c == '.' || c == '_' || c == '~') {
      encoded.push_back(static_cast<char>(c));
    } else {
      encoded.append({'%', kDigits[c >> 4], kDigits[c & 15]});
    }
  }
  return encoded;
}

bool ParseTarget(absl::string_view text, Target* target) {
  if (!absl::StartsWith(text, "/")) return false;
  text = text.substr(0, text.find('#'));
  const size_t question = text.find('?');
  target->path = std::string(text.substr(0, question));
  target->query.clear();
  if (question == absl::string_view::npos) return true;
  for (absl::string_view pair : absl::StrSplit(text.substr(question + 1), '&', absl::SkipEmpty())) {
    const size_t equals = std::min(pair.find('='), pair.size());
    std::string name, value;
    const std::string raw = absl::StrReplaceAll(pair.substr(std::min(equals + 1, pair.size())), {{"+", " "}});
    if (!DecodePercent(pair.substr(0, equals), &name) || !DecodePercent(raw, &value)) return false;
    target->query[name] = value;
  }
  return true;
}

std::string HostOf(absl::string_view authority) {
  size_t end = authority.find(':');
  if (absl::StartsWith(authority, "[")) {
    end = authority.find(']');
    if (end == absl::string_view::npos) return "";
    ++end;
  }
  const absl::string_view host = authority.substr(0, end), port = end >= authority.size() ? "" : authority.substr(end);
  const bool port_is_number = port.empty() || (port[0] == ':' && std::all_of(port.begin() + 1, port.end(), [](char c) { return absl::ascii_isdigit(c); }));
  return port_is_number ? absl::AsciiStrToLower(host) : "";
}

}  // namespace cellblock::front
