// The head of a request: method, target and headers, checked and matched with a route before any of its body is read. Supervisor; every
// byte is anybody's. Knows Beast's headers, no socket.
#ifndef CELLBLOCK_FRONT_HTTP_REQUEST_HEAD_H_
#define CELLBLOCK_FRONT_HTTP_REQUEST_HEAD_H_

#include <boost/beast/core/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/none.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "front/http/admission.h"
#include "front/http/api.h"
#include "front/http/message.h"

namespace cellblock::front {

inline constexpr size_t kRequestIdBytesMax = 128;
inline constexpr size_t kIdempotencyKeyBytesMax = 255;
inline constexpr size_t kSessionBytesMax = 64;       // of what stands for a session's id in a path, in logs

// What a parser takes in at once; how long the body may be depends on the route, which is not known yet.
template <class Parser>
void LimitHead(Parser& parser, size_t header_bytes_max) {
  parser.header_limit(static_cast<uint32_t>(header_bytes_max));
  parser.body_limit(boost::none);
}

// What a client may send of a body beyond its bytes: the sizes and extensions of chunks, trailers.
inline constexpr uint64_t kFramingBytesMax = 64 * 1024;
inline constexpr uint64_t kFramingFactorMax = 16;  // to each byte of the body: chunks of one byte have six

// Feeds a parser and counts. A parser's own header_limit is of what it has not understood yet: a client could go on with one header
// after the other, with trailers, or with the extension of a chunk, and the server would keep them all.
template <class Parser>
class CountingFeed {
 public:
  explicit CountingFeed(Parser& parser) : parser_(parser) {}

  // need_more: the buffer wants more.
  boost::beast::error_code Take(boost::beast::flat_buffer& buffer) {
    boost::beast::error_code error = boost::beast::http::error::need_more;
    if (buffer.size() > 0) {
      error = {};
      const size_t used = parser_.put(buffer.data(), error);
      buffer.consume(used);
      taken_ += used;
    }
    pending_ = error == boost::beast::http::error::need_more ? buffer.size() : 0;
    return error;
  }
  // Whether the head is longer than so many bytes, as far as it has come.
  bool IsBeyondHead(size_t bytes_max) const { return taken_ + pending_ > bytes_max; }
  // Whether more has come than a body of so many bytes needs.
  bool IsBeyondBody(uint64_t received) const { return taken_ + pending_ > kFramingBytesMax + (1 + kFramingFactorMax) * received; }

 private:
  Parser& parser_;
  uint64_t taken_ = 0;
  uint64_t pending_ = 0;                   // in the buffer, and not yet understood
};

struct RequestHead {
  HttpRequest request;              // its body, files and call_began are still to come
  const Route* route = nullptr;     // also of a request that is refused, where its path has one
  std::string session;              // that its path names, for logs
  bool expects_continue = false;
};

// A reply when the request goes no further. `head.request.id` is set in either case. `metrics_open`: see ApiOptions.
std::optional<HttpReply> ReadHead(const boost::beast::http::request_header<>& header, const Admission& admission, bool metrics_open, RequestHead* head);

}  // namespace cellblock::front

#endif  // CELLBLOCK_FRONT_HTTP_REQUEST_HEAD_H_
