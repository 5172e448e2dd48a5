// The keys within a rule, a secret and a package index, as one table each: how they are written, where they live, what they may be.
// Loader, printer and checks read these tables, as they read that of policy/schema.cc for whole keys. Every process; trusts nothing.
#ifndef CELLBLOCK_POLICY_NETWORK_PARTS_H_
#define CELLBLOCK_POLICY_NETWORK_PARTS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "cellblock/policy.h"
#include "policy/schema.h"

namespace cellblock::policy {

template <typename Item>
struct TextPart {
  std::string Item::*field;
  Rule rule;
  bool is_needed = false;  // else it may be left out
  bool is_secret = false;  // messages don't show it: somebody may have written a secret there
};
template <typename Item>
struct TextsPart {
  std::vector<std::string> Item::*field;
  Rule rule;
  size_t items_max;
  bool is_any_without = false;  // left out, it stands for any; an empty list is refused, since it reads as none
};
template <typename Item>
struct PortPart {
  int64_t Item::*field;
};
template <typename Item>
struct PortsPart {
  std::vector<int64_t> Item::*field;
  size_t items_max;
};
template <typename Item>
struct ProtocolPart {
  NetworkProtocol Item::*field;
};

template <typename Item>
struct Part {
  absl::string_view name;
  absl::string_view expected;  // for messages: "a list such as [80, 443]"
  std::variant<TextPart<Item>, TextsPart<Item>, PortPart<Item>, PortsPart<Item>, ProtocolPart<Item>> type;

  bool is_list() const { return std::holds_alternative<TextsPart<Item>>(type) || std::holds_alternative<PortsPart<Item>>(type); }
};

// Item is NetworkRule, NetworkSecret or PackageIndex in all of these. What a function says is wrong is empty when nothing is.

template <typename Item>
absl::Span<const Part<Item>> PartsOf();
template <>
absl::Span<const Part<NetworkRule>> PartsOf<NetworkRule>();
template <>
absl::Span<const Part<NetworkSecret>> PartsOf<NetworkSecret>();
template <>
absl::Span<const Part<PackageIndex>> PartsOf<PackageIndex>();

// "a rule": how messages call the item.
template <typename Item>
absl::string_view KindOf();
template <>
absl::string_view KindOf<NetworkRule>();
template <>
absl::string_view KindOf<NetworkSecret>();
template <>
absl::string_view KindOf<PackageIndex>();

// Sets a part, or adds one element to it when it is a list. What is wrong, with the text before it where it may be shown.
template <typename Item>
std::string SetPart(const Part<Item>& part, absl::string_view text, bool is_quoted, Item& item);
// Forgets the default of a list.
template <typename Item>
void StartPart(const Part<Item>& part, Item& item);
// The whole part: every element and their number.
template <typename Item>
std::string PartProblem(const Part<Item>& part, const Item& item);

// All parts and how they go together, with the place before it: ".ports: 53 is …" or ": needs …".
template <typename Item>
std::string ItemProblem(const Item& item);
// As YAML on one line, without what has its default: "{host: api.example.com, ports: [443]}".
template <typename Item>
std::string ItemText(const Item& item);

}  // namespace cellblock::policy

#endif  // CELLBLOCK_POLICY_NETWORK_PARTS_H_
