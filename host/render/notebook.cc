// Notebooks with outputs; see notebook.h.
#include "render/notebook.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "render/bundle_json.h"
#include "render/json_writer.h"

namespace cellblock::render {
namespace {

// One output as it will stand in the file.
struct Output {
  enum class Kind { kStream, kDisplay, kResult, kError };
  Kind kind;
  std::string text;                 // kStream
  bool is_stderr = false;           // kStream
  const Result* result = nullptr;   // kDisplay, kResult
};

struct CellOutputs {
  const Record* record = nullptr;
  std::vector<Output> outputs;
};

// Replays a record's events as a notebook front end does.
class Replay {
 public:
  explicit Replay(std::vector<CellOutputs>* cells) : cells_(cells) {}

  void Run(CellOutputs* cell) {
    bool clear_before_next = false;
    for (const Event& event : cell->record->events) {
      if (event.type == Event::Type::kClear) {
        clear_before_next = event.wait;
        if (!event.wait) cell->outputs.clear();
        continue;
      }
      if (event.type == Event::Type::kUpdate) {
        Update(cell, event);
        continue;
      }
      if (clear_before_next) cell->outputs.clear();
      clear_before_next = false;
      Add(cell, event);
    }
    bool has_error = std::any_of(cell->outputs.begin(), cell->outputs.end(), [](const Output& o) { return o.kind == Output::Kind::kError; });
    bool ended_badly = cell->record->status != CallStatus::kOk && cell->record->status != CallStatus::kExited;
    if (!has_error && (cell->record->error.has_value() || ended_badly)) cell->outputs.push_back({.kind = Output::Kind::kError});
  }

 private:
  static const Result* ResultOf(const Record& record, const Event& event) {
    return event.result < record.results.size() ? &record.results[event.result] : nullptr;
  }

  void Add(CellOutputs* cell, const Event& event) {
    switch (event.type) {
      case Event::Type::kStdout:
      case Event::Type::kStderr: {
        bool is_stderr = event.type == Event::Type::kStderr;
        bool joins = !cell->outputs.empty() && cell->outputs.back().kind == Output::Kind::kStream && cell->outputs.back().is_stderr == is_stderr;
        if (!joins) cell->outputs.push_back({.kind = Output::Kind::kStream, .is_stderr = is_stderr});
        cell->outputs.back().text += event.text;
        break;
      }
      case Event::Type::kDisplay:
      case Event::Type::kResult:
        if (const Result* result = ResultOf(*cell->record, event); result != nullptr) {
          cell->outputs.push_back({.kind = event.type == Event::Type::kResult ? Output::Kind::kResult : Output::Kind::kDisplay, .result = result});
        }
        break;
      case Event::Type::kError:
        if (cell->record->error.has_value()) cell->outputs.push_back({.kind = Output::Kind::kError});
        break;
      case Event::Type::kUpdate:
      case Event::Type::kClear:
        break;
    }
  }

  // Changes every display of that id, in this cell and the earlier ones.
  void Update(CellOutputs* current, const Event& event) {
    const Result* result = ResultOf(*current->record, event);
    if (result == nullptr || result->display_id.empty()) return;
    for (CellOutputs& cell : *cells_) {
      for (Output& output : cell.outputs) {
        if (output.result != nullptr && output.result->display_id == result->display_id) output.result = result;
      }
    }
  }

  std::vector<CellOutputs>* cells_;
};

void WriteError(JsonWriter& json, const Record& record) {
  json.Member("output_type", "error");
  if (record.error.has_value()) {
    json.Member("ename", record.error->name);
    json.Member("evalue", record.error->value);
    json.Key("traceback");
    json.BeginArray();
    for (absl::string_view line : absl::StrSplit(record.error->traceback, '\n')) json.String(line);
    json.EndArray();
    return;
  }
  // Ended from outside, by a limit or a signal: there is no exception, but the reader must see it.
  json.Member("ename", CallStatusName(record.status));
  json.Member("evalue", record.reason);
  json.Key("traceback");
  json.BeginArray();
  json.String(absl::StrCat(CallStatusName(record.status), ": ", record.reason));
  json.EndArray();
}

void WriteOutput(JsonWriter& json, const Output& output, const Record& record) {
  json.BeginObject();
  switch (output.kind) {
    case Output::Kind::kStream:
      json.Member("output_type", "stream");
      json.Member("name", output.is_stderr ? "stderr" : "stdout");
      json.Member("text", output.text);
      break;
    case Output::Kind::kDisplay:
    case Output::Kind::kResult:
      json.Member("output_type", output.kind == Output::Kind::kResult ? "execute_result" : "display_data");
      json.Key("data");
      WriteBundle(json, output.result->mime);
      json.Key("metadata");
      json.JsonObject(output.result->metadata_json);
      if (output.kind == Output::Kind::kResult) json.Member("execution_count", record.call);
      break;
    case Output::Kind::kError:
      WriteError(json, record);
      break;
  }
  json.EndObject();
}

void WriteCell(JsonWriter& json, const NotebookCell& cell, size_t number, const CellOutputs& outputs) {
  json.BeginObject();
  json.Member("cell_type", cell.kind == CellKind::kCode ? "code" : cell.kind == CellKind::kMarkdown ? "markdown" : "raw");
  json.Member("id", absl::StrCat("cell-", number));
  json.Key("metadata");
  json.BeginObject();
  json.EndObject();
  json.Member("source", cell.source);
  if (cell.kind == CellKind::kCode) {
    json.Key("execution_count");
    outputs.record != nullptr && outputs.record->status != CallStatus::kRejected ? json.Int(outputs.record->call) : json.Null();
    json.Key("outputs");
    json.BeginArray();
    for (const Output& output : outputs.outputs) WriteOutput(json, output, *outputs.record);
    json.EndArray();
  }
  json.EndObject();
}

void WriteMetadata(JsonWriter& json) {
  json.BeginObject();
  json.Key("kernelspec");
  json.BeginObject();
  json.Member("display_name", "Python 3");
  json.Member("language", "python");
  json.Member("name", "python3");
  json.EndObject();
  json.Key("language_info");
  json.BeginObject();
  json.Member("name", "python");
  json.Member("file_extension", ".py");
  json.Member("mimetype", "text/x-python");
  json.EndObject();
  json.EndObject();
}

}  // namespace

std::string RenderNotebook(const std::vector<NotebookCell>& cells, const std::vector<Record>& records) {
  std::vector<CellOutputs> outputs(cells.size());
  Replay replay(&outputs);
  size_t next_record = 0;
  for (size_t i = 0; i < cells.size() && next_record < records.size(); ++i) {
    if (!IsRunnable(cells[i])) continue;
    outputs[i].record = &records[next_record++];
    replay.Run(&outputs[i]);
  }
  std::string out;
  JsonWriter json(&out);
  json.BeginObject();
  json.Key("cells");
  json.BeginArray();
  for (size_t i = 0; i < cells.size(); ++i) WriteCell(json, cells[i], i + 1, outputs[i]);
  json.EndArray();
  json.Key("metadata");
  WriteMetadata(json);
  json.Member("nbformat", int64_t{4});
  json.Member("nbformat_minor", int64_t{5});
  json.EndObject();
  out.push_back('\n');
  return out;
}

}  // namespace cellblock::render
