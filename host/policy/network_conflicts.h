// Checks of a policy's network part that concern several of its items, or other keys too. Part of FindConflict() in validate.h. Every
// process; trusts nothing.
#ifndef CELLBLOCK_POLICY_NETWORK_CONFLICTS_H_
#define CELLBLOCK_POLICY_NETWORK_CONFLICTS_H_

#include <optional>

#include "cellblock/policy.h"
#include "policy/validate.h"

namespace cellblock::policy {

// The keys of what is found name items too: "network.secrets[0]".
std::optional<Conflict> FindNetworkConflict(const Policy& policy);

}  // namespace cellblock::policy

#endif  // CELLBLOCK_POLICY_NETWORK_CONFLICTS_H_
