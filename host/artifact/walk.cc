// See walk.h.
#include "artifact/walk.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/unique_fd.h"

namespace cellblock::artifact {
namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

struct Folder {
  Directory directory;
  PathKey key;
  size_t path_bytes;  // of the walk's path that belong to it
};

// One digest context for a whole walk: fetching the algorithm anew for each name would cost more than the hash.
class KeyMaker {
 public:
  KeyMaker() : context_(EVP_MD_CTX_new()) {}
  bool Make(const PathKey& parent, absl::string_view name, PathKey* key) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    bool good = context_ != nullptr && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1 &&
                EVP_DigestUpdate(context_.get(), parent.data(), parent.size()) == 1 &&
                EVP_DigestUpdate(context_.get(), name.data(), name.size()) == 1 && EVP_DigestFinal_ex(context_.get(), digest, &size) == 1 &&
                size >= key->size();
    if (good) std::memcpy(key->data(), digest, key->size());
    return good;
  }

 private:
  struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  std::unique_ptr<EVP_MD_CTX, Free> context_;
};

int64_t Nanoseconds(const struct statx_timestamp& time) { return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec; }

Directory OpenFolder(int parent_fd, const char* name) {
  UniqueFd fd(OpenBeneath(parent_fd, name, O_RDONLY | O_DIRECTORY));
  if (!fd.valid()) return nullptr;
  DIR* directory = fdopendir(fd.get());
  if (directory != nullptr) fd.Release();  // closedir closes it
  return Directory(directory);
}

class Walker {
 public:
  Walker(int64_t entries_max, absl::FunctionRef<Visit(const Entry&)> visit, absl::FunctionRef<void(const Entry&, int)> unreadable)
      : entries_max_(entries_max), visit_(visit), unreadable_(unreadable) {}

  absl::StatusOr<WalkReport> Run(int workspace_fd) {
    Directory top = OpenFolder(workspace_fd, ".");
    if (top == nullptr) return absl::ErrnoToStatus(errno, "open the workspace");
    folders_.push_back({std::move(top), PathKey{}, 0});
    WalkReport report;
    while (!folders_.empty()) {
      errno = 0;
      dirent* listed = readdir(folders_.back().directory.get());
      if (listed == nullptr) {
        if (errno != 0 && folders_.size() == 1) return absl::ErrnoToStatus(errno, "list the workspace");
        folders_.pop_back();
        continue;
      }
      if (std::strcmp(listed->d_name, ".") == 0 || std::strcmp(listed->d_name, "..") == 0) continue;
      if (report.entries == entries_max_) {
        report.entries_exceeded = true;
        break;
      }
      ++report.entries;
      if (!Enter(listed->d_name)) return absl::InternalError("SHA-256 is not available in OpenSSL");
    }
    return report;
  }

 private:
  // False only when no key can be made.
  bool Enter(const char* name) {
    const Folder& folder = folders_.back();
    const int folder_fd = dirfd(folder.directory.get());
    path_.resize(folder.path_bytes);
    absl::StrAppend(&path_, path_.empty() ? "" : "/", name);
    struct statx info;
    // The name may mean something else a moment later; whatever is opened is looked at again.
    if (statx(folder_fd, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_BASIC_STATS | STATX_BTIME, &info) != 0) {
      return true;  // gone in the meantime
    }
    Entry entry = {.path = path_, .depth = static_cast<int>(folders_.size()) - 1, .mode = info.stx_mode};
    if (!keys_.Make(folder.key, name, &entry.key)) return false;
    entry.fingerprint = {info.stx_ino, static_cast<int64_t>(info.stx_size), Nanoseconds(info.stx_mtime), Nanoseconds(info.stx_ctime)};
    entry.born_ns = (info.stx_mask & STATX_BTIME) != 0 ? Nanoseconds(info.stx_btime) : 0;
    Visit wish = visit_(entry);
    if (wish == Visit::kSkip || !S_ISDIR(info.stx_mode) || static_cast<int>(folders_.size()) > kDepthMax) return true;
    Directory below = OpenFolder(folder_fd, name);
    if (below == nullptr) {
      unreadable_(entry, errno);
    } else {
      folders_.push_back({std::move(below), entry.key, path_.size()});
    }
    return true;
  }

  const int64_t entries_max_;
  absl::FunctionRef<Visit(const Entry&)> visit_;
  absl::FunctionRef<void(const Entry&, int)> unreadable_;
  KeyMaker keys_;
  std::string path_;
  std::vector<Folder> folders_;
};

}  // namespace

int OpenBeneath(int directory_fd, const char* path, int flags) {
  struct open_how how = {};
  how.flags = static_cast<uint64_t>(flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  return static_cast<int>(syscall(SYS_openat2, directory_fd, path, &how, sizeof(how)));
}

std::string OpenFailure(int error) {
  switch (error) {
    case ELOOP: return "a symbolic link; links are never followed";
    case ENOENT: return "it was gone when it was to be read";
    case ENOTDIR: return "it was replaced while it was looked at";
    case EXDEV: return "it lies on another file system";
    case ENXIO: return "a socket or pipe; only regular files are collected";
    case EACCES:
    case EPERM: return "its mode or owner does not let the supervisor read it";
    case EAGAIN: return "it is held by a lease, or was moved while it was looked at";
    case ENAMETOOLONG: return absl::StrCat("its path has more than ", kPathBytesMax, " bytes");
    default: return absl::StrCat("it could not be read: ", strerror(error));
  }
}

absl::StatusOr<WalkReport> Walk(int workspace_fd, int64_t entries_max, absl::FunctionRef<Visit(const Entry&)> visit,
                                absl::FunctionRef<void(const Entry&, int)> unreadable) {
  return Walker(entries_max, visit, unreadable).Run(workspace_fd);
}

}  // namespace cellblock::artifact
