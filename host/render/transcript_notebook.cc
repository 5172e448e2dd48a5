// A transcript as an .ipynb; see transcript.h.
#include <utility>

#include "absl/strings/str_cat.h"
#include "render/json_writer.h"
#include "render/notebook_json.h"
#include "render/transcript.h"
#include "render/transcript_parts.h"

namespace cellblock::render {
namespace {

constexpr size_t kNoteBytesMax = 2000;

// What the record tells beyond the outputs; names as in the record's JSON.
void WriteCellMetadata(JsonWriter& json, const TranscriptCall& call) {
  json.BeginObject();
  json.Key("cellblock");
  json.BeginObject();
  json.Member("language", call.language == Language::kBash ? "bash" : "python");
  json.Key("started_at");
  json.Time(call.started_at);
  if (call.record.has_value()) {
    const Record& record = *call.record;
    json.Member("call", record.call);
    json.Member("status", CallStatusName(record.status));
    json.Member("session_state", SessionStateName(record.session_state));
    json.Member("wall_seconds", record.receipt.wall);
    json.Key("artifacts");
    json.BeginArray();
    for (size_t i = 0; i < record.artifacts.size() && i < kTranscriptListMax; ++i) {
      json.BeginObject();
      json.Member("id", record.artifacts[i].id);
      json.Member("path", record.artifacts[i].path);
      json.EndObject();
    }
    json.EndArray();
    if (record.artifacts.size() > kTranscriptListMax) json.Member("artifacts_left_out", static_cast<int64_t>(record.artifacts.size() - kTranscriptListMax));
  }
  json.EndObject();
  json.EndObject();
}

// The cell up to its first output.
std::string CellHead(const TranscriptCall& call, size_t index) {
  std::string head;
  JsonWriter json(&head);
  json.BeginObject();
  json.Member("cell_type", "code");
  json.Member("id", absl::StrCat("cell-", index + 1));
  json.Key("metadata");
  WriteCellMetadata(json, call);
  json.Member("source", call.language == Language::kBash ? absl::StrCat("%%bash\n", call.code) : call.code);
  json.Key("execution_count");
  call.record.has_value() && call.record->call > 0 ? WriteExecutionCount(json, *call.record) : json.Null();
  json.Key("outputs");
  json.BeginArray();
  return head;
}

// Appends the outputs of one cell, with commas between them.
class CellOutputs {
 public:
  CellOutputs(TranscriptLayout* layout, std::string* out) : layout_(layout), out_(out) {}

  template <typename Write>
  void Add(Write write) {
    std::string output = first_ ? "" : ",";
    JsonWriter json(&output);
    write(json);
    const size_t before = out_->size();
    layout_->Add(output, out_);
    if (out_->size() > before) first_ = false;
  }

  void Finish() {
    const std::string left_out = layout_->LeftOutOutputs();
    if (left_out.empty()) return;
    if (!first_) out_->push_back(',');
    JsonWriter json(out_);
    WriteStream(json, /*is_stderr=*/true, absl::StrCat("[", left_out, "]\n"));
  }

 private:
  TranscriptLayout* layout_;
  std::string* out_;
  bool first_ = true;
};

void WriteCell(const TranscriptCall& call, const std::vector<Output>& outputs, TranscriptLayout* layout, std::string* out) {
  CellOutputs written(layout, out);
  const std::string note = OneLine(NoteOf(call), kNoteBytesMax);
  if (!note.empty()) written.Add([&](JsonWriter& json) { WriteStream(json, /*is_stderr=*/true, absl::StrCat("[", note, "]\n")); });
  for (const Output& output : outputs) written.Add([&](JsonWriter& json) { WriteOutput(json, output, *call.record); });
  written.Finish();
}

void WriteLeftOutCell(JsonWriter& json, const std::string& sentence) {
  json.BeginObject();
  json.Member("cell_type", "markdown");
  json.Member("id", "left-out");
  json.Key("metadata");
  json.BeginObject();
  json.EndObject();
  json.Member("source", sentence);
  json.EndObject();
}

void WriteMetadata(JsonWriter& json, const Transcript& transcript, const TranscriptLayout& layout) {
  const std::string session = OneLine(transcript.session_id, kTranscriptNameMax);
  json.BeginObject();
  WriteKernelMembers(json);
  json.Member("title", absl::StrCat("Session ", session));
  json.Key("cellblock");
  json.BeginObject();
  json.Member("session_id", session);
  json.Member("policy", OneLine(transcript.policy, kTranscriptNameMax));
  json.Member("calls", static_cast<int64_t>(layout.calls()));
  json.Member("calls_left_out", layout.calls_left_out());
  json.EndObject();
  json.EndObject();
}

}  // namespace

std::string RenderTranscriptNotebook(const Transcript& transcript, size_t bytes_max) {
  TranscriptLayout layout(transcript, bytes_max, CellHead);
  const std::vector<std::vector<Output>> outputs = OutputsOf(transcript, layout.calls());
  std::string out = "{\"cells\":[";
  for (size_t i = 0; i < layout.calls(); ++i) {
    if (i > 0) out.push_back(',');
    out.append(layout.code(i));
    WriteCell(transcript.calls[i], outputs[i], &layout, &out);
    out.append("]}");
  }
  if (const std::string sentence = layout.LeftOutCalls(); !sentence.empty()) {
    if (layout.calls() > 0) out.push_back(',');
    JsonWriter json(&out);
    WriteLeftOutCell(json, sentence);
  }
  out.append("],\"metadata\":");
  JsonWriter json(&out);
  WriteMetadata(json, transcript, layout);
  json.Member("nbformat", int64_t{4});
  json.Member("nbformat_minor", int64_t{5});
  json.EndObject();
  out.push_back('\n');
  return out;
}

}  // namespace cellblock::render
