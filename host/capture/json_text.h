// Checks JSON text that a guest wrote and copies it without its white space, so that it can stand inside a document of ours. Runs in
// the supervisor; the input is hostile. Builds no tree: memory is the output and one byte for each open bracket.
#ifndef CELLBLOCK_CAPTURE_JSON_TEXT_H_
#define CELLBLOCK_CAPTURE_JSON_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"

namespace cellblock::capture {

inline constexpr size_t kJsonDepthMax = 512;  // brackets within each other; parsers of our clients stop earlier or later than this

// Appends `text`, one JSON value, to `out` on one line. False, with `out` as it was, unless it is JSON by RFC 8259 to the letter: no NaN
// or Infinity, no lone surrogate, valid UTF-8, no control character in a string, at most kJsonDepthMax deep.
bool AppendCompactJson(absl::string_view text, std::string* out);

// Whether `text` is such a value, `depth_max` brackets within each other at most.
bool IsStrictJson(absl::string_view text, size_t depth_max);

}  // namespace cellblock::capture

#endif  // CELLBLOCK_CAPTURE_JSON_TEXT_H_
