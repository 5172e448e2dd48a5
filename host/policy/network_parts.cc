// See network_parts.h.
#include "policy/network_parts.h"

#include <algorithm>
#include <array>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "policy/address.h"
#include "policy/network_rules.h"
#include "policy/package_index.h"
#include "policy/rules.h"
#include "policy/text.h"
#include "policy/units.h"

namespace cellblock::policy {
namespace {

// In the order of the enum.
constexpr std::array<absl::string_view, 3> kProtocolNames = {"any", "http", "tls"};

constexpr absl::string_view kPathExpected = "a path such as /etc/ssl/internal.pem";
constexpr absl::string_view kAddressesExpected = "a list such as [\"10.0.0.7\"] or [10.0.0.0/8]";

constexpr Part<NetworkRule> kRuleParts[] = {
    {"host", "a name such as api.example.com or \"*.example.com\"", TextPart<NetworkRule>{&NetworkRule::host, HostPatternProblem, true}},
    {"ports", "a list such as [80, 443]", PortsPart<NetworkRule>{&NetworkRule::ports, 16}},
    {"protocol", "any, http or tls", ProtocolPart<NetworkRule>{&NetworkRule::protocol}},
    {"methods", "a list such as [GET, POST]", TextsPart<NetworkRule>{&NetworkRule::methods, MethodProblem, 16, true}},
    {"paths", "a list such as [/v1/]", TextsPart<NetworkRule>{&NetworkRule::paths, PathPrefixProblem, 32, true}},
    {"addresses", kAddressesExpected, TextsPart<NetworkRule>{&NetworkRule::addresses, AddressProblem, 16}},
    {"authorities", kPathExpected, TextPart<NetworkRule>{&NetworkRule::authorities, PathProblem}},
};

constexpr Part<NetworkSecret> kSecretParts[] = {
    {"name", "a variable's name such as API_KEY", TextPart<NetworkSecret>{&NetworkSecret::name, SecretNameProblem, true}},
    {"host", "a name such as api.example.com", TextPart<NetworkSecret>{&NetworkSecret::host, HostProblem, true}},
    {"port", "a port such as 443", PortPart<NetworkSecret>{&NetworkSecret::port}},
    {"header", "a header's name such as Authorization", TextPart<NetworkSecret>{&NetworkSecret::header, HeaderProblem}},
    {"query", "a parameter's name such as key", TextPart<NetworkSecret>{&NetworkSecret::query, QueryProblem}},
    {"format", "a text such as \"Bearer {secret}\"", TextPart<NetworkSecret>{&NetworkSecret::format, FormatProblem, true}},
    {"source", "a place such as \"file:/etc/cellblock/api.key\"", TextPart<NetworkSecret>{&NetworkSecret::source, SourceProblem, true, true}},
};

constexpr Part<PackageIndex> kPackageParts[] = {
    {"url", "a URL such as https://index.example.com/simple/", TextPart<PackageIndex>{&PackageIndex::url, IndexUrlProblem, true, true}},
    {"hosts", "a list such as [wheels.example.com]", TextsPart<PackageIndex>{&PackageIndex::hosts, HostPatternProblem, 16}},
    {"addresses", kAddressesExpected, TextsPart<PackageIndex>{&PackageIndex::addresses, AddressProblem, 16}},
    {"authorities", kPathExpected, TextPart<PackageIndex>{&PackageIndex::authorities, PathProblem}},
};

// What is wrong with one element, with the element before it where it may be shown.
std::string Described(absl::string_view text, const std::string& problem, bool is_secret = false) {
  return problem.empty() || is_secret ? problem : absl::StrCat(Shown(text), " ", problem);
}
std::string Described(int64_t port, const std::string& problem) { return problem.empty() ? "" : absl::StrCat(port, " ", problem); }

std::string ParsePort(absl::string_view text, bool is_quoted, int64_t& port) {
  if (is_quoted) return absl::StrCat(Shown(text), " is in quotes, which makes it a text; write the number without");
  absl::StatusOr<uint64_t> count = ParseCount(text);
  if (!count.ok()) return std::string(count.status().message());
  port = static_cast<int64_t>(std::min<uint64_t>(*count, 1'000'000));  // far enough beyond the range
  std::string problem = PortProblem(port);
  return problem.empty() ? "" : absl::StrCat(*count, " ", problem);
}

template <typename T>
std::string ListProblem(const std::vector<T>& list, size_t items_max) {
  if (list.size() > items_max) return absl::StrCat("has ", list.size(), " items, more than ", items_max);
  for (const T& element : list) {
    if (std::count(list.begin(), list.end(), element) == 1) continue;
    return absl::StrCat(element, " is listed twice");
  }
  return "";
}

template <typename Item>
struct PartSetter {
  absl::string_view text;
  bool is_quoted;
  Item& item;

  std::string operator()(const TextPart<Item>& part) const {
    item.*part.field = std::string(text);
    return Described(text, part.rule(text), part.is_secret);
  }
  std::string operator()(const PortPart<Item>& part) const { return ParsePort(text, is_quoted, item.*part.field); }
  std::string operator()(const ProtocolPart<Item>& part) const {
    auto found = std::find(kProtocolNames.begin(), kProtocolNames.end(), text);
    if (found == kProtocolNames.end()) {
      std::string meant = DidYouMean(NearWords(text, {kProtocolNames.begin(), kProtocolNames.end()}));
      if (text == "https") meant = "; write tls";
      return absl::StrCat(Shown(text), " is not one of ", absl::StrJoin(kProtocolNames, ", "), meant);
    }
    item.*part.field = static_cast<NetworkProtocol>(found - kProtocolNames.begin());
    return "";
  }
  std::string operator()(const TextsPart<Item>& part) const {
    (item.*part.field).emplace_back(text);
    return Described(text, part.rule(text));
  }
  std::string operator()(const PortsPart<Item>& part) const { return ParsePort(text, is_quoted, (item.*part.field).emplace_back()); }
};

template <typename Item>
struct PartChecker {
  const Item& item;

  std::string operator()(const TextPart<Item>& part) const {
    const std::string& text = item.*part.field;
    return text.empty() && !part.is_needed ? "" : Described(text, part.rule(text), part.is_secret);
  }
  std::string operator()(const PortPart<Item>& part) const { return Described(item.*part.field, PortProblem(item.*part.field)); }
  std::string operator()(const ProtocolPart<Item>& part) const {
    return static_cast<size_t>(item.*part.field) < kProtocolNames.size() ? "" : "holds a number that is none of its values";
  }
  std::string operator()(const TextsPart<Item>& part) const {
    for (const std::string& text : item.*part.field) {
      std::string problem = Described(text, part.rule(text));
      if (!problem.empty()) return problem;
    }
    return ListProblem(item.*part.field, part.items_max);
  }
  std::string operator()(const PortsPart<Item>& part) const {
    if ((item.*part.field).empty()) return "is empty, so that nothing could be reached; write a port, or leave it out for [80, 443]";
    for (int64_t port : item.*part.field) {
      std::string problem = Described(port, PortProblem(port));
      if (!problem.empty()) return problem;
    }
    return ListProblem(item.*part.field, part.items_max);
  }
};

// A part as YAML.
template <typename Item>
struct PartText {
  const Item& item;

  std::string operator()(const TextPart<Item>& part) const { return YamlText(item.*part.field); }
  std::string operator()(const PortPart<Item>& part) const { return absl::StrCat(item.*part.field); }
  std::string operator()(const ProtocolPart<Item>& part) const {
    size_t index = static_cast<size_t>(item.*part.field);
    return index < kProtocolNames.size() ? std::string(kProtocolNames[index]) : absl::StrCat("invalid(", index, ")");
  }
  std::string operator()(const TextsPart<Item>& part) const {
    std::vector<std::string> texts;
    for (const std::string& text : item.*part.field) texts.push_back(YamlText(text));
    return absl::StrCat("[", absl::StrJoin(texts, ", "), "]");
  }
  std::string operator()(const PortsPart<Item>& part) const { return absl::StrCat("[", absl::StrJoin(item.*part.field, ", "), "]"); }
};

// DNS is not asked where there are fixed addresses, so ranges beside them would say nothing.
std::string MixedAddresses(const std::vector<std::string>& addresses) {
  auto is_single = [](const std::string& text) {
    absl::StatusOr<AddressRange> range = AddressRange::Parse(text);
    return range.ok() && range->is_single();
  };
  auto singles = std::count_if(addresses.begin(), addresses.end(), is_single);
  if (singles == 0 || static_cast<size_t>(singles) == addresses.size()) return "";
  return ".addresses: holds both single addresses, for which no DNS is asked, and ranges, which its answers are held against; write the one "
         "or the other";
}

// How the parts of an item go together, once each is fine.
std::string TogetherProblem(const NetworkRule& rule) { return MixedAddresses(rule.addresses); }

std::string TogetherProblem(const NetworkSecret& secret) {
  if (secret.header.empty() == secret.query.empty()) {
    return secret.header.empty() ? ": needs the header or the query parameter that the value goes into; write header: Authorization"
                                 : ": goes into one place; write header or query, not both";
  }
  return "";
}

std::string TogetherProblem(const PackageIndex& packages) {
  absl::StatusOr<IndexUrl> url = ParseIndexUrl(packages.url);
  if (url.ok() && !url->is_tls && !AreFixedLoopback(packages.addresses)) {
    return ".url: is http://, over which anybody on the way could change a package; write https://, or loopback addresses for an index on this "
           "machine";
  }
  return MixedAddresses(packages.addresses);
}

}  // namespace

template <>
absl::Span<const Part<NetworkRule>> PartsOf<NetworkRule>() { return kRuleParts; }
template <>
absl::Span<const Part<NetworkSecret>> PartsOf<NetworkSecret>() { return kSecretParts; }
template <>
absl::Span<const Part<PackageIndex>> PartsOf<PackageIndex>() { return kPackageParts; }

template <>
absl::string_view KindOf<NetworkRule>() { return "a rule"; }
template <>
absl::string_view KindOf<NetworkSecret>() { return "a secret"; }
template <>
absl::string_view KindOf<PackageIndex>() { return "a package index"; }

template <typename Item>
std::string SetPart(const Part<Item>& part, absl::string_view text, bool is_quoted, Item& item) {
  return std::visit(PartSetter<Item>{text, is_quoted, item}, part.type);
}

template <typename Item>
void StartPart(const Part<Item>& part, Item& item) {
  if (const auto* texts = std::get_if<TextsPart<Item>>(&part.type)) (item.*texts->field).clear();
  if (const auto* ports = std::get_if<PortsPart<Item>>(&part.type)) (item.*ports->field).clear();
}

template <typename Item>
std::string PartProblem(const Part<Item>& part, const Item& item) {
  return std::visit(PartChecker<Item>{item}, part.type);
}

template <typename Item>
std::string ItemProblem(const Item& item) {
  for (const Part<Item>& part : PartsOf<Item>()) {
    std::string problem = PartProblem(part, item);
    if (!problem.empty()) return absl::StrCat(".", part.name, ": ", problem);
  }
  return TogetherProblem(item);
}

template <typename Item>
std::string ItemText(const Item& item) {
  std::vector<std::string> parts;
  const Item defaults;
  for (const Part<Item>& part : PartsOf<Item>()) {
    std::string text = std::visit(PartText<Item>{item}, part.type);
    if (text != std::visit(PartText<Item>{defaults}, part.type)) parts.push_back(absl::StrCat(part.name, ": ", text));
  }
  return absl::StrCat("{", absl::StrJoin(parts, ", "), "}");
}

#define CELLBLOCK_ITEM(Item)                                                                          \
  template std::string SetPart(const Part<Item>&, absl::string_view, bool, Item&);                    \
  template void StartPart(const Part<Item>&, Item&);                                                  \
  template std::string PartProblem(const Part<Item>&, const Item&);                                   \
  template std::string ItemProblem(const Item&);                                                      \
  template std::string ItemText(const Item&)
CELLBLOCK_ITEM(NetworkRule);
CELLBLOCK_ITEM(NetworkSecret);
CELLBLOCK_ITEM(PackageIndex);
#undef CELLBLOCK_ITEM

}  // namespace cellblock::policy
