// Checks that concern several keys of a policy at once. Every process; trusts nothing. ValidatePolicy() runs these after the
// checks of the single keys; the loader calls them itself, to put a file's position to what they find.
#ifndef CELLBLOCK_POLICY_VALIDATE_H_
#define CELLBLOCK_POLICY_VALIDATE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cellblock/policy.h"

namespace cellblock::policy {

// A policy file may not be larger, and a policy may not print to more: what is loaded can always be printed and loaded again.
inline constexpr size_t kPolicyFileBytesMax = size_t{256} << 10;

// Values that don't go together.
struct Conflict {
  std::vector<std::string> keys;  // the keys that take part, the one the message starts with first
  std::string message;            // "limits.wall: 24h is longer than …"
};
std::optional<Conflict> FindConflict(const Policy& policy);

}  // namespace cellblock::policy

#endif  // CELLBLOCK_POLICY_VALIDATE_H_
