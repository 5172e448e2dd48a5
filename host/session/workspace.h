// Files in and out of a session's workspace, by a folder descriptor taken when the jail was made. Runs in the supervisor, perhaps as
// root; the tree is the guest's and hostile, so every step resolves beneath that descriptor, without links.
#ifndef CELLBLOCK_SESSION_WORKSPACE_H_
#define CELLBLOCK_SESSION_WORKSPACE_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cellblock/host.h"

namespace cellblock::session {

inline constexpr size_t kPathBytesMax = 1024;
inline constexpr size_t kNameBytesMax = 255;      // NAME_MAX
inline constexpr size_t kFilesListedMax = 10'000;
inline constexpr int kDepthMax = 32;
inline constexpr size_t kEntriesRemovedMax = 100'000;

// kInvalidArgument with the reason for anything but a plain relative path: empty, absolute, "." or ".." or empty parts, NUL or other
// control characters, too long.
absl::Status CheckPath(absl::string_view path);

// `owner`: the outside id that new files belong to (as root; else the caller's own).
absl::Status PutFile(int workspace, uid_t owner, int source_fd, absl::string_view path, int64_t bytes_max);
absl::Status MakeFolder(int workspace, uid_t owner, absl::string_view path);
absl::Status RemoveFile(int workspace, uid_t owner, absl::string_view path);  // a folder with all that is in it, as EmptyFolder goes
absl::Status GetFile(int workspace, absl::string_view path, int target_fd, int64_t bytes_max);
// A path stands as it is when it can be shown, else escaped as artifact::EscapeName does.
absl::StatusOr<std::vector<FileEntry>> ListFiles(int workspace);
// Removes what is in `folder` (a descriptor), as far as kDepthMax and kEntriesRemovedMax go. No process of the guest may run any more:
// between a look and a removal it could put a link.
void EmptyFolder(int folder, uid_t owner);

}  // namespace cellblock::session

#endif  // CELLBLOCK_SESSION_WORKSPACE_H_
