// See message.h.
#include "front/http/message.h"

#include <fcntl.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "render/json_writer.h"
#include "service/errors.h"
#include "sys/files.h"

namespace cellblock::front {
namespace {

struct CodeStatus {
  absl::string_view code;
  int http_status;
};

// Codes whose HTTP status does not follow from the kind of error.
constexpr CodeStatus kByCode[] = {
    {"session_expired", 410}, {"session_closed", 410}, {"session_died", 410}, {"session_ended", 410}, {"file_too_large", 413},
    {"workspace_full", 507}, {"shared_files_full", 507}, {"store_full", 507}, {"body_too_large", 413}, {"idempotency_key_reused", 422}, {"not_a_file", 409}, {"artifact_not_kept", 410},
};

}  // namespace

void Spool(const std::string& folder, HttpReply* reply) {
  if (reply->body.size() <= kSpooledFrom || reply->file.valid() || reply->events != nullptr) return;
  absl::StatusOr<UniqueFd> file = sys::Open(folder, O_RDWR | O_TMPFILE, 0600);
  if (!file.ok() || !sys::WriteAll(file->get(), reply->body).ok()) return;
  reply->file = *std::move(file);
  reply->file_bytes = static_cast<int64_t>(reply->body.size());
  std::string().swap(reply->body);
}

int HttpStatusOf(const absl::Status& status) {
  const std::string code = service::CodeOf(status);
  for (const CodeStatus& entry : kByCode) {
    if (entry.code == code) return entry.http_status;
  }
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange: return 400;
    case absl::StatusCode::kUnauthenticated: return 401;
    case absl::StatusCode::kPermissionDenied: return 403;
    case absl::StatusCode::kNotFound: return 404;
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kFailedPrecondition: return 409;
    case absl::StatusCode::kResourceExhausted: return 429;
    case absl::StatusCode::kUnavailable: return 503;
    case absl::StatusCode::kDeadlineExceeded: return 408;
    case absl::StatusCode::kUnimplemented: return 501;
    default: return 500;
  }
}

absl::string_view ReasonPhrase(int http_status) {
  switch (http_status) {
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 206: return "Partial Content";
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 410: return "Gone";
    case 413: return "Content Too Large";
    case 415: return "Unsupported Media Type";
    case 416: return "Range Not Satisfiable";
    case 417: return "Expectation Failed";
    case 421: return "Misdirected Request";
    case 422: return "Unprocessable Content";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    case 505: return "HTTP Version Not Supported";
    case 507: return "Insufficient Storage";
    default: return "Unknown";
  }
}

HttpReply ProblemReply(int http_status, absl::string_view code, absl::string_view detail, absl::string_view request_id) {
  HttpReply reply;
  reply.status = http_status;
  reply.content_type = "application/problem+json";
  render::JsonWriter json(&reply.body);
  json.BeginObject();
  json.Member("type", absl::StrCat("urn:cellblock:problem:", code));
  json.Member("title", ReasonPhrase(http_status));
  json.Member("status", static_cast<int64_t>(http_status));
  json.Member("code", code);
  json.Member("detail", detail);
  json.Member("request_id", request_id);
  json.EndObject();
  if (http_status == 401) reply.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"cellblock\"");
  return reply;
}

HttpReply ProblemReply(const absl::Status& status, absl::string_view request_id) {
  HttpReply reply = ProblemReply(HttpStatusOf(status), service::CodeOf(status), status.message(), request_id);
  if (const std::optional<absl::Duration> after = service::RetryAfterOf(status); after.has_value()) {
    reply.headers.emplace_back("Retry-After", absl::StrCat(std::max<int64_t>(1, absl::ToInt64Seconds(*after + absl::Milliseconds(999)))));
  }
  return reply;
}

}  // namespace cellblock::front
