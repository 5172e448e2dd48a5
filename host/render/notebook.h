// Notebooks and scripts in cells: what `cellblock run` takes, and the notebook with outputs that it can write. Pure functions, run in the
// supervisor or the command; the input is a user's file, bounded and checked.
#ifndef CELLBLOCK_RENDER_NOTEBOOK_H_
#define CELLBLOCK_RENDER_NOTEBOOK_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cellblock/record.h"

namespace cellblock::render {

inline constexpr size_t kNotebookBytesMax = size_t{64} << 20;
inline constexpr size_t kNotebookCellsMax = 10'000;

enum class CellKind { kCode, kMarkdown, kRaw };

struct NotebookCell {
  std::string source;
  CellKind kind = CellKind::kCode;
  int64_t first_line = 1;  // of `source` in the script that it was cut from; 1 for a notebook's cells
};

// Code that is more than white space. Only such cells are executed; as in Jupyter, others have no number and no outputs.
bool IsRunnable(const NotebookCell& cell);

// Reads an .ipynb, nbformat 3 to 4.5 (and later minor versions of 4), all its cells in order. kInvalidArgument says what is wrong and at
// which line and column, also for a notebook whose language is not Python; kResourceExhausted beyond the maxima above.
absl::StatusOr<std::vector<NotebookCell>> ParseNotebook(absl::string_view json);

// Cuts a script at its cell markers: lines that start with "# %%" or "#%%" (a title may follow; "[markdown]", "[md]" and "[raw]" in it
// make a cell of that kind, whose comment signs are taken off) and the "# In[1]:" of notebooks exported as scripts. A marker inside a
// triple-quoted string is none, nor is a commented magic such as "# %%time". What stands before the first marker is a cell if it holds
// more than comments; empty cells are left out; lines keep their numbers in first_line. A cell that QuoteCell has written is what it
// quotes. A script without markers is one cell, as it is.
absl::StatusOr<std::vector<NotebookCell>> SplitPercentCells(absl::string_view script);

// The cells with their outputs as an .ipynb (nbformat 4.5), on one line. The first record belongs to the first runnable cell and so on;
// cells without one get no outputs. Displays that were updated later, in any cell, show their last state; cleared output is left out.
std::string RenderNotebook(const std::vector<NotebookCell>& cells, const std::vector<Record>& records);

}  // namespace cellblock::render

#endif  // CELLBLOCK_RENDER_NOTEBOOK_H_
