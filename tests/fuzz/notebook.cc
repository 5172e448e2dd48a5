// Fuzzes what reads a user's notebooks and scripts: any bytes give cells that can be written as a notebook and read back, or a short
// error. The same bytes are also taken as a guest's JSON value.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "base/log.h"
#include "capture/json_text.h"
#include "capture/utf8.h"
#include "render/notebook.h"
#include "render/record_json.h"

namespace {

using namespace cellblock;          // NOLINT: one file
using namespace cellblock::render;  // NOLINT: one file

void CheckCells(const absl::StatusOr<std::vector<NotebookCell>>& cells) {
  if (!cells.ok()) {
    CELLBLOCK_CHECK(absl::IsInvalidArgument(cells.status()) || absl::IsResourceExhausted(cells.status()));
    CELLBLOCK_CHECK(cells.status().message().size() < 500);
    CELLBLOCK_CHECK(capture::IsValidUtf8(cells.status().message()));
    return;
  }
  CELLBLOCK_CHECK(cells->size() <= kNotebookCellsMax);
  absl::StatusOr<std::vector<NotebookCell>> again = ParseNotebook(RenderNotebook(*cells, {}));
  CELLBLOCK_CHECK(again.ok() && again->size() == cells->size());
  for (size_t i = 0; i < cells->size(); ++i) {
    CELLBLOCK_CHECK((*again)[i].kind == (*cells)[i].kind);
    CELLBLOCK_CHECK((*again)[i].source == capture::ToValidUtf8((*cells)[i].source));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  CheckCells(ParseNotebook(bytes));
  CheckCells(SplitPercentCells(bytes));
  std::string compact, again;
  if (capture::AppendCompactJson(bytes, &compact)) {
    CELLBLOCK_CHECK(!absl::StrContains(compact, "\n"));
    CELLBLOCK_CHECK(capture::AppendCompactJson(compact, &again) && again == compact);
  } else {
    CELLBLOCK_CHECK(compact.empty());
  }
  Record record;
  record.stdout_text = std::string(bytes);
  record.results.push_back({.mime = {{.type = std::string(bytes.substr(0, 20)), .data = std::string(bytes), .is_json = true}}, .metadata_json = std::string(bytes)});
  record.events.push_back({.type = Event::Type::kDisplay, .result = 0});
  compact.clear();
  CELLBLOCK_CHECK(capture::AppendCompactJson(RenderRecordJson(record), &compact));
  return 0;
}
