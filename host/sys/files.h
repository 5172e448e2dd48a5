// Thin StatusOr wrappers around file calls. Every process; paths come from our own configuration, never from a guest, except
// through OpenBeneath, which confines them.
#ifndef CELLBLOCK_SYS_FILES_H_
#define CELLBLOCK_SYS_FILES_H_

#include <fcntl.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/unique_fd.h"

namespace cellblock::sys {

// A status for the current errno: "what: strerror".
absl::Status ErrnoStatus(absl::string_view what);

absl::StatusOr<UniqueFd> Open(const std::string& path, int flags, mode_t mode = 0);  // adds O_CLOEXEC

// openat2(2) with RESOLVE_BENEATH, NO_SYMLINKS, NO_MAGICLINKS and, unless `mounted`, NO_XDEV: the way to open anything a guest may have made.
// kFailedPrecondition where these stand against it.
absl::StatusOr<UniqueFd> OpenBeneath(int directory_fd, const std::string& path, int flags, mode_t mode = 0, bool mounted = false);

struct PipePair {
  UniqueFd read;
  UniqueFd write;
};
absl::StatusOr<PipePair> MakePipe(int flags = 0);  // adds O_CLOEXEC

absl::StatusOr<UniqueFd> MakeEventFd();  // non-blocking, close-on-exec

absl::Status SetNonBlocking(int fd, bool on);

// Writes all of `data`, waiting when the descriptor is blocking. EPIPE is an error, not a signal, if the caller ignores SIGPIPE.
absl::Status WriteAll(int fd, absl::string_view data);

// Reads to end of file, at most `bytes_max`; beyond it kResourceExhausted.
absl::StatusOr<std::string> ReadAll(int fd, size_t bytes_max);
absl::StatusOr<std::string> ReadFile(const std::string& path, size_t bytes_max);
absl::Status WriteFile(const std::string& path, absl::string_view data);  // an existing file: for /proc and cgroup knobs

// Copies from `source`'s offset to its end into `target`; at most `bytes_max`, beyond it kOutOfRange (kResourceExhausted is a full disk).
absl::StatusOr<int64_t> CopyAll(int source, int target, int64_t bytes_max);

// Moves a descriptor to a number of its own choice at or above `lowest`, close-on-exec.
absl::StatusOr<UniqueFd> DuplicateAbove(int fd, int lowest);

}  // namespace cellblock::sys

#endif  // CELLBLOCK_SYS_FILES_H_
