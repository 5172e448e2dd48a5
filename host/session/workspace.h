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
#include "base/unique_fd.h"
#include "cellblock/host.h"

namespace cellblock::session {

inline constexpr size_t kFilesListedMax = 10'000;
inline constexpr int kDepthMax = 32;
inline constexpr int64_t kAttachedBytesMax = int64_t{1} << 40;
inline constexpr size_t kEntriesRemovedMax = 100'000;

// A path that is no plain relative one is refused (artifact/given_path.h).
// An upload comes in two steps: the bytes, which may take long, into a file that has no name yet, so that nobody sees or meddles with
// half of it; then its name, at once, in place of what had that name. `owner`: the outside id that new files belong to (as root; else the
// caller's own).
struct ReceivedFile {
  UniqueFd folder;
  UniqueFd content;
  std::string name;
  int64_t bytes = 0;
};
absl::StatusOr<ReceivedFile> ReceiveFile(int workspace, uid_t owner, int source_fd, absl::string_view path, int64_t bytes_max);
absl::Status PlaceFile(uid_t owner, const ReceivedFile& file);
absl::Status MakeFolder(int workspace, uid_t owner, absl::string_view path);
absl::Status RemoveFile(int workspace, uid_t owner, absl::string_view path);  // a folder with all that is in it, as EmptyFolder goes
// A regular file, for reading. With `mounted` it may be one that is mounted there; the caller looks which.
absl::StatusOr<UniqueFd> OpenFile(int workspace, absl::string_view path, bool mounted = false);
// A file whatever it is called; its number may be given away once it is no more.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  bool operator==(const FileIdentity& other) const { return device == other.device && inode == other.inode; }
};
// The host's file that is to be attached; kFailedPrecondition where it is none that the session could read.
absl::StatusOr<FileIdentity> LookAtAttached(const AttachedFile& file, bool is_read_by_others);
// Whether that file is what stands in the workspace: the name on the host may have been given to another one meanwhile.
absl::Status CheckSameFile(const FileIdentity& attached, int workspace, const AttachedFile& file);
// A path stands as it is when it can be shown, else escaped as artifact::EscapeName does.
// Those of `attached` are read-only.
absl::StatusOr<std::vector<FileEntry>> ListFiles(int workspace, const std::vector<FileIdentity>& attached = {});
// Removes what is in `folder` (a descriptor), as far as kDepthMax and kEntriesRemovedMax go. No process of the guest may run any more:
// between a look and a removal it could put a link.
void EmptyFolder(int folder, uid_t owner);
// Gives the owner all rights to `folder` (a descriptor) again, which the guest may have taken: no interpreter starts in one without.
void LetOwnerIn(int folder, uid_t owner);

}  // namespace cellblock::session

#endif  // CELLBLOCK_SESSION_WORKSPACE_H_
