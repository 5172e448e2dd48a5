// The API described by OpenAPI 3.1: the paths from the table of routes, so that the two cannot differ; the shapes of bodies by hand, held
// against real answers by a test. Supervisor; pure.
#include <map>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "front/http/api.h"
#include "render/json_writer.h"

namespace cellblock::front {
namespace {

constexpr absl::string_view kSchemas = R"json({
"Problem":{"type":"object","required":["type","title","status","code","detail","request_id"],"properties":{"type":{"type":"string"},"title":{"type":"string"},"status":{"type":"integer"},"code":{"type":"string","description":"stable; what a program acts on"},"detail":{"type":"string","description":"what happened, by which rule or limit, and what to do"},"request_id":{"type":"string"}}},
"Detached":{"type":"object","required":["execution_id"],"properties":{"execution_id":{"type":"string"}}},
"NewSession":{"type":"object","additionalProperties":false,"properties":{"policy":{"type":"string","default":"default"},"env":{"type":"object","additionalProperties":{"type":"string"}},"seed":{"type":"integer","minimum":0},"idle_timeout_seconds":{"type":"number","exclusiveMinimum":0},"max_life_seconds":{"type":"number","exclusiveMinimum":0},"metadata":{"type":"object"},"attach":{"$ref":"#/components/schemas/Attach"}}},
"Session":{"type":"object","required":["id","state","policy","created_at","metadata"],"properties":{"id":{"type":"string"},"state":{"enum":["idle","busy","no_interpreter","closed","expired","died"]},"policy":{"type":"string"},"created_at":{"type":"string","format":"date-time"},"metadata":{"type":"object"},"last_used_at":{"type":"string","format":"date-time"},"expires_at":{"type":"string","format":"date-time"},"life_ends_at":{"type":"string","format":"date-time"},"idle_timeout_seconds":{"type":"number"},"calls":{"type":"integer"},"waiting":{"type":"integer"},"memory":{"type":"object","properties":{"bytes":{"type":"integer"},"level":{"enum":["in_use","given_back"]},"swapped_bytes":{"type":"integer"}}},"layers":{"type":"array","items":{"$ref":"#/components/schemas/Layer"}},"ended_at":{"type":"string","format":"date-time"},"reason":{"type":"string"}}},
"Attach":{"type":"object","description":"read-only files: a path in the workspace, and the name of the shared file that is read there","additionalProperties":{"type":"string"}},
"Layer":{"type":"object","required":["name","state"],"properties":{"name":{"type":"string"},"state":{"enum":["enforced","watched","off"]},"detail":{"type":"string"}}},
"SessionList":{"type":"object","required":["sessions","next_cursor"],"properties":{"sessions":{"type":"array","items":{"$ref":"#/components/schemas/Session"}},"next_cursor":{"type":["string","null"]}}},
"Renewal":{"type":"object","additionalProperties":false,"properties":{"idle_timeout_seconds":{"type":"number","exclusiveMinimum":0}}},
"NewCall":{"type":"object","additionalProperties":false,"required":["code"],"properties":{"code":{"type":"string"},"language":{"enum":["python","bash"],"default":"python"},"timeout_seconds":{"type":"number","exclusiveMinimum":0},"env":{"type":"object","additionalProperties":{"type":"string"}},"detach":{"type":"boolean","default":false}}},
"Cell":{"type":"object","additionalProperties":false,"required":["code"],"properties":{"code":{"type":"string"},"language":{"enum":["python","bash"],"default":"python"},"timeout_seconds":{"type":"number","exclusiveMinimum":0},"env":{"type":"object","additionalProperties":{"type":"string"}}}},
"Run":{"type":"object","additionalProperties":false,"required":["code"],"properties":{"code":{"type":"string"},"language":{"enum":["python","bash"],"default":"python"},"timeout_seconds":{"type":"number","exclusiveMinimum":0},"policy":{"type":"string","default":"default"},"env":{"type":"object","additionalProperties":{"type":"string"}},"seed":{"type":"integer","minimum":0},"idle_timeout_seconds":{"type":"number","exclusiveMinimum":0},"max_life_seconds":{"type":"number","exclusiveMinimum":0},"metadata":{"type":"object"},"attach":{"$ref":"#/components/schemas/Attach"}}},
"RunCells":{"type":"object","additionalProperties":false,"required":["cells"],"properties":{"cells":{"type":"array","maxItems":1000,"items":{"$ref":"#/components/schemas/Cell"}},"keep_going":{"type":"boolean","default":false},"policy":{"type":"string","default":"default"},"env":{"type":"object","additionalProperties":{"type":"string"}},"seed":{"type":"integer","minimum":0},"idle_timeout_seconds":{"type":"number","exclusiveMinimum":0},"max_life_seconds":{"type":"number","exclusiveMinimum":0},"metadata":{"type":"object"},"attach":{"$ref":"#/components/schemas/Attach"}}},
"Record":{"type":"object","required":["id","session_id","call","status","session_state","stdout","stderr","events","results","error","artifacts","receipt","denials","truncation"],"properties":{"id":{"type":"string"},"session_id":{"type":"string"},"call":{"type":"integer"},"status":{"enum":["ok","error","exited","interrupted","timeout","cpu_limit","out_of_memory","killed","rejected","lost"]},"reason":{"type":["string","null"]},"exit_code":{"type":["integer","null"]},"signal":{"type":["integer","null"]},"session_state":{"enum":["kept","restarted","gone"]},"started_at":{"type":["string","null"],"format":"date-time"},"stdout":{"type":"string"},"stderr":{"type":"string"},"events":{"type":"array","items":{"type":"object","required":["type","t_seconds"]}},"results":{"type":"array","items":{"type":"object","required":["mime","metadata","is_value"]}},"error":{"type":["object","null"]},"artifacts":{"type":"array","items":{"$ref":"#/components/schemas/Artifact"}},"receipt":{"type":"object"},"denials":{"type":"array","items":{"type":"object"}},"egress":{"type":"array","items":{"type":"object"}},"egress_left_out":{"type":"integer"},"truncation":{"type":"object"}}},
"RecordList":{"type":"object","required":["records","not_run"],"properties":{"records":{"type":"array","items":{"$ref":"#/components/schemas/Record"}},"not_run":{"type":"integer"}}},
"Execution":{"description":"the record of a call that has ended; before that, its state so far","anyOf":[{"$ref":"#/components/schemas/Record"},{"type":"object","required":["id","session_id","status","accepted_at","events","events_truncated"],"properties":{"id":{"type":"string"},"session_id":{"type":"string"},"status":{"enum":["waiting","running"]},"accepted_at":{"type":"string","format":"date-time"},"events":{"type":"array","items":{"type":"object"}},"events_truncated":{"type":"boolean"}}}]},
"Upload":{"type":"object","description":"multipart/form-data: each part with a filename is a file; a part called file or files is stored under its filename, another under its own name"},
"File":{"type":"object","required":["path","size_bytes","modified_at"],"properties":{"path":{"type":"string"},"size_bytes":{"type":"integer"},"sha256":{"type":"string"},"mime":{"type":"string"},"read_only":{"type":"boolean"},"modified_at":{"type":"string","format":"date-time"}}},
"FileList":{"type":"object","required":["files"],"properties":{"files":{"type":"array","items":{"$ref":"#/components/schemas/File"}}}},
"SharedFile":{"type":"object","required":["name","size_bytes","sha256","mime","created_at"],"properties":{"name":{"type":"string"},"size_bytes":{"type":"integer"},"sha256":{"type":"string"},"mime":{"type":"string"},"created_at":{"type":"string","format":"date-time"}}},
"SharedFileList":{"type":"object","required":["shared_files"],"properties":{"shared_files":{"type":"array","items":{"$ref":"#/components/schemas/SharedFile"}}}},
"Artifact":{"type":"object","required":["id","path","size_bytes","mime","sha256","change","call"],"properties":{"id":{"type":"string"},"execution_id":{"type":"string"},"path":{"type":"string"},"size_bytes":{"type":"integer"},"mime":{"type":"string"},"sha256":{"type":"string"},"change":{"enum":["created","modified"]},"call":{"type":"integer"},"width":{"type":"integer"},"height":{"type":"integer"},"kept":{"type":"boolean"}}},
"ArtifactList":{"type":"object","required":["artifacts","next_cursor"],"properties":{"artifacts":{"type":"array","items":{"$ref":"#/components/schemas/Artifact"}},"next_cursor":{"type":["string","null"]}}},
"PolicyList":{"type":"object","required":["policies"],"properties":{"policies":{"type":"array","items":{"type":"object","required":["name","limits","session"]}}}},
"EnvironmentList":{"type":"object","required":["environments"],"properties":{"environments":{"type":"array","items":{"type":"object","required":["name"]}}}}
})json";

void WriteParameter(render::JsonWriter& json, absl::string_view name, absl::string_view in, absl::string_view type) {
  json.BeginObject();
  json.Member("name", name);
  json.Member("in", in);
  json.Member("required", in == "path");
  json.Key("schema");
  json.BeginObject();
  json.Member("type", type);
  json.EndObject();
  json.EndObject();
}

// The names between braces, in order.
std::vector<std::string> CapturesOf(absl::string_view pattern) {
  std::vector<std::string> names;
  for (size_t open = pattern.find('{'); open != absl::string_view::npos; open = pattern.find('{', open + 1)) {
    names.emplace_back(pattern.substr(open + 1, pattern.find('}', open) - open - 1));
  }
  return names;
}

void WriteContent(render::JsonWriter& json, absl::string_view type, absl::string_view schema) {
  json.Key(type);
  json.BeginObject();
  if (!schema.empty()) {
    json.Key("schema");
    json.BeginObject();
    if (schema == "any") {
      json.Member("type", "object");
    } else if (schema == "text") {
      json.Member("type", "string");
    } else {
      json.Member("$ref", absl::StrCat("#/components/schemas/", schema));
    }
    json.EndObject();
  }
  json.EndObject();
}

bool HasRanges(const Route& route) { return route.operation == "getFile" || route.operation == "getArtifact"; }

void WriteReplies(render::JsonWriter& json, const Route& route) {
  json.Key("responses");
  json.BeginObject();
  json.Key(absl::StrCat(route.success));
  json.BeginObject();
  json.Member("description", route.success == 204 ? "done" : "the answer");
  if (!route.reply_schema.empty()) {
    json.Key("content");
    json.BeginObject();
    if (route.reply_schema == "bytes") {
      WriteContent(json, "*/*", "");
    } else {
      WriteContent(json, route.reply_schema == "text" ? "text/plain" : "application/json", route.reply_schema);
    }
    if (route.operation == "execute") WriteContent(json, "text/event-stream", "text");
    json.EndObject();
  }
  json.EndObject();
  if (route.operation == "execute") {
    json.Key("202");
    json.BeginObject();
    json.Member("description", "detached: Location tells where its record will be");
    json.Key("content");
    json.BeginObject();
    WriteContent(json, "application/json", "Detached");
    json.EndObject();
    json.EndObject();
  }
  if (HasRanges(route)) {
    for (const auto& [status, description] : {std::pair<const char*, const char*>{"206", "the part that Range names"}, {"304", "not changed: If-None-Match names its ETag"}, {"416", "Range lies beyond its end"}}) {
      json.Key(status);
      json.BeginObject();
      json.Member("description", description);
      json.EndObject();
    }
  }
  json.Key("default");
  json.BeginObject();
  json.Member("description", "an error");
  json.Key("content");
  json.BeginObject();
  WriteContent(json, "application/problem+json", "Problem");
  json.EndObject();
  json.EndObject();
  json.EndObject();
}

void WriteOperation(render::JsonWriter& json, const Route& route) {
  json.Key(absl::AsciiStrToLower(route.method));
  json.BeginObject();
  json.Member("operationId", route.operation);
  json.Member("summary", route.summary);
  json.Key("parameters");
  json.BeginArray();
  for (const std::string& name : CapturesOf(route.pattern)) WriteParameter(json, absl::StrReplaceAll(name, {{"...", ""}}), "path", "string");
  if (route.operation == "listSessions" || route.operation == "listArtifacts") {
    WriteParameter(json, "limit", "query", "integer");
    WriteParameter(json, "cursor", "query", "string");
  }
  if (HasRanges(route)) {
    for (const char* name : {"Range", "If-Range", "If-None-Match"}) WriteParameter(json, name, "header", "string");
  }
  if (route.operation == "previewFile") WriteParameter(json, "rows", "query", "integer");
  if (route.operation == "transcript") WriteParameter(json, "format", "query", "string");
  if (route.operation == "createSession" || route.operation == "execute") WriteParameter(json, "Idempotency-Key", "header", "string");
  json.EndArray();
  if (route.body != Route::Body::kNone) {
    json.Key("requestBody");
    json.BeginObject();
    json.Key("content");
    json.BeginObject();
    if (route.body == Route::Body::kFile) WriteContent(json, "application/octet-stream", "");
    if (route.body != Route::Body::kFile) WriteContent(json, "application/json", route.request_schema.empty() ? "any" : route.request_schema);
    if (route.body == Route::Body::kJsonOrMultipart) WriteContent(json, "multipart/form-data", "any");
    json.EndObject();
    json.EndObject();
  }
  WriteReplies(json, route);
  if (route.open) {
    json.Key("security");
    json.BeginArray();
    json.EndArray();
  }
  json.EndObject();
}

}  // namespace

std::string OpenApiJson(absl::string_view version) {
  std::map<std::string, std::vector<const Route*>> by_path;
  for (const Route& route : Api::Routes()) by_path[absl::StrReplaceAll(route.pattern, {{"...", ""}})].push_back(&route);
  std::string text;
  render::JsonWriter json(&text);
  json.BeginObject();
  json.Member("openapi", "3.1.0");
  json.Key("info");
  json.BeginObject();
  json.Member("title", "Cellblock");
  json.Member("version", version);
  json.Member("description", "Runs Python that a model or a stranger wrote, in sessions that keep their state.");
  json.EndObject();
  json.Key("security");
  json.JsonOrString(R"([{"token":[]}])");
  json.Key("paths");
  json.BeginObject();
  for (const auto& [path, routes] : by_path) {
    json.Key(path);
    json.BeginObject();
    for (const Route* route : routes) WriteOperation(json, *route);
    json.EndObject();
  }
  json.EndObject();
  json.Key("components");
  json.BeginObject();
  json.Key("securitySchemes");
  json.JsonOrString(R"({"token":{"type":"http","scheme":"bearer"}})");
  json.Key("schemas");
  json.JsonOrString(kSchemas);
  json.EndObject();
  json.EndObject();
  return text;
}

}  // namespace cellblock::front
