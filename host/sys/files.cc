// See files.h.
#include "sys/files.h"

#include <linux/openat2.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace cellblock::sys {

absl::Status ErrnoStatus(absl::string_view what) { return absl::ErrnoToStatus(errno, what); }

absl::StatusOr<UniqueFd> Open(const std::string& path, int flags, mode_t mode) {
  UniqueFd fd(open(path.c_str(), flags | O_CLOEXEC, mode));
  if (!fd.valid()) return ErrnoStatus(absl::StrCat("open ", path));
  return fd;
}

absl::StatusOr<UniqueFd> OpenBeneath(int directory_fd, const std::string& path, int flags, mode_t mode, bool mounted) {
  open_how how = {};
  how.flags = static_cast<uint64_t>(flags | O_CLOEXEC);
  how.mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? mode : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | (mounted ? 0 : RESOLVE_NO_XDEV);
  UniqueFd fd(static_cast<int>(syscall(SYS_openat2, directory_fd, path.c_str(), &how, sizeof(how))));
  if (fd.valid()) return fd;
  if (errno == ELOOP || errno == EXDEV) return absl::FailedPreconditionError(absl::StrCat("\"", path, "\" is a link, or lies behind one or in another file system; only what is in the folder itself is opened"));
  return ErrnoStatus(absl::StrCat("open ", path));
}

absl::StatusOr<PipePair> MakePipe(int flags) {
  int fds[2];
  if (pipe2(fds, flags | O_CLOEXEC) != 0) return ErrnoStatus("make a pipe");
  return PipePair{UniqueFd(fds[0]), UniqueFd(fds[1])};
}

absl::StatusOr<UniqueFd> MakeEventFd() {
  UniqueFd fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!fd.valid()) return ErrnoStatus("make an eventfd");
  return fd;
}

absl::Status SetNonBlocking(int fd, bool on) {
  int flags = fcntl(fd, F_GETFL);
  if (flags < 0) return ErrnoStatus("read descriptor flags");
  if (fcntl(fd, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK) != 0) return ErrnoStatus("set descriptor flags");
  return absl::OkStatus();
}

absl::Status WriteAll(int fd, absl::string_view data) {
  while (!data.empty()) {
    ssize_t written = write(fd, data.data(), data.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return ErrnoStatus("write");
    }
    data.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadAll(int fd, size_t bytes_max) {
  std::string data;
  std::array<char, 16384> chunk;
  while (true) {
    ssize_t count = read(fd, chunk.data(), chunk.size());
    if (count < 0) {
      if (errno == EINTR) continue;
      return ErrnoStatus("read");
    }
    if (count == 0) return data;
    if (data.size() + static_cast<size_t>(count) > bytes_max) {
      return absl::ResourceExhaustedError(absl::StrCat("file is larger than ", bytes_max, " bytes"));
    }
    data.append(chunk.data(), static_cast<size_t>(count));
  }
}

absl::StatusOr<std::string> ReadFile(const std::string& path, size_t bytes_max) {
  CELLBLOCK_ASSIGN_OR_RETURN(UniqueFd fd, Open(path, O_RDONLY));
  return ReadAll(fd.get(), bytes_max);
}

absl::Status WriteFile(const std::string& path, absl::string_view data) {
  CELLBLOCK_ASSIGN_OR_RETURN(UniqueFd fd, Open(path, O_WRONLY));
  ssize_t written = write(fd.get(), data.data(), data.size());  // kernel knobs take one write
  if (written != static_cast<ssize_t>(data.size())) return ErrnoStatus(absl::StrCat("write ", path));
  return absl::OkStatus();
}

absl::StatusOr<int64_t> CopyAll(int source, int target, int64_t bytes_max) {
  std::array<char, 65536> chunk;
  int64_t total = 0;
  while (true) {
    ssize_t count = read(source, chunk.data(), chunk.size());
    if (count < 0) {
      if (errno == EINTR) continue;
      return ErrnoStatus("read");
    }
    if (count == 0) return total;
    total += count;
    if (total > bytes_max) return absl::OutOfRangeError(absl::StrCat("more than ", bytes_max, " bytes"));
    CELLBLOCK_RETURN_IF_ERROR(WriteAll(target, absl::string_view(chunk.data(), static_cast<size_t>(count))));
  }
}

absl::StatusOr<UniqueFd> DuplicateAbove(int fd, int lowest) {
  UniqueFd copy(fcntl(fd, F_DUPFD_CLOEXEC, lowest));
  if (!copy.valid()) return ErrnoStatus("duplicate a descriptor");
  return copy;
}

}  // namespace cellblock::sys
