// A path below a workspace that a caller gives, for a file to be put or read there. Supervisor; pure; the text is a client's.
#ifndef CELLBLOCK_ARTIFACT_GIVEN_PATH_H_
#define CELLBLOCK_ARTIFACT_GIVEN_PATH_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace cellblock::artifact {

inline constexpr size_t kGivenPathBytesMax = 1024;
inline constexpr size_t kGivenPartBytesMax = 255;  // NAME_MAX
inline constexpr int kGivenPartsMax = 32;

// kInvalidArgument with the reason for anything but a plain relative path: empty, absolute, "." or ".." or empty parts, NUL or other
// control characters, not UTF-8, too long.
absl::Status CheckGivenPath(absl::string_view path);
// The error that it answers, for other reasons.
absl::Status RefuseGivenPath(absl::string_view path, absl::string_view why);

}  // namespace cellblock::artifact

#endif  // CELLBLOCK_ARTIFACT_GIVEN_PATH_H_
