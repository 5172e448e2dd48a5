// Files kept under 64 hex digits, each once: blobs/ab/abcd…. The digits are the content's SHA-256, or follow from it and from whom it is
// kept apart for. A blob appears under its name when it is whole and never changes again. Supervisor; the folder is its own (mode 0700),
// the contents are guests'. Thread-safe.
#ifndef CELLBLOCK_STORE_BLOBS_H_
#define CELLBLOCK_STORE_BLOBS_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/unique_fd.h"

namespace cellblock::store {

class Blobs {
 public:
  // Makes `folder` when missing and removes what an interrupted copy left. kFailedPrecondition: others can write to it.
  static absl::StatusOr<Blobs> Open(const std::string& folder);

  // Keeps the file at `path`, which nobody changes any more, as `name` (64 hex digits, computed by the caller as it wrote the file): a
  // second name for it where it lies on the same file system, else a copy. A blob that is there already stays.
  absl::Status Take(const std::string& path, absl::string_view name) const;
  // The same for an open file, from its beginning. Never one inode with another: the file itself when it has no name yet, else a copy.
  absl::Status TakeOpen(int file, absl::string_view name) const;
  absl::Status Rename(absl::string_view from, absl::string_view to) const;
  // Mode 0444: the folders above keep other users out; inside a jail, where the file is mounted alone, its user can read it.
  absl::Status LetOthersRead(absl::string_view name) const;
  static std::string PathOf(absl::string_view name);      // below the folder
  // For reading. kNotFound: not there; kDataLoss: not of that size, so a power cut has damaged it.
  absl::StatusOr<UniqueFd> OpenBlob(absl::string_view name, int64_t size_bytes) const;
  absl::Status Remove(absl::string_view name) const;      // OK when it is not there
  // Reads it all: whether the content has this SHA-256.
  bool IsWhole(absl::string_view name, absl::string_view sha256) const;
  // Every blob, in no order; what is no blob's name is left alone. `visit` may remove the one that it is told.
  absl::Status ForEach(absl::FunctionRef<void(const std::string& name, int64_t size_bytes)> visit) const;

 private:
  Blobs(UniqueFd folder, UniqueFd incoming) : folder_(std::move(folder)), incoming_(std::move(incoming)) {}
  absl::Status CopyIn(int source, const std::string& path) const;

  UniqueFd folder_, incoming_;
};

}  // namespace cellblock::store

#endif  // CELLBLOCK_STORE_BLOBS_H_
