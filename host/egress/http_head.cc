// See http_head.h.
#include "egress/http_head.h"

#include <algorithm>
#include <array>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "egress/authority.h"

namespace cellblock::egress {
namespace {

constexpr size_t kLengthDigitsMax = 18;   // fits an int64_t: an exabyte
constexpr uint16_t kHttpPort = 80;

template <typename... Parts>
absl::Status Bad(const Parts&... parts) { return absl::InvalidArgumentError(absl::StrCat(parts...)); }

// What ends at the next hop, beside what Connection names and what begins with "proxy-" (RFC 9110, 7.6.1). "close" is an option of Connection that no
// field may be called (RFC 9112, 9.6).
constexpr std::array<absl::string_view, 11> kOneHopFields = {"close", "connection", "content-length", "expect", "host", "http2-settings", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"};

bool IsOneHop(absl::string_view lower) { return absl::StartsWith(lower, "proxy-") || std::find(kOneHopFields.begin(), kOneHopFields.end(), lower) != kOneHopFields.end(); }

// The lines of a head, without the empty one.
absl::StatusOr<std::vector<absl::string_view>> LinesOf(absl::string_view head) {
  CELLBLOCK_ASSIGN_OR_RETURN(std::optional<size_t> end, FindHeadEnd(head));
  if (!end.has_value() || *end != head.size()) return Bad("a head ends with its one empty line");
  std::vector<absl::string_view> lines;
  for (absl::string_view rest = head; rest.size() > 2;) {   // FindHeadEnd saw CR LF at each line's end
    const size_t length = rest.find('\n') - 1;
    const absl::string_view line = rest.substr(0, length);
    if (!IsFieldValue(line)) return Bad("a control byte in the line ", Shown(line));
    lines.push_back(line);
    rest.remove_prefix(length + 2);
    if (lines.size() > kFieldsMax + 1) return Bad("more than ", kFieldsMax, " fields");
  }
  return lines;
}

// What the fields of either kind of head say, taken together.
struct Fields {
  std::vector<Field> end_to_end;
  std::optional<std::string> host;
  std::optional<uint64_t> length;
  std::vector<std::string> connection;   // lower case
  bool is_chunked = false;
  bool expects_continue = false;
};

absl::Status TakeLength(const Field& field, Fields& fields) {
  uint64_t length = 0;
  if (fields.length.has_value()) return Bad("two fields Content-Length");
  if (!std::all_of(field.value.begin(), field.value.end(), [](unsigned char c) { return absl::ascii_isdigit(c); }) || field.value.size() > kLengthDigitsMax || !absl::SimpleAtoi(field.value, &length)) {
    return Bad("Content-Length is not a number of bytes: ", Shown(field.value));
  }
  fields.length = length;
  return absl::OkStatus();
}

absl::Status TakeConnection(const Field& field, Fields& fields) {
  for (absl::string_view part : absl::StrSplit(field.value, ',')) {
    part = TrimBlanks(part);
    if (part.empty()) continue;
    if (!IsToken(part)) return Bad("Connection names ", Shown(part), ", which is no field");
    fields.connection.push_back(absl::AsciiStrToLower(part));
  }
  return absl::OkStatus();
}

absl::Status TakeOneHopField(const std::string& lower, const Field& field, Fields& fields) {
  if (lower == "content-length") return TakeLength(field, fields);
  if (lower == "connection") return TakeConnection(field, fields);
  if (lower == "host") {
    if (fields.host.has_value()) return Bad("two fields Host");
    fields.host = field.value;
  } else if (lower == "transfer-encoding") {
    if (fields.is_chunked) return Bad("two fields Transfer-Encoding");
    if (!absl::EqualsIgnoreCase(field.value, "chunked")) return Bad("Transfer-Encoding ", Shown(field.value), " is not taken, chunked alone is");
    fields.is_chunked = true;
  } else if (lower == "expect") {
    if (!absl::EqualsIgnoreCase(field.value, "100-continue")) return Bad("Expect ", Shown(field.value), " is not taken, 100-continue alone is");
    fields.expects_continue = true;
  }
  return absl::OkStatus();
}

// Servers that hand fields on as variables (CGI and what follows it) cannot tell these two characters apart.
bool IsMisspelledFraming(const std::string& lower) {
  const std::string dashed = absl::StrReplaceAll(lower, {{"_", "-"}});
  return dashed != lower && (dashed == "content-length" || dashed == "transfer-encoding" || dashed == "host");
}

absl::StatusOr<Fields> ReadFields(const std::vector<absl::string_view>& lines, int minor_version) {
  Fields fields;
  for (size_t i = 1; i < lines.size(); ++i) {
    CELLBLOCK_ASSIGN_OR_RETURN(Field field, ParseFieldLine(lines[i]));
    const std::string lower = absl::AsciiStrToLower(field.name);
    if (IsMisspelledFraming(lower)) return Bad("the field ", Shown(field.name), " has \"_\" where \"-\" belongs");
    if (IsOneHop(lower)) {
      CELLBLOCK_RETURN_IF_ERROR(TakeOneHopField(lower, field, fields));
    } else {
      fields.end_to_end.push_back(std::move(field));
    }
  }
  if (fields.is_chunked && fields.length.has_value()) return Bad("Content-Length beside Transfer-Encoding");
  if (fields.is_chunked && minor_version == 0) return Bad("Transfer-Encoding in HTTP/1.0");
  for (const std::string& name : fields.connection) RemoveField(fields.end_to_end, name);
  return fields;
}

bool KeepsAlive(const Fields& fields, int minor_version) {
  const auto names = [&fields](absl::string_view option) { return std::find(fields.connection.begin(), fields.connection.end(), option) != fields.connection.end(); };
  return !names("close") && (minor_version == 1 || names("keep-alive"));
}

absl::StatusOr<int> ReadVersion(absl::string_view text) {
  if (text == "HTTP/1.1") return 1;
  if (text == "HTTP/1.0") return 0;
  if (text == "HTTP/2.0") return Bad("HTTP/2 is not spoken here, HTTP/1.1 is");
  return Bad("the version is ", Shown(text), " where HTTP/1.1 or HTTP/1.0 belongs");
}

absl::Status ReadAuthority(absl::string_view text, RequestHead& request) {
  CELLBLOCK_ASSIGN_OR_RETURN(Authority authority, ParseAuthority(text));
  request.host = std::move(authority.host);
  request.port = authority.port;
  return absl::OkStatus();
}

absl::Status ReadAbsoluteTarget(absl::string_view target, RequestHead& request) {
  const size_t colon = target.find("://");
  if (colon == absl::string_view::npos) return Bad("the target ", Shown(target), " is neither a path that begins with \"/\" nor an http:// URL");
  if (absl::EqualsIgnoreCase(target.substr(0, colon), "https")) return Bad("an https:// URL in a request to a proxy: a client opens those with CONNECT");
  if (!absl::EqualsIgnoreCase(target.substr(0, colon), "http")) return Bad("the scheme of ", Shown(target), " is not http");
  target.remove_prefix(colon + 3);
  const size_t path = std::min(target.find_first_of("/?"), target.size());
  CELLBLOCK_RETURN_IF_ERROR(ReadAuthority(target.substr(0, path), request));
  request.scheme = "http";
  target.remove_prefix(path);
  if (target.empty() && request.method == "OPTIONS") {
    request.target.assign(1, '*');   // RFC 9112, 3.2.4
  } else {
    request.target = absl::StrCat(absl::StartsWith(target, "/") ? "" : "/", target);
  }
  return absl::OkStatus();
}

absl::Status ReadTarget(absl::string_view target, RequestHead& request) {
  const bool is_visible = std::all_of(target.begin(), target.end(), [](unsigned char c) { return absl::ascii_isgraph(c); });
  if (target.empty() || !is_visible) return Bad("the target ", Shown(target), " has bytes that must be percent-encoded");
  if (absl::StrContains(target, '#')) return Bad("a fragment (\"#\") in the target ", Shown(target));
  if (request.is_connect) {
    CELLBLOCK_RETURN_IF_ERROR(ReadAuthority(target, request));
    return request.port.has_value() ? absl::OkStatus() : Bad("CONNECT names host and port, such as example.com:443");
  }
  if (target == "*" && request.method != "OPTIONS") return Bad("the target \"*\" belongs to OPTIONS alone");
  if (target != "*" && target.front() != '/') return ReadAbsoluteTarget(target, request);
  request.target = std::string(target);
  return absl::OkStatus();
}

// METHOD SP target SP version, each once.
absl::Status ReadRequestLine(absl::string_view line, RequestHead& request) {
  const std::vector<absl::string_view> parts = absl::StrSplit(line, ' ');
  if (parts.size() != 3) return Bad("the first line is ", Shown(line), " where METHOD, target and HTTP/1.1 belong, one space between");
  if (!IsToken(parts[0]) || parts[0].size() > kMethodBytesMax) return Bad(Shown(parts[0]), " is no method");
  CELLBLOCK_ASSIGN_OR_RETURN(request.minor_version, ReadVersion(parts[2]));
  request.method = std::string(parts[0]);
  request.is_connect = request.method == "CONNECT";
  return ReadTarget(parts[1], request);
}

// Host, beside what the target said.
absl::Status ReadHost(const std::optional<std::string>& field, RequestHead& request) {
  if (!field.has_value()) return request.minor_version == 1 ? Bad("no field Host") : absl::OkStatus();
  const bool target_has_host = request.is_connect || !request.scheme.empty();
  if (!target_has_host) return ReadAuthority(*field, request);
  CELLBLOCK_ASSIGN_OR_RETURN(Authority authority, ParseAuthority(*field));
  // CONNECT's Host often lacks the port; elsewhere none is HTTP's own.
  const std::optional<uint16_t>& port = authority.port;
  const bool same_port = request.is_connect ? !port.has_value() || port == request.port : port.value_or(kHttpPort) == request.port.value_or(kHttpPort);
  if (authority.host != request.host || !same_port) return Bad("Host ", Shown(*field), " is not the target's host and port");
  return absl::OkStatus();
}

std::string FramingFields(const Framing& body) {
  switch (body.kind) {
    case Framing::Kind::kLength:
      return absl::StrCat("Content-Length: ", body.length, "\r\n");
    case Framing::Kind::kChunked:
      return "Transfer-Encoding: chunked\r\n";
    case Framing::Kind::kNone:
    case Framing::Kind::kUntilClose:
      break;
  }
  return "";
}

}  // namespace

absl::StatusOr<std::optional<size_t>> FindHeadEnd(absl::string_view bytes) {
  const absl::string_view within = bytes.substr(0, kHeadBytesMax);
  for (size_t begin = 0; begin < within.size();) {
    const size_t lf = within.find('\n', begin);
    if (lf == absl::string_view::npos) break;
    if (lf == begin || within[lf - 1] != '\r') return Bad("a line of the head ends in LF without CR");
    if (lf - 1 == begin) {
      if (begin == 0) return Bad("an empty line where the first line belongs");
      return lf + 1;
    }
    begin = lf + 1;
  }
  if (bytes.size() > kHeadBytesMax) return Bad("a head of more than ", kHeadBytesMax, " bytes");
  return std::nullopt;
}

absl::StatusOr<RequestHead> ParseRequestHead(absl::string_view head) {
  CELLBLOCK_ASSIGN_OR_RETURN(std::vector<absl::string_view> lines, LinesOf(head));
  RequestHead request;
  CELLBLOCK_RETURN_IF_ERROR(ReadRequestLine(lines[0], request));
  CELLBLOCK_ASSIGN_OR_RETURN(Fields fields, ReadFields(lines, request.minor_version));
  CELLBLOCK_RETURN_IF_ERROR(ReadHost(fields.host, request));
  if (request.is_connect && (fields.is_chunked || fields.length.value_or(0) > 0)) return Bad("CONNECT with a body");
  if (fields.is_chunked) {
    request.body.kind = Framing::Kind::kChunked;
  } else if (fields.length.has_value() && !request.is_connect) {
    request.body = {Framing::Kind::kLength, *fields.length};
  }
  request.keeps_alive = KeepsAlive(fields, request.minor_version);
  request.expects_continue = fields.expects_continue && request.minor_version == 1;
  request.fields = std::move(fields.end_to_end);
  return request;
}

absl::StatusOr<ResponseHead> ParseResponseHead(absl::string_view head, absl::string_view request_method) {
  CELLBLOCK_ASSIGN_OR_RETURN(std::vector<absl::string_view> lines, LinesOf(head));
  // HTTP/1.x SP 3 digits SP reason; servers leave out the last space where there is no reason.
  const std::vector<absl::string_view> parts = absl::StrSplit(lines[0], absl::MaxSplits(' ', 2));
  ResponseHead response;
  CELLBLOCK_ASSIGN_OR_RETURN(response.minor_version, ReadVersion(parts[0]));
  const bool three_digits = parts.size() > 1 && parts[1].size() == 3 && std::all_of(parts[1].begin(), parts[1].end(), [](unsigned char c) { return absl::ascii_isdigit(c); });
  if (!three_digits || !absl::SimpleAtoi(parts[1], &response.status) || response.status < 100 || response.status > 599) return Bad("the first line ", Shown(lines[0]), " has no status 100 – 599");
  if (response.status == 101) return Bad("the server switches protocols (101) though it was not asked to");
  if (parts.size() > 2) response.reason = std::string(parts[2]);
  std::replace_if(response.reason.begin(), response.reason.end(), [](unsigned char c) { return !absl::ascii_isprint(c); }, '?');
  CELLBLOCK_ASSIGN_OR_RETURN(Fields fields, ReadFields(lines, response.minor_version));
  response.content_length = fields.length;
  response.keeps_alive = KeepsAlive(fields, response.minor_version);
  const bool has_no_body = request_method == "HEAD" || response.status < 200 || response.status == 204 || response.status == 304;
  if (has_no_body) {
    // Whoever announces a body where none may be might also send one.
    const bool may_announce = request_method == "HEAD" || response.status == 304;
    if (!may_announce && (fields.is_chunked || fields.length.value_or(0) > 0)) response.keeps_alive = false;
  } else if (fields.is_chunked) {
    response.body.kind = Framing::Kind::kChunked;
  } else if (fields.length.has_value()) {
    response.body = {Framing::Kind::kLength, *fields.length};
  } else {
    response.body.kind = Framing::Kind::kUntilClose;
    response.keeps_alive = false;
  }
  response.fields = std::move(fields.end_to_end);
  return response;
}

std::string FormatRequestHead(const RequestHead& head) {
  const std::string authority = head.port.has_value() ? absl::StrCat(head.host, ":", *head.port) : head.host;
  return absl::StrCat(head.method, " ", head.is_connect ? authority : head.target, " HTTP/1.1\r\nHost: ", authority, "\r\n", FormatFields(head.fields), FramingFields(head.body),
                      head.expects_continue ? "Expect: 100-continue\r\n" : "", head.keeps_alive ? "" : "Connection: close\r\n", "\r\n");
}

std::string FormatResponseHead(const ResponseHead& head) {
  std::string framing = FramingFields(head.body);
  // HEAD and 304 tell the length of what they leave out; 1xx and 204 must not.
  const bool tells_length = head.body.kind == Framing::Kind::kNone && head.content_length.has_value() && head.status >= 200 && head.status != 204;
  if (tells_length) framing = FramingFields({Framing::Kind::kLength, *head.content_length});
  return absl::StrCat("HTTP/1.1 ", head.status, " ", head.reason, "\r\n", FormatFields(head.fields), framing, head.keeps_alive ? "" : "Connection: close\r\n", "\r\n");
}

}  // namespace cellblock::egress
