// See workspace.h.
#include "session/workspace.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "artifact/given_path.h"
#include "artifact/names.h"
#include "base/status_macros.h"
#include "base/unique_fd.h"
#include "sys/files.h"

namespace cellblock::session {
namespace {

// As root, file calls of this thread act as the session's own user: new files belong to it (an id that the jail does not map could
// not even be stored in its tmpfs), and root's powers over files are off. setfsuid(2) is per thread when called directly.
class AsOwner {
 public:
  explicit AsOwner(uid_t owner) : active_(geteuid() == 0 && owner != 0) {
    if (!active_) return;
    syscall(SYS_setfsgid, owner);
    syscall(SYS_setfsuid, owner);
  }
  ~AsOwner() {
    if (!active_) return;
    syscall(SYS_setfsuid, geteuid());
    syscall(SYS_setfsgid, getegid());
  }
  AsOwner(const AsOwner&) = delete;

 private:
  bool active_;
};

// Opens a folder, making what is missing of it. "" is the workspace itself.
absl::StatusOr<UniqueFd> OpenFolder(int workspace, absl::string_view path) {
  UniqueFd folder;
  CELLBLOCK_ASSIGN_OR_RETURN(folder, sys::OpenBeneath(workspace, ".", O_RDONLY | O_DIRECTORY));
  for (absl::string_view part : absl::StrSplit(path, '/', absl::SkipEmpty())) {
    std::string name(part.data(), part.size());
    if (mkdirat(folder.get(), name.c_str(), 0755) != 0 && errno != EEXIST) return sys::ErrnoStatus(absl::StrCat("make folder ", name));
    absl::StatusOr<UniqueFd> below = sys::OpenBeneath(folder.get(), name, O_RDONLY | O_DIRECTORY);
    if (!below.ok() && errno == ENOTDIR) return artifact::RefuseGivenPath(path, "a file of that name exists");
    if (!below.ok()) return below.status();
    folder = *std::move(below);
  }
  return folder;
}

// As it is when it can be shown, so that a listed path can be asked for; else escaped.
std::string ShownPath(const std::string& path) {
  std::string escaped = artifact::EscapeName(path);
  return escaped == absl::StrReplaceAll(path, {{"\\", "\\\\"}}) ? path : escaped;
}

absl::Status Explain(const absl::Status& status, int workspace, absl::string_view path) {
  if (!absl::IsResourceExhausted(status)) return status;
  struct statfs info;
  bool no_inodes = fstatfs(workspace, &info) == 0 && info.f_ffree == 0;
  return absl::ResourceExhaustedError(absl::StrCat("\"", path, "\" does not fit into the workspace: it is full (", no_inodes ? "limits.workspace_files" : "limits.workspace",
                                                   "); remove what is not needed, or use a policy with more"));
}

absl::Status CheckSize(int source_fd, absl::string_view path, int64_t bytes_max) {
  struct stat info;
  if (fstat(source_fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size - lseek(source_fd, 0, SEEK_CUR) <= bytes_max) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat("\"", path, "\" has ", info.st_size, " bytes; limits.file_size allows ", bytes_max, ": use a policy with more, or hand in a part"));
}

// Unlinked from outside, a mounted file would be gone from the jail (the kernel detaches what other namespaces have mounted on a name).
bool IsMountedOver(int folder, const std::string& name) {
  const absl::StatusOr<UniqueFd> fd = sys::OpenBeneath(folder, name, O_PATH | O_NOFOLLOW);
  return !fd.ok() && errno == EXDEV;
}

absl::Status RefuseMounted(absl::string_view name) {
  return absl::FailedPreconditionError(absl::StrCat("\"", name, "\" is attached to the session read-only, for as long as it lives; use another name, or copy it within the session"));
}

// Without links, other file systems, or waiting. A folder whose owner closed it is opened first.
void EmptyBelow(int folder, int depth, size_t& entries) {
  absl::StatusOr<UniqueFd> own = sys::OpenBeneath(folder, ".", O_RDONLY | O_DIRECTORY);
  if (!own.ok()) return;
  std::unique_ptr<DIR, int (*)(DIR*)> listing(fdopendir(own->Release()), closedir);
  while (dirent* entry = listing == nullptr ? nullptr : readdir(listing.get())) {
    std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (++entries > kEntriesRemovedMax) return;
    if (IsMountedOver(folder, name)) continue;
    if (unlinkat(folder, name.c_str(), 0) == 0 || errno != EISDIR || depth >= kDepthMax) continue;
    // By a descriptor that is a folder's for sure: the name may be a link by now.
    absl::StatusOr<UniqueFd> closed = sys::OpenBeneath(folder, name, O_PATH | O_DIRECTORY | O_NOFOLLOW);
    if (!closed.ok() || chmod(absl::StrCat("/proc/self/fd/", closed->get()).c_str(), 0700) != 0) continue;
    absl::StatusOr<UniqueFd> below = sys::OpenBeneath(folder, name, O_RDONLY | O_DIRECTORY);
    if (below.ok()) EmptyBelow(below->get(), depth + 1, entries);
    unlinkat(folder, name.c_str(), AT_REMOVEDIR);
  }
}

}  // namespace

absl::StatusOr<ReceivedFile> ReceiveFile(int workspace, uid_t owner, int source_fd, absl::string_view path_view, int64_t bytes_max) {
  CELLBLOCK_RETURN_IF_ERROR(artifact::CheckGivenPath(path_view));
  std::string path(path_view.data(), path_view.size());
  CELLBLOCK_RETURN_IF_ERROR(CheckSize(source_fd, path_view, bytes_max));
  size_t slash = path.rfind('/');
  ReceivedFile file;
  file.name = path.substr(slash + 1);  // npos + 1 is 0
  AsOwner as_owner(owner);
  CELLBLOCK_ASSIGN_OR_RETURN(file.folder, OpenFolder(workspace, slash == std::string::npos ? "" : path.substr(0, slash)));
  struct stat info;
  if (fstatat(file.folder.get(), file.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode)) return artifact::RefuseGivenPath(path_view, "a folder of that name exists");
  absl::StatusOr<UniqueFd> content = sys::OpenBeneath(file.folder.get(), ".", O_WRONLY | O_TMPFILE, 0644);
  if (!content.ok()) return Explain(content.status(), workspace, path_view);
  file.content = *std::move(content);
  absl::StatusOr<int64_t> copied = sys::CopyAll(source_fd, file.content.get(), bytes_max);
  if (absl::IsOutOfRange(copied.status())) return absl::ResourceExhaustedError(absl::StrCat("\"", path, "\" has ", std::string(copied.status().message()), ", which limits.file_size allows"));
  if (!copied.ok()) return Explain(copied.status(), workspace, path_view);
  file.bytes = *copied;
  return file;
}

// link(2) replaces nothing: where the name is taken, the file gets another one first, for a moment.
absl::Status PlaceFile(uid_t owner, const ReceivedFile& file) {
  AsOwner as_owner(owner);
  const std::string source = absl::StrCat("/proc/self/fd/", file.content.get());
  if (linkat(AT_FDCWD, source.c_str(), file.folder.get(), file.name.c_str(), AT_SYMLINK_FOLLOW) == 0) return absl::OkStatus();
  if (errno != EEXIST) return sys::ErrnoStatus(absl::StrCat("place ", file.name));
  if (IsMountedOver(file.folder.get(), file.name)) return RefuseMounted(file.name);
  const std::string temporary = absl::StrCat(".cellblock-upload-", getpid(), "-", syscall(SYS_gettid));
  unlinkat(file.folder.get(), temporary.c_str(), 0);
  if (linkat(AT_FDCWD, source.c_str(), file.folder.get(), temporary.c_str(), AT_SYMLINK_FOLLOW) != 0) return sys::ErrnoStatus(absl::StrCat("place ", file.name));
  if (renameat(file.folder.get(), temporary.c_str(), file.folder.get(), file.name.c_str()) == 0) return absl::OkStatus();
  const absl::Status failed = sys::ErrnoStatus(absl::StrCat("place ", file.name));
  unlinkat(file.folder.get(), temporary.c_str(), 0);
  return failed;
}

absl::Status MakeFolder(int workspace, uid_t owner, absl::string_view path) {
  CELLBLOCK_RETURN_IF_ERROR(artifact::CheckGivenPath(path));
  AsOwner as_owner(owner);
  absl::StatusOr<UniqueFd> folder = OpenFolder(workspace, path);
  return Explain(folder.status(), workspace, path);
}

absl::StatusOr<UniqueFd> OpenFile(int workspace, absl::string_view path_view, bool mounted) {
  CELLBLOCK_RETURN_IF_ERROR(artifact::CheckGivenPath(path_view));
  std::string path(path_view.data(), path_view.size());
  CELLBLOCK_ASSIGN_OR_RETURN(UniqueFd file, sys::OpenBeneath(workspace, path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW, 0, mounted));
  struct stat info;
  if (fstat(file.get(), &info) != 0) return sys::ErrnoStatus(absl::StrCat("look at ", path));
  if (!S_ISREG(info.st_mode)) return absl::FailedPreconditionError(absl::StrCat("\"", path, "\" is no regular file"));
  return file;
}

absl::StatusOr<FileIdentity> LookAtAttached(const AttachedFile& file, bool is_read_by_others) {
  CELLBLOCK_ASSIGN_OR_RETURN(const UniqueFd fd, sys::Open(file.host_path, O_PATH));
  struct stat info;
  if (fstat(fd.get(), &info) != 0) return sys::ErrnoStatus(absl::StrCat("look at ", file.host_path));
  if (!S_ISREG(info.st_mode)) return absl::FailedPreconditionError(absl::StrCat(file.host_path, " cannot be attached: it is no regular file"));
  if (is_read_by_others && (info.st_mode & S_IROTH) == 0) {
    return absl::FailedPreconditionError(absl::StrCat(file.host_path, " cannot be attached: the session's user may not read it; `chmod o+r` it (folders above it do not matter)"));
  }
  return FileIdentity{info.st_dev, info.st_ino};
}

absl::Status CheckSameFile(const FileIdentity& attached, int workspace, const AttachedFile& file) {
  struct stat found;
  if (fstatat(workspace, file.path.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) return sys::ErrnoStatus(absl::StrCat("look at ", file.path));
  if (attached == FileIdentity{found.st_dev, found.st_ino}) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat(file.host_path, " was replaced while it was attached; try again"));
}

absl::Status RemoveFile(int workspace, uid_t owner, absl::string_view path_view) {
  CELLBLOCK_RETURN_IF_ERROR(artifact::CheckGivenPath(path_view));
  const std::string path(path_view.data(), path_view.size());
  const size_t slash = path.rfind('/');
  const std::string name = path.substr(slash + 1);
  AsOwner as_owner(owner);
  CELLBLOCK_ASSIGN_OR_RETURN(UniqueFd folder, sys::OpenBeneath(workspace, slash == std::string::npos ? "." : path.substr(0, slash), O_RDONLY | O_DIRECTORY));
  if (IsMountedOver(folder.get(), name)) return RefuseMounted(name);
  if (unlinkat(folder.get(), name.c_str(), 0) == 0) return absl::OkStatus();
  if (errno != EISDIR) return sys::ErrnoStatus(absl::StrCat("remove ", path));
  absl::StatusOr<UniqueFd> below = sys::OpenBeneath(folder.get(), name, O_RDONLY | O_DIRECTORY);
  size_t entries = 0;
  if (below.ok()) EmptyBelow(below->get(), 1, entries);
  return unlinkat(folder.get(), name.c_str(), AT_REMOVEDIR) == 0 ? absl::OkStatus() : sys::ErrnoStatus(absl::StrCat("remove folder ", path));
}

void EmptyFolder(int folder, uid_t owner) {
  AsOwner as_owner(owner);
  size_t entries = 0;
  EmptyBelow(folder, 0, entries);
}

void LetOwnerIn(int folder, uid_t owner) {
  struct stat info;
  if (fstat(folder, &info) != 0 || (info.st_mode & S_IRWXU) == S_IRWXU) return;
  AsOwner as_owner(owner);
  (void)chmod(absl::StrCat("/proc/self/fd/", folder).c_str(), (info.st_mode & 07777) | S_IRWXU);
}

absl::StatusOr<std::vector<FileEntry>> ListFiles(int workspace, const std::vector<FileIdentity>& attached) {
  std::vector<FileEntry> entries;
  std::vector<std::pair<std::string, int>> open = {{"", 0}};
  while (!open.empty()) {
    auto [folder_path, depth] = open.back();
    open.pop_back();
    absl::StatusOr<UniqueFd> folder = sys::OpenBeneath(workspace, folder_path.empty() ? "." : folder_path, O_RDONLY | O_DIRECTORY);
    if (!folder.ok()) continue;  // gone, or not ours to read
    int fd = folder->get();
    std::unique_ptr<DIR, int (*)(DIR*)> listing(fdopendir(folder->Release()), closedir);
    if (listing == nullptr) continue;
    while (dirent* entry = readdir(listing.get())) {
      std::string name = entry->d_name;
      if (name == "." || name == "..") continue;
      struct stat info;
      if (fstatat(fd, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
      std::string path = folder_path.empty() ? name : absl::StrCat(folder_path, "/", name);
      if (S_ISDIR(info.st_mode) && depth < kDepthMax) open.emplace_back(path, depth + 1);
      if (!S_ISREG(info.st_mode)) continue;
      if (entries.size() >= kFilesListedMax) return absl::ResourceExhaustedError(absl::StrCat("the workspace holds more than ", kFilesListedMax, " files"));
      const bool read_only = std::find(attached.begin(), attached.end(), FileIdentity{info.st_dev, info.st_ino}) != attached.end();
      entries.push_back({ShownPath(path), info.st_size, absl::TimeFromTimespec(info.st_mtim), read_only});
    }
  }
  std::sort(entries.begin(), entries.end(), [](const FileEntry& a, const FileEntry& b) { return a.path < b.path; });
  return entries;
}

}  // namespace cellblock::session
