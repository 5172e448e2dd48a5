// The code that `cellblock run` is given: a script, a script in cells, a notebook, standard input or -c. Supervisor; the user's file, which
// somebody else may have written.
#ifndef CELLBLOCK_APP_SOURCE_H_
#define CELLBLOCK_APP_SOURCE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cellblock/record.h"
#include "render/notebook.h"

namespace cellblock::app {

struct SourceCell {
  std::string code;
  int64_t first_line = 0;  // in the file, from 1; 0 unknown (notebooks)
};

struct Source {
  std::string name;       // for messages: the path as given, "standard input", "-c"
  std::string file_name;  // for tracebacks: the script's own name; empty for cells ("Cell In[n]")
  Language language = Language::kPython;
  std::vector<SourceCell> cells;               // what is to run
  std::vector<render::NotebookCell> notebook;  // all cells, with those of text
  std::string note;                            // for a person: what was mended while reading; mostly empty
};

struct SourceChoices {
  std::string path;                  // a file, or "-" for standard input
  std::optional<std::string> code;   // -c
  std::optional<Language> language;  // --language; else by the file's ending or its "#!" line
};

// Reads and splits it. kInvalidArgument or kNotFound says what is wrong with the file and what to do. `code_bytes_max` is the policy's limit
// for one cell, and for a whole script; a notebook, which may hold pictures, can be render::kNotebookBytesMax.
absl::StatusOr<Source> LoadSource(const SourceChoices& choices, int stdin_fd, int64_t code_bytes_max);

}  // namespace cellblock::app

#endif  // CELLBLOCK_APP_SOURCE_H_
