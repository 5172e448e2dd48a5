// See network_conflicts.h.
#include "policy/network_conflicts.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "policy/host_name.h"
#include "policy/network_rules.h"
#include "policy/package_index.h"

namespace cellblock::policy {
namespace {

// Each is a listening socket in the session's namespace, kept from its start.
constexpr size_t kPortsMax = 32;

struct LabelledRule {
  std::string label;  // "network.allow[0]", "network.packages"
  NetworkRule rule;
};

std::vector<LabelledRule> AllRules(const Network& network) {
  std::vector<LabelledRule> rules;
  for (size_t i = 0; i < network.allow.size(); ++i) rules.push_back({absl::StrCat("network.allow[", i, "]"), network.allow[i]});
  for (NetworkRule& rule : RulesOf(network.packages)) rules.push_back({"network.packages", std::move(rule)});
  return rules;
}

// The proxy knows TLS from its first bytes, so where a rule takes HTTP too, code chooses whether anybody can read along. On port 443
// `any` means TLS alone.
bool LetsPlainHttp(const NetworkRule& rule, int64_t port) {
  if (rule.protocol == NetworkProtocol::kAny) return port != 443;
  return rule.protocol == NetworkProtocol::kHttp;
}

bool IsFor(const NetworkRule& rule, const NetworkSecret& secret) {
  return HostMatches(rule.host, secret.host) && std::find(rule.ports.begin(), rule.ports.end(), secret.port) != rule.ports.end();
}

std::string LabelOf(size_t index) { return absl::StrCat("network.secrets[", index, "]"); }

std::optional<Conflict> FindNameConflict(const Policy& policy, size_t index) {
  const std::vector<NetworkSecret>& secrets = policy.network.secrets;
  const NetworkSecret& secret = secrets[index];
  for (const auto& [name, value] : policy.environment) {
    if (name != secret.name) continue;
    return Conflict{{LabelOf(index), "environment"},
                    absl::StrCat(LabelOf(index), ".name: ", name, " is a variable of environment too; choose another name for one")};
  }
  for (size_t i = 0; i < index; ++i) {
    if (secrets[i].name == secret.name) {
      return Conflict{{LabelOf(index)}, absl::StrCat(LabelOf(index), ".name: ", secret.name, " is the name of ", LabelOf(i), " too; choose another")};
    }
    bool is_same_place = secrets[i].host == secret.host && secrets[i].port == secret.port && secrets[i].query == secret.query &&
                         absl::EqualsIgnoreCase(secrets[i].header, secret.header);
    if (!is_same_place) continue;
    return Conflict{{LabelOf(index)}, absl::StrCat(LabelOf(index), ": goes into the same ", secret.header.empty() ? "parameter" : "header", " of ",
                                                   secret.host, ":", secret.port, " as ", LabelOf(i), "; remove one")};
  }
  return std::nullopt;
}

// A secret needs a rule that lets its requests through, and none that lets them travel for everybody to read.
std::optional<Conflict> FindRuleConflict(const NetworkSecret& secret, size_t index, const std::vector<LabelledRule>& rules) {
  bool is_allowed = false;
  for (const LabelledRule& allowed : rules) {
    if (!IsFor(allowed.rule, secret)) continue;
    is_allowed = true;
    if (!LetsPlainHttp(allowed.rule, secret.port) || AreFixedLoopback(allowed.rule.addresses)) continue;
    return Conflict{{LabelOf(index), allowed.label},
                    absl::StrCat(LabelOf(index), ": the value would travel in the clear, since ", allowed.label, " lets plain HTTP to ", secret.host,
                                 ":", secret.port, " through; write protocol: tls there, or another port")};
  }
  if (is_allowed) return std::nullopt;
  return Conflict{{LabelOf(index), "network.allow"},
                  absl::StrCat(LabelOf(index), ": no rule allows ", secret.host, ":", secret.port, "; add {host: ", secret.host, ", ports: [", secret.port, "]",
                               secret.port == 443 ? "" : ", protocol: tls", "} to network.allow")};
}

}  // namespace

std::optional<Conflict> FindNetworkConflict(const Policy& policy) {
  const Network& network = policy.network;
  if (network.is_on() && policy.isolation.network_namespace == Requirement::kOff) {
    return Conflict{{"isolation.network_namespace", "network.allow", "network.packages"},
                    "isolation.network_namespace: is off, so that code would have the host's whole network instead of what network allows; write "
                    "required"};
  }
  std::vector<LabelledRule> rules = AllRules(network);
  std::set<int64_t> ports;
  for (const LabelledRule& allowed : rules) ports.insert(allowed.rule.ports.begin(), allowed.rule.ports.end());
  if (ports.size() > kPortsMax) {
    return Conflict{{"network.allow", "network.packages"}, absl::StrCat("network.allow: has ", ports.size(), " ports, more than ", kPortsMax,
                                                                        " (those of network.packages count too)")};
  }
  for (size_t i = 0; i < network.secrets.size(); ++i) {
    std::optional<Conflict> conflict = FindNameConflict(policy, i);
    if (!conflict.has_value()) conflict = FindRuleConflict(network.secrets[i], i, rules);
    if (conflict.has_value()) return conflict;
  }
  return std::nullopt;
}

}  // namespace cellblock::policy
