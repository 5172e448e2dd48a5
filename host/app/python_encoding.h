// The text of a Python source file, read as CPython reads it: byte-order mark, encoding declaration (PEP 263), else UTF-8; every line
// end becomes a line feed. Pure function. Supervisor; the bytes are the user's file.
#ifndef CELLBLOCK_APP_PYTHON_ENCODING_H_
#define CELLBLOCK_APP_PYTHON_ENCODING_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cellblock::app {

// kInvalidArgument starts with `name` and the line, and says what to do.
absl::StatusOr<std::string> DecodePythonSource(absl::string_view bytes, absl::string_view name);

// For code that has no declaration (bash, notebooks): UTF-8, with or without a byte-order mark.
absl::StatusOr<std::string> DecodeUtf8Source(absl::string_view bytes, absl::string_view name);

// CR LF and lone CR become LF.
std::string WithUnixLineEnds(absl::string_view text);

// The name that an encoding declaration in the first two lines gives, as written; empty when there is none.
std::string DeclaredEncoding(absl::string_view bytes);

}  // namespace cellblock::app

#endif  // CELLBLOCK_APP_PYTHON_ENCODING_H_
