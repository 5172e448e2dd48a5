// A session's calls as a document to keep: a notebook, a script in cells, Markdown. Pure functions, run in the supervisor. Code and
// outputs are a guest's: in every form they are data, never structure.
#ifndef CELLBLOCK_RENDER_TRANSCRIPT_H_
#define CELLBLOCK_RENDER_TRANSCRIPT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "cellblock/record.h"
#include "render/notebook.h"

namespace cellblock::render {

// No transcript is longer; our own readers take every one back. Code goes first: outputs, in order, take what the code of all calls has
// left. An output that does not fit is left out as a whole, and the calls after the first whose code does not fit too; the text says
// how many.
inline constexpr size_t kTranscriptBytesMax = kNotebookBytesMax;
inline constexpr size_t kTranscriptBytesMin = 16 * 1024;  // less is not kept to
inline constexpr size_t kTranscriptCallsMax = kNotebookCellsMax - 2;  // two cells say what it is and what is left out
inline constexpr size_t kTranscriptListMax = 100;         // artifacts, refusals and limits that are named of one call
inline constexpr size_t kMarkdownImageBytesMax = 1 << 20;  // larger ones are only mentioned

struct TranscriptCall {
  Language language = Language::kPython;
  std::string code;
  absl::Time started_at = absl::InfiniteFuture();  // infinite: not known
  std::optional<Record> record;                    // none: it still runs, or how it ended is not known
  std::string note;                                // what else the reader must know, a sentence: why there is no record; 2000 bytes are shown, 200 in a script
};

struct Transcript {
  std::string session_id;
  std::string policy;                              // its name
  std::vector<TranscriptCall> calls;               // in order
  int64_t calls_left_out = 0;                      // later ones that the caller did not take in
};

// An .ipynb, nbformat 4.5: a code cell a call. Bash stands below "%%bash". execution_count is the call's number; a call that never ran has
// none and an error output "rejected", one that was lost an error output "lost"; without a record the note stands on stderr. The
// notebook's metadata have `title` and `cellblock` {session_id, policy, calls, calls_left_out}, a cell's `cellblock` {call, language,
// status, session_state, started_at, wall_seconds, artifacts[]}.
std::string RenderTranscriptNotebook(const Transcript& transcript, size_t bytes_max = kTranscriptBytesMax);

// A script with a "# %%" marker a call, whose line says which call it was and how it ended; code only. It is Python as far as can be
// told without one: bash, code with magics, `!`, `?` or top-level await, code that ended in a SyntaxError, and code that
// SplitPercentCells would not give back (markers in it, strings that stay open) are quoted as QuoteCell does it. So IPython runs the
// file as a whole (up to a call that raises, as with any script), and SplitPercentCells gives back each call's code: exactly where it is
// quoted, with bash below "%%bash", elsewhere without blank lines at its ends.
std::string RenderTranscriptScript(const Transcript& transcript, size_t bytes_max = kTranscriptBytesMax);

// Markdown (CommonMark). All that is a guest's stands in fences and code spans longer than any run of backticks in it; images (PNG, JPEG,
// GIF, WebP; SVG could hold scripts) as data URIs. Control characters are shown as pictures, colour sequences are left out.
std::string RenderTranscriptMarkdown(const Transcript& transcript, size_t bytes_max = kTranscriptBytesMax);

}  // namespace cellblock::render

#endif  // CELLBLOCK_RENDER_TRANSCRIPT_H_
