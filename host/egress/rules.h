// Decides each outgoing lookup, connection and request by a policy's network part, and says which rule it was. Used by the egress
// proxy for traffic and by `cellblock policy explain` without any. Pure: no clock, no network, no state. Thread-safe once made.
#ifndef CELLBLOCK_EGRESS_RULES_H_
#define CELLBLOCK_EGRESS_RULES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cellblock/policy.h"
#include "egress/request_path.h"  // IWYU pragma: export
#include "policy/address.h"

namespace cellblock::egress {

enum class Scheme { kHttp, kTls, kRaw };

struct Verdict {
  bool allowed = false;
  std::string rule;       // "network.allow[2]: *.example.com", "network.packages: index.example.com"; for a refusal also "network.allow", "network.packages",
                          // or "network: off"
  std::string reason;     // of a refusal, one sentence with what would be allowed: "port 8080 of api.example.com is not in network.allow[0] (ports 443)"
};

// How a connection to an allowed host and port is to be treated.
struct Handling {
  bool may_http = false;         // plain HTTP
  bool may_tls = false;
  bool may_raw = false;          // bytes that are neither
  bool inspect_tls = false;      // TLS ends in the proxy: methods, paths or a secret ask for it
};

// A rule of network.allow, or one that network.packages stands for, with its texts read.
struct PreparedRule {
  std::string key;              // "network.allow[2]"
  NetworkRule rule;             // host canonical, methods in upper case
  std::vector<policy::AddressRange> ranges;

  std::string Label() const;    // "network.allow[2]: *.example.com"
};

// The network part of a policy, made ready: the rules, and those that `packages` stands for behind them. All that fit a question
// together decide it: one is enough to allow.
class RuleSet {
 public:
  // kInvalidArgument "network.allow[0].host: what is wrong"; a policy that ValidatePolicy() takes never fails.
  static absl::StatusOr<RuleSet> Create(const Network& network);

  // `host` is canonical (policy/host_name.h) in all of these.
  Verdict ForLookup(absl::string_view host) const;
  Verdict ForConnection(absl::string_view host, uint16_t port) const;
  Handling HandlingOf(absl::string_view host, uint16_t port) const;
  // `path` as PathOf() gives it. Where the rules that fit name paths, one that servers may read differently (PathAmbiguity()) is refused.
  // TRACE and TRACK are refused everywhere, CONNECT as a method too. Without a method, and for kRaw, the question is of the scheme alone.
  Verdict ForRequest(absl::string_view host, uint16_t port, Scheme scheme, absl::string_view method, absl::string_view path) const;
  // Whether a resolved address may be connected to: a public one, or one in the ranges of a rule for this host and port; where rules
  // give fixed addresses (a range of one is such), only those.
  Verdict ForAddress(absl::string_view host, uint16_t port, const policy::Address& address) const;
  // The fixed addresses of a host and port: not empty: DNS is not asked.
  std::vector<policy::Address> FixedAddresses(absl::string_view host, uint16_t port) const;
  // PEM file of the authorities for an inspected host; empty: the system's.
  std::string AuthoritiesFor(absl::string_view host, uint16_t port) const;
  // All ports of all rules, ascending, each once.
  std::vector<uint16_t> Ports() const;
  // Canonical hosts and patterns whose TLS ends in the proxy: what the session's certificate authority may sign for.
  std::vector<std::string> InspectedHosts() const;

 private:
  std::vector<const PreparedRule*> RulesFor(absl::string_view host) const;
  std::vector<const PreparedRule*> RulesFor(absl::string_view host, uint16_t port) const;
  bool HasSecretOf(absl::string_view host) const;

  std::vector<PreparedRule> rules_;
  std::vector<NetworkSecret> secrets_;   // hosts canonical
};

}  // namespace cellblock::egress

#endif  // CELLBLOCK_EGRESS_RULES_H_
