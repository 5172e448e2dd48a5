// Names of hosts as policies and the egress proxy's rules know them: one spelling each. Supervisor (policies, `policy explain`) and
// egress proxy, where every text comes from the session's code and is hostile. Pure functions.
#ifndef CELLBLOCK_POLICY_HOST_NAME_H_
#define CELLBLOCK_POLICY_HOST_NAME_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cellblock::policy {

inline constexpr size_t kHostBytesMax = 253;   // RFC 1035, 2.3.4, as text without the last dot
inline constexpr size_t kLabelBytesMax = 63;

// The one spelling of a DNS name: lower case, without its last dot. kInvalidArgument starts with the text and says what is wrong with
// it: control bytes, white space, "%", "@", "\", bytes beyond ASCII (only A-labels are taken: "xn--…"), empty or too long labels or
// names, characters other than letters, digits, "-" and "_", a label that begins or ends with "-", and every IP address in any spelling
// (a last label that is all digits or begins with "0x"; "[…]"): rules are about names.
absl::StatusOr<std::string> CanonicalHost(absl::string_view text);

// The same for a rule's host: a canonical name, or "*." and a canonical name of at least one label.
absl::StatusOr<std::string> CanonicalHostPattern(absl::string_view text);

// Whether it is an IP address in digits, hexadecimal or with colons, in whatever spelling ("127.1", "0x7f000001", "[::1]", "::1"): for
// saying what was asked for. A name that ends in a number ("a.b.1") is none, though CanonicalHost() refuses it as one.
bool IsAddressText(absl::string_view text);

// Whether a canonical name is the pattern's, on label boundaries: "*.example.com" fits "a.example.com" and "a.b.example.com", neither
// "example.com" nor "badexample.com".
bool HostMatches(absl::string_view pattern, absl::string_view host);

}  // namespace cellblock::policy

#endif  // CELLBLOCK_POLICY_HOST_NAME_H_
