// See authority.h.
#include "egress/authority.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "egress/http_fields.h"
#include "policy/host_name.h"

namespace cellblock::egress {

absl::StatusOr<Authority> ParseAuthority(absl::string_view text) {
  if (absl::StrContains(text, '@')) return absl::InvalidArgumentError("user information before a host (\"…@\"): send it as the field Authorization");
  const size_t colon = absl::StartsWith(text, "[") ? absl::string_view::npos : text.find(':');
  Authority authority;
  CELLBLOCK_ASSIGN_OR_RETURN(authority.host, policy::CanonicalHost(text.substr(0, colon)));
  if (colon == absl::string_view::npos) return authority;
  const absl::string_view digits = text.substr(colon + 1);
  const bool is_plain = !digits.empty() && digits.size() <= 5 && digits.front() != '0' && std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return absl::ascii_isdigit(c); });
  uint32_t port = 0;
  if (!is_plain || !absl::SimpleAtoi(digits, &port) || port > 65535) return absl::InvalidArgumentError(absl::StrCat(Shown(digits), " is no port (1 – 65535)"));
  authority.port = static_cast<uint16_t>(port);
  return authority;
}

}  // namespace cellblock::egress
