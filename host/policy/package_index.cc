// See package_index.h.
#include "policy/package_index.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "policy/network_rules.h"

namespace cellblock::policy {
namespace {

constexpr size_t kUrlBytesMax = 1024;

absl::Status Refuse(absl::string_view why) { return absl::InvalidArgumentError(why); }

// ":8443" behind a host, or nothing.
absl::Status ParsePort(absl::string_view text, IndexUrl& url) {
  if (text.empty()) return absl::OkStatus();
  absl::string_view digits = text.substr(1);
  bool is_plain = !digits.empty() && digits.size() <= 5 && digits[0] != '0' &&
                  std::all_of(digits.begin(), digits.end(), [](char c) { return absl::ascii_isdigit(c); });
  if (!is_plain || !absl::SimpleAtoi(digits, &url.port)) return Refuse("has a port that is not a number of 1 – 65535");
  std::string problem = PortProblem(url.port);
  return problem.empty() ? absl::OkStatus() : Refuse(absl::StrCat("has a port that ", problem));
}

}  // namespace

absl::StatusOr<IndexUrl> ParseIndexUrl(absl::string_view url) {
  IndexUrl parsed;
  if (url.size() > kUrlBytesMax) return Refuse(absl::StrCat("has ", url.size(), " bytes, more than ", kUrlBytesMax));
  if (absl::ConsumePrefix(&url, "http://")) {
    parsed.is_tls = false;
    parsed.port = 80;
  } else if (!absl::ConsumePrefix(&url, "https://")) {
    return Refuse("does not start with https://; write a URL such as https://index.example.com/simple/");
  }
  size_t end = url.find_first_of("/?#");
  absl::string_view authority = url.substr(0, end);
  absl::string_view path = end == absl::string_view::npos ? "" : url.substr(end);
  if (absl::StrContains(authority, '@')) return Refuse("holds a user or password; give them to the proxy as one of network.secrets");
  size_t colon = authority.find(':');
  absl::string_view host = authority.substr(0, colon);
  if (std::string problem = HostProblem(host); !problem.empty()) return Refuse(absl::StrCat("has a host that ", problem));
  parsed.host = std::string(host);
  absl::Status port = ParsePort(colon == absl::string_view::npos ? "" : authority.substr(colon), parsed);
  if (!port.ok()) return port;
  if (path.empty()) return Refuse("has no path; write at least a slash behind the host");
  if (std::string problem = PathPrefixProblem(path); !problem.empty()) return Refuse(absl::StrCat("has a path that ", problem));
  parsed.path = std::string(path);
  return parsed;
}

std::vector<NetworkRule> RulesOf(const PackageIndex& packages) {
  absl::StatusOr<IndexUrl> url = ParseIndexUrl(packages.url);
  if (!url.ok()) return {};
  NetworkRule rule;
  rule.ports = {url->port};
  rule.protocol = url->is_tls ? NetworkProtocol::kTls : NetworkProtocol::kHttp;
  rule.addresses = packages.addresses;
  rule.authorities = packages.authorities;
  rule.host = url->host;
  std::vector<NetworkRule> rules = {rule};
  for (const std::string& host : packages.hosts) {
    rule.host = host;
    rules.push_back(rule);
  }
  return rules;
}

}  // namespace cellblock::policy
