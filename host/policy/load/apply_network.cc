// See apply_network.h.
#include "policy/load/apply_network.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "policy/load/key_advice.h"
#include "policy/network_parts.h"
#include "policy/text.h"
#include "policy/value.h"

namespace cellblock::policy {
namespace {

template <typename Item>
class ItemReader {
 public:
  // `where`: "network.allow[0]", with which messages start.
  ItemReader(std::string where, absl::string_view file, Problems& problems) : where_(std::move(where)), file_(file), problems_(problems) {}

  // `node` is a map.
  bool Read(const Node& node, Item& item) {
    bool is_fine = true;
    std::vector<std::string> given;
    for (const Node& child : node.children) {
      given.push_back(child.key);
      is_fine &= ReadPart(child, item);
    }
    return is_fine && HasNeeded(node, given) && Accept(node.position, ItemProblem(item));
  }

  // Reports `problem`, which starts with what follows the place, unless it is empty.
  bool Accept(Position position, const std::string& problem) {
    if (!problem.empty()) problems_.Add(TextAt(file_, position, absl::StrCat(where_, problem)));
    return problem.empty();
  }

 private:
  static std::vector<std::string> Names() {
    std::vector<std::string> names;
    for (const Part<Item>& part : PartsOf<Item>()) names.emplace_back(part.name);
    return names;
  }

  bool ReadPart(const Node& node, Item& item) {
    for (const Part<Item>& part : PartsOf<Item>()) {
      if (part.name != node.key) continue;
      return part.is_list() ? ReadList(part, node, item) : ReadText(part, node, item);
    }
    std::string advice = ItemKeyAdvice(node.key, Names());
    if (advice.empty()) advice = absl::StrCat("; ", KindOf<Item>(), " has ", absl::StrJoin(Names(), ", "));
    return Accept(node.key_position, absl::StrCat(": unknown key ", Shown(node.key), " of ", KindOf<Item>(), advice));
  }

  bool ReadText(const Part<Item>& part, const Node& node, Item& item) {
    if (node.kind != Node::Kind::kScalar) return RefuseKind(part, node);
    return AcceptPart(part, node.position, SetPart(part, node.text, node.is_quoted, item));
  }

  bool ReadList(const Part<Item>& part, const Node& node, Item& item) {
    if (node.kind != Node::Kind::kList) return RefuseKind(part, node);
    const auto* texts = std::get_if<TextsPart<Item>>(&part.type);
    if (node.children.empty() && texts != nullptr && texts->is_any_without) {
      return AcceptPart(part, node.position, "is empty, which reads as none and would be any; leave it out for any");
    }
    StartPart(part, item);
    bool is_fine = true;
    for (const Node& element : node.children) {
      if (element.kind != Node::Kind::kScalar) {
        is_fine = AcceptPart(part, element.position, absl::StrCat("each item is one text, not ", KindText(element)));
      } else {
        is_fine &= AcceptPart(part, element.position, SetPart(part, element.text, element.is_quoted, item));
      }
    }
    return is_fine && AcceptPart(part, node.position, PartProblem(part, item));
  }

  bool RefuseKind(const Part<Item>& part, const Node& node) {
    return AcceptPart(part, node.position, absl::StrCat("takes ", part.expected, ", not ", KindText(node)));
  }

  bool AcceptPart(const Part<Item>& part, Position position, const std::string& problem) {
    return problem.empty() || Accept(position, absl::StrCat(".", part.name, ": ", problem));
  }

  // Whether every part is given that has neither a default nor may be left out.
  bool HasNeeded(const Node& node, const std::vector<std::string>& given) {
    const Item defaults;
    for (const Part<Item>& part : PartsOf<Item>()) {
      const auto* text = std::get_if<TextPart<Item>>(&part.type);
      if (text == nullptr || !text->is_needed || !(defaults.*text->field).empty()) continue;
      if (std::find(given.begin(), given.end(), part.name) != given.end()) continue;
      return Accept(node.position, absl::StrCat(": has no ", part.name, "; write ", part.name, ": and ", part.expected));
    }
    return true;
  }

  std::string where_;
  absl::string_view file_;
  Problems& problems_;
};

template <typename Item>
bool ApplyItems(const Key& key, const Node& node, absl::string_view file, std::vector<Item>& items, LoadedPolicy& loaded, Problems& problems) {
  ForgetOrigins(key.path, loaded);
  items.clear();
  bool is_fine = true;
  for (const Node& child : node.children) {
    std::string where = absl::StrCat(key.path, "[", items.size(), "]");
    ItemReader<Item> reader(where, file, problems);
    Item item;
    if (child.kind == Node::Kind::kMap) {
      is_fine &= reader.Read(child, item);
    } else if (child.kind == Node::Kind::kScalar && std::is_same_v<Item, NetworkRule>) {
      // A host alone; the first part of a rule.
      const Part<Item>& host = PartsOf<Item>().front();
      std::string problem = SetPart(host, child.text, child.is_quoted, item);
      is_fine &= reader.Accept(child.position, problem.empty() ? "" : absl::StrCat(".", host.name, ": ", problem));
    } else {
      is_fine = reader.Accept(child.position, absl::StrCat(": ", KindOf<Item>(), " has keys of its own, not ", KindText(child)));
    }
    loaded.origins.insert_or_assign(where, Origin{std::string(file), loaded.files.size() - 1, child.position});
    items.push_back(std::move(item));
  }
  return is_fine;
}

}  // namespace

bool ApplyNetworkRules(const Key& key, const Node& node, absl::string_view file, LoadedPolicy& loaded, Problems& problems) {
  return ApplyItems(key, node, file, std::get<NetworkRulesKey>(key.type).field(loaded.policy), loaded, problems);
}

bool ApplyNetworkSecrets(const Key& key, const Node& node, absl::string_view file, LoadedPolicy& loaded, Problems& problems) {
  return ApplyItems(key, node, file, std::get<NetworkSecretsKey>(key.type).field(loaded.policy), loaded, problems);
}

bool ApplyPackageIndex(const Key& key, const Node& node, absl::string_view file, LoadedPolicy& loaded, Problems& problems) {
  PackageIndex& packages = std::get<PackageIndexKey>(key.type).field(loaded.policy);
  packages = PackageIndex{};
  ItemReader<PackageIndex> reader(std::string(key.path), file, problems);
  if (node.kind == Node::Kind::kMap) return reader.Read(node, packages);
  if (node.text == kNone && !node.is_quoted) return true;
  return reader.Accept(node.position, absl::StrCat(": takes ", ExpectedText(key), ", not one text"));
}

void ForgetOrigins(absl::string_view path, LoadedPolicy& loaded) {
  for (auto origin = loaded.origins.begin(); origin != loaded.origins.end();) {
    absl::string_view known = origin->first;
    bool is_below = known == path || (known.size() > path.size() && absl::StartsWith(known, path) && absl::StrContains(".[", known[path.size()]));
    origin = is_below ? loaded.origins.erase(origin) : std::next(origin);
  }
}

}  // namespace cellblock::policy
