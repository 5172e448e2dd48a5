// Code that cannot stand in a script with cell markers as it is (bash, magics, lines that look like markers, what is no Python), written
// as Python strings that IPython runs as a cell. Pure functions, run in the supervisor or the command; the code is a user's.
#ifndef CELLBLOCK_RENDER_QUOTED_CELL_H_
#define CELLBLOCK_RENDER_QUOTED_CELL_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace cellblock::render {

// One string a line of the code, so that lines keep their order and distance:
//   get_ipython().run_cell((
//       "%%bash\n"
//       "ls -l\n"
//   ));
// No line of it looks like a marker or leaves a string open. Bytes that are no UTF-8 become U+FFFD.
std::string QuoteCell(absl::string_view code);

// The code, if `text` is exactly what QuoteCell makes of it, without the newline at its end.
std::optional<std::string> UnquoteCell(absl::string_view text);

}  // namespace cellblock::render

#endif  // CELLBLOCK_RENDER_QUOTED_CELL_H_
