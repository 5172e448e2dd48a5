// See api.h: the routes, and sessions; calls stand in api_calls.cc, files in api_files.cc.
#include "front/http/api.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "front/http/api_json.h"
#include "front/http/event_stream.h"
#include "front/http/target.h"

namespace cellblock::front {
namespace {

HttpReply JsonReply(int status, std::string body) {
  HttpReply reply;
  reply.status = status;
  reply.body = std::move(body);
  return reply;
}

HttpReply SessionReply(int status, const absl::StatusOr<service::SessionInfo>& session, const HttpRequest& request) {
  return session.ok() ? JsonReply(status, SessionJson(*session)) : ProblemReply(session.status(), request.id);
}

HttpReply NothingReply(const absl::Status& status, const HttpRequest& request) {
  HttpReply reply;
  reply.status = 204;
  return status.ok() ? std::move(reply) : ProblemReply(status, request.id);
}

// Matches a path, still encoded, with a pattern; each {…} takes one part, {…...} all that is left.
bool Matches(absl::string_view pattern, absl::string_view path, std::vector<std::string>* captured) {
  captured->clear();
  while (!pattern.empty()) {
    const size_t open = pattern.find('{');
    if (!absl::ConsumePrefix(&path, pattern.substr(0, open))) return false;
    if (open == absl::string_view::npos) return path.empty();
    const size_t close = pattern.find('}', open);
    const bool rest = absl::EndsWith(pattern.substr(0, close), "...");
    const size_t end = rest ? path.size() : std::min(path.find('/'), path.size());
    std::string part;
    if (end == 0 || !DecodePercent(path.substr(0, end), &part)) return false;
    captured->push_back(std::move(part));
    path.remove_prefix(end);
    pattern.remove_prefix(close + 1);
  }
  return path.empty();
}

}  // namespace

const std::vector<Route>& Api::Routes() {
  using Body = Route::Body;
  static const std::vector<Route>* const routes = new std::vector<Route>{
      {"POST", "/v1/sessions", "createSession", "Make a session", Body::kJson, "NewSession", "Session", 201, false, &Api::CreateSession},
      {"GET", "/v1/sessions", "listSessions", "The token's sessions, newest first, ended ones too", Body::kNone, "", "SessionList", 200, false, &Api::ListSessions},
      {"GET", "/v1/sessions/{id}", "getSession", "One session", Body::kNone, "", "Session", 200, false, &Api::GetSession},
      {"DELETE", "/v1/sessions/{id}", "closeSession", "End a session and all that runs in it", Body::kNone, "", "", 204, false, &Api::CloseSession},
      {"POST", "/v1/sessions/{id}/renew", "renewSession", "Move the end of its idle time; never nearer", Body::kJson, "Renewal", "Session", 200, false, &Api::RenewSession},
      {"POST", "/v1/sessions/{id}/restart", "restartSession", "A new interpreter; files are kept, variables are gone", Body::kJson, "", "Session", 200, false, &Api::RestartSession},
      {"POST", "/v1/sessions/{id}/interrupt", "interruptSession", "Interrupt the running call; variables are kept", Body::kJson, "", "Session", 200, false, &Api::InterruptSession},
      {"POST", "/v1/sessions/{id}/execute", "execute", "Run code; the record, or its events as they come, or at once an id", Body::kJson, "NewCall", "Record", 200, false, &Api::Execute},
      {"GET", "/v1/executions/{id}", "getExecution", "The record of a call, or its state so far", Body::kNone, "", "Execution", 200, false, &Api::GetExecution},
      {"POST", "/v1/executions/{id}/interrupt", "interruptExecution", "Interrupt this call, or take it out of the queue", Body::kJson, "", "Execution", 200, false, &Api::InterruptExecution},
      {"GET", "/v1/sessions/{id}/files", "listFiles", "The files of its workspace", Body::kNone, "", "FileList", 200, false, &Api::ListFiles},
      {"POST", "/v1/sessions/{id}/files", "putFiles", "Upload files as multipart/form-data", Body::kJsonOrMultipart, "Upload", "FileList", 201, false, &Api::PutFiles},
      {"PUT", "/v1/sessions/{id}/files/{path...}", "putFile", "Upload a file, in place of one of that name", Body::kFile, "", "File", 201, false, &Api::PutFile},
      {"GET", "/v1/sessions/{id}/files/{path...}", "getFile", "A file's bytes", Body::kNone, "", "bytes", 200, false, &Api::GetFile},
      {"DELETE", "/v1/sessions/{id}/files/{path...}", "removeFile", "Remove a file, or a folder with all that is in it", Body::kNone, "", "", 204, false, &Api::RemoveFile},
      {"GET", "/v1/sessions/{id}/preview/{path...}", "previewFile", "What a file is, its columns and first rows (?rows=0 to 100)", Body::kNone, "", "any", 200, false, &Api::Preview},
      {"GET", "/v1/sessions/{id}/variables", "listVariables", "The session's variables by name, type and size", Body::kNone, "", "any", 200, false, &Api::Variables},
      {"GET", "/v1/sessions/{id}/artifacts", "listArtifacts", "The files that its calls made or changed", Body::kNone, "", "ArtifactList", 200, false, &Api::ListArtifacts},
      {"GET", "/v1/sessions/{id}/transcript", "transcript", "All its calls as a notebook, a script or a text (?format=ipynb, py or md)", Body::kNone, "", "bytes", 200, false, &Api::Transcript},
      {"GET", "/v1/artifacts/{id}", "getArtifact", "An artifact's bytes", Body::kNone, "", "bytes", 200, false, &Api::GetArtifact},
      {"GET", "/v1/shared-files", "listSharedFiles", "The token's files that sessions can attach", Body::kNone, "", "SharedFileList", 200, false, &Api::ListSharedFiles},
      {"PUT", "/v1/shared-files/{name...}", "putSharedFile", "Upload a file that many sessions read without a copy, in place of one of that name", Body::kFile, "", "SharedFile", 201, false, &Api::PutSharedFile},
      {"DELETE", "/v1/shared-files/{name...}", "removeSharedFile", "Remove it; sessions that have it attached keep it", Body::kNone, "", "", 204, false, &Api::RemoveSharedFile},
      {"POST", "/v1/run", "run", "Run code in a session of its own, which is closed then", Body::kJsonOrMultipart, "Run", "Record", 200, false, &Api::Run},
      {"POST", "/v1/run-cells", "runCells", "Run cells one after the other in a session of their own", Body::kJsonOrMultipart, "RunCells", "RecordList", 200, false, &Api::RunCells},
      {"GET", "/v1/policies", "listPolicies", "The policies that the token may use", Body::kNone, "", "PolicyList", 200, false, &Api::Policies},
      {"GET", "/v1/environments", "listEnvironments", "The Python environments and their packages", Body::kNone, "", "EnvironmentList", 200, false, &Api::Environments},
      {"GET", "/v1/openapi.json", "openapi", "This description", Body::kNone, "", "any", 200, true, &Api::OpenApi},
      {"GET", "/healthz", "health", "The server answers", Body::kNone, "", "any", 200, true, &Api::Health},
      {"GET", "/readyz", "ready", "The server takes new sessions", Body::kNone, "", "any", 200, true, &Api::Ready},
      {"GET", "/metrics", "metrics", "Counters and gauges in Prometheus' text format; the token needs metrics: yes or only", Body::kNone, "", "text", 200, false, &Api::Metrics, true},
  };
  return *routes;
}

const Route* Api::FindRoute(absl::string_view method, absl::string_view path, std::vector<std::string>* captured, std::string* allowed) {
  if (method == "HEAD") method = "GET";  // answered without its body
  for (const Route& route : Routes()) {
    if (!Matches(route.pattern, path, captured)) continue;
    if (route.method == method) return &route;
    absl::StrAppend(allowed, allowed->empty() ? "" : ", ", route.method, route.method == "GET" ? ", HEAD" : "");
  }
  return nullptr;
}

std::optional<HttpReply> Api::Refuse(const Route& route, bool metrics_open, const HttpRequest& request) {
  if (request.token == nullptr || IsOpen(route, metrics_open)) return std::nullopt;
  if (route.metrics && request.token->metrics == service::MetricsAccess::kNo) {
    return ProblemReply(403, "metrics_not_allowed",
                        absl::StrCat("token ", request.token->name, " may not see the server's metrics, which tell of everybody's sessions; its operator can give it metrics: yes, or use a token with metrics: only"), request.id);
  }
  if (!route.metrics && request.token->metrics == service::MetricsAccess::kOnly) {
    return ProblemReply(403, "metrics_only", absl::StrCat("token ", request.token->name, " is for /metrics alone (metrics: only)"), request.id);
  }
  return std::nullopt;
}

HttpReply Api::Handle(const Route& route, HttpRequest& request) { return (this->*route.handle)(request); }

// ------------------------------------------------------------------------------------------------------------------- sessions

HttpReply Api::CreateSession(HttpRequest& request) {
  absl::StatusOr<JsonBody> body = JsonBody::Parse(request.body);
  if (!body.ok()) return ProblemReply(body.status(), request.id);
  service::NewSession wanted;
  ReadNewSession(*body, &wanted);
  if (absl::Status status = body->Finish(); !status.ok()) return ProblemReply(status, request.id);
  const absl::StatusOr<service::SessionInfo> session = service_.CreateSession(AskedBy(request), wanted);
  HttpReply reply = SessionReply(201, session, request);
  if (session.ok()) reply.headers.emplace_back("Location", absl::StrCat("/v1/sessions/", session->id));
  return reply;
}

HttpReply Api::ListSessions(HttpRequest& request) {
  const absl::StatusOr<Page> page = ReadPage(request);
  if (!page.ok()) return ProblemReply(page.status(), request.id);
  const auto sessions = service_.ListSessions(AskedBy(request), page->cursor, page->count);
  if (!sessions.ok()) return ProblemReply(sessions.status(), request.id);
  std::string text;
  render::JsonWriter json(&text);
  json.BeginObject();
  json.Key("sessions");
  json.BeginArray();
  for (const service::SessionInfo& session : *sessions) WriteSession(json, session);
  json.EndArray();
  WriteNextCursor(json, *page, sessions->size(), sessions->empty() ? 0 : sessions->back().number);
  json.EndObject();
  return JsonReply(200, std::move(text));
}

HttpReply Api::GetSession(HttpRequest& request) {
  return SessionReply(200, service_.GetSession(AskedBy(request), request.captured[0]), request);
}

HttpReply Api::CloseSession(HttpRequest& request) { return NothingReply(service_.CloseSession(AskedBy(request), request.captured[0]), request); }

HttpReply Api::RenewSession(HttpRequest& request) {
  absl::StatusOr<JsonBody> body = JsonBody::Parse(request.body);
  if (!body.ok()) return ProblemReply(body.status(), request.id);
  std::optional<absl::Duration> idle;
  body->Seconds("idle_timeout_seconds", &idle);
  if (absl::Status status = body->Finish(); !status.ok()) return ProblemReply(status, request.id);
  return SessionReply(200, service_.RenewSession(AskedBy(request), request.captured[0], idle), request);
}

HttpReply Api::RestartSession(HttpRequest& request) { return SessionReply(200, service_.RestartSession(AskedBy(request), request.captured[0]), request); }

HttpReply Api::InterruptSession(HttpRequest& request) {
  const service::Request asked = AskedBy(request);
  if (absl::Status status = service_.InterruptSession(asked, request.captured[0]); !status.ok()) return ProblemReply(status, request.id);
  return SessionReply(200, service_.GetSession(asked, request.captured[0]), request);
}

// ------------------------------------------------------------------------------------------------------------------ the server

HttpReply Api::Policies(HttpRequest& request) {
  std::string text;
  render::JsonWriter json(&text);
  json.BeginObject();
  json.Key("policies");
  json.BeginArray();
  for (const auto& [name, policy] : *service_.policies()) {
    if (service::MayUsePolicy(*request.token, name)) WritePolicy(json, name, service::WithLimitsOf(*request.token, policy));
  }
  json.EndArray();
  json.EndObject();
  return JsonReply(200, std::move(text));
}

HttpReply Api::Environments(HttpRequest&) { return JsonReply(200, absl::StrCat("{\"environments\":", options_.environments_json(), "}")); }

HttpReply Api::OpenApi(HttpRequest&) { return JsonReply(200, OpenApiJson(options_.version)); }

HttpReply Api::Health(HttpRequest&) { return JsonReply(200, "{\"status\":\"ok\"}"); }

HttpReply Api::Ready(HttpRequest& request) {
  std::string why;
  if (service_.stopping()) why = "the server is stopping";
  if (why.empty() && options_.ready && !options_.ready(&why)) return ProblemReply(503, "not_ready", why, request.id);
  return why.empty() ? JsonReply(200, "{\"status\":\"ready\"}") : ProblemReply(503, "not_ready", why, request.id);
}

HttpReply Api::Metrics(HttpRequest& request) {
  if (!options_.metrics) return ProblemReply(404, "no_such_path", "this server keeps no metrics", request.id);
  HttpReply reply = JsonReply(200, options_.metrics());
  reply.content_type = "text/plain; version=0.0.4; charset=utf-8";
  return reply;
}

}  // namespace cellblock::front
