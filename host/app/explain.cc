// See explain.h.
#include "app/explain.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "app/terminal_text.h"
#include "base/status_macros.h"
#include "egress/rules.h"
#include "policy/address.h"
#include "policy/host_name.h"

namespace cellblock::app {
namespace {

struct Url {
  egress::Scheme scheme = egress::Scheme::kRaw;
  std::string host;
  uint16_t port = 0;
  std::string path;
  bool has_address = false;  // instead of a name
};

absl::Status Wrong(absl::string_view url, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("'", NeutralizeLine(url), "': ", why, "; write https://host/path, http://host/path or host:port"));
}

absl::StatusOr<Url> ParseUrl(absl::string_view text) {
  Url url;
  absl::string_view rest = text;
  if (absl::StartsWithIgnoreCase(rest, "https://")) {
    url.scheme = egress::Scheme::kTls;
    url.port = 443;
    rest.remove_prefix(8);
  } else if (absl::StartsWithIgnoreCase(rest, "http://")) {
    url.scheme = egress::Scheme::kHttp;
    url.port = 80;
    rest.remove_prefix(7);
  } else if (absl::StrContains(rest, "://")) {
    return Wrong(text, "another scheme than http and https");
  }
  if (!std::all_of(rest.begin(), rest.end(), [](unsigned char c) { return absl::ascii_isgraph(c); })) return Wrong(text, "blanks and letters beyond ASCII are percent-encoded in a URL");
  const size_t slash = std::min(rest.size(), rest.find_first_of("/?#"));
  url.path = std::string(rest.substr(slash, rest.find('#') - slash));
  absl::string_view authority = rest.substr(0, slash);
  const size_t bracket = authority.rfind(']');  // of an IPv6 address
  const size_t colon = authority.find(':', bracket == absl::string_view::npos ? 0 : bracket);
  if (colon != absl::string_view::npos) {
    uint32_t port = 0;
    if (!absl::SimpleAtoi(authority.substr(colon + 1), &port) || port == 0 || port > 65535) return Wrong(text, "the port is no number from 1 to 65535");
    url.port = static_cast<uint16_t>(port);
    authority = authority.substr(0, colon);
  }
  if (url.port == 0) return Wrong(text, "neither a scheme nor a port");
  if (policy::IsAddressText(authority)) {
    url.has_address = true;
    return url;
  }
  absl::StatusOr<std::string> host = policy::CanonicalHost(authority);
  if (!host.ok()) return Wrong(text, absl::StrCat("the host: ", std::string(host.status().message())));
  url.host = *std::move(host);
  return url;
}

// Lookup, connection, request: the first refusal counts.
egress::Verdict Decide(const egress::RuleSet& rules, const Url& url, absl::string_view method) {
  if (url.has_address) return {false, "network.allow", "hosts are reached by their names alone, never by an address"};
  egress::Verdict verdict = rules.ForLookup(url.host);
  if (verdict.allowed) verdict = rules.ForConnection(url.host, url.port);
  if (!verdict.allowed) return verdict;
  const egress::Handling handling = rules.HandlingOf(url.host, url.port);
  if (url.scheme == egress::Scheme::kRaw) {
    if (!handling.may_raw) verdict = {false, verdict.rule, absl::StrCat(handling.may_tls && handling.may_http ? "TLS and HTTP" : handling.may_tls ? "TLS" : "HTTP", " alone may be spoken there")};
    return verdict;
  }
  if (url.scheme == egress::Scheme::kTls && handling.may_tls && !handling.inspect_tls) return verdict;  // what is asked for is not seen
  return rules.ForRequest(url.host, url.port, url.scheme, method, egress::PathOf(url.path));
}

std::string Details(const Network& network, const egress::RuleSet& rules, const Url& url) {
  std::string text;
  const egress::Handling handling = rules.HandlingOf(url.host, url.port);
  if (url.scheme == egress::Scheme::kTls) {
    absl::StrAppend(&text, handling.inspect_tls ? "  TLS ends in the proxy, which sees each request and checks the server's certificate\n"
                                                : "  TLS is passed on unread: its greeting must name the host; methods and paths are not seen\n");
  }
  std::vector<std::string> addresses;
  for (const policy::Address& address : rules.FixedAddresses(url.host, url.port)) addresses.push_back(address.ToString());
  absl::StrAppend(&text, addresses.empty() ? "  the host is looked up by the proxy; private addresses are refused unless the rule names them\n"
                                           : absl::StrCat("  the host is at ", absl::StrJoin(addresses, ", "), ", by the rule\n"));
  for (const NetworkSecret& secret : network.secrets) {
    if (secret.host != url.host || secret.port != url.port) continue;
    absl::StrAppend(&text, "  the secret ", secret.name, " is put into ", secret.header.empty() ? absl::StrCat("the query parameter ", secret.query) : absl::StrCat("the header ", secret.header), "\n");
  }
  return text;
}

}  // namespace

absl::StatusOr<Explanation> ExplainUrl(const Network& network, absl::string_view text, absl::string_view method) {
  CELLBLOCK_ASSIGN_OR_RETURN(const Url url, ParseUrl(text));
  CELLBLOCK_ASSIGN_OR_RETURN(const egress::RuleSet rules, egress::RuleSet::Create(network));
  if (std::any_of(method.begin(), method.end(), [](unsigned char c) { return absl::ascii_islower(c); })) {
    return absl::InvalidArgumentError(absl::StrCat("--method ", NeutralizeLine(method), ": methods are told apart by case (RFC 9110, 9.1), and none of the usual has small letters"));
  }
  const std::string method_name(method);
  const egress::Verdict verdict = Decide(rules, url, method_name);
  const std::string what = absl::StrCat(url.scheme == egress::Scheme::kRaw ? "" : absl::StrCat(NeutralizeLine(method_name), " "), NeutralizeLine(text));
  if (!verdict.allowed) return Explanation{false, absl::StrCat(what, ": refused (", NeutralizeLine(verdict.rule), ")\n  ", NeutralizeLine(verdict.reason), "\n")};
  return Explanation{true, absl::StrCat(what, ": allowed (", NeutralizeLine(verdict.rule), ")\n", Details(network, rules, url))};
}

}  // namespace cellblock::app
