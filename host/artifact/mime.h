// Finds a file's MIME type by its content. Runs in the supervisor, on hostile bytes. Own rules come first: fixed signatures, and for
// text the extension where the content agrees; only other binary files reach libmagic, bounded as
// docs/decisions/0005-mime-by-libmagic.md says.
#ifndef CELLBLOCK_ARTIFACT_MIME_H_
#define CELLBLOCK_ARTIFACT_MIME_H_

#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"

struct magic_set;

namespace cellblock::artifact {

inline constexpr size_t kMimeHeadBytesMax = 64 * 1024;

// Thread-safe. One a process is enough.
class MimeSniffer {
 public:
  MimeSniffer();
  ~MimeSniffer();
  MimeSniffer(const MimeSniffer&) = delete;
  MimeSniffer& operator=(const MimeSniffer&) = delete;

  // `head`: the file's first bytes; at most kMimeHeadBytesMax are looked at. `name`: for its extension only. Never fails: what is not
  // known is application/octet-stream, or text/plain. The answer is always of the form type/subtype, lower case, at most 127 bytes.
  std::string Sniff(absl::string_view head, absl::string_view name);

 private:
  std::string AskLibmagic(absl::string_view head);

  absl::Mutex mutex_;
  magic_set* magic_ ABSL_GUARDED_BY(mutex_) = nullptr;
  bool tried_to_load_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace cellblock::artifact

#endif  // CELLBLOCK_ARTIFACT_MIME_H_
