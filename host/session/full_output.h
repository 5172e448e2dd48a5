// The whole text of a stream that was cut, kept as an artifact where the policy says so (artifacts.full_output). Supervisor; the text is
// the guest's, redacted already. Not thread-safe.
#ifndef CELLBLOCK_SESSION_FULL_OUTPUT_H_
#define CELLBLOCK_SESSION_FULL_OUTPUT_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "artifact/store.h"
#include "base/unique_fd.h"
#include "cellblock/policy.h"
#include "cellblock/record.h"

namespace cellblock::session {

class FullOutput {
 public:
  // Both outlive it.
  FullOutput(const ArtifactLimits& limits, const artifact::ArtifactStore& store) : limits_(limits), store_(store) {}

  // The text of one stream in order, from its beginning. What is beyond artifacts.full_output, or does not fit on the disk, is left out.
  void Append(Event::Type stream, absl::string_view text);
  // Puts what was kept into the record, which has its number and truncations.
  void Finish(Record& record);

 private:
  struct Stream {
    UniqueFd file;
    int64_t bytes = 0;
    bool cut = false;
  };
  void FinishOne(Stream& stream, const char* name, std::optional<StreamTruncation>& truncation, Record& record);

  const ArtifactLimits& limits_;
  const artifact::ArtifactStore& store_;
  Stream output_, errors_;
};

}  // namespace cellblock::session

#endif  // CELLBLOCK_SESSION_FULL_OUTPUT_H_
