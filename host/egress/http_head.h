// Heads of HTTP/1 messages, parsed once and strictly, and built anew from what was understood: no byte of a client's head is passed
// on as it came. Egress proxy; requests come from the session's code and are hostile, responses from servers that it may have chosen.
// Pure functions. RFC 9110, RFC 9112.
#ifndef CELLBLOCK_EGRESS_HTTP_HEAD_H_
#define CELLBLOCK_EGRESS_HTTP_HEAD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "egress/chunk_decoder.h"  // IWYU pragma: export
#include "egress/http_fields.h"    // IWYU pragma: export

namespace cellblock::egress {

inline constexpr size_t kHeadBytesMax = 32 * 1024;
inline constexpr size_t kFieldsMax = 128;
inline constexpr size_t kMethodBytesMax = 32;

// How a message's body ends.
struct Framing {
  enum class Kind { kNone, kLength, kChunked, kUntilClose };
  Kind kind = Kind::kNone;
  uint64_t length = 0;  // kLength

  friend bool operator==(const Framing&, const Framing&) = default;
};

struct RequestHead {
  std::string method;
  std::string scheme;             // of an absolute target: "http"; else empty
  std::string host;               // canonical; of the absolute target, else of Host; empty for HTTP/1.0 without either
  std::optional<uint16_t> port;   // where one stands beside the host
  std::string target;             // origin form: path and query, starts with "/" ("*" for OPTIONS *); empty for CONNECT
  bool is_connect = false;
  int minor_version = 1;          // HTTP/1.0 or HTTP/1.1
  bool keeps_alive = true;
  bool expects_continue = false;
  Framing body;
  std::vector<Field> fields;      // end-to-end ones: without Host, Connection and what it names, Close, Keep-Alive, Proxy-*, TE, Trailer,
                                  // Transfer-Encoding, Content-Length, Upgrade, HTTP2-Settings, Expect

  friend bool operator==(const RequestHead&, const RequestHead&) = default;
};

// The bytes of a head up to and with its empty line. kInvalidArgument says what is wrong: a line that ends in LF alone, CR or NUL or
// another control byte inside one, obs-fold, white space before a colon, an unknown version, two Hosts or none (HTTP/1.1), a Host that
// is no host name or differs from an absolute target's, user information in a target, a fragment, an https: target, bytes of a target
// that are no visible ASCII, two Content-Lengths, Content-Length beside Transfer-Encoding, a Transfer-Encoding other than chunked,
// these names with "_" for "-", an Expect other than 100-continue, a CONNECT without a port or with a body, a method that is no token or over
// kMethodBytesMax, more than kFieldsMax fields.
absl::StatusOr<RequestHead> ParseRequestHead(absl::string_view head);

struct ResponseHead {
  int status = 0;                 // 100 – 599, never 101: Upgrade is not passed on, so nobody asked for it
  std::string reason;             // printable ASCII, the rest replaced
  int minor_version = 1;
  bool keeps_alive = true;
  Framing body;                   // none for HEAD, 1xx, 204 and 304, whatever the fields say
  std::optional<uint64_t> content_length;  // as the field says, also where no body follows
  std::vector<Field> fields;      // end-to-end ones, as above

  friend bool operator==(const ResponseHead&, const ResponseHead&) = default;
};
absl::StatusOr<ResponseHead> ParseResponseHead(absl::string_view head, absl::string_view request_method);

// One past the empty line that ends a head; nullopt: not there yet. kInvalidArgument when more than kHeadBytesMax went by without it, a
// line ended in LF alone, or the first line is empty.
absl::StatusOr<std::optional<size_t>> FindHeadEnd(absl::string_view bytes);

// A head that says the same and nothing else: an origin-form target (CONNECT: host and port), Host, the fields, the body's framing, and
// whether the connection stays open. The version is HTTP/1.1, for a message that is HTTP/1.0 too.
std::string FormatRequestHead(const RequestHead& head);
std::string FormatResponseHead(const ResponseHead& head);

}  // namespace cellblock::egress

#endif  // CELLBLOCK_EGRESS_HTTP_HEAD_H_
