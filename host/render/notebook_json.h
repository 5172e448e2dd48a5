// The parts of an .ipynb that every notebook of ours has in common: outputs and the kernel's description. Runs in the supervisor. Outputs
// are a guest's: whatever it shows, the file must pass nbformat's schema and open in Python.
#ifndef CELLBLOCK_RENDER_NOTEBOOK_JSON_H_
#define CELLBLOCK_RENDER_NOTEBOOK_JSON_H_

#include <cstddef>

#include "cellblock/record.h"
#include "render/json_writer.h"
#include "render/outputs.h"

namespace cellblock::render {

// Jupyter's Python reads the file: it recurses once a bracket, in several functions, and refuses whole numbers of more than 4300 digits.
// A guest's JSON beyond this stands in the notebook as a string. The guest's own side stops at the same depth.
inline constexpr size_t kNotebookJsonDepthMax = 64;
inline constexpr size_t kNotebookDigitsMax = 1000;

// `output` belongs to `record`.
void WriteOutput(JsonWriter& json, const Output& output, const Record& record);

// A call's number as an execution_count; null for one that never ran.
void WriteExecutionCount(JsonWriter& json, const Record& record);

// Text on stdout or stderr, as an output.
void WriteStream(JsonWriter& json, bool is_stderr, absl::string_view text);

// The members kernelspec and language_info of the notebook's metadata.
void WriteKernelMembers(JsonWriter& json);

}  // namespace cellblock::render

#endif  // CELLBLOCK_RENDER_NOTEBOOK_JSON_H_
