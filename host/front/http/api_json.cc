// See api_json.h.
#include "front/http/api_json.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "sys/sha256.h"

namespace cellblock::front {

void WriteSession(render::JsonWriter& json, const service::SessionInfo& session) {
  const bool live = session.ended_at == absl::InfiniteFuture();
  json.BeginObject();
  json.Member("id", session.id);
  json.Member("state", session.state);
  json.Member("policy", session.policy);
  json.Key("created_at");
  json.Time(session.created_at);
  json.Key("metadata");
  json.JsonObject(session.metadata_json);
  if (live) {
    json.Key("last_used_at");
    json.Time(session.last_used_at);
    json.Key("expires_at");
    json.Time(session.expires_at);
    json.Key("life_ends_at");
    json.Time(session.life_ends_at);
    json.Member("idle_timeout_seconds", session.idle);
    json.Member("calls", session.calls);
    json.Member("waiting", session.waiting);
    json.Key("memory");
    json.BeginObject();
    json.Member("bytes", session.memory.bytes);
    json.Member("level", MemoryLevelName(session.memory.level));
    json.Member("swapped_bytes", session.memory.swapped_bytes);
    json.EndObject();
    json.Key("layers");
    json.BeginArray();
    for (const Layer& layer : session.layers) {
      json.BeginObject();
      json.Member("name", layer.name);
      json.Member("state", layer.state);
      json.Member("detail", layer.detail);
      json.EndObject();
    }
    json.EndArray();
  } else {
    json.Key("ended_at");
    json.Time(session.ended_at);
    json.Member("reason", session.reason);
  }
  json.EndObject();
}

std::string SessionJson(const service::SessionInfo& session) {
  std::string text;
  render::JsonWriter json(&text);
  WriteSession(json, session);
  return text;
}

void WriteFile(render::JsonWriter& json, const service::FileInfo& file) {
  json.BeginObject();
  json.Member("path", file.entry.path);
  json.Member("size_bytes", file.entry.size_bytes);
  if (!file.sha256.empty()) json.Member("sha256", file.sha256);
  if (!file.mime.empty()) json.Member("mime", file.mime);
  if (file.entry.read_only) json.Member("read_only", true);
  json.Key("modified_at");
  json.Time(file.entry.modified_at);
  json.EndObject();
}

void WriteSharedFile(render::JsonWriter& json, const store::SharedFile& file) {
  json.BeginObject();
  json.Member("name", file.name);
  json.Member("size_bytes", file.size_bytes);
  json.Member("sha256", file.sha256);
  json.Member("mime", file.mime);
  json.Key("created_at");
  json.Time(file.created_at);
  json.EndObject();
}

void WriteArtifact(render::JsonWriter& json, const store::ArtifactEntry& artifact) {
  json.BeginObject();
  json.Member("id", artifact.id);
  json.Member("execution_id", artifact.execution_id);
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
  json.Member("kept", artifact.kept);
  json.EndObject();
}

void WritePolicy(render::JsonWriter& json, const std::string& name, const Policy& policy) {
  json.BeginObject();
  json.Member("name", name);
  json.Key("languages");
  json.BeginArray();
  if (policy.languages.python) json.String("python");
  if (policy.languages.bash) json.String("bash");
  json.EndArray();
  json.Member("environment", policy.python.environment);
  json.Member("network", "off");
  json.Key("limits");
  json.BeginObject();
  json.Member("wall_seconds", policy.limits.wall);
  json.Member("memory_bytes", policy.limits.memory_bytes);
  json.Member("cpus", static_cast<int64_t>(policy.limits.cpus));
  json.Member("processes", policy.limits.processes);
  json.Member("workspace_bytes", policy.limits.workspace_bytes);
  json.Member("file_bytes", policy.limits.file_bytes);
  json.Member("output_bytes", policy.limits.output_bytes);
  json.Member("code_bytes", policy.limits.code_bytes);
  json.EndObject();
  json.Key("session");
  json.BeginObject();
  json.Member("idle_timeout_seconds", policy.session.idle);
  json.Member("max_life_seconds", policy.session.life);
  json.Member("queue", policy.session.queue);
  json.EndObject();
  json.EndObject();
}

void ReadNewSession(JsonBody& body, service::NewSession* session) {
  body.Text("policy", &session->policy);
  body.Texts("env", &session->environment);
  body.Number("seed", &session->seed);
  body.Seconds("idle_timeout_seconds", &session->idle);
  body.Seconds("max_life_seconds", &session->life);
  body.Object("metadata", &session->metadata_json);
  body.Texts("attach", &session->attach);
}

void ReadCode(JsonBody& body, service::NewCall* call) {
  body.Require("code", body.Text("code", &call->code));
  std::string language = "python";
  body.OneOf("language", {"python", "bash"}, &language);
  call->language = language == "bash" ? Language::kBash : Language::kPython;
  body.Seconds("timeout_seconds", &call->timeout);
}

void ReadNewCall(JsonBody& body, service::NewCall* call) {
  ReadCode(body, call);
  body.Texts("env", &call->environment);
}

absl::Status ReadNumber(const HttpRequest& request, absl::string_view name, int64_t lowest, int64_t highest, int64_t* value) {
  const auto found = request.query.find(std::string_view(name.data(), name.size()));
  if (found == request.query.end() || (absl::SimpleAtoi(found->second, value) && *value >= lowest && *value <= highest)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(name, ": a number from ", lowest, " to ", highest, " is wanted"));
}

absl::StatusOr<Page> ReadPage(const HttpRequest& request) {
  Page page;
  CELLBLOCK_RETURN_IF_ERROR(ReadNumber(request, "limit", 1, store::kPageMax, &page.count));
  if (!ReadNumber(request, "cursor", 0, INT64_MAX, &page.cursor).ok()) return absl::InvalidArgumentError("cursor: the next_cursor of the page before is wanted");
  return page;
}

void WriteNextCursor(render::JsonWriter& json, const Page& page, size_t found, int64_t last) {
  json.Key("next_cursor");
  if (static_cast<int64_t>(found) < page.count) {
    json.Null();
  } else {
    json.String(absl::StrCat(last));
  }
}

service::Request AskedBy(const HttpRequest& request) {
  service::Request asked;
  asked.token = request.token;
  asked.id = request.id;
  if (request.idempotency_key.empty()) return asked;
  asked.idempotency_key = request.idempotency_key;
  sys::Sha256 hash;
  hash.Update(absl::StrCat(request.method, " ", request.path, "\n", request.body));
  for (const ReceivedFile& file : request.files) hash.Update(absl::StrCat("\n", file.path, " ", file.sha256));
  asked.content_sha256 = hash.Hex().value_or("");
  return asked;
}

}  // namespace cellblock::front
