// See value.h: values as text, and what keys take. One visitor per question.
#include <array>
#include <limits>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "policy/network_parts.h"
#include "policy/text.h"
#include "policy/units.h"
#include "policy/value.h"

namespace cellblock::policy {
namespace {

template <size_t N, typename E>
std::string NameOf(const std::array<absl::string_view, N>& names, E value) {
  size_t index = static_cast<size_t>(value);
  return index < N ? std::string(names[index]) : absl::StrCat("invalid(", index, ")");
}

struct Items {
  const Policy& policy;

  std::vector<std::string> operator()(const TextListKey& type) const {
    std::vector<std::string> texts;
    for (const std::string& item : Get(type.field, policy)) texts.push_back(YamlText(item));
    return texts;
  }
  std::vector<std::string> operator()(const MountsKey& type) const {
    std::vector<std::string> texts;
    for (const ReadOnlyMount& mount : Get(type.field, policy)) {
      texts.push_back(absl::StrCat("{source: ", YamlText(mount.source), ", target: ", YamlText(mount.target), "}"));
    }
    return texts;
  }
  std::vector<std::string> operator()(const VariablesKey& type) const {
    std::vector<std::string> texts;
    for (const auto& [name, value] : Get(type.field, policy)) texts.push_back(absl::StrCat(YamlText(name), ": ", YamlText(value)));
    return texts;
  }
  std::vector<std::string> operator()(const NetworkRulesKey& type) const { return TextsOf(Get(type.field, policy)); }
  std::vector<std::string> operator()(const NetworkSecretsKey& type) const { return TextsOf(Get(type.field, policy)); }
  template <typename T>
  std::vector<std::string> operator()(const T&) const {
    return {};
  }
  template <typename Item>
  static std::vector<std::string> TextsOf(const std::vector<Item>& items) {
    std::vector<std::string> texts;
    for (const Item& item : items) texts.push_back(ItemText(item));
    return texts;
  }
};

struct Flow {
  const Key& key;
  const Policy& policy;

  std::string operator()(const SizeKey& type) const { return SizeText(Get(type.field, policy)); }
  template <typename T>
  std::string operator()(const CountKey<T>& type) const {
    return absl::StrCat(Get(type.field, policy));
  }
  std::string operator()(const DurationKey& type) const { return DurationText(Get(type.field, policy)); }
  std::string operator()(const OptionalDurationKey& type) const {
    const auto& value = Get(type.field, policy);
    return value.has_value() ? DurationText(*value) : std::string(kNone);
  }
  std::string operator()(const OptionalSizeKey& type) const {
    const auto& value = Get(type.field, policy);
    return value.has_value() ? SizeText(*value) : std::string(kNone);
  }
  std::string operator()(const SeedKey& type) const {
    const auto& value = Get(type.field, policy);
    return value.has_value() ? absl::StrCat(*value) : std::string(kNone);
  }
  std::string operator()(const FlagKey& type) const { return Get(type.field, policy) ? "true" : "false"; }
  std::string operator()(const RequirementKey& type) const { return NameOf(kRequirementNames, Get(type.field, policy)); }
  std::string operator()(const MemoryKey& type) const { return NameOf(kMemoryNames, Get(type.field, policy)); }
  std::string operator()(const TextKey& type) const {
    const std::string& text = Get(type.field, policy);
    return type.may_be_none && text.empty() ? std::string(kNone) : YamlText(text);
  }
  std::string operator()(const PackageIndexKey& type) const {
    const PackageIndex& packages = Get(type.field, policy);
    return packages == PackageIndex{} ? std::string(kNone) : ItemText(packages);
  }
  std::string operator()(const ExtendsKey&) const { return std::string(kNone); }
  template <typename List>
  std::string operator()(const List&) const {
    return absl::StrCat("[", absl::StrJoin(ItemTexts(key, policy), ", "), "]");
  }
  std::string operator()(const VariablesKey&) const { return absl::StrCat("{", absl::StrJoin(ItemTexts(key, policy), ", "), "}"); }
};

struct Range {
  std::string operator()(const SizeKey& type) const { return absl::StrCat(SizeText(type.min), " – ", SizeText(type.max)); }
  template <typename T>
  std::string operator()(const CountKey<T>& type) const {
    return absl::StrCat(type.min, " – ", type.max);
  }
  std::string operator()(const DurationKey& type) const { return absl::StrCat(DurationText(type.min), " – ", DurationText(type.max)); }
  std::string operator()(const OptionalDurationKey& type) const {
    return absl::StrCat(DurationText(type.min), " – ", DurationText(type.max), " or none");
  }
  std::string operator()(const OptionalSizeKey& type) const {
    return absl::StrCat(SizeText(type.min), " – ", SizeText(type.max), " or none");
  }
  std::string operator()(const SeedKey&) const { return absl::StrCat("0 – ", std::numeric_limits<uint64_t>::max(), " or none"); }
  std::string operator()(const FlagKey&) const { return "true or false"; }
  std::string operator()(const RequirementKey&) const { return "required, preferred or off"; }
  std::string operator()(const MemoryKey&) const { return "enforced or watched"; }
  std::string operator()(const TextKey&) const { return ""; }
  template <typename List>
  std::string operator()(const List& type) const {
    return absl::StrCat("at most ", type.items_max, " items");
  }
  std::string operator()(const VariablesKey& type) const {
    return absl::StrCat("at most ", type.items_max, " variables, ", SizeText(static_cast<int64_t>(type.bytes_max)), " together");
  }
  std::string operator()(const PackageIndexKey&) const { return "an index or none"; }
  std::string operator()(const ExtendsKey&) const { return ""; }
};

struct Expected {
  const Key& key;

  std::string operator()(const SizeKey&) const { return absl::StrCat("a size such as 512MiB (", RangeText(key), ")"); }
  template <typename T>
  std::string operator()(const CountKey<T>&) const {
    return absl::StrCat("a whole number (", RangeText(key), ")");
  }
  std::string operator()(const DurationKey&) const { return absl::StrCat("a time such as 90s (", RangeText(key), ")"); }
  std::string operator()(const OptionalDurationKey&) const { return absl::StrCat("a time such as 90s (", RangeText(key), ")"); }
  std::string operator()(const SeedKey&) const { return absl::StrCat("a whole number (", RangeText(key), ")"); }
  std::string operator()(const TextListKey&) const { return absl::StrCat("a list such as [first, second] (", RangeText(key), ")"); }
  std::string operator()(const MountsKey&) const {
    return absl::StrCat("a list of mounts such as [{source: /srv/data, target: /data}] (", RangeText(key), ")");
  }
  std::string operator()(const VariablesKey&) const { return absl::StrCat("variables such as {NAME: value} (", RangeText(key), ")"); }
  std::string operator()(const OptionalSizeKey&) const { return absl::StrCat("a size such as 512MiB (", RangeText(key), ")"); }
  std::string operator()(const NetworkRulesKey&) const {
    return absl::StrCat("a list of rules such as [{host: api.example.com, ports: [443]}] (", RangeText(key), ")");
  }
  std::string operator()(const NetworkSecretsKey&) const {
    return absl::StrCat("a list of secrets such as [{name: API_KEY, host: api.example.com, header: Authorization, source: \"file:/etc/api.key\"}] (",
                        RangeText(key), ")");
  }
  std::string operator()(const PackageIndexKey&) const {
    return "an index such as {url: \"https://index.example.com/simple/\", hosts: [wheels.example.com]}, or none";
  }
  std::string operator()(const ExtendsKey&) const { return "the name of a policy, the path of one, or none"; }
  std::string operator()(const TextKey& type) const { return type.may_be_none ? "one text or none" : "one text"; }
  template <typename T>
  std::string operator()(const T&) const {
    return RangeText(key);
  }
};

}  // namespace

std::string FlowText(const Key& key, const Policy& policy) { return std::visit(Flow{key, policy}, key.type); }

std::vector<std::string> ItemTexts(const Key& key, const Policy& policy) { return std::visit(Items{policy}, key.type); }

std::string ExpectedText(const Key& key) { return std::visit(Expected{key}, key.type); }

std::string RangeText(const Key& key) { return std::visit(Range{}, key.type); }

}  // namespace cellblock::policy
