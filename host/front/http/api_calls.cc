// See api.h: calls, at once, as a stream of events, or in the background.
#include <utility>

#include "absl/strings/str_cat.h"
#include "front/http/api.h"
#include "front/http/api_json.h"
#include "front/http/event_stream.h"
#include "front/http/header_fields.h"
#include "render/record_json.h"

namespace cellblock::front {
namespace {

HttpReply RecordReply(const absl::StatusOr<service::CallAnswer>& answer, const HttpRequest& request) {
  if (!answer.ok()) return ProblemReply(answer.status(), request.id);
  HttpReply reply;
  reply.headers.emplace_back("Cellblock-Execution-Id", answer->execution_id);
  reply.body = *answer->record_json;
  return reply;
}

// A call whose client is told of it as it goes on, by the connection.
void Watch(const HttpRequest& request, service::NewCall* call) {
  call->on_accepted = [began = request.call_began](const std::string& id) {
    if (began) began(id);
  };
}

HttpReply ReadRun(HttpRequest& request, service::Service::Run* run, bool many) {
  absl::StatusOr<JsonBody> body = JsonBody::Parse(request.body);
  if (!body.ok()) return ProblemReply(body.status(), request.id);
  ReadNewSession(*body, &run->session);
  if (many) {
    body->Require("cells", body->List("cells", service::kCellsMax, [run](JsonBody& cell) {
      service::NewCall call;
      ReadNewCall(cell, &call);
      run->cells.push_back(std::move(call));
    }));
    body->Flag("keep_going", &run->keep_going);
  } else {
    ReadCode(*body, &run->cells.emplace_back());  // env is the session's
  }
  if (absl::Status status = body->Finish(); !status.ok()) return ProblemReply(status, request.id);
  for (const ReceivedFile& file : request.files) run->files.emplace_back(file.path, file.content.get());
  for (service::NewCall& call : run->cells) Watch(request, &call);
  return {};
}

}  // namespace

HttpReply Api::Execute(HttpRequest& request) {
  absl::StatusOr<JsonBody> body = JsonBody::Parse(request.body);
  if (!body.ok()) return ProblemReply(body.status(), request.id);
  service::NewCall call;
  bool detach = false;
  ReadNewCall(*body, &call);
  body->Flag("detach", &detach);
  if (absl::Status status = body->Finish(); !status.ok()) return ProblemReply(status, request.id);
  const service::Request asked = AskedBy(request);
  if (detach) {
    const absl::StatusOr<std::string> id = service_.StartExecution(asked, request.captured[0], std::move(call));
    if (!id.ok()) return ProblemReply(id.status(), request.id);
    HttpReply reply;
    reply.status = 202;
    reply.headers.emplace_back("Location", absl::StrCat("/v1/executions/", *id));
    render::JsonWriter json(&reply.body);
    json.BeginObject();
    json.Member("execution_id", *id);
    json.EndObject();
    return reply;
  }
  if (AcceptsType(request.accept, "text/event-stream")) return StreamExecution(asked, request, std::move(call));
  Watch(request, &call);
  return RecordReply(service_.Execute(asked, request.captured[0], call), request);
}

// The call runs on a thread of its own, and the connection sends what it pushes. What it meets once it is in the queue is answered in the
// stream too, since the status has gone out by then.
HttpReply Api::StreamExecution(const service::Request& asked, HttpRequest& request, service::NewCall call) {
  auto stream = std::make_shared<EventStream>();
  auto next = std::make_shared<int64_t>(0);
  call.on_event = [stream, next](const Event& event, const Record& so_far) {
    stream->Push(EncodeEvent(EventTypeName(event.type), absl::StrCat((*next)++), render::RenderEventJson(event, so_far)));
  };
  call.on_accepted = [stream](const std::string& id) {
    stream->Began(id);
    stream->Push(EncodeEvent("started", "", absl::StrCat("{\"execution_id\":\"", id, "\"}")));
  };
  auto on_end = [stream, next, id = request.id](const absl::StatusOr<service::CallAnswer>& answer) {
    if (answer.ok()) {
      stream->Push(EncodeEvent("done", absl::StrCat(*next), *answer->record_json));
    } else {
      stream->Push(EncodeEvent("failed", absl::StrCat(*next), ProblemReply(answer.status(), id).body));
    }
    stream->Close();
  };
  if (absl::Status status = service_.StartWatched(asked, request.captured[0], std::move(call), std::move(on_end)); !status.ok()) return ProblemReply(status, request.id);
  HttpReply reply;
  reply.content_type = "text/event-stream";
  reply.events = std::move(stream);
  return reply;
}

HttpReply Api::GetExecution(HttpRequest& request) {
  const absl::StatusOr<service::CallInfo> call = service_.GetExecution(AskedBy(request), request.captured[0]);
  if (!call.ok()) return ProblemReply(call.status(), request.id);
  HttpReply reply;
  if (call->record_json != nullptr) {
    reply.body = *call->record_json;
    return reply;
  }
  render::JsonWriter json(&reply.body);
  json.BeginObject();
  json.Member("id", call->execution_id);
  json.Member("session_id", call->session_id);
  json.Member("status", call->state);
  json.Key("accepted_at");
  json.Time(call->accepted_at);
  json.Key("events");
  json.JsonOrString(call->events_json.empty() ? "[]" : call->events_json);
  json.Member("events_truncated", call->events_truncated);
  json.EndObject();
  return reply;
}

HttpReply Api::InterruptExecution(HttpRequest& request) {
  if (absl::Status status = service_.GetExecution(AskedBy(request), request.captured[0]).status(); !status.ok()) return ProblemReply(status, request.id);
  service_.CancelExecution(request.captured[0]);
  return GetExecution(request);
}

HttpReply Api::Run(HttpRequest& request) {
  service::Service::Run run;
  if (HttpReply problem = ReadRun(request, &run, false); !problem.body.empty()) return problem;
  absl::StatusOr<std::vector<service::CallAnswer>> answers = service_.RunCells(AskedBy(request), run);
  if (!answers.ok()) return ProblemReply(answers.status(), request.id);
  return RecordReply(std::move(answers->front()), request);
}

HttpReply Api::RunCells(HttpRequest& request) {
  service::Service::Run run;
  if (HttpReply problem = ReadRun(request, &run, true); !problem.body.empty()) return problem;
  const absl::StatusOr<std::vector<service::CallAnswer>> answers = service_.RunCells(AskedBy(request), run);
  if (!answers.ok()) return ProblemReply(answers.status(), request.id);
  HttpReply reply;
  reply.body = "{\"records\":[";
  for (const service::CallAnswer& answer : *answers) absl::StrAppend(&reply.body, reply.body.back() == '[' ? "" : ",", *answer.record_json);
  absl::StrAppend(&reply.body, "],\"not_run\":", run.cells.size() - answers->size(), "}");
  return reply;
}

}  // namespace cellblock::front
