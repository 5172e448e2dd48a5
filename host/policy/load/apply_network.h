// Puts the lists of rules and secrets, and the package index, of one policy file onto a policy. Part of apply.h. Supervisor. Trusts
// nothing: every key and value of an item is checked here, against the tables in policy/network_parts.cc.
#ifndef CELLBLOCK_POLICY_LOAD_APPLY_NETWORK_H_
#define CELLBLOCK_POLICY_LOAD_APPLY_NETWORK_H_

#include "absl/strings/string_view.h"
#include "policy/load/apply.h"
#include "policy/load/yaml_tree.h"
#include "policy/schema.h"

namespace cellblock::policy {

// `node` is a list. Whether all went well; what did not is in `problems`. Each item gets an origin of its own ("network.allow[0]").
bool ApplyNetworkRules(const Key& key, const Node& node, absl::string_view file, LoadedPolicy& loaded, Problems& problems);
bool ApplyNetworkSecrets(const Key& key, const Node& node, absl::string_view file, LoadedPolicy& loaded, Problems& problems);
// `node` is a map or one text.
bool ApplyPackageIndex(const Key& key, const Node& node, absl::string_view file, LoadedPolicy& loaded, Problems& problems);

// Forgets where the keys and items at or below a path were set: "network" also stands for "network.allow[0]".
void ForgetOrigins(absl::string_view path, LoadedPolicy& loaded);

}  // namespace cellblock::policy

#endif  // CELLBLOCK_POLICY_LOAD_APPLY_NETWORK_H_
