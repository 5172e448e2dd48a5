// Foreign text in Markdown (CommonMark), so that no renderer takes any of it for structure or HTML. Pure functions, run in the supervisor;
// the text is a guest's.
#ifndef CELLBLOCK_RENDER_MARKDOWN_TEXT_H_
#define CELLBLOCK_RENDER_MARKDOWN_TEXT_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace cellblock::render {

// A fenced block, at the left margin, with an empty line after it. `info` is ours. The fence is longer than any run of backticks in the
// text, so no line of it closes the block.
void AppendFenced(absl::string_view info, absl::string_view text, std::string* out);

// A code span on one line, cut at `bytes_max`; "(empty)" where there is no text, which no span can show.
std::string CodeSpan(absl::string_view text, size_t bytes_max);

// Valid UTF-8 with line ends as \n, without terminals' control sequences (ESC [ … letter); other control characters but \t are shown as
// their pictures.
std::string VisibleText(absl::string_view text);

}  // namespace cellblock::render

#endif  // CELLBLOCK_RENDER_MARKDOWN_TEXT_H_
