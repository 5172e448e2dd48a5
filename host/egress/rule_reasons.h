// Why a lookup, connection or request is refused, in one sentence with what would be allowed: a model reads it to repair its code.
// Egress proxy and `policy explain`. Hosts are canonical; methods and paths are hostile text and come out escaped and cut. Pure functions.
#ifndef CELLBLOCK_EGRESS_RULE_REASONS_H_
#define CELLBLOCK_EGRESS_RULE_REASONS_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "egress/rules.h"
#include "policy/address.h"

namespace cellblock::egress {

inline constexpr size_t kListedMax = 8;   // names, ports, paths or rules in one sentence; then "…"

struct Request {
  absl::string_view host;
  uint16_t port = 0;
  Scheme scheme = Scheme::kHttp;
  absl::string_view method;
  absl::string_view path;
};

// `rules` are never empty but for UnknownHost(): those that fit as far as the question got.
Verdict UnknownHost(const std::vector<PreparedRule>& rules, absl::string_view host);
Verdict UnknownPort(const std::vector<const PreparedRule*>& rules, absl::string_view host, uint16_t port);
Verdict WrongScheme(const std::vector<const PreparedRule*>& rules, const Request& request);
Verdict NeverMethod(const Request& request);
Verdict WrongRequest(const std::vector<const PreparedRule*>& rules, const Request& request);
Verdict AmbiguousPath(const std::vector<const PreparedRule*>& rules, const Request& request);
Verdict WrongAddress(const std::vector<const PreparedRule*>& rules, absl::string_view host, const policy::Address& address, const std::vector<policy::Address>& fixed);

}  // namespace cellblock::egress

#endif  // CELLBLOCK_EGRESS_RULE_REASONS_H_
