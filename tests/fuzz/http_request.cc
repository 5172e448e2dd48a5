// Fuzzes requests as the server takes them in: the bytes go through its parser with its bounds, then through what stands before every
// handler: target, Host, Origin, token, route. What is let through has a token where its route wants one; what is refused gets a problem
// in valid JSON. A body of JSON is taken in too. The first byte says how the rest is cut.
#include <boost/asio/buffer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "base/log.h"
#include "capture/utf8.h"
#include "front/http/body_sink.h"
#include "front/http/json_body.h"
#include "front/http/multipart.h"
#include "front/http/header_fields.h"
#include "front/http/request_head.h"
#include "front/http/target.h"

namespace {

namespace http = boost::beast::http;
using namespace cellblock;         // NOLINT: one file
using namespace cellblock::front;  // NOLINT: one file

using HeaderParser = http::request_parser<http::empty_body>;
using BodyParser = http::request_parser<http::buffer_body>;

constexpr size_t kHeaderBytesMax = 4096;  // small, so that inputs reach it
constexpr size_t kBodyBytesMax = 512;

const service::Tokens& TheTokens() {
  static const service::Tokens* const tokens = [] {
    service::Token token;
    token.name = "fuzz";
    token.sha256 = *service::HashOfSecret("0123456789abcdef");
    return new service::Tokens(*service::Tokens::Create({token}));
  }();
  return *tokens;
}

const Admission& TheAdmission() {
  static const Admission* const admission = new Admission({"localhost", "[::1]"}, {"https://good.example"}, &TheTokens(), nullptr);
  return *admission;
}

// Gives the parser what there is, so much at a time, as a socket would. False: an error, too long, or the bytes ended before the head did.
bool ReadHeader(HeaderParser& parser, absl::string_view input, size_t piece, boost::beast::flat_buffer* buffer) {
  CountingFeed<HeaderParser> feed(parser);
  size_t given = 0;
  while (true) {
    const boost::beast::error_code error = feed.Take(*buffer);
    if (feed.IsBeyondHead(kHeaderBytesMax)) return false;
    CELLBLOCK_CHECK(given - buffer->size() <= kHeaderBytesMax);
    if (parser.is_header_done()) break;
    if (error != http::error::need_more || given == input.size()) return false;
    const absl::string_view next = input.substr(given, piece);
    std::memcpy(buffer->prepare(next.size()).data(), next.data(), next.size());
    buffer->commit(next.size());
    given += next.size();
  }
  const absl::string_view rest = input.substr(given);
  std::memcpy(buffer->prepare(rest.size()).data(), rest.data(), rest.size());
  buffer->commit(rest.size());
  return true;
}

void CheckProblem(const HttpReply& reply, const HttpRequest& request) {
  CELLBLOCK_CHECK(reply.status >= 400 && reply.status < 600);
  CELLBLOCK_CHECK(capture::IsValidUtf8(reply.body));
  absl::StatusOr<JsonBody> problem = JsonBody::Parse(reply.body);
  CELLBLOCK_CHECK(problem.ok());
  std::string code, id;
  CELLBLOCK_CHECK(problem->Text("code", &code) && !code.empty());
  CELLBLOCK_CHECK(problem->Text("request_id", &id) && id == request.id);
  for (const auto& [name, value] : reply.headers) CELLBLOCK_CHECK(value.find_first_of(absl::string_view("\r\n\0", 3).data(), 0, 3) == std::string::npos);
}

void CheckAccepted(const RequestHead& head, const http::request_header<>& header) {
  const HttpRequest& request = head.request;
  CELLBLOCK_CHECK(head.route != nullptr);
  CELLBLOCK_CHECK(head.route->open || request.token == &TheTokens().all().front());
  CELLBLOCK_CHECK(head.route->method == request.method || (head.route->method == "GET" && request.method == "HEAD"));
  const auto host = header[http::field::host];
  const std::string name = HostOf({host.data(), host.size()});
  CELLBLOCK_CHECK(name == "localhost" || name == "[::1]");
  CELLBLOCK_CHECK(request.idempotency_key.size() <= kIdempotencyKeyBytesMax);
  for (const std::string& part : request.captured) CELLBLOCK_CHECK(!part.empty());
  for (int64_t size : {int64_t{0}, int64_t{1}, int64_t{1} << 40}) {
    const Range range = ParseRange(request.range, size);
    CELLBLOCK_CHECK(range.kind == Range::Kind::kUnsatisfiable || (range.first >= 0 && range.bytes >= 0 && range.first + range.bytes <= size));
  }
  (void)NamesTag(request.if_none_match, "\"x\"");
  const absl::StatusOr<std::string> boundary = BoundaryOf(request.content_type);
  CELLBLOCK_CHECK(!boundary.ok() || boundary->size() <= 70);
}

void ReadBody(HeaderParser& header, boost::beast::flat_buffer& buffer, HttpRequest* request) {
  BodyParser parser(std::move(header));
  parser.body_limit(kBodyBytesMax);
  CountingFeed<BodyParser> feed(parser);
  BodySink sink("/nonexistent", kBodyBytesMax);  // JSON alone: nothing is opened there
  std::array<char, 64> piece;
  uint64_t received = 0;
  while (!parser.is_done()) {
    parser.get().body().data = piece.data();
    parser.get().body().size = piece.size();
    const size_t before = buffer.size();
    const boost::beast::error_code error = feed.Take(buffer);
    const size_t count = piece.size() - parser.get().body().size;
    received += count;
    if (feed.IsBeyondBody(received)) return;
    CELLBLOCK_CHECK(received <= kBodyBytesMax);
    if (error == http::error::body_limit) return;
    CELLBLOCK_CHECK(sink.Write({piece.data(), count}).ok());
    if (error && error != http::error::need_buffer) return;
    CELLBLOCK_CHECK(buffer.size() < before || parser.is_done());
  }
  CELLBLOCK_CHECK(sink.Finish(request).ok());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const absl::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  HeaderParser parser;
  LimitHead(parser, kHeaderBytesMax);
  boost::beast::flat_buffer buffer;
  if (!ReadHeader(parser, input, data[0] == 0 ? std::max<size_t>(input.size(), 1) : data[0], &buffer)) return 0;
  RequestHead head;
  const std::optional<HttpReply> refused = ReadHead(parser.get(), TheAdmission(), false, &head);
  CELLBLOCK_CHECK(!head.request.id.empty() && head.request.id.size() <= kRequestIdBytesMax);
  if (refused.has_value()) {
    CheckProblem(*refused, head.request);
    return 0;
  }
  CheckAccepted(head, parser.get());
  if (head.route->body == Route::Body::kJson) ReadBody(parser, buffer, &head.request);
  return 0;
}
