// Width and height of an image from the first bytes of its file, for PNG, JPEG, GIF, WebP and SVG. Runs in the supervisor, on hostile
// bytes: reads only inside what it is given, in one pass, and decodes nothing.
#ifndef CELLBLOCK_ARTIFACT_IMAGE_SIZE_H_
#define CELLBLOCK_ARTIFACT_IMAGE_SIZE_H_

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/string_view.h"

namespace cellblock::artifact {

// `mime` as MimeSniffer gave it. None for other types, for broken files, and where the size stands beyond `head` or is not stated
// (an SVG without width and viewBox). Sizes are in pixels (SVG: CSS pixels, rounded), from 1 to 2^31 − 1.
std::optional<std::pair<int64_t, int64_t>> ImageSize(absl::string_view mime, absl::string_view head);

}  // namespace cellblock::artifact

#endif  // CELLBLOCK_ARTIFACT_IMAGE_SIZE_H_
