// Globs over paths relative to /workspace: which files a call's artifacts are. The patterns come from the policy, the paths are the
// guest's bytes; matching takes at most pattern × path steps. Runs in the supervisor.
//
// `*` is any run of bytes within a name, `?` one character (one byte, where the name is not UTF-8), `**` as a whole name any number
// of folders, none included. Everything else stands for itself; there are no character classes. "*.csv" is a file at the top,
// "**/*.csv" one anywhere, ".*" and "**/.*" hidden ones, "out/**" out and all below it.
#ifndef CELLBLOCK_ARTIFACT_GLOB_H_
#define CELLBLOCK_ARTIFACT_GLOB_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace cellblock::artifact {

class Glob {
 public:
  explicit Glob(absl::string_view pattern);

  bool Matches(absl::string_view path) const;

 private:
  std::vector<std::string> patterns_;  // one a name
};

// Include and exclude lists together.
class PathFilter {
 public:
  PathFilter(const std::vector<std::string>& include, const std::vector<std::string>& exclude);

  bool Includes(absl::string_view path) const;        // matched by an include and by no exclude
  bool SkipsFolder(absl::string_view folder) const;   // an excluded folder is not entered

 private:
  std::vector<Glob> include_;
  std::vector<Glob> exclude_;
};

}  // namespace cellblock::artifact

#endif  // CELLBLOCK_ARTIFACT_GLOB_H_
