// YAML text as a small tree with positions. The one place that knows the YAML library; no exception of it gets out. Supervisor.
// Trusts nothing: depth, nodes and forbidden constructs are stopped at the parser's events, before anything is built or recursed.
#ifndef CELLBLOCK_POLICY_LOAD_YAML_TREE_H_
#define CELLBLOCK_POLICY_LOAD_YAML_TREE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "policy/load/position.h"

namespace cellblock::policy {

inline constexpr size_t kYamlDepthMax = 16;      // lists and maps within each other
inline constexpr size_t kYamlNodesMax = 10'000;  // values and keys together

struct Node {
  enum class Kind { kNull, kScalar, kList, kMap };
  Kind kind = Kind::kNull;
  Position position;  // where it starts; of a missing value, where its key stands
  std::string key;    // in a map: the key it belongs to, unique there
  Position key_position;
  std::string text;            // of a scalar
  bool is_quoted = false;      // in quotes or as a block, so a text whatever it looks like
  std::vector<Node> children;  // of a list or map, in order
};

// `text` is what NormalText() returned. The root is a map. Refused, with position and advice: syntax errors, aliases, anchors, tags,
// merge keys, duplicate keys, keys that are not one text, several documents, an empty document.
absl::StatusOr<Node> ParseYaml(absl::string_view text, absl::string_view file);

}  // namespace cellblock::policy

#endif  // CELLBLOCK_POLICY_LOAD_YAML_TREE_H_
