// See value.h; how values look as text is in value_text.cc. One visitor per question; the table in schema.cc says which row is of
// which type.
#include "policy/value.h"

#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>
#include <variant>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "policy/network_parts.h"
#include "policy/rules.h"
#include "policy/text.h"
#include "policy/units.h"

namespace cellblock::policy {
namespace {

absl::Status Refuse(const Key& key, absl::string_view why) { return absl::InvalidArgumentError(absl::StrCat(key.path, ": ", why)); }

template <typename T>
absl::Status CheckRange(const Key& key, const T& value, const T& min, const T& max, std::string (*format)(T)) {
  if (value >= min && value <= max) return absl::OkStatus();
  return Refuse(key, absl::StrCat(format(value), value < min ? " is below the least, " : " is above the most, ",
                                  format(value < min ? min : max), "; the range is ", format(min), " – ", format(max)));
}

std::string CountText(int64_t count) { return absl::StrCat(count); }

absl::Status CheckDuration(const Key& key, absl::Duration value, absl::Duration min, absl::Duration max) {
  CELLBLOCK_RETURN_IF_ERROR(CheckRange<absl::Duration>(key, value, min, max, DurationText));
  if (absl::Milliseconds(absl::ToInt64Milliseconds(value)) == value) return absl::OkStatus();
  return Refuse(key, absl::StrCat(DurationText(value), " is not a whole number of milliseconds"));
}

template <size_t N>
absl::Status PickName(const Key& key, absl::string_view text, const std::array<absl::string_view, N>& names, size_t& index) {
  for (index = 0; index < N; ++index) {
    if (names[index] == text) return absl::OkStatus();
  }
  std::vector<std::string> known(names.begin(), names.end());
  std::string meant = DidYouMean(NearWords(text, known));
  return Refuse(key, absl::StrCat(Shown(text), " is not one of ", absl::StrJoin(names, ", "), meant));
}

// Prefixes a message of units.h with the key.
template <typename T>
absl::Status Take(const Key& key, absl::StatusOr<T> parsed, T& value) {
  if (!parsed.ok()) return Refuse(key, parsed.status().message());
  value = *parsed;
  return absl::OkStatus();
}

struct Setter {
  const Key& key;
  absl::string_view text;
  bool is_quoted;
  Policy& policy;

  absl::Status RefuseQuotes() const {
    return Refuse(key, absl::StrCat(Shown(text), " is in quotes, which makes it a text; write ", ExpectedText(key), " without quotes"));
  }

  absl::Status operator()(const SizeKey& type) const { return Take(key, ParseSize(text), type.field(policy)); }
  template <typename T>
  absl::Status operator()(const CountKey<T>& type) const {
    if (is_quoted) return RefuseQuotes();
    uint64_t value = 0;
    CELLBLOCK_RETURN_IF_ERROR(Take(key, ParseCount(text), value));
    if (value > static_cast<uint64_t>(std::numeric_limits<T>::max())) {
      return Refuse(key, absl::StrCat(value, " is above the most, ", type.max, "; the range is ", RangeText(key)));
    }
    type.field(policy) = static_cast<T>(value);
    return absl::OkStatus();
  }
  absl::Status operator()(const DurationKey& type) const { return Take(key, ParseDuration(text), type.field(policy)); }
  absl::Status operator()(const OptionalDurationKey& type) const {
    type.field(policy).reset();
    if (text == kNone) return absl::OkStatus();
    return Take(key, ParseDuration(text), type.field(policy).emplace());
  }
  absl::Status operator()(const OptionalSizeKey& type) const {
    type.field(policy).reset();
    if (text == kNone) return absl::OkStatus();
    return Take(key, ParseSize(text), type.field(policy).emplace());
  }
  absl::Status operator()(const SeedKey& type) const {
    type.field(policy).reset();
    if (text == kNone) return absl::OkStatus();
    if (is_quoted) return RefuseQuotes();
    return Take(key, ParseCount(text), type.field(policy).emplace());
  }
  absl::Status operator()(const FlagKey& type) const {
    if (is_quoted) return RefuseQuotes();
    if (text != "true" && text != "false") {
      Switch meant = SwitchWord(text);
      return Refuse(key, absl::StrCat(Shown(text), " is neither true nor false; write ",
                                      meant == Switch::kYes  ? "true"
                                      : meant == Switch::kNo ? "false"
                                                             : "true or false"));
    }
    type.field(policy) = text == "true";
    return absl::OkStatus();
  }
  absl::Status operator()(const RequirementKey& type) const {
    size_t index = 0;
    if (SwitchWord(text) != Switch::kNeither && text != "off") {
      return Refuse(key, absl::StrCat(Shown(text), " is a switch's word; write ",
                                      SwitchWord(text) == Switch::kYes ? "required or preferred" : "off"));
    }
    CELLBLOCK_RETURN_IF_ERROR(PickName(key, text, kRequirementNames, index));
    type.field(policy) = static_cast<Requirement>(index);
    return absl::OkStatus();
  }
  absl::Status operator()(const MemoryKey& type) const {
    size_t index = 0;
    CELLBLOCK_RETURN_IF_ERROR(PickName(key, text, kMemoryNames, index));
    type.field(policy) = static_cast<MemoryRequirement>(index);
    return absl::OkStatus();
  }
  absl::Status operator()(const TextKey& type) const {
    type.field(policy) = type.may_be_none && text == kNone ? std::string() : std::string(text);
    return absl::OkStatus();
  }
  absl::Status operator()(const ExtendsKey&) const { return absl::OkStatus(); }
  // What is no scalar is taken item by item.
  template <typename T>
  absl::Status operator()(const T&) const {
    return Refuse(key, absl::StrCat("takes ", ExpectedText(key)));
  }
};

struct Checker {
  const Key& key;
  const Policy& policy;

  absl::Status TooMany(size_t count, size_t max, absl::string_view more = " (those of the files it extends count too)") const {
    if (count <= max) return absl::OkStatus();
    return Refuse(key, absl::StrCat("has ", count, " items, more than ", max, more));
  }
  absl::Status CheckText(absl::string_view what, absl::string_view text, const std::string& problem) const {
    if (problem.empty()) return absl::OkStatus();
    return Refuse(key, absl::StrCat(what, Shown(text), " ", problem));
  }

  absl::Status operator()(const SizeKey& type) const {
    return CheckRange<int64_t>(key, Get(type.field, policy), type.min, type.max, SizeText);
  }
  template <typename T>
  absl::Status operator()(const CountKey<T>& type) const {
    return CheckRange<int64_t>(key, Get(type.field, policy), type.min, type.max, CountText);
  }
  absl::Status operator()(const DurationKey& type) const { return CheckDuration(key, Get(type.field, policy), type.min, type.max); }
  absl::Status operator()(const OptionalDurationKey& type) const {
    const auto& value = Get(type.field, policy);
    return value.has_value() ? CheckDuration(key, *value, type.min, type.max) : absl::OkStatus();
  }
  absl::Status operator()(const OptionalSizeKey& type) const {
    const auto& value = Get(type.field, policy);
    return value.has_value() ? CheckRange<int64_t>(key, *value, type.min, type.max, SizeText) : absl::OkStatus();
  }
  template <typename E, size_t N>
  absl::Status CheckName(E value, const std::array<absl::string_view, N>&) const {
    if (static_cast<size_t>(value) < N) return absl::OkStatus();
    return Refuse(key, "holds a number that is none of its values");
  }
  absl::Status operator()(const RequirementKey& type) const { return CheckName(Get(type.field, policy), kRequirementNames); }
  absl::Status operator()(const MemoryKey& type) const { return CheckName(Get(type.field, policy), kMemoryNames); }
  absl::Status operator()(const TextKey& type) const {
    const std::string& text = Get(type.field, policy);
    return CheckText("", text, type.rule(text));
  }
  absl::Status operator()(const TextListKey& type) const {
    const auto& items = Get(type.field, policy);
    CELLBLOCK_RETURN_IF_ERROR(TooMany(items.size(), type.items_max));
    for (const std::string& item : items) {
      CELLBLOCK_RETURN_IF_ERROR(CheckText("", item, type.rule(item)));
      if (std::count(items.begin(), items.end(), item) > 1) return Refuse(key, absl::StrCat(Shown(item), " is listed twice"));
    }
    return absl::OkStatus();
  }
  absl::Status operator()(const MountsKey& type) const {
    const auto& mounts = Get(type.field, policy);
    CELLBLOCK_RETURN_IF_ERROR(TooMany(mounts.size(), type.items_max));
    for (const ReadOnlyMount& mount : mounts) {
      CELLBLOCK_RETURN_IF_ERROR(CheckText("source ", mount.source, MountSourceProblem(mount.source)));
      CELLBLOCK_RETURN_IF_ERROR(CheckText("target ", mount.target, MountTargetProblem(mount.target)));
      for (const ReadOnlyMount& other : mounts) {
        if (&other == &mount || !IsAtOrBelow(mount.target, other.target)) continue;
        return Refuse(key, absl::StrCat("target ", Shown(mount.target), " lies at or below the target ", Shown(other.target),
                                        " of another mount; give each a folder of its own"));
      }
    }
    return absl::OkStatus();
  }
  absl::Status operator()(const VariablesKey& type) const {
    const auto& variables = Get(type.field, policy);
    CELLBLOCK_RETURN_IF_ERROR(TooMany(variables.size(), type.items_max));
    size_t bytes = 0;
    for (const auto& [name, value] : variables) {
      CELLBLOCK_RETURN_IF_ERROR(CheckText("", name, VariableNameProblem(name)));
      CELLBLOCK_RETURN_IF_ERROR(CheckText(absl::StrCat(name, ": "), value, TextProblem(value)));
      auto is_same = [&wanted = name](const auto& other) { return other.first == wanted; };
      if (std::count_if(variables.begin(), variables.end(), is_same) > 1) return Refuse(key, absl::StrCat(name, " is set twice"));
      bytes += name.size() + value.size() + 2;  // as environ holds them: '=' and a NUL
    }
    if (bytes <= type.bytes_max) return absl::OkStatus();
    return Refuse(key, absl::StrCat("takes ", bytes, " bytes, more than ", SizeText(static_cast<int64_t>(type.bytes_max))));
  }
  template <typename Item>
  absl::Status CheckItems(const std::vector<Item>& items, size_t items_max) const {
    CELLBLOCK_RETURN_IF_ERROR(TooMany(items.size(), items_max, ""));
    for (size_t i = 0; i < items.size(); ++i) {
      std::string problem = ItemProblem(items[i]);
      if (!problem.empty()) return absl::InvalidArgumentError(absl::StrCat(key.path, "[", i, "]", problem));
    }
    return absl::OkStatus();
  }
  absl::Status operator()(const NetworkRulesKey& type) const { return CheckItems(Get(type.field, policy), type.items_max); }
  absl::Status operator()(const NetworkSecretsKey& type) const { return CheckItems(Get(type.field, policy), type.items_max); }
  absl::Status operator()(const PackageIndexKey& type) const {
    const PackageIndex& packages = Get(type.field, policy);
    std::string problem = packages == PackageIndex{} ? "" : ItemProblem(packages);
    return problem.empty() ? absl::OkStatus() : absl::InvalidArgumentError(absl::StrCat(key.path, problem));
  }
  absl::Status operator()(const SeedKey&) const { return absl::OkStatus(); }
  absl::Status operator()(const FlagKey&) const { return absl::OkStatus(); }
  absl::Status operator()(const ExtendsKey&) const { return absl::OkStatus(); }
};

}  // namespace

Switch SwitchWord(absl::string_view text) {
  std::string lower = absl::AsciiStrToLower(text.substr(0, 16));
  for (absl::string_view word : {"true", "yes", "on", "y", "1", "enabled"}) {
    if (lower == word) return Switch::kYes;
  }
  for (absl::string_view word : {"false", "no", "off", "n", "0", "disabled"}) {
    if (lower == word) return Switch::kNo;
  }
  return Switch::kNeither;
}

Shape ShapeOf(const Key& key) {
  if (std::holds_alternative<TextListKey>(key.type)) return Shape::kTextList;
  if (std::holds_alternative<MountsKey>(key.type)) return Shape::kMounts;
  if (std::holds_alternative<VariablesKey>(key.type)) return Shape::kVariables;
  if (std::holds_alternative<NetworkRulesKey>(key.type)) return Shape::kNetworkRules;
  if (std::holds_alternative<NetworkSecretsKey>(key.type)) return Shape::kNetworkSecrets;
  if (std::holds_alternative<PackageIndexKey>(key.type)) return Shape::kPackageIndex;
  return Shape::kScalar;
}

absl::Status SetScalar(const Key& key, absl::string_view text, bool is_quoted, Policy& policy) {
  return std::visit(Setter{key, text, is_quoted, policy}, key.type);
}

absl::Status AddText(const Key& key, absl::string_view text, Policy& policy) {
  const auto& type = std::get<TextListKey>(key.type);
  std::string problem = type.rule(text);
  if (!problem.empty()) return Refuse(key, absl::StrCat(Shown(text), " ", problem));
  auto& items = type.field(policy);
  if (std::find(items.begin(), items.end(), text) == items.end()) items.emplace_back(text);
  return absl::OkStatus();
}

absl::Status AddMount(const Key& key, ReadOnlyMount mount, Policy& policy) {
  std::string problem = MountSourceProblem(mount.source);
  if (!problem.empty()) return Refuse(key, absl::StrCat("source ", Shown(mount.source), " ", problem));
  problem = MountTargetProblem(mount.target);
  if (!problem.empty()) return Refuse(key, absl::StrCat("target ", Shown(mount.target), " ", problem));
  auto& mounts = std::get<MountsKey>(key.type).field(policy);
  if (std::find(mounts.begin(), mounts.end(), mount) == mounts.end()) mounts.push_back(std::move(mount));
  return absl::OkStatus();
}

absl::Status SetVariable(const Key& key, absl::string_view name, absl::string_view value, Policy& policy) {
  std::string problem = VariableNameProblem(name);
  if (!problem.empty()) return Refuse(key, absl::StrCat(Shown(name), " ", problem));
  problem = TextProblem(value);
  if (!problem.empty()) return Refuse(key, absl::StrCat(name, ": ", Shown(value), " ", problem));
  auto& variables = std::get<VariablesKey>(key.type).field(policy);
  auto known = std::find_if(variables.begin(), variables.end(), [&](const auto& variable) { return variable.first == name; });
  if (known == variables.end()) {
    variables.emplace_back(name, value);
  } else {
    known->second = std::string(value);
  }
  return absl::OkStatus();
}

void StartList(const Key& key, Policy& policy) {
  const auto* type = std::get_if<TextListKey>(&key.type);
  if (type != nullptr && !type->adds) type->field(policy).clear();
}

absl::Status CheckKey(const Key& key, const Policy& policy) { return std::visit(Checker{key, policy}, key.type); }

}  // namespace cellblock::policy
