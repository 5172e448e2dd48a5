// See seccomp_install.h; and the reader of filters in memfds, which supervisors and workers share.
#include "confine/seccomp_install.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "confine/confine.h"

namespace cellblock::confine {

int InstallSeccomp(const std::vector<sock_filter>& filter) {
  sock_fprog program{.len = static_cast<unsigned short>(filter.size()), .filter = const_cast<sock_filter*>(filter.data())};
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0U, &program) == 0 ? 0 : errno;
}

bool HasSeccompFilter() {
  const uint32_t action = SECCOMP_RET_KILL_PROCESS;
  return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0U, &action) == 0;
}

absl::StatusOr<std::vector<sock_filter>> ReadSeccompProgram(int fd) {
  constexpr int kSeals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  const int seals = fcntl(fd, F_GET_SEALS);
  if (seals < 0) return absl::InvalidArgumentError("seccomp program: not a memfd, or one that cannot be sealed");
  if ((seals & kSeals) != kSeals) {
    return absl::InvalidArgumentError("seccomp program: the memfd is not sealed, so it could change after this check");
  }
  struct stat file;
  if (fstat(fd, &file) != 0) return absl::ErrnoToStatus(errno, "stat the seccomp program");
  const auto size = static_cast<uint64_t>(file.st_size);
  if (size == 0 || size % sizeof(sock_filter) != 0 || size / sizeof(sock_filter) > BPF_MAXINSNS) {
    return absl::InvalidArgumentError(absl::StrCat("seccomp program: ", size, " bytes; it must hold 1 to ", BPF_MAXINSNS,
                                                   " whole instructions of ", sizeof(sock_filter), " bytes"));
  }
  std::vector<sock_filter> instructions(size / sizeof(sock_filter));
  char* data = reinterpret_cast<char*>(instructions.data());
  for (uint64_t done = 0; done < size;) {
    ssize_t bytes = pread(fd, data + done, size - done, static_cast<off_t>(done));
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return absl::ErrnoToStatus(errno, "read the seccomp program");
    if (bytes == 0) return absl::DataLossError("seccomp program: the memfd is shorter than it says");
    done += static_cast<uint64_t>(bytes);
  }
  return instructions;
}

}  // namespace cellblock::confine
