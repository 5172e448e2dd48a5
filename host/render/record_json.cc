// See record_json.h.
#include "render/record_json.h"

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "render/bundle_json.h"
#include "render/json_writer.h"

namespace cellblock::render {
namespace {

template <typename Value>
void OptionalInt(JsonWriter& json, absl::string_view name, const std::optional<Value>& value) {
  json.Key(name);
  value.has_value() ? json.Int(*value) : json.Null();
}

void ErrorMembers(JsonWriter& json, const ErrorInfo& error) {
  json.Member("name", error.name);
  json.Member("value", error.value);
  json.Member("traceback", error.traceback);
  OptionalInt(json, "line", error.line > 0 ? std::optional<int64_t>(error.line) : std::nullopt);
  OptionalInt(json, "column", error.column > 0 ? std::optional<int64_t>(error.column) : std::nullopt);
  json.Key("hint");
  error.hint.empty() ? json.Null() : json.String(error.hint);
}

void BundleMembers(JsonWriter& json, const Result& result) {
  json.Key("mime");
  WriteBundle(json, result.mime);
  json.Key("metadata");
  json.JsonObject(result.metadata_json);
}

// What was known when it was decided.
void EgressMembers(JsonWriter& json, const Egress& egress) {
  json.Member("protocol", egress.protocol);
  json.Member("host", egress.host);
  if (egress.port > 0) json.Member("port", egress.port);
  if (!egress.method.empty()) json.Member("method", egress.method);
  if (!egress.path.empty()) json.Member("path", egress.path);
  json.Member("allowed", egress.allowed);
  json.Member("rule", egress.rule);
  if (!egress.reason.empty()) json.Member("reason", egress.reason);
}

void WriteEvent(JsonWriter& json, const Event& event, const Record& record) {
  json.BeginObject();
  json.Member("type", EventTypeName(event.type));
  json.Member("t_seconds", event.time);
  switch (event.type) {
    case Event::Type::kStdout:
    case Event::Type::kStderr:
      json.Member("text", event.text);
      if (event.late) json.Member("late", true);
      break;
    case Event::Type::kDisplay:
    case Event::Type::kUpdate:
    case Event::Type::kResult:
      if (event.result < record.results.size()) {
        const Result& result = record.results[event.result];
        BundleMembers(json, result);
        if (event.type != Event::Type::kResult && !result.display_id.empty()) json.Member("display_id", result.display_id);
      }
      break;
    case Event::Type::kClear:
      json.Member("wait", event.wait);
      break;
    case Event::Type::kError:
      if (record.error.has_value()) ErrorMembers(json, *record.error);
      break;
    case Event::Type::kEgress:
      if (event.result < record.egress.size()) {
        json.Member("index", static_cast<int64_t>(event.result));
        EgressMembers(json, record.egress[event.result]);
      }
      break;
  }
  json.EndObject();
}

void WriteResult(JsonWriter& json, const Result& result) {
  json.BeginObject();
  BundleMembers(json, result);
  json.Member("is_value", result.is_value);
  if (!result.display_id.empty()) json.Member("display_id", result.display_id);
  json.EndObject();
}

void WriteArtifact(JsonWriter& json, const Artifact& artifact) {
  json.BeginObject();
  json.Member("id", artifact.id);
  json.Member("path", artifact.path);
  json.Member("size_bytes", artifact.size_bytes);
  json.Member("mime", artifact.mime);
  json.Member("sha256", artifact.sha256);
  json.Member("change", artifact.created ? "created" : "modified");
  json.Member("call", artifact.call);
  if (artifact.image_size.has_value()) {
    json.Member("width", artifact.image_size->first);
    json.Member("height", artifact.image_size->second);
  }
  json.EndObject();  // stored_at is the host's affair
}

void WriteReceipt(JsonWriter& json, const Receipt& receipt) {
  json.BeginObject();
  json.Member("wall_seconds", receipt.wall);
  json.Member("cpu_seconds", receipt.cpu);
  json.Member("memory_peak_bytes", receipt.memory_peak_bytes);
  json.Member("written_bytes", receipt.written_bytes);
  json.Member("output_bytes", receipt.output_bytes);
  json.Member("egress_bytes", receipt.egress_bytes);
  json.Member("processes_peak", receipt.processes_peak);
  json.Member("processes_killed", receipt.processes_killed);
  json.Member("threads_kept", receipt.threads_kept);
  json.Key("limits");
  json.BeginObject();
  absl::flat_hash_set<absl::string_view> names;
  for (const auto& [name, value] : receipt.limits) {
    if (names.insert(name).second) json.Member(name, value);
  }
  json.EndObject();
  json.Key("limits_hit");
  json.BeginArray();
  for (const LimitHit& hit : receipt.limits_hit) {
    json.BeginObject();
    json.Member("name", hit.name);
    json.Member("detail", hit.detail);
    json.EndObject();
  }
  json.EndArray();
  json.Key("layers");
  json.BeginArray();
  for (const Layer& layer : receipt.layers) {
    json.BeginObject();
    json.Member("name", layer.name);
    json.Member("state", layer.state);
    if (!layer.detail.empty()) json.Member("detail", layer.detail);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
}

void WriteDenial(JsonWriter& json, const Denial& denial) {
  json.BeginObject();
  json.Member("kind", denial.kind);
  json.Member("subject", denial.subject);
  json.Member("rule", denial.rule);
  json.Member("count", denial.count);
  json.EndObject();
}

void WriteEgress(JsonWriter& json, const Egress& egress) {
  json.BeginObject();
  EgressMembers(json, egress);
  if (egress.status > 0) json.Member("status", egress.status);
  json.Member("sent_bytes", egress.sent_bytes);
  json.Member("received_bytes", egress.received_bytes);
  json.Member("t_seconds", egress.time);
  json.Key("wall_seconds");
  egress.wall.has_value() ? json.Seconds(*egress.wall) : json.Null();
  if (!egress.secrets.empty()) {
    json.Key("secrets");
    json.BeginArray();
    for (const std::string& name : egress.secrets) json.String(name);
    json.EndArray();
  }
  json.EndObject();
}

void WriteTruncation(JsonWriter& json, absl::string_view name, const std::optional<StreamTruncation>& truncation) {
  json.Key(name);
  if (!truncation.has_value()) return json.Null();
  json.BeginObject();
  json.Member("head_bytes", truncation->head_bytes);
  json.Member("tail_bytes", truncation->tail_bytes);
  json.Member("dropped_bytes", truncation->dropped_bytes);
  if (!truncation->artifact_id.empty()) json.Member("artifact_id", truncation->artifact_id);
  json.EndObject();
}

template <typename Items, typename Write>
void WriteArray(JsonWriter& json, absl::string_view name, const Items& items, Write write) {
  json.Key(name);
  json.BeginArray();
  for (const auto& item : items) write(item);
  json.EndArray();
}

}  // namespace

// Enough that the string rarely grows while it is written: text twice (whole and in events), images once as result, once as event.
size_t RecordJsonBytes(const Record& record) {
  size_t bytes = 4096 + 2 * (record.stdout_text.size() + record.stderr_text.size()) + 128 * record.events.size();
  for (const Result& result : record.results) {
    for (const MimeData& data : result.mime) bytes += 2 * data.data.size() * (data.is_text ? 1 : 4) / (data.is_text ? 1 : 3) + 64;
  }
  return bytes + bytes / 16;
}

std::string RenderRecordJson(const Record& record) {
  std::string out;
  out.reserve(RecordJsonBytes(record));
  JsonWriter json(&out);
  json.BeginObject();
  json.Member("id", record.id);
  json.Member("session_id", record.session_id);
  json.Member("call", record.call);
  json.Member("status", CallStatusName(record.status));
  json.Key("reason");
  record.reason.empty() ? json.Null() : json.String(record.reason);
  OptionalInt(json, "exit_code", record.exit_code);
  OptionalInt(json, "signal", record.signal);
  json.Member("session_state", SessionStateName(record.session_state));
  json.Key("started_at");
  json.Time(record.started_at);
  json.Member("stdout", record.stdout_text);
  json.Member("stderr", record.stderr_text);
  WriteArray(json, "events", record.events, [&](const Event& event) { WriteEvent(json, event, record); });
  WriteArray(json, "results", record.results, [&](const Result& result) { WriteResult(json, result); });
  json.Key("error");
  if (record.error.has_value()) {
    json.BeginObject();
    ErrorMembers(json, *record.error);
    json.EndObject();
  } else {
    json.Null();
  }
  WriteArray(json, "artifacts", record.artifacts, [&](const Artifact& artifact) { WriteArtifact(json, artifact); });
  json.Key("receipt");
  WriteReceipt(json, record.receipt);
  WriteArray(json, "denials", record.denials, [&](const Denial& denial) { WriteDenial(json, denial); });
  if (!record.egress.empty() || record.egress_left_out > 0) {
    WriteArray(json, "egress", record.egress, [&](const Egress& egress) { WriteEgress(json, egress); });
    json.Member("egress_left_out", record.egress_left_out);
  }
  json.Key("truncation");
  json.BeginObject();
  WriteTruncation(json, "stdout", record.stdout_truncation);
  WriteTruncation(json, "stderr", record.stderr_truncation);
  json.EndObject();
  json.EndObject();
  return out;
}

std::string RenderEventJson(const Event& event, const Record& record) {
  std::string out;
  JsonWriter json(&out);
  WriteEvent(json, event, record);
  return out;
}

}  // namespace cellblock::render
