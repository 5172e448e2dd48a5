// Where the host keeps its copies of what guests made: one folder, one file an artifact, named by a random id and nothing else. Runs
// in the supervisor. The folder is the supervisor's own (mode 0700); file contents are hostile, and are copied, hashed and counted.
#ifndef CELLBLOCK_ARTIFACT_STORE_H_
#define CELLBLOCK_ARTIFACT_STORE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/unique_fd.h"

namespace cellblock::artifact {

// The first bytes of a copied file, enough for MIME sniffing and for the frame header of a JPEG behind its metadata.
inline constexpr size_t kHeadBytesMax = 256 * 1024;

struct StoredCopy {
  std::string id;          // 32 hex digits from the kernel's generator
  std::string path;        // on the host
  int64_t size_bytes = 0;
  std::string sha256;      // hex
  std::string head;
};

// Thread-safe: every copy has a file of its own.
class ArtifactStore {
 public:
  // `directory` must exist, be a real folder (no symbolic link) and not be writable by others: kFailedPrecondition.
  static absl::StatusOr<ArtifactStore> Open(const std::string& directory);

  // Copies `source_fd` from its start to its end, at most `bytes_max` bytes, counting what is read whatever the file claims to be; a
  // file that goes on beyond it is cut there. An error leaves nothing behind: kResourceExhausted when the disk is full.
  absl::StatusOr<StoredCopy> Copy(int source_fd, int64_t bytes_max) const;
  absl::Status Remove(absl::string_view id) const;  // kInvalidArgument for anything that is no id

  const std::string& directory() const { return directory_; }

 private:
  ArtifactStore(std::string directory, UniqueFd fd) : directory_(std::move(directory)), fd_(std::move(fd)) {}

  std::string directory_;
  UniqueFd fd_;
};

}  // namespace cellblock::artifact

#endif  // CELLBLOCK_ARTIFACT_STORE_H_
