// Finds and reads policy files, and refuses bytes that no policy has, before any YAML parser sees them. Supervisor. Trusts the
// operator with paths, and no file with its content, size or kind.
#ifndef CELLBLOCK_POLICY_LOAD_FILES_H_
#define CELLBLOCK_POLICY_LOAD_FILES_H_

#include <sys/types.h>

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cellblock::policy {

struct PolicyFile {
  std::string path;
  std::string text;  // as NormalText() returns it
  dev_t device = 0;  // these two tell files apart, whatever they are called
  ino_t inode = 0;
};

// Whether the text names a file (contains '/' or ends in .yaml) instead of a shipped policy.
bool IsPath(absl::string_view name_or_path);

// The path of a policy: a name is looked up in `policy_directory`, a relative path starts at `from_directory` (empty: the working
// directory). kInvalidArgument for what is neither; kNotFound, with near names, for an unknown name.
absl::StatusOr<std::string> FindPolicy(absl::string_view name_or_path, absl::string_view from_directory,
                                       absl::string_view policy_directory);

// Reads a regular file of at most kPolicyFileBytesMax; never blocks on a FIFO or a device.
absl::StatusOr<PolicyFile> ReadPolicyFile(const std::string& path);

// `raw` without byte order mark and with plain newlines, or an error with position when it is not UTF-8 or holds NULs, tabs or
// characters that hide or reorder what a reader sees.
absl::StatusOr<std::string> NormalText(absl::string_view raw, absl::string_view file);

// "strict" of "/etc/cellblock/strict.yaml".
absl::string_view StemOf(absl::string_view path);
// "/etc/cellblock" of "/etc/cellblock/strict.yaml"; "." without a slash.
absl::string_view DirectoryOf(absl::string_view path);

}  // namespace cellblock::policy

#endif  // CELLBLOCK_POLICY_LOAD_FILES_H_
