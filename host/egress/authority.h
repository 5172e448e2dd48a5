// "host" or "host:port", as it stands in targets and in Host (RFC 3986, 3.2). Egress proxy; the text comes from the session's code and
// is hostile. Pure.
#ifndef CELLBLOCK_EGRESS_AUTHORITY_H_
#define CELLBLOCK_EGRESS_AUTHORITY_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cellblock::egress {

struct Authority {
  std::string host;               // canonical
  std::optional<uint16_t> port;

  friend bool operator==(const Authority&, const Authority&) = default;
};

// kInvalidArgument: user information, a host that CanonicalHost() refuses, a port that is not 1 – 65535 in plain digits.
absl::StatusOr<Authority> ParseAuthority(absl::string_view text);

}  // namespace cellblock::egress

#endif  // CELLBLOCK_EGRESS_AUTHORITY_H_
