// See request_head.h.
#include "front/http/request_head.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "front/http/target.h"
#include "sys/random_id.h"

namespace cellblock::front {
namespace {

namespace http = boost::beast::http;

// A client's own id is shown in logs and replies: visible characters that need no quoting.
bool IsRequestId(absl::string_view id) {
  return !id.empty() && id.size() <= kRequestIdBytesMax && std::all_of(id.begin(), id.end(), [](char c) { return c > 0x20 && c < 0x7f && c != '"' && c != '\\'; });
}

template <class Name>
std::string Field(const http::request_header<>& header, Name name) {
  const auto value = header[name];
  return std::string(value.data(), value.size());
}

std::optional<HttpReply> CheckForm(const http::request_header<>& header, const std::string& id) {
  if (header.version() != 11 && header.version() != 10) return ProblemReply(505, "version_not_supported", "HTTP/1.1 is spoken here", id);
  if (header.version() == 11 && header.count(http::field::host) != 1) return ProblemReply(400, "bad_request", "a request has one Host header", id);
  if (header.count(http::field::authorization) > 1) return ProblemReply(400, "bad_request", "two Authorization headers", id);
  // Any other coding would be taken for no body, and the body for the next request (RFC 9112, section 6.3).
  if (header.count(http::field::transfer_encoding) > 0) {
    if (header.version() == 10 || header.count(http::field::transfer_encoding) > 1 || !absl::EqualsIgnoreCase(Field(header, http::field::transfer_encoding), "chunked")) {
      return ProblemReply(400, "bad_request", "Transfer-Encoding: of HTTP/1.1, and \"chunked\" alone, is taken here", id);
    }
    if (header.count(http::field::content_length) > 0) return ProblemReply(400, "bad_request", "a request has Content-Length or Transfer-Encoding, not both", id);
  }
  if (header.count(http::field::content_encoding) > 0 && !absl::EqualsIgnoreCase(Field(header, http::field::content_encoding), "identity")) return ProblemReply(415, "unsupported_media_type", "Content-Encoding: none is taken here; send the body as it is", id);
  return std::nullopt;
}

// What a server must not pass over (RFC 9110, sections 13 and 14.4), of requests that change something.
std::optional<HttpReply> CheckConditions(const http::request_header<>& header, const std::string& id) {
  if (header.method() == http::verb::get || header.method() == http::verb::head) return std::nullopt;
  if (header.count(http::field::content_range) > 0) return ProblemReply(400, "bad_request", "Content-Range: a file is put whole", id);
  for (const http::field field : {http::field::if_match, http::field::if_none_match, http::field::if_unmodified_since}) {
    if (header.count(field) > 0) return ProblemReply(501, "not_supported", "no condition is looked at here before something is changed; leave out If-Match, If-None-Match and If-Unmodified-Since", id);
  }
  return std::nullopt;
}

}  // namespace

std::optional<HttpReply> ReadHead(const http::request_header<>& header, const Admission& admission, bool metrics_open, RequestHead* head) {
  HttpRequest& request = head->request;
  auto field = [&](auto name) { return Field(header, name); };
  request.method = std::string(header.method_string());
  request.id = field("X-Request-Id");
  if (!IsRequestId(request.id)) request.id = sys::RandomId("r-");
  if (std::optional<HttpReply> refused = CheckForm(header, request.id); refused.has_value()) return refused;
  if (std::optional<HttpReply> refused = CheckConditions(header, request.id); refused.has_value()) return refused;
  Target target;
  const auto raw = header.target();
  if (!ParseTarget({raw.data(), raw.size()}, &target)) return ProblemReply(400, "bad_request", "the target is no path, or its percent-encoding is broken", request.id);
  request.path = target.path;
  request.query = std::move(target.query);
  std::string allowed;
  head->route = Api::FindRoute(request.method, request.path, &request.captured, &allowed);
  const bool is_open = head->route != nullptr && Api::IsOpen(*head->route, metrics_open);
  if (std::optional<HttpReply> refused = admission.Refuse(field(http::field::host), field(http::field::origin), field(http::field::authorization), is_open, &request)) return refused;
  if (head->route != nullptr) {
    if (std::optional<HttpReply> refused = Api::Refuse(*head->route, metrics_open, request); refused.has_value()) return refused;
    if (absl::StartsWith(head->route->pattern, "/v1/sessions/{id}")) head->session = request.captured.front().substr(0, kSessionBytesMax);
  }
  if (head->route == nullptr && !allowed.empty()) {
    HttpReply reply = ProblemReply(405, "method_not_allowed", absl::StrCat("this path takes ", allowed), request.id);
    reply.headers.emplace_back("Allow", allowed);
    return reply;
  }
  if (head->route == nullptr) return ProblemReply(404, "no_such_path", "there is nothing at this path; /v1/openapi.json lists what there is", request.id);
  request.accept = field(http::field::accept);
  request.if_none_match = field(http::field::if_none_match);
  request.if_range = field(http::field::if_range);
  request.range = field(http::field::range);
  request.content_type = field(http::field::content_type);
  request.idempotency_key = field("Idempotency-Key");
  if (request.idempotency_key.size() > kIdempotencyKeyBytesMax) return ProblemReply(400, "invalid_request", "Idempotency-Key: at most 255 bytes", request.id);
  head->expects_continue = absl::EqualsIgnoreCase(field(http::field::expect), "100-continue");
  return std::nullopt;
}

}  // namespace cellblock::front
