// See print.h.
#include "policy/print.h"

#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "policy/schema.h"
#include "policy/value.h"

namespace cellblock::policy {

std::string PrintPolicy(const Policy& policy) {
  std::string out;
  absl::string_view group;
  const GroupWord* word = nullptr;
  for (const Key& key : Schema()) {
    if (std::holds_alternative<ExtendsKey>(key.type)) continue;  // the effective policy stands by itself
    if (GroupOf(key.path) != group) {
      group = GroupOf(key.path);
      word = FindGroupWord(group);
      if (word != nullptr && !word->holds(policy)) word = nullptr;
      if (!group.empty()) absl::StrAppend(&out, group, word == nullptr ? ":" : absl::StrCat(": ", word->word), "\n");
    }
    if (word != nullptr) continue;
    absl::string_view indent = group.empty() ? "" : "  ";
    std::vector<std::string> items = ItemTexts(key, policy);
    if (items.empty()) {
      absl::StrAppend(&out, indent, LastPartOf(key.path), ": ", FlowText(key, policy), "\n");
      continue;
    }
    absl::StrAppend(&out, indent, LastPartOf(key.path), ":\n");
    absl::string_view dash = ShapeOf(key) == Shape::kVariables ? "" : "- ";
    for (const std::string& item : items) absl::StrAppend(&out, indent, "  ", dash, item, "\n");
  }
  return out;
}

std::string DiffPolicies(const Policy& from, const Policy& to) {
  std::string out;
  for (const Key& key : Schema()) {
    std::string before = FlowText(key, from), after = FlowText(key, to);
    if (before != after) absl::StrAppend(&out, key.path, ": ", before, " → ", after, "\n");
  }
  return out;
}

}  // namespace cellblock::policy
