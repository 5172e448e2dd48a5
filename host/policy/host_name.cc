// See host_name.h.
#include "policy/host_name.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "policy/text.h"

namespace cellblock::policy {
namespace {

constexpr absl::string_view kWildcard = "*.";

bool IsLabelCharacter(char c) { return absl::ascii_isalnum(c) || c == '-' || c == '_'; }

// Why one byte may not stand in a name; null when it may.
const char* CharacterProblem(char c) {
  if (IsLabelCharacter(c) || c == '.') return nullptr;
  if (static_cast<unsigned char>(c) >= 0x80) return "holds letters beyond ASCII; write the name as DNS has it, xn--…";
  if (absl::ascii_isspace(c)) return "holds white space";
  if (absl::ascii_iscntrl(c)) return "holds a control character";
  switch (c) {
    case '*':
      return "holds a \"*\"; in a rule it stands first, with a name behind it, as in *.example.com";
    case '%':
      return "holds a \"%\": names are not percent-encoded";
    case '@':
      return "holds an \"@\"; write the host alone, without a user";
    case '/':
      return "holds a \"/\"; write the host alone, without scheme and path";
    case ':':
      return "holds a \":\"; write the host alone, without scheme and port";
    default:
      return "holds a character that no host name has; there are letters, digits, \"-\", \"_\" and dots";
  }
}

// WHATWG's host parser and inet_aton(3) take more than four decimal numbers for an address: "127.1", "0x7f.1", "2130706433".
bool EndsInANumber(absl::string_view name) {
  absl::string_view last = name.substr(name.rfind('.') + 1);
  bool is_digits = std::all_of(last.begin(), last.end(), [](char c) { return absl::ascii_isdigit(c); });
  return is_digits || absl::StartsWithIgnoreCase(last, "0x");
}

std::string LabelProblem(absl::string_view label) {
  if (label.empty()) return "has an empty label: a dot at its start, or two in a row";
  if (label.size() > kLabelBytesMax) return absl::StrCat("has a label of ", label.size(), " bytes, more than ", kLabelBytesMax);
  if (label.front() == '-' || label.back() == '-') return "has a label that begins or ends with \"-\"";
  return "";
}

// `name` is without its last dot.
std::string HostProblem(absl::string_view name) {
  if (name.empty()) return "names no host; write a name such as api.example.com";
  if (name.front() == '[' || std::count(name.begin(), name.end(), ':') > 1) return "is an IP address; write the host's name";
  for (char c : name) {
    if (const char* problem = CharacterProblem(c); problem != nullptr) return problem;
  }
  if (name.size() > kHostBytesMax) return absl::StrCat("has ", name.size(), " bytes, more than ", kHostBytesMax);
  for (absl::string_view label : absl::StrSplit(name, '.')) {
    if (std::string problem = LabelProblem(label); !problem.empty()) return problem;
  }
  return EndsInANumber(name) ? "is an IP address; write the host's name" : "";
}

absl::StatusOr<std::string> Canonical(absl::string_view text, absl::string_view prefix) {
  absl::string_view name = absl::StripSuffix(text.substr(prefix.size()), ".");
  if (std::string problem = HostProblem(name); !problem.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(Shown(text), " ", problem));
  }
  return absl::StrCat(prefix, absl::AsciiStrToLower(name));
}

}  // namespace

absl::StatusOr<std::string> CanonicalHost(absl::string_view text) { return Canonical(text, ""); }

absl::StatusOr<std::string> CanonicalHostPattern(absl::string_view text) {
  return Canonical(text, absl::StartsWith(text, kWildcard) ? kWildcard : "");
}

bool IsAddressText(absl::string_view text) {
  constexpr absl::string_view kCharacters = "0123456789abcdefABCDEFxX.:[]";
  if (text.empty() || text.find_first_not_of(kCharacters) != absl::string_view::npos) return false;
  const bool is_v6 = text.front() == '[' || std::count(text.begin(), text.end(), ':') > 1;
  return is_v6 || EndsInANumber(absl::StripSuffix(text, "."));
}

bool HostMatches(absl::string_view pattern, absl::string_view host) {
  if (!absl::ConsumePrefix(&pattern, kWildcard)) return pattern == host;
  return host.size() > pattern.size() + 1 && absl::EndsWith(host, pattern) && host[host.size() - pattern.size() - 1] == '.';
}

}  // namespace cellblock::policy
