// See token_file.h.
#include "service/token_file.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "policy/load/apply.h"
#include "policy/load/files.h"
#include "policy/load/yaml_tree.h"
#include "policy/text.h"
#include "policy/units.h"

namespace cellblock::service {
namespace {

using policy::ErrorAt;
using policy::Node;

const std::vector<std::string>& TokenKeys() {
  static const auto* const keys = new std::vector<std::string>{"name", "sha256", "policies", "sessions", "calls", "wall", "memory", "shared_bytes", "metrics"};
  return *keys;
}

absl::Status ReadPolicies(const Node& node, absl::string_view file, Token* token) {
  if (node.kind != Node::Kind::kList) return ErrorAt(file, node.position, "policies: a list of names is wanted, such as [default, charts]");
  // An empty list reads as "none", and an empty Token::policies means every policy.
  if (node.children.empty()) return ErrorAt(file, node.position, "policies: the list is empty; leave the key out to allow every policy");
  for (const Node& item : node.children) {
    if (item.kind != Node::Kind::kScalar) return ErrorAt(file, item.position, "policies: a name is wanted here");
    token->policies.push_back(item.text);
  }
  return absl::OkStatus();
}

absl::Status ReadTokenKey(const Node& node, absl::string_view file, Token* token) {
  if (node.key == "policies") return ReadPolicies(node, file, token);
  auto wrong = [&](absl::string_view what) { return ErrorAt(file, node.position, absl::StrCat(node.key, ": ", what)); };
  if (node.kind != Node::Kind::kScalar) return wrong("one value is wanted here");
  if (node.key == "name" || node.key == "sha256") {
    (node.key == "name" ? token->name : token->sha256) = node.text;
  } else if (node.key == "wall") {
    absl::StatusOr<absl::Duration> wall = policy::ParseDuration(node.text);
    if (!wall.ok()) return wrong(wall.status().message());
    token->wall_max = *wall;
  } else if (node.key == "memory" || node.key == "shared_bytes") {
    absl::StatusOr<int64_t> bytes = policy::ParseSize(node.text);
    if (!bytes.ok()) return wrong(bytes.status().message());
    (node.key == "memory" ? token->memory_bytes_max : token->shared_bytes_max) = *bytes;
  } else if (node.key == "metrics") {
    if (node.text != "no" && node.text != "yes" && node.text != "only") return wrong("no, yes or only is wanted here");
    token->metrics = node.text == "yes" ? MetricsAccess::kYes : node.text == "only" ? MetricsAccess::kOnly : MetricsAccess::kNo;
  } else if (node.key == "sessions" || node.key == "calls") {
    absl::StatusOr<uint64_t> count = policy::ParseCount(node.text);
    if (!count.ok() || *count > 1'000'000) return wrong("a whole number is wanted here");
    (node.key == "sessions" ? token->sessions_max : token->calls_max) = static_cast<int64_t>(*count);
  } else {
    return ErrorAt(file, node.key_position, absl::StrCat("no key ", policy::Shown(node.key), " here", policy::DidYouMean(policy::NearWords(node.key, TokenKeys()))));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Tokens> ParseTokens(absl::string_view yaml, const std::string& file) {
  CELLBLOCK_ASSIGN_OR_RETURN(const std::string text, policy::NormalText(yaml, file));
  CELLBLOCK_ASSIGN_OR_RETURN(const Node root, policy::ParseYaml(text, file));
  const Node* list = policy::FindNode(root, "tokens");
  if (list == nullptr || list->kind != Node::Kind::kList || root.children.size() != 1) {
    return ErrorAt(file, root.position, "a file of tokens has one key, tokens, with a list: tokens: [{name: …, sha256: …}]");
  }
  std::vector<Token> tokens;
  for (const Node& entry : list->children) {
    if (entry.kind != Node::Kind::kMap) return ErrorAt(file, entry.position, "a token is a map: {name: …, sha256: …}");
    Token token;
    for (const Node& key : entry.children) CELLBLOCK_RETURN_IF_ERROR(ReadTokenKey(key, file, &token));
    tokens.push_back(std::move(token));
  }
  if (tokens.empty()) return ErrorAt(file, list->position, "tokens: the list is empty");
  absl::StatusOr<Tokens> made = Tokens::Create(std::move(tokens));
  if (!made.ok()) return absl::InvalidArgumentError(absl::StrCat(file, ": ", made.status().message()));
  return made;
}

}  // namespace cellblock::service
