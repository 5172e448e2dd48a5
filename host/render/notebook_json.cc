// See notebook_json.h.
#include "capture/json_text.h"
#include "render/notebook_json.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "render/bundle_json.h"

namespace cellblock::render {
namespace {

// Whether Jupyter's Python can read the JSON; digits in its strings count too, for simplicity.
bool IsReadableJson(absl::string_view text) {
  size_t digits = 0;
  for (char c : text) {
    digits = absl::ascii_isdigit(static_cast<unsigned char>(c)) ? digits + 1 : 0;
    if (digits > kNotebookDigitsMax) return false;
  }
  return capture::IsStrictJson(text, kNotebookJsonDepthMax);
}

// The schema allows values other than strings under these types alone.
bool IsJsonTypeOfSchema(absl::string_view type) {
  return absl::ConsumePrefix(&type, "application/") && (type == "json" || absl::EndsWith(type, "+json")) && !absl::StrContains(type, '\n');
}

bool StandsAsJson(const MimeData& data) { return data.is_json && IsJsonTypeOfSchema(data.type) && IsReadableJson(data.data); }

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

void WriteResult(JsonWriter& json, const Output& output, const Record& record) {
  const bool is_result = output.kind == Output::Kind::kResult;
  json.Member("output_type", is_result ? "execute_result" : "display_data");
  json.Key("data");
  WriteBundle(json, output.result->mime, StandsAsJson);
  json.Key("metadata");
  json.JsonObject(IsReadableJson(output.result->metadata_json) ? absl::string_view(output.result->metadata_json) : "{}");
  if (!is_result) return;
  json.Key("execution_count");
  WriteExecutionCount(json, record);
}

}  // namespace

void WriteOutput(JsonWriter& json, const Output& output, const Record& record) {
  if (output.kind == Output::Kind::kStream) return WriteStream(json, output.is_stderr, output.text);
  json.BeginObject();
  if (output.kind == Output::Kind::kError) {
    WriteError(json, record);
  } else {
    WriteResult(json, output, record);
  }
  json.EndObject();
}

void WriteExecutionCount(JsonWriter& json, const Record& record) {
  record.status != CallStatus::kRejected && record.call >= 0 ? json.Int(record.call) : json.Null();
}

void WriteStream(JsonWriter& json, bool is_stderr, absl::string_view text) {
  json.BeginObject();
  json.Member("output_type", "stream");
  json.Member("name", is_stderr ? "stderr" : "stdout");
  json.Member("text", text);
  json.EndObject();
}

void WriteKernelMembers(JsonWriter& json) {
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
}

}  // namespace cellblock::render
