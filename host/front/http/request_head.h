// The head of a request: method, target and headers, checked and matched with a route before any of its body is read. Supervisor; every
// byte is anybody's. Knows Beast's headers, no socket.
#ifndef CELLBLOCK_FRONT_HTTP_REQUEST_HEAD_H_
#define CELLBLOCK_FRONT_HTTP_REQUEST_HEAD_H_

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

// What a parser takes in: a head of so many bytes; how long the body may be depends on the route, which is not known yet.
template <class Parser>
void LimitHead(Parser& parser, size_t header_bytes_max) {
  parser.header_limit(static_cast<uint32_t>(header_bytes_max));
  parser.body_limit(boost::none);
}

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
