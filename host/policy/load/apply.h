// Puts one parsed policy file onto the policy of the files it extends, and notes where each key was set. Supervisor. Trusts
// nothing: every key and value is checked here, against the table in policy/schema.cc.
#ifndef CELLBLOCK_POLICY_LOAD_APPLY_H_
#define CELLBLOCK_POLICY_LOAD_APPLY_H_

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "cellblock/policy.h"
#include "policy/load/position.h"
#include "policy/load/yaml_tree.h"

namespace cellblock::policy {

// Where a key was set last.
struct Origin {
  std::string file;
  size_t file_index = 0;  // in LoadedPolicy::files
  Position position;      // of its value
};

struct LoadedPolicy {
  Policy policy;
  std::map<std::string, Origin, std::less<>> origins;  // by path ("limits.memory", "network.allow[0]"); what has its default has none
  std::vector<std::string> files;                      // base first
};

// What is wrong with a file: the first lines, and how many there are.
class Problems {
 public:
  explicit Problems(size_t lines_max) : lines_max_(lines_max) {}
  void Add(std::string line);
  bool empty() const { return count_ == 0; }
  // The lines kept, and a last one that counts the others.
  std::string Text() const;

 private:
  size_t lines_max_;
  size_t count_ = 0;
  std::vector<std::string> lines_;
};

// `root` is a map. The file's name goes to the end of `loaded.files`.
void ApplyFile(const Node& root, absl::string_view file, LoadedPolicy& loaded, Problems& problems);

// The node of a top-level key, or null.
const Node* FindNode(const Node& root, absl::string_view key);

// "a list", "keys", "nothing", "text": how messages call what stands there.
absl::string_view KindText(const Node& node);

}  // namespace cellblock::policy

#endif  // CELLBLOCK_POLICY_LOAD_APPLY_H_
