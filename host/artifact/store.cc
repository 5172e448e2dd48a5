// See store.h.
#include "artifact/store.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "sys/sha256.h"

namespace cellblock::artifact {
namespace {

constexpr size_t kIdBytes = 16;
constexpr size_t kCopyBytes = 256 * 1024;

absl::StatusOr<std::string> NewId() {
  char bytes[kIdBytes];
  if (getrandom(bytes, sizeof(bytes), 0) != static_cast<ssize_t>(sizeof(bytes))) return absl::ErrnoToStatus(errno, "getrandom for an artifact id");
  return absl::BytesToHexString(absl::string_view(bytes, sizeof(bytes)));
}

absl::Status WriteAll(int fd, absl::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return absl::ErrnoToStatus(errno, "write to the artifact store");
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ArtifactStore> ArtifactStore::Open(const std::string& directory) {
  UniqueFd fd(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid()) return absl::ErrnoToStatus(errno, absl::StrCat("open the artifact store ", directory));
  struct stat info;
  if (fstat(fd.get(), &info) != 0) return absl::ErrnoToStatus(errno, absl::StrCat("fstat the artifact store ", directory));
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("the artifact store ", directory, " can be written by other users; chmod 700 it or name another folder"));
  }
  return ArtifactStore(directory, std::move(fd));
}

absl::StatusOr<StoredCopy> ArtifactStore::Copy(int source_fd, int64_t bytes_max) const {
  StoredCopy copy;
  CELLBLOCK_ASSIGN_OR_RETURN(copy.id, NewId());
  copy.path = absl::StrCat(directory_, "/", copy.id);
  UniqueFd target(openat(fd_.get(), copy.id.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!target.valid()) return absl::ErrnoToStatus(errno, absl::StrCat("create ", copy.path));
  absl::Cleanup remove = [&] { unlinkat(fd_.get(), copy.id.c_str(), 0); };

  sys::Sha256 sha256;
  std::string buffer(static_cast<size_t>(std::clamp<int64_t>(bytes_max, 1, kCopyBytes)), '\0');
  while (copy.size_bytes < bytes_max) {
    size_t wanted = static_cast<size_t>(std::min<int64_t>(static_cast<int64_t>(buffer.size()), bytes_max - copy.size_bytes));
    ssize_t got = pread(source_fd, buffer.data(), wanted, copy.size_bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return absl::ErrnoToStatus(errno, "read");
    if (got == 0) break;
    absl::string_view bytes(buffer.data(), static_cast<size_t>(got));
    absl::string_view for_head = bytes.substr(0, kHeadBytesMax - copy.head.size());
    copy.head.append(for_head.data(), for_head.size());
    sha256.Update(bytes);
    CELLBLOCK_RETURN_IF_ERROR(WriteAll(target.get(), bytes));
    copy.size_bytes += got;
  }
  CELLBLOCK_ASSIGN_OR_RETURN(copy.sha256, sha256.Hex());
  std::move(remove).Cancel();
  return copy;
}

absl::Status ArtifactStore::Remove(absl::string_view id) const {
  bool is_id = id.size() == 2 * kIdBytes && std::all_of(id.begin(), id.end(), [](char c) {
                 return absl::ascii_isdigit(static_cast<unsigned char>(c)) || (c >= 'a' && c <= 'f');
               });
  if (!is_id) return absl::InvalidArgumentError("not an artifact id: 32 lower-case hex digits are expected");
  if (unlinkat(fd_.get(), std::string(id).c_str(), 0) != 0) return absl::ErrnoToStatus(errno, absl::StrCat("remove artifact ", id));
  return absl::OkStatus();
}

}  // namespace cellblock::artifact
