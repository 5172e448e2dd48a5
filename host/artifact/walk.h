// Walks a session's workspace from a directory fd that was taken when the session was set up. Runs in the supervisor, perhaps as
// root, over a tree that hostile processes may be changing at the same moment: nothing is opened but folders, each by its single
// name below its already open parent, never through a symbolic link or onto another file system; nothing recurses.
#ifndef CELLBLOCK_ARTIFACT_WALK_H_
#define CELLBLOCK_ARTIFACT_WALK_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cellblock::artifact {

inline constexpr size_t kPathBytesMax = 4095;  // what one system call takes (PATH_MAX less its NUL)
inline constexpr int kDepthMax = 64;           // open folders at once, whatever the policy says

// Stands for a path: SHA-256 over its parent's key and its name, cut to 128 bits. Fixed in size, and a guest cannot make two alike.
using PathKey = std::array<uint8_t, 16>;

// What changes when a file's content does.
struct Fingerprint {
  uint64_t inode = 0;
  int64_t size_bytes = 0;
  int64_t modified_ns = 0;
  int64_t changed_ns = 0;  // no program can set this one
  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

struct Entry {
  PathKey key;
  absl::string_view path;   // the guest's bytes, relative to the workspace
  int depth;                // folders above it, below the workspace
  uint32_t mode;            // st_mode at this moment
  Fingerprint fingerprint;
  int64_t born_ns;          // 0 where the file system does not say
};

enum class Visit { kDescend, kSkip };  // for a folder; kSkip for anything else

struct WalkReport {
  int64_t entries = 0;
  bool entries_exceeded = false;  // there were more than the maximum; the rest was not looked at
};

// Calls `visit` for every entry, a folder before its content, in the order in which the file system lists them, and `unreadable` with
// an errno for a folder that could then not be opened: replaced, gone, or closed to us. Fails only when the workspace itself cannot be
// read.
absl::StatusOr<WalkReport> Walk(int workspace_fd, int64_t entries_max, absl::FunctionRef<Visit(const Entry&)> visit,
                                absl::FunctionRef<void(const Entry&, int)> unreadable);

// openat2 with RESOLVE_BENEATH, NO_SYMLINKS, NO_MAGICLINKS and NO_XDEV. Returns a descriptor, or −1 and errno.
int OpenBeneath(int directory_fd, const char* path, int flags);
// Says for a person why OpenBeneath (or a later call on the same path) failed.
std::string OpenFailure(int error);

}  // namespace cellblock::artifact

#endif  // CELLBLOCK_ARTIFACT_WALK_H_
