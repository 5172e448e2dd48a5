// See network_rules.h.
#include "policy/network_rules.h"

#include <algorithm>
#include <array>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "policy/address.h"
#include "policy/host_name.h"
#include "policy/package_index.h"
#include "policy/rules.h"
#include "policy/text.h"

namespace cellblock::policy {
namespace {

constexpr absl::string_view kPlaceholder = "{secret}";

// TRACE and TRACK send a request's headers back, secrets among them; CONNECT opens a tunnel past the rules.
constexpr std::array<absl::string_view, 3> kRefusedMethods = {"CONNECT", "TRACE", "TRACK"};

// In lower case. The proxy sets these anew for each message: a value in one of them would change where or how a message ends.
constexpr std::array<absl::string_view, 9> kOwnHeaders = {"host", "connection",  "content-length", "transfer-encoding", "te", "trailer",
                                                          "upgrade", "keep-alive", "expect"};

// RFC 9110, 5.6.2.
bool IsTokenCharacter(char c) { return absl::ascii_isalnum(c) || absl::StrContains("!#$%&'*+-.^_`|~", c); }

bool IsToken(absl::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), IsTokenCharacter); }

bool IsPrintable(char c) { return c >= ' ' && c <= '~'; }

std::string TooLong(absl::string_view text, size_t bytes_max) {
  if (text.size() <= bytes_max) return "";
  return absl::StrCat("has ", text.size(), " bytes, more than ", bytes_max);
}

// What is wrong with a text for a parser whose messages start with the text, or that it is not spelt as it is printed.
std::string SpellingProblem(absl::string_view text, const absl::StatusOr<std::string>& canonical) {
  if (canonical.ok()) return *canonical == text ? "" : absl::StrCat("is in another spelling than rules have; write ", *canonical);
  absl::string_view message = canonical.status().message();
  absl::ConsumePrefix(&message, absl::StrCat(Shown(text), " "));
  return std::string(message);
}

}  // namespace

std::string HostPatternProblem(absl::string_view host) { return SpellingProblem(host, CanonicalHostPattern(host)); }

std::string HostProblem(absl::string_view host) {
  if (absl::StartsWith(host, "*")) return "stands for many hosts; name the one";
  return SpellingProblem(host, CanonicalHost(host));
}

std::string AddressProblem(absl::string_view range) {
  absl::StatusOr<AddressRange> parsed = AddressRange::Parse(range);
  return SpellingProblem(range, parsed.ok() ? absl::StatusOr<std::string>(parsed->ToString()) : parsed.status());
}

std::string PortProblem(int64_t port) {
  if (port < 1 || port > 65535) return "is not a port of 1 – 65535";
  return port == 53 ? "is the port of the session's own resolver, which answers for every host that is allowed" : "";
}

std::string MethodProblem(absl::string_view method) {
  std::string capitals = absl::AsciiStrToUpper(method);
  if (!IsToken(method)) return "is not a method such as GET";
  if (std::find(kRefusedMethods.begin(), kRefusedMethods.end(), capitals) != kRefusedMethods.end()) return "is refused for every host";
  std::string problem = TooLong(method, 32);
  if (!problem.empty() || capitals == method) return problem;
  return absl::StrCat("is not in capitals; write ", capitals);
}

std::string PathPrefixProblem(absl::string_view path) {
  if (!absl::StartsWith(path, "/")) return "does not start with a slash; write a path such as /v1/";
  if (absl::StrContains(path, '%')) return "holds a \"%\"; write the characters themselves, of those that need no encoding";
  if (absl::StrContains(path, '?') || absl::StrContains(path, '#')) return "holds a \"?\" or \"#\"; write the path alone, without a query";
  if (!std::all_of(path.begin(), path.end(), [](char c) { return IsPrintable(c) && c != ' ' && c != '\\'; })) {
    return "holds characters that no path has as they stand; a path has printable ASCII without blank and \"\\\"";
  }
  std::vector<absl::string_view> parts = absl::StrSplit(path.substr(1), '/');
  for (size_t i = 0; i < parts.size(); ++i) {
    bool is_last = i + 1 == parts.size();
    if (parts[i] == "." || parts[i] == ".." || (parts[i].empty() && !is_last)) {
      return "has an empty, \".\" or \"..\" part, which servers read differently; write the plain path";
    }
  }
  return TooLong(path, 1024);
}

std::string HeaderProblem(absl::string_view header) {
  if (!IsToken(header)) return "is not the name of a header such as Authorization";
  std::string lower = absl::AsciiStrToLower(header);
  if (absl::StartsWith(lower, "proxy-") || std::find(kOwnHeaders.begin(), kOwnHeaders.end(), lower) != kOwnHeaders.end()) {
    return "is a header that the proxy sets itself; a secret goes into one such as Authorization";
  }
  return TooLong(header, 64);
}

std::string QueryProblem(absl::string_view query) {
  bool fits = !query.empty() && std::all_of(query.begin(), query.end(), [](char c) { return absl::ascii_isalnum(c) || absl::StrContains("-._~", c); });
  if (!fits) return "is not the name of a parameter such as key: letters, digits, \"-\", \".\", \"_\" and \"~\"";
  return TooLong(query, 64);
}

std::string FormatProblem(absl::string_view format) {
  if (!std::all_of(format.begin(), format.end(), IsPrintable)) return "holds characters other than printable ASCII";
  size_t first = format.find(kPlaceholder);
  if (first == absl::string_view::npos) return "does not hold {secret}, where the value goes; write a text such as \"Bearer {secret}\"";
  if (format.find(kPlaceholder, first + 1) != absl::string_view::npos) return "holds {secret} more than once";
  return TooLong(format, 256);
}

std::string SecretNameProblem(absl::string_view name) {
  std::string problem = VariableNameProblem(name);
  return problem.empty() ? TooLong(name, 64) : problem;
}

std::string SourceProblem(absl::string_view source) {
  if (absl::ConsumePrefix(&source, "file:")) {
    std::string problem = PathProblem(source);
    return problem.empty() ? "" : absl::StrCat("file: the path ", problem);
  }
  if (absl::ConsumePrefix(&source, "env:")) {
    std::string problem = VariableNameProblem(source);
    return problem.empty() ? "" : absl::StrCat("env: what follows ", problem);
  }
  if (absl::ConsumePrefix(&source, "credential:")) {
    bool fits = !source.empty() && source != "." && source != ".." &&
                std::all_of(source.begin(), source.end(), [](char c) { return absl::ascii_isalnum(c) || absl::StrContains("._-", c); });
    if (!fits) return "credential: what follows is not the name of a credential: letters, digits, '.', '_' and '-'";
    return TooLong(source, 255).empty() ? "" : absl::StrCat("credential: the name ", TooLong(source, 255));
  }
  return "is neither file:/path, env:NAME nor credential:NAME; a policy says where a value is, and never holds it";
}

std::string IndexUrlProblem(absl::string_view url) {
  absl::StatusOr<IndexUrl> parsed = ParseIndexUrl(url);
  return parsed.ok() ? "" : std::string(parsed.status().message());
}

bool AreFixedLoopback(const std::vector<std::string>& addresses) {
  return !addresses.empty() && std::all_of(addresses.begin(), addresses.end(), [](const std::string& text) {
    absl::StatusOr<AddressRange> range = AddressRange::Parse(text);
    return range.ok() && range->is_single() && SpecialUse(range->base) == "loopback";
  });
}

}  // namespace cellblock::policy
