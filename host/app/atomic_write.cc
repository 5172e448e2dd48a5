// See atomic_write.h.
#include "app/atomic_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "base/unique_fd.h"
#include "sys/files.h"

namespace cellblock::app {
namespace {

// What stands at a name, for the message that refuses it.
const char* KindOf(mode_t mode) {
  if (S_ISLNK(mode)) return "a symbolic link, which is not followed";
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISREG(mode)) return "a file";
  return "a special file";
}

absl::StatusOr<UniqueFd> EnterFolder(int parent, const std::string& name, const std::string& shown) {
  if (mkdirat(parent, name.c_str(), 0777) != 0 && errno != EEXIST) return sys::ErrnoStatus(absl::StrCat("make the folder ", shown));
  UniqueFd folder(openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (folder.valid()) return folder;
  const absl::Status failure = sys::ErrnoStatus(absl::StrCat("open the folder ", shown));
  struct stat found;
  if (fstatat(parent, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISDIR(found.st_mode)) {
    return absl::FailedPreconditionError(absl::StrCat(shown, " is ", KindOf(found.st_mode)));
  }
  return failure;
}

absl::Status CheckTarget(int folder, const std::string& name, const std::string& shown, IfExists if_exists) {
  struct stat found;
  if (fstatat(folder, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) {
    return errno == ENOENT ? absl::OkStatus() : sys::ErrnoStatus(absl::StrCat("look at ", shown));
  }
  if (!S_ISREG(found.st_mode)) return absl::FailedPreconditionError(absl::StrCat(shown, " is ", KindOf(found.st_mode)));
  if (if_exists == IfExists::kRefuse) return absl::AlreadyExistsError(absl::StrCat(shown, " exists already"));
  return absl::OkStatus();
}

std::string TemporaryName() {
  char random[8];
  if (getrandom(random, sizeof(random), 0) != sizeof(random)) return absl::StrCat(".cellblock-", getpid(), ".part");  // O_EXCL decides
  return absl::StrCat(".cellblock-", absl::BytesToHexString(absl::string_view(random, sizeof(random))), ".part");
}

}  // namespace

absl::Status WriteBeneath(int directory_fd, const std::vector<std::string>& path, IfExists if_exists,
                          absl::FunctionRef<absl::Status(int fd)> fill) {
  if (path.empty()) return absl::InvalidArgumentError("an empty path");
  const std::string shown = absl::StrJoin(path, "/");
  UniqueFd folder_owner;
  int folder = directory_fd;
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    CELLBLOCK_ASSIGN_OR_RETURN(folder_owner, EnterFolder(folder, path[i], absl::StrJoin(path.begin(), path.begin() + i + 1, "/")));
    folder = folder_owner.get();
  }
  const std::string& name = path.back();
  CELLBLOCK_RETURN_IF_ERROR(CheckTarget(folder, name, shown, if_exists));

  const std::string temporary = TemporaryName();
  UniqueFd file(openat(folder, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!file.valid()) return sys::ErrnoStatus(absl::StrCat("make a file for ", shown));
  absl::Cleanup remove_temporary = [&] { unlinkat(folder, temporary.c_str(), 0); };
  if (absl::Status filled = fill(file.get()); !filled.ok()) {
    return absl::Status(filled.code(), absl::StrCat("write ", shown, ": ", filled.message()));
  }
  // NOREPLACE decides again under IfExists::kRefuse: the name can have been taken since it was looked at.
  const unsigned flags = if_exists == IfExists::kRefuse ? RENAME_NOREPLACE : 0;
  if (renameat2(folder, temporary.c_str(), folder, name.c_str(), flags) != 0) {
    if (errno == EEXIST) return absl::AlreadyExistsError(absl::StrCat(shown, " exists already"));
    return sys::ErrnoStatus(absl::StrCat("give ", shown, " its name"));
  }
  std::move(remove_temporary).Cancel();
  return absl::OkStatus();
}

}  // namespace cellblock::app
