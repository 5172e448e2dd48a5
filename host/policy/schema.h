// The table of all policy keys: how each is written in YAML, where it lives in Policy, its range and how it combines with the base
// that a file extends. Parser, printer, diff, checks and the reference's tests all read this one table. Every process; trusts
// nothing.
#ifndef CELLBLOCK_POLICY_SCHEMA_H_
#define CELLBLOCK_POLICY_SCHEMA_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "cellblock/policy.h"

namespace cellblock::policy {

// Where a key's value lives. Only returns a reference into its argument.
template <typename T>
using Field = T& (*)(Policy&);

// What is wrong with one text, or empty ("must start with a letter").
using Rule = std::string (*)(absl::string_view);

struct SizeKey {
  Field<int64_t> field;
  int64_t min, max;
};
template <typename T>
struct CountKey {
  Field<T> field;
  T min, max;
};
struct DurationKey {
  Field<absl::Duration> field;
  absl::Duration min, max;
};
struct OptionalDurationKey {  // or `none`
  Field<std::optional<absl::Duration>> field;
  absl::Duration min, max;
};
struct OptionalSizeKey {  // or `none`
  Field<std::optional<int64_t>> field;
  int64_t min, max;
};
struct SeedKey {  // 0 – 2^64-1, or `none`
  Field<std::optional<uint64_t>> field;
};
struct FlagKey {
  Field<bool> field;
};
struct RequirementKey {
  Field<Requirement> field;
};
struct MemoryKey {
  Field<MemoryRequirement> field;
};
struct TextKey {
  Field<std::string> field;
  Rule rule;
  bool may_be_none;  // `none` stands for the empty text
};
struct TextListKey {
  Field<std::vector<std::string>> field;
  Rule rule;
  size_t items_max;
  bool adds;  // to the base's list, instead of replacing it
};
struct MountsKey {  // adds to the base's
  Field<std::vector<ReadOnlyMount>> field;
  size_t items_max;
};
struct VariablesKey {  // adds to the base's; a variable named again replaces
  Field<std::vector<std::pair<std::string, std::string>>> field;
  size_t items_max, bytes_max;
};
struct NetworkRulesKey {  // replaces the base's list; network_parts.h has the keys of an item
  Field<std::vector<NetworkRule>> field;
  size_t items_max;
};
struct NetworkSecretsKey {  // replaces the base's list
  Field<std::vector<NetworkSecret>> field;
  size_t items_max;
};
struct PackageIndexKey {  // replaces the base's as a whole; or `none`
  Field<PackageIndex> field;
};
struct ExtendsKey {};  // read by the loader, no field

// In the order of the enums.
inline constexpr std::array<absl::string_view, 3> kRequirementNames = {"required", "preferred", "off"};
inline constexpr std::array<absl::string_view, 2> kMemoryNames = {"enforced", "watched"};
inline constexpr absl::string_view kNone = "none";

// For reading: the accessors only return a reference into their argument, and no caller writes to it.
template <typename T>
const T& Get(Field<T> field, const Policy& policy) {
  return field(const_cast<Policy&>(policy));
}

struct Key {
  absl::string_view path;  // "limits.memory", or without a group "name"
  std::variant<SizeKey, CountKey<int>, CountKey<int64_t>, DurationKey, OptionalDurationKey, OptionalSizeKey, SeedKey, FlagKey, RequirementKey,
               MemoryKey, TextKey, TextListKey, MountsKey, VariablesKey, NetworkRulesKey, NetworkSecretsKey, PackageIndexKey, ExtendsKey>
      type;
};

// All keys, in the order of the reference; those of one group stand together.
absl::Span<const Key> Schema();

// By full path; null when there is none.
const Key* FindKey(absl::string_view path);
// "limits" of "limits.memory"; empty for a key without a group.
absl::string_view GroupOf(absl::string_view path);
absl::string_view LastPartOf(absl::string_view path);
bool IsGroup(absl::string_view name);

// A group that a word may stand for instead of keys: `network: off`.
struct GroupWord {
  absl::string_view group, word;
  bool (*holds)(const Policy&);
  void (*set)(Policy&);       // whatever the files that are extended say
  absl::string_view instead;  // keys that say more, for messages
};
// Null when the group has none.
const GroupWord* FindGroupWord(absl::string_view group);

}  // namespace cellblock::policy

#endif  // CELLBLOCK_POLICY_SCHEMA_H_
