// One key's value: from text, to text, checked. Every process; trusts nothing: texts come from files and flags. Errors are
// kInvalidArgument and start with the key's path ("limits.memory: …"); the loader puts file, line and column before it.
#ifndef CELLBLOCK_POLICY_VALUE_H_
#define CELLBLOCK_POLICY_VALUE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "cellblock/policy.h"
#include "policy/schema.h"

namespace cellblock::policy {

enum class Shape { kScalar, kTextList, kMounts, kVariables, kNetworkRules, kNetworkSecrets, kPackageIndex };
Shape ShapeOf(const Key& key);

// What people write for true and false.
enum class Switch { kNeither, kYes, kNo };
Switch SwitchWord(absl::string_view text);

// Sets a kScalar key. `is_quoted`: the text stood in quotes, so it is no number and no boolean.
absl::Status SetScalar(const Key& key, absl::string_view text, bool is_quoted, Policy& policy);

// Adds one item to a kTextList key, unless it is there already.
absl::Status AddText(const Key& key, absl::string_view text, Policy& policy);
// Adds one mount; the same pair again is no change, another source for a known target is refused.
absl::Status AddMount(const Key& key, ReadOnlyMount mount, Policy& policy);
// Sets one variable.
absl::Status SetVariable(const Key& key, absl::string_view name, absl::string_view value, Policy& policy);
// Forgets the base's items of a list that replaces; no change for one that adds.
void StartList(const Key& key, Policy& policy);

// The value's range and, for lists, every item and the number of them.
absl::Status CheckKey(const Key& key, const Policy& policy);

// The value on one line, as YAML: `2GiB`, `[a, b]`, `none`. For `extends`, which is no part of a policy: `none`.
std::string FlowText(const Key& key, const Policy& policy);
// The items of a list, each on one line, as YAML. Empty for scalars, package indexes and empty lists.
std::vector<std::string> ItemTexts(const Key& key, const Policy& policy);

// What the key takes, for messages: "a size such as 512MiB (64MiB – 16TiB)".
std::string ExpectedText(const Key& key);
// The allowed values: "64MiB – 16TiB", "required, preferred or off", "at most 64 items"; empty for a free text.
std::string RangeText(const Key& key);

}  // namespace cellblock::policy

#endif  // CELLBLOCK_POLICY_VALUE_H_
