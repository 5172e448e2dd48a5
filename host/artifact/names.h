// Names of files that a guest made, as text that is safe to show: bytes in, escaped UTF-8 out. Runs in the supervisor. The result is
// a label; it never becomes a path on the host.
#ifndef CELLBLOCK_ARTIFACT_NAMES_H_
#define CELLBLOCK_ARTIFACT_NAMES_H_

#include <string>

#include "absl/strings/string_view.h"

namespace cellblock::artifact {

// Escapes, one to one (the bytes can be had back): a backslash as \\, bytes that are no UTF-8 as \xNN, and as \uNNNN (or
// \UNNNNNNNN) characters that
// could break a line or reorder or hide text: controls (C0, DEL, C1), line and paragraph separators, bidirectional controls, zero-width
// spaces, the byte order mark and Unicode's tags. Everything else stays: spaces, accents, emoji and their joiners. At most six times as
// long as the input.
std::string EscapeName(absl::string_view bytes);

}  // namespace cellblock::artifact

#endif  // CELLBLOCK_ARTIFACT_NAMES_H_
