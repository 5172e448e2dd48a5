// The HTTP API: a table of routes, and for each what it asks the service and how it answers. Knows requests and replies, no socket.
// Supervisor. Thread-safe; a handler blocks as the service's verbs do.
#ifndef CELLBLOCK_FRONT_HTTP_API_H_
#define CELLBLOCK_FRONT_HTTP_API_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "front/http/message.h"
#include "service/service.h"

namespace cellblock::front {

class Api;

struct Route {
  enum class Body { kNone, kJson, kFile, kJsonOrMultipart };
  absl::string_view method;
  absl::string_view pattern;         // "/v1/sessions/{id}/files/{path...}"; the last takes the rest with its slashes
  absl::string_view operation;       // openapi's operationId
  absl::string_view summary;
  Body body = Body::kNone;
  absl::string_view request_schema;  // in openapi's components; "" for none
  absl::string_view reply_schema;
  int success = 200;
  bool open = false;                 // needs no token
  HttpReply (Api::*handle)(HttpRequest&) = nullptr;
  bool metrics = false;              // the one whose access a token's `metrics` rules
};

struct ApiOptions {
  std::string version;
  std::function<std::string()> environments_json;         // a list
  std::function<bool(std::string* why)> ready;
  std::function<void(std::function<void()>)> background;  // see Service
  std::function<std::string()> metrics;                   // in Prometheus' text format; none: there are none
  bool metrics_open = false;                              // no token is asked for them
};

class Api {
 public:
  Api(service::Service& service, ApiOptions options) : service_(service), options_(std::move(options)) {}

  static const std::vector<Route>& Routes();
  // The route, with `captured` filled; null with `allowed` the methods that this path has ("" when it is no path of the API).
  static const Route* FindRoute(absl::string_view method, absl::string_view path, std::vector<std::string>* captured, std::string* allowed);

  // Needs no token here.
  static bool IsOpen(const Route& route, bool metrics_open) { return route.open || (route.metrics && metrics_open); }
  bool metrics_open() const { return options_.metrics_open; }
  // Whether the request's token may not have this route at all; what it may do there the service says.
  static std::optional<HttpReply> Refuse(const Route& route, bool metrics_open, const HttpRequest& request);
  // Answered also when as many requests are worked on as may: it waits for nothing.
  static bool IsQuick(const Route& route) { return route.open || route.metrics; }
  HttpReply Handle(const Route& route, HttpRequest& request);
  // Before a body with files is taken in: what each of them may have. `bytes`: of a body that is one file, where its length is told.
  absl::StatusOr<service::UploadLimit> AdmitUpload(const Route& route, const HttpRequest& request, std::optional<int64_t> bytes);

 private:
  HttpReply CreateSession(HttpRequest& request);
  HttpReply ListSessions(HttpRequest& request);
  HttpReply GetSession(HttpRequest& request);
  HttpReply CloseSession(HttpRequest& request);
  HttpReply RenewSession(HttpRequest& request);
  HttpReply RestartSession(HttpRequest& request);
  HttpReply InterruptSession(HttpRequest& request);
  HttpReply Execute(HttpRequest& request);
  HttpReply StreamExecution(const service::Request& asked, HttpRequest& request, service::NewCall call);
  HttpReply GetExecution(HttpRequest& request);
  HttpReply InterruptExecution(HttpRequest& request);
  HttpReply PutFile(HttpRequest& request);
  HttpReply PutFiles(HttpRequest& request);
  HttpReply ListFiles(HttpRequest& request);
  HttpReply GetFile(HttpRequest& request);
  HttpReply RemoveFile(HttpRequest& request);
  HttpReply Variables(HttpRequest& request);
  HttpReply Preview(HttpRequest& request);
  HttpReply PutSharedFile(HttpRequest& request);
  HttpReply ListSharedFiles(HttpRequest& request);
  HttpReply RemoveSharedFile(HttpRequest& request);
  HttpReply ListArtifacts(HttpRequest& request);
  HttpReply GetArtifact(HttpRequest& request);
  HttpReply Transcript(HttpRequest& request);
  HttpReply Run(HttpRequest& request);
  HttpReply RunCells(HttpRequest& request);
  HttpReply Policies(HttpRequest& request);
  HttpReply Environments(HttpRequest& request);
  HttpReply OpenApi(HttpRequest& request);
  HttpReply Health(HttpRequest& request);
  HttpReply Ready(HttpRequest& request);
  HttpReply Metrics(HttpRequest& request);

  service::Service& service_;
  const ApiOptions options_;
};

// The description of Routes() by OpenAPI 3.1, as JSON.
std::string OpenApiJson(absl::string_view version);

}  // namespace cellblock::front

#endif  // CELLBLOCK_FRONT_HTTP_API_H_
