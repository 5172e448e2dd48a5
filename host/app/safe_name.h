// Host names for files that a guest named. Pure functions. Supervisor; trusts nothing.
#ifndef CELLBLOCK_APP_SAFE_NAME_H_
#define CELLBLOCK_APP_SAFE_NAME_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cellblock::app {

inline constexpr size_t kNameBytesMax = 255;  // NAME_MAX: the longest file name of Linux's file systems
inline constexpr size_t kPathComponentsMax = 32;

// The host name for one component of a guest's path. As %XX go: control characters, bytes that are no UTF-8, marks that reorder text; a
// leading '.', since a hidden file (.bashrc, .git) acts on the host and "." and ".." lead out of the folder; a leading '-', since a shell's
// `*` makes an option of it. A name over kNameBytesMax is shortened, with a digest of the whole, and keeps its ending.
std::string SafeComponent(absl::string_view component);

// The same for each component of a path; empty components vanish, so that the result is relative. kInvalidArgument when nothing is left or
// there are more than kPathComponentsMax.
absl::StatusOr<std::vector<std::string>> SafePath(absl::string_view path);

// SHA-256 in lower-case hex, as in Artifact::sha256.
std::string Sha256Hex(absl::string_view data);

}  // namespace cellblock::app

#endif  // CELLBLOCK_APP_SAFE_NAME_H_
