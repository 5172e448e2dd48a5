// See request_log.h.
#include "observe/request_log.h"

#include <string>

#include "absl/time/clock.h"
#include "render/json_writer.h"

namespace cellblock::observe {

void RequestLog::RequestAnswered(const AnsweredRequest& request) {
  std::string text;
  render::JsonWriter json(&text);
  json.BeginObject();
  json.Key("time");
  json.Time(absl::Now());
  json.Member("request_id", request.id);
  json.Member("method", request.method.substr(0, kMethodBytesMax));
  json.Member("route", request.route);
  if (!request.session.empty()) json.Member("session_id", request.session);
  json.Member("token", request.token);
  json.Member("status", static_cast<int64_t>(request.status));
  json.Member("took_seconds", request.took);
  json.Member("bytes_in", request.bytes_in);
  json.Member("bytes_out", request.bytes_out);
  json.EndObject();
  lines_.Write(text);
}

}  // namespace cellblock::observe
