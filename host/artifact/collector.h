// Collects the files that a call created or changed in its workspace, into the artifact store. Runs in the supervisor, perhaps as
// root; the tree is the guest's and hostile, and processes of the session may still be changing it (stop them first where that is
// possible: a file that changes while it is copied is collected as it was read, and noted).
//
//   auto before = collector.TakeSnapshot();
//   … the call …
//   auto collection = collector.Collect(*before, call);     // collection->after serves the next call
//
// What is opened is opened by openat2 below the workspace's fd, without links, other file systems or blocking, and looked at again
// once open: only regular files are read, at most as many bytes as they had then. A name never becomes a path on the host.
//
// What the comparison misses: a file changed only through pages of a shared memory map that were written before the call too; the
// kernel touches a file's times at the first write to a page, not at the next.
#ifndef CELLBLOCK_ARTIFACT_COLLECTOR_H_
#define CELLBLOCK_ARTIFACT_COLLECTOR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "artifact/glob.h"
#include "artifact/mime.h"
#include "artifact/store.h"
#include "artifact/walk.h"
#include "base/unique_fd.h"
#include "cellblock/policy.h"
#include "cellblock/record.h"

namespace cellblock::artifact {

inline constexpr size_t kSnapshotEntriesMax = 1'000'000;  // about 100 MB; beyond it, times decide alone
inline constexpr size_t kNotesMax = 100;

// What the workspace held at one moment. Excluded folders are not in it.
class Snapshot {
 public:
  size_t size() const { return entries_.size(); }

 private:
  friend class Collector;
  enum class Change { kNone, kCreated, kModified };
  Change Compare(const Entry& entry) const;
  void Add(const Entry& entry);

  struct KeyHash {
    size_t operator()(const PathKey& key) const;
  };
  absl::flat_hash_map<PathKey, Fingerprint, KeyHash> entries_;
  bool complete_ = true;
  int64_t taken_ns_ = 0;  // by the clock that file times come from
};

// Something that a person should know about one file.
struct FileNote {
  std::string path;      // escaped
  std::string text;      // why it was left out; or, when collected, what is odd about it
  bool collected = false;
};

struct Collection {
  std::vector<Artifact> artifacts;      // sorted by path as bytes
  std::vector<LimitHit> limits_hit;     // named "artifacts", one for each limit that bit
  std::vector<FileNote> notes;          // at most kNotesMax, in the order found
  int64_t notes_dropped = 0;            // beyond that
  Snapshot after;                       // the workspace as Collect saw it
};

struct CollectorOptions {
  ArtifactLimits limits;                // policy.artifacts; depth at most kDepthMax
  int64_t workspace_files = 50'000;     // policy.limits.workspace_files: entries looked at, at most
};

// Not thread-safe; one a session. `store` and `sniffer` are shared and must outlive it.
class Collector {
 public:
  // `workspace` is a directory fd of /workspace, opened when the session was set up. kFailedPrecondition where the kernel has no
  // openat2 (Linux before 5.6, or a container that filters it): there is no other safe way.
  static absl::StatusOr<Collector> Create(UniqueFd workspace, CollectorOptions options, const ArtifactStore* store, MimeSniffer* sniffer);

  absl::StatusOr<Snapshot> TakeSnapshot();
  // Brings one file, and the folders above it, up to date in `snapshot`; the rest stays as it was seen.
  absl::Status Include(absl::string_view path, Snapshot& snapshot);
  // Errors mean that the workspace could not be read at all; what is wrong with single files stands in the notes.
  absl::StatusOr<Collection> Collect(const Snapshot& before, int64_t call);

 private:
  Collector(UniqueFd workspace, CollectorOptions options, const ArtifactStore* store, MimeSniffer* sniffer);

  UniqueFd workspace_;
  CollectorOptions options_;
  PathFilter filter_;
  const ArtifactStore* store_;
  MimeSniffer* sniffer_;
};

}  // namespace cellblock::artifact

#endif  // CELLBLOCK_ARTIFACT_COLLECTOR_H_
