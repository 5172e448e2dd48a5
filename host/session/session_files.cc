// See session_impl.h: files in and out of a session. Supervisor; the workspace is the guest's and hostile.
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "session/session_impl.h"
#include "session/workspace.h"
#include "sys/files.h"

namespace cellblock::session {

bool SessionImpl::IsAttached(const FileIdentity& file) const { return std::find(place_->attached.begin(), place_->attached.end(), file) != place_->attached.end(); }

absl::StatusOr<UniqueFd> SessionImpl::OpenForReading(absl::string_view path) const {
  absl::StatusOr<UniqueFd> file = OpenFile(place_->jail->workspace.get(), path);
  if (file.ok() || place_->attached.empty() || !absl::IsFailedPrecondition(file.status())) return file;
  absl::StatusOr<UniqueFd> mounted = OpenFile(place_->jail->workspace.get(), path, /*mounted=*/true);
  struct stat info;
  return mounted.ok() && fstat(mounted->get(), &info) == 0 && IsAttached({info.st_dev, info.st_ino}) ? std::move(mounted) : std::move(file);
}

absl::Status SessionImpl::CheckNotAttached(absl::string_view path) const {
  for (const AttachedFile& file : options_.attached) {
    if (file.path == path || absl::StartsWith(file.path, absl::StrCat(path, "/"))) {
      return absl::FailedPreconditionError(absl::StrCat("\"", file.path, "\" is attached to the session read-only, for as long as it lives; use another name, or copy it within the session"));
    }
  }
  return absl::OkStatus();
}

// Files come and go without a turn: a call that runs may wait for one, and kept processes may touch the tree at any time anyway.
absl::Status SessionImpl::PutFile(int source_fd, absl::string_view path) {
  CELLBLOCK_RETURN_IF_ERROR(CheckNotAttached(path));
  CELLBLOCK_ASSIGN_OR_RETURN(const ReceivedFile file, ReceiveFile(place_->jail->workspace.get(), place_->user_id, source_fd, path, policy_.limits.file_bytes));
  std::lock_guard<std::mutex> lock(files_mutex_);
  CELLBLOCK_RETURN_IF_ERROR(PlaceFile(place_->user_id, file));
  files_changed_ = true;
  uploaded_bytes_ += file.bytes;
  // What the caller put there is no artifact of a call; what a call makes of it is. Should it fail, the next call lists the upload, which
  // harms nobody.
  if (snapshot_.has_value()) (void)collector_->Include(path, *snapshot_);
  return absl::OkStatus();
}

absl::Status SessionImpl::MakeFolder(absl::string_view path) {
  files_changed_ = true;
  return session::MakeFolder(place_->jail->workspace.get(), place_->user_id, path);
}

absl::Status SessionImpl::GetFile(absl::string_view path, int target_fd) {
  CELLBLOCK_ASSIGN_OR_RETURN(const UniqueFd file, OpenForReading(path));
  struct stat info;
  const bool is_attached = fstat(file.get(), &info) == 0 && IsAttached({info.st_dev, info.st_ino});
  return sys::CopyAll(file.get(), target_fd, is_attached ? kAttachedBytesMax : policy_.limits.workspace_bytes).status();
}

absl::Status SessionImpl::RemoveFile(absl::string_view path) {
  CELLBLOCK_RETURN_IF_ERROR(CheckNotAttached(path));
  files_changed_ = true;
  return session::RemoveFile(place_->jail->workspace.get(), place_->user_id, path);
}

absl::StatusOr<std::vector<FileEntry>> SessionImpl::ListFiles() {
  return session::ListFiles(place_->jail->workspace.get(), place_->attached);
}

}  // namespace cellblock::session
