// Policies as text: the effective YAML of one, and the difference of two. Every process; trusts nothing (a policy that was never
// checked prints too). Both show redacted strings and environment values in clear: they are for the operator.
#ifndef CELLBLOCK_POLICY_PRINT_H_
#define CELLBLOCK_POLICY_PRINT_H_

#include <string>

#include "cellblock/policy.h"

namespace cellblock::policy {

// Every key with its value, in the order of policies/reference.yaml; a group that a word stands for (`network: off`) as that. For a policy
// that ValidatePolicy() accepts, the text loads back to an equal one.
std::string PrintPolicy(const Policy& policy);

// One line per key that differs, each ended by a newline: "limits.memory: 2GiB → 512MiB". Empty when there is none.
std::string DiffPolicies(const Policy& from, const Policy& to);

}  // namespace cellblock::policy

#endif  // CELLBLOCK_POLICY_PRINT_H_
