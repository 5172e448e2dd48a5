// See rules.h.
#include "egress/rules.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "egress/http_fields.h"
#include "egress/rule_reasons.h"
#include "policy/host_name.h"
#include "policy/package_index.h"

namespace cellblock::egress {
namespace {

constexpr uint16_t kHttpPort = 80, kHttpsPort = 443;

absl::Status At(absl::string_view key, absl::string_view what) { return absl::InvalidArgumentError(absl::StrCat(key, ": ", what)); }

bool IsPort(int64_t port) { return port >= 1 && port <= 65535; }

bool IsRestricted(const NetworkRule& rule) { return !rule.methods.empty() || !rule.paths.empty(); }

// What one rule lets through on a port of its own. Other bytes would go around its methods and paths.
Handling Admits(const NetworkRule& rule, uint16_t port) {
  const bool any = rule.protocol == NetworkProtocol::kAny;
  Handling handling;
  handling.may_http = rule.protocol == NetworkProtocol::kHttp || (any && port != kHttpsPort);
  handling.may_tls = rule.protocol == NetworkProtocol::kTls || (any && port != kHttpPort);
  handling.may_raw = any && port != kHttpPort && port != kHttpsPort && !IsRestricted(rule);
  return handling;
}

bool AdmitsScheme(const NetworkRule& rule, uint16_t port, Scheme scheme) {
  const Handling handling = Admits(rule, port);
  switch (scheme) {
    case Scheme::kHttp:
      return handling.may_http;
    case Scheme::kTls:
      return handling.may_tls;
    case Scheme::kRaw:
      break;
  }
  return handling.may_raw;
}

bool HasPort(const NetworkRule& rule, uint16_t port) { return std::find(rule.ports.begin(), rule.ports.end(), port) != rule.ports.end(); }

bool HasMethod(const NetworkRule& rule, absl::string_view method) { return rule.methods.empty() || std::find(rule.methods.begin(), rule.methods.end(), method) != rule.methods.end(); }

// Whether every name of `pattern`, which may be a name, is one of `wider` too.
bool IsWithin(absl::string_view pattern, absl::string_view wider) {
  if (pattern == wider) return true;
  return policy::HostMatches(wider, absl::StartsWith(pattern, "*.") ? pattern.substr(2) : pattern);
}

absl::StatusOr<PreparedRule> Prepare(std::string key, NetworkRule rule) {
  absl::StatusOr<std::string> host = policy::CanonicalHostPattern(rule.host);
  if (!host.ok()) return At(absl::StrCat(key, ".host"), host.status().message());
  rule.host = *std::move(host);
  if (rule.ports.empty()) return At(absl::StrCat(key, ".ports"), "no port");
  for (int64_t port : rule.ports) {
    if (!IsPort(port)) return At(absl::StrCat(key, ".ports"), absl::StrCat(port, " is no port (1 – 65535)"));
  }
  for (std::string& method : rule.methods) {
    if (!IsToken(method)) return At(absl::StrCat(key, ".methods"), absl::StrCat(Shown(method), " is no method"));
    method = absl::AsciiStrToUpper(method);
  }
  for (const std::string& path : rule.paths) {
    if (!absl::StartsWith(path, "/")) return At(absl::StrCat(key, ".paths"), absl::StrCat(Shown(path), " does not start with \"/\""));
  }
  PreparedRule prepared{.key = std::move(key)};
  for (size_t i = 0; i < rule.addresses.size(); ++i) {
    absl::StatusOr<policy::AddressRange> range = policy::AddressRange::Parse(rule.addresses[i]);
    if (!range.ok()) return At(absl::StrCat(prepared.key, ".addresses[", i, "]"), range.status().message());
    prepared.ranges.push_back(*range);
  }
  prepared.rule = std::move(rule);
  return prepared;
}

// A rule for the index itself and one for each further host.
absl::StatusOr<std::vector<PreparedRule>> PreparePackages(const PackageIndex& packages) {
  std::vector<PreparedRule> prepared;
  if (packages.url.empty()) return prepared;
  const absl::Status url = policy::ParseIndexUrl(packages.url).status();
  if (!url.ok()) return At("network.packages.url", url.message());
  for (NetworkRule& rule : policy::RulesOf(packages)) {
    std::string key = prepared.empty() ? "network.packages" : absl::StrCat("network.packages.hosts[", prepared.size() - 1, "]");
    CELLBLOCK_ASSIGN_OR_RETURN(PreparedRule one, Prepare(std::move(key), std::move(rule)));
    prepared.push_back(std::move(one));
  }
  return prepared;
}

Verdict Allowed(const PreparedRule& rule) { return {.allowed = true, .rule = rule.Label()}; }

}  // namespace

std::string PreparedRule::Label() const { return absl::StrCat(key, ": ", rule.host); }

absl::StatusOr<RuleSet> RuleSet::Create(const Network& network) {
  RuleSet set;
  for (size_t i = 0; i < network.allow.size(); ++i) {
    CELLBLOCK_ASSIGN_OR_RETURN(PreparedRule rule, Prepare(absl::StrCat("network.allow[", i, "]"), network.allow[i]));
    set.rules_.push_back(std::move(rule));
  }
  CELLBLOCK_ASSIGN_OR_RETURN(std::vector<PreparedRule> packages, PreparePackages(network.packages));
  std::move(packages.begin(), packages.end(), std::back_inserter(set.rules_));
  for (size_t i = 0; i < network.secrets.size(); ++i) {
    NetworkSecret secret = network.secrets[i];
    absl::StatusOr<std::string> host = policy::CanonicalHost(secret.host);
    if (!host.ok()) return At(absl::StrCat("network.secrets[", i, "].host"), host.status().message());
    if (!IsPort(secret.port)) return At(absl::StrCat("network.secrets[", i, "].port"), absl::StrCat(secret.port, " is no port (1 – 65535)"));
    secret.host = *std::move(host);
    set.secrets_.push_back(std::move(secret));
  }
  return set;
}

std::vector<const PreparedRule*> RuleSet::RulesFor(absl::string_view host) const {
  std::vector<const PreparedRule*> rules;
  for (const PreparedRule& rule : rules_) {
    if (policy::HostMatches(rule.rule.host, host)) rules.push_back(&rule);
  }
  return rules;
}

std::vector<const PreparedRule*> RuleSet::RulesFor(absl::string_view host, uint16_t port) const {
  std::vector<const PreparedRule*> rules = RulesFor(host);
  std::erase_if(rules, [port](const PreparedRule* rule) { return !HasPort(rule->rule, port); });
  return rules;
}

// Whatever the port: a server that knows the value may tell it on another one.
bool RuleSet::HasSecretOf(absl::string_view host) const {
  return std::any_of(secrets_.begin(), secrets_.end(), [&](const NetworkSecret& secret) { return secret.host == host; });
}

Verdict RuleSet::ForLookup(absl::string_view host) const {
  const std::vector<const PreparedRule*> rules = RulesFor(host);
  return rules.empty() ? UnknownHost(rules_, host) : Allowed(*rules.front());
}

Verdict RuleSet::ForConnection(absl::string_view host, uint16_t port) const {
  const std::vector<const PreparedRule*> of_host = RulesFor(host), rules = RulesFor(host, port);
  if (of_host.empty()) return UnknownHost(rules_, host);
  return rules.empty() ? UnknownPort(of_host, host, port) : Allowed(*rules.front());
}

Handling RuleSet::HandlingOf(absl::string_view host, uint16_t port) const {
  Handling all;
  bool sees_all_tls = true;   // every rule that admits TLS asks for what only its inside shows
  for (const PreparedRule* rule : RulesFor(host, port)) {
    const Handling one = Admits(rule->rule, port);
    all.may_http |= one.may_http;
    all.may_tls |= one.may_tls;
    all.may_raw |= one.may_raw;
    if (one.may_tls && !IsRestricted(rule->rule)) sees_all_tls = false;
  }
  all.inspect_tls = all.may_tls && (sees_all_tls || HasSecretOf(host));
  all.may_raw = all.may_raw && !HasSecretOf(host);
  return all;
}

Verdict RuleSet::ForRequest(absl::string_view host, uint16_t port, Scheme scheme, absl::string_view method, absl::string_view path) const {
  std::vector<const PreparedRule*> rules = RulesFor(host, port);
  if (rules.empty()) return ForConnection(host, port);
  const Request request{host, port, scheme, method, path};
  std::vector<const PreparedRule*> left = rules;
  std::erase_if(left, [&](const PreparedRule* rule) { return !AdmitsScheme(rule->rule, port, scheme); });
  if (left.empty()) return WrongScheme(rules, request);
  if (scheme == Scheme::kRaw || method.empty()) return Allowed(*left.front());
  // Servers differ in whether they tell these from their upper case.
  for (absl::string_view never : {"TRACE", "TRACK", "CONNECT"}) {
    if (absl::EqualsIgnoreCase(method, never)) return NeverMethod(request);
  }
  rules = left;
  std::erase_if(left, [method](const PreparedRule* rule) { return !HasMethod(rule->rule, method); });
  if (left.empty()) return WrongRequest(rules, request);
  for (const PreparedRule* rule : left) {
    if (rule->rule.paths.empty()) return Allowed(*rule);
  }
  if (!PathAmbiguity(path).empty()) return AmbiguousPath(left, request);
  for (const PreparedRule* rule : left) {
    for (const std::string& prefix : rule->rule.paths) {
      if (PathFits(prefix, path)) return Allowed(*rule);
    }
  }
  return WrongRequest(rules, request);
}

Verdict RuleSet::ForAddress(absl::string_view host, uint16_t port, const policy::Address& address) const {
  const std::vector<const PreparedRule*> rules = RulesFor(host, port);
  if (rules.empty()) return ForConnection(host, port);
  const std::vector<policy::Address> fixed = FixedAddresses(host, port);
  const bool is_special = !policy::SpecialUse(address).empty();
  if (!policy::NeverAllowed(address)) {
    for (const PreparedRule* rule : rules) {
      for (const policy::AddressRange& range : rule->ranges) {
        if (range.Contains(address) && (fixed.empty() || range.is_single())) return Allowed(*rule);
      }
    }
    if (fixed.empty() && !is_special) return Allowed(*rules.front());
  }
  return WrongAddress(rules, host, address, fixed);
}

std::vector<policy::Address> RuleSet::FixedAddresses(absl::string_view host, uint16_t port) const {
  std::vector<policy::Address> addresses;
  for (const PreparedRule* rule : RulesFor(host, port)) {
    for (const policy::AddressRange& range : rule->ranges) {
      if (range.is_single() && std::find(addresses.begin(), addresses.end(), range.base) == addresses.end()) addresses.push_back(range.base);
    }
  }
  return addresses;
}

std::string RuleSet::AuthoritiesFor(absl::string_view host, uint16_t port) const {
  for (const PreparedRule* rule : RulesFor(host, port)) {
    if (!rule->rule.authorities.empty()) return rule->rule.authorities;
  }
  return "";
}

std::vector<uint16_t> RuleSet::Ports() const {
  std::set<uint16_t> ports;
  for (const PreparedRule& rule : rules_) {
    for (int64_t port : rule.rule.ports) ports.insert(static_cast<uint16_t>(port));
  }
  return {ports.begin(), ports.end()};
}

std::vector<std::string> RuleSet::InspectedHosts() const {
  std::set<std::string> hosts;
  for (const NetworkSecret& secret : secrets_) {
    const std::vector<uint16_t> ports = Ports();
    if (std::any_of(ports.begin(), ports.end(), [&](uint16_t port) { return HandlingOf(secret.host, port).inspect_tls; })) hosts.insert(secret.host);
  }
  // A restricted rule's names, unless another rule lets all of them through unseen.
  for (const PreparedRule& rule : rules_) {
    for (int64_t number : rule.rule.ports) {
      const uint16_t port = static_cast<uint16_t>(number);
      if (!IsRestricted(rule.rule) || !Admits(rule.rule, port).may_tls) continue;
      const bool is_unseen = std::any_of(rules_.begin(), rules_.end(), [&](const PreparedRule& other) {
        return !IsRestricted(other.rule) && HasPort(other.rule, port) && Admits(other.rule, port).may_tls && IsWithin(rule.rule.host, other.rule.host);
      });
      if (!is_unseen) hosts.insert(rule.rule.host);
    }
  }
  return {hosts.begin(), hosts.end()};
}

}  // namespace cellblock::egress
