// What to write instead of a key that there is not: near names, what other systems call it, or the keys that there are. Supervisor;
// trusts nothing. Each text starts with "; " and goes behind a message.
#ifndef CELLBLOCK_POLICY_LOAD_KEY_ADVICE_H_
#define CELLBLOCK_POLICY_LOAD_KEY_ADVICE_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace cellblock::policy {

// "limits.memory" of a group and a name; of an empty group the name.
std::string JoinPath(absl::string_view group, absl::string_view name);

// What may stand in a group, or, with an empty group, at the top.
std::vector<std::string> NamesIn(absl::string_view group);

// For a key of a group or, with an empty group, of the top.
std::string UnknownKeyAdvice(absl::string_view group, absl::string_view word);

// For a key within an item of a list, of those that it may have; empty when nothing is near.
std::string ItemKeyAdvice(absl::string_view word, const std::vector<std::string>& names);

}  // namespace cellblock::policy

#endif  // CELLBLOCK_POLICY_LOAD_KEY_ADVICE_H_
