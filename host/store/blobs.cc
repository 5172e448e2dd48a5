// See blobs.h.
#include "store/blobs.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "sys/files.h"
#include "sys/sha256.h"

namespace cellblock::store {
namespace {

constexpr size_t kDigestHexBytes = 64;
constexpr int64_t kBlobBytesMax = int64_t{1} << 40;
constexpr const char* kIncoming = "incoming";

bool IsDigest(absl::string_view name) {
  return name.size() == kDigestHexBytes && name.find_first_not_of("0123456789abcdef") == absl::string_view::npos;
}

absl::Status CheckDigest(absl::string_view name) {
  return IsDigest(name) ? absl::OkStatus() : absl::InvalidArgumentError("a blob's name is 64 hex digits in lower case");
}

absl::StatusOr<UniqueFd> MakeFolder(int parent, const char* name) {
  if (mkdirat(parent, name, 0700) != 0 && errno != EEXIST) return sys::ErrnoStatus(absl::StrCat("make the folder ", name));
  UniqueFd folder(openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder.valid()) return sys::ErrnoStatus(absl::StrCat("open the folder ", name));
  return folder;
}

// Names in a folder but "." and "..".
absl::StatusOr<std::vector<std::string>> NamesIn(int folder) {
  UniqueFd own(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));  // with an offset of its own
  if (!own.valid()) return sys::ErrnoStatus("list a folder of blobs");
  std::unique_ptr<DIR, int (*)(DIR*)> listing(fdopendir(own.get()), closedir);
  if (listing == nullptr) return sys::ErrnoStatus("list a folder of blobs");
  own.Release();
  std::vector<std::string> names;
  while (const dirent* entry = readdir(listing.get())) {
    std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(std::move(name));
  }
  return names;
}

}  // namespace

std::string Blobs::PathOf(absl::string_view name) { return absl::StrCat(std::string(name.substr(0, 2)), "/", std::string(name)); }

absl::StatusOr<Blobs> Blobs::Open(const std::string& folder_path) {
  if (mkdir(folder_path.c_str(), 0700) != 0 && errno != EEXIST) return sys::ErrnoStatus(absl::StrCat("make the folder ", folder_path));
  CELLBLOCK_ASSIGN_OR_RETURN(UniqueFd folder, sys::Open(folder_path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  struct stat info;
  if (fstat(folder.get(), &info) != 0) return sys::ErrnoStatus(absl::StrCat("look at ", folder_path));
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return absl::FailedPreconditionError(absl::StrCat(folder_path, " can be written by other users; chmod 700 it or name another folder"));
  }
  CELLBLOCK_ASSIGN_OR_RETURN(UniqueFd incoming, MakeFolder(folder.get(), kIncoming));
  CELLBLOCK_ASSIGN_OR_RETURN(std::vector<std::string> left, NamesIn(incoming.get()));
  for (const std::string& name : left) unlinkat(incoming.get(), name.c_str(), 0);
  return Blobs(std::move(folder), std::move(incoming));
}

absl::Status Blobs::CopyIn(int source, const std::string& path) const {
  uint64_t number = 0;
  if (getrandom(&number, sizeof(number), 0) != static_cast<ssize_t>(sizeof(number))) return sys::ErrnoStatus("name an incoming blob");
  std::string temporary = absl::StrCat(absl::Hex(number, absl::kZeroPad16));
  UniqueFd target(openat(incoming_.get(), temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!target.valid()) return sys::ErrnoStatus("make an incoming blob");
  absl::Cleanup remove = [&] { unlinkat(incoming_.get(), temporary.c_str(), 0); };
  CELLBLOCK_RETURN_IF_ERROR(sys::CopyAll(source, target.get(), kBlobBytesMax).status());
  if (fdatasync(target.get()) != 0) return sys::ErrnoStatus("write an incoming blob");
  if (renameat(incoming_.get(), temporary.c_str(), folder_.get(), path.c_str()) != 0) return sys::ErrnoStatus("place a blob");
  std::move(remove).Cancel();
  return absl::OkStatus();
}

absl::Status Blobs::Take(const std::string& source_path, absl::string_view name) const {
  CELLBLOCK_RETURN_IF_ERROR(CheckDigest(name));
  const std::string path = PathOf(name);
  if (faccessat(folder_.get(), path.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0) return absl::OkStatus();
  CELLBLOCK_RETURN_IF_ERROR(MakeFolder(folder_.get(), path.substr(0, 2).c_str()).status());
  if (linkat(AT_FDCWD, source_path.c_str(), folder_.get(), path.c_str(), 0) == 0 || errno == EEXIST) return absl::OkStatus();
  // Another file system, one without links, or as many names as a file may have.
  CELLBLOCK_ASSIGN_OR_RETURN(UniqueFd source, sys::Open(source_path, O_RDONLY | O_NOFOLLOW));
  return CopyIn(source.get(), path);
}

absl::Status Blobs::TakeOpen(int file, absl::string_view name) const {
  CELLBLOCK_RETURN_IF_ERROR(CheckDigest(name));
  const std::string path = PathOf(name), open_file = absl::StrCat("/proc/self/fd/", file);
  if (faccessat(folder_.get(), path.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0) return absl::OkStatus();
  CELLBLOCK_RETURN_IF_ERROR(MakeFolder(folder_.get(), path.substr(0, 2).c_str()).status());
  struct stat info;
  if (fstat(file, &info) != 0) return sys::ErrnoStatus("look at an incoming blob");
  if (info.st_nlink == 0 && linkat(AT_FDCWD, open_file.c_str(), folder_.get(), path.c_str(), AT_SYMLINK_FOLLOW) == 0) return absl::OkStatus();
  CELLBLOCK_ASSIGN_OR_RETURN(UniqueFd source, sys::Open(open_file, O_RDONLY));  // with a position of its own
  return CopyIn(source.get(), path);
}

absl::Status Blobs::Rename(absl::string_view from, absl::string_view to) const {
  CELLBLOCK_RETURN_IF_ERROR(CheckDigest(from));
  CELLBLOCK_RETURN_IF_ERROR(CheckDigest(to));
  const std::string path = PathOf(to);
  CELLBLOCK_RETURN_IF_ERROR(MakeFolder(folder_.get(), path.substr(0, 2).c_str()).status());
  if (renameat(folder_.get(), PathOf(from).c_str(), folder_.get(), path.c_str()) == 0) return absl::OkStatus();
  return sys::ErrnoStatus("rename a blob");
}

absl::Status Blobs::LetOthersRead(absl::string_view name) const {
  CELLBLOCK_RETURN_IF_ERROR(CheckDigest(name));
  if (fchmodat(folder_.get(), PathOf(name).c_str(), 0444, 0) == 0) return absl::OkStatus();
  return sys::ErrnoStatus("let a session read a blob");
}

absl::StatusOr<UniqueFd> Blobs::OpenBlob(absl::string_view name, int64_t size_bytes) const {
  CELLBLOCK_RETURN_IF_ERROR(CheckDigest(name));
  UniqueFd file(openat(folder_.get(), PathOf(name).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!file.valid() && errno == ENOENT) return absl::NotFoundError("its content is not kept any more");
  if (!file.valid()) return sys::ErrnoStatus("open a blob");
  struct stat info;
  if (fstat(file.get(), &info) != 0) return sys::ErrnoStatus("look at a blob");
  if (!S_ISREG(info.st_mode) || info.st_size != size_bytes) return absl::DataLossError("its content is damaged");
  return file;
}

absl::Status Blobs::Remove(absl::string_view name) const {
  CELLBLOCK_RETURN_IF_ERROR(CheckDigest(name));
  if (unlinkat(folder_.get(), PathOf(name).c_str(), 0) == 0 || errno == ENOENT) return absl::OkStatus();
  return sys::ErrnoStatus("remove a blob");
}

bool Blobs::IsWhole(absl::string_view name, absl::string_view sha256) const {
  if (!IsDigest(name)) return false;
  UniqueFd file(openat(folder_.get(), PathOf(name).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!file.valid()) return false;
  absl::StatusOr<std::string> digest = sys::Sha256OfFile(file.get());
  return digest.ok() && *digest == sha256;
}

absl::Status Blobs::ForEach(absl::FunctionRef<void(const std::string&, int64_t)> visit) const {
  CELLBLOCK_ASSIGN_OR_RETURN(std::vector<std::string> parts, NamesIn(folder_.get()));
  for (const std::string& part : parts) {
    if (part.size() != 2) continue;
    UniqueFd below(openat(folder_.get(), part.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!below.valid()) continue;
    CELLBLOCK_ASSIGN_OR_RETURN(std::vector<std::string> names, NamesIn(below.get()));
    for (const std::string& name : names) {
      struct stat info;
      if (IsDigest(name) && name.substr(0, 2) == part && fstatat(below.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) visit(name, info.st_size);
    }
  }
  return absl::OkStatus();
}

}  // namespace cellblock::store
