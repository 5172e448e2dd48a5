// See api.h: a session's calls as a document.
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "front/http/api.h"
#include "front/http/api_json.h"
#include "render/record_parse.h"
#include "render/transcript.h"

namespace cellblock::front {
namespace {

constexpr size_t kRecordBytesMax = size_t{128} << 20;  // of all that one transcript reads; the calls after it are left out, and counted

render::TranscriptCall CallOf(const store::ExecutionEntry& entry) {
  render::TranscriptCall call;
  call.language = entry.language == "bash" ? Language::kBash : Language::kPython;
  call.code = entry.code;
  call.started_at = entry.accepted_at;
  if (entry.state == store::CallState::kRunning) call.note = "the call still runs";
  if (entry.state == store::CallState::kLost) call.note = "the server ended while the call ran: how far it came is not known";
  if (entry.state != store::CallState::kDone) return call;
  absl::StatusOr<Record> record = render::ParseRecordJson(entry.record_json);
  if (record.ok()) {
    call.record = *std::move(record);
  } else {
    call.note = absl::StrCat("its record cannot be read: ", record.status().message());
  }
  return call;
}

}  // namespace

HttpReply Api::Transcript(HttpRequest& request) {
  const auto found = request.query.find("format");
  const std::string format = found == request.query.end() ? "ipynb" : found->second;
  if (format != "ipynb" && format != "py" && format != "md") return ProblemReply(absl::InvalidArgumentError("format: ipynb, py or md is wanted"), request.id);
  render::Transcript transcript;
  transcript.session_id = request.captured[0];
  size_t bytes = 0;
  const service::Request asked = AskedBy(request);
  const absl::Status read = service_.ForEachExecution(asked, request.captured[0], [&](const store::ExecutionEntry& entry) {
    bytes += entry.code.size() + entry.record_json.size();
    if (bytes > kRecordBytesMax || transcript.calls.size() >= render::kTranscriptCallsMax) {
      ++transcript.calls_left_out;
    } else {
      transcript.calls.push_back(CallOf(entry));
    }
  });
  if (!read.ok()) return ProblemReply(read, request.id);
  if (const auto policy = service_.PolicyNameOf(asked, request.captured[0]); policy.ok()) transcript.policy = *policy;
  HttpReply reply;
  reply.headers.emplace_back("Content-Disposition", absl::StrCat("attachment; filename=\"", transcript.session_id, ".", format, "\""));
  reply.headers.emplace_back("X-Content-Type-Options", "nosniff");
  if (format == "ipynb") {
    reply.content_type = "application/x-ipynb+json";
    reply.body = render::RenderTranscriptNotebook(transcript);
  } else if (format == "py") {
    reply.content_type = "text/x-python; charset=utf-8";
    reply.body = render::RenderTranscriptScript(transcript);
  } else {
    reply.content_type = "text/markdown; charset=utf-8";
    reply.body = render::RenderTranscriptMarkdown(transcript);
  }
  return reply;
}

}  // namespace cellblock::front
