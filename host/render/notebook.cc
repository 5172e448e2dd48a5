// Notebooks with outputs; see notebook.h.
#include "render/notebook.h"

#include "absl/strings/str_cat.h"
#include "render/json_writer.h"
#include "render/notebook_json.h"
#include "render/outputs.h"

namespace cellblock::render {
namespace {

// `record` is null for a cell that was not run.
void WriteCell(JsonWriter& json, const NotebookCell& cell, size_t number, const Record* record, const std::vector<Output>& outputs) {
  json.BeginObject();
  json.Member("cell_type", cell.kind == CellKind::kCode ? "code" : cell.kind == CellKind::kMarkdown ? "markdown" : "raw");
  json.Member("id", absl::StrCat("cell-", number));
  json.Key("metadata");
  json.BeginObject();
  json.EndObject();
  json.Member("source", cell.source);
  if (cell.kind == CellKind::kCode) {
    json.Key("execution_count");
    record != nullptr ? WriteExecutionCount(json, *record) : json.Null();
    json.Key("outputs");
    json.BeginArray();
    for (const Output& output : outputs) WriteOutput(json, output, *record);
    json.EndArray();
  }
  json.EndObject();
}

}  // namespace

std::string RenderNotebook(const std::vector<NotebookCell>& cells, const std::vector<Record>& records) {
  std::vector<const Record*> of_cells(cells.size());
  size_t next_record = 0;
  for (size_t i = 0; i < cells.size() && next_record < records.size(); ++i) {
    if (IsRunnable(cells[i])) of_cells[i] = &records[next_record++];
  }
  const std::vector<std::vector<Output>> outputs = ReplayOutputs(of_cells);
  std::string out;
  JsonWriter json(&out);
  json.BeginObject();
  json.Key("cells");
  json.BeginArray();
  for (size_t i = 0; i < cells.size(); ++i) WriteCell(json, cells[i], i + 1, of_cells[i], outputs[i]);
  json.EndArray();
  json.Key("metadata");
  json.BeginObject();
  WriteKernelMembers(json);
  json.EndObject();
  json.Member("nbformat", int64_t{4});
  json.Member("nbformat_minor", int64_t{5});
  json.EndObject();
  out.push_back('\n');
  return out;
}

}  // namespace cellblock::render
