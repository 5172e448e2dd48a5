// The HTTP/1.1 server: listens, reads requests within bounds, has them answered by the API, writes replies. Supervisor; every byte
// that comes in is anybody's until its token is known.
#ifndef CELLBLOCK_FRONT_HTTP_SERVER_H_
#define CELLBLOCK_FRONT_HTTP_SERVER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "front/http/api.h"
#include "front/http/io_threads.h"
#include "service/access.h"

namespace cellblock::front {

// One answered request, for logs and metrics.
struct RequestFacts {
  std::string id;
  std::string method;
  std::string route;                          // its pattern; "" when there is none
  std::string session;                        // that its path names, whether there is one or not; cut at 64 bytes
  std::string token;                          // its name
  int status = 0;
  absl::Duration took;                        // until the reply was there, without sending it
  int64_t bytes_in = 0, bytes_out = 0;
};

struct HttpServerOptions {
  std::string address = "127.0.0.1";          // a literal address; beyond loopback only with tokens
  uint16_t port = 8765;                       // 0: any that is free
  std::string unix_path;                      // instead of TCP: a socket of mode 0600
  std::string certificate_file, key_file;     // PEM; both: TLS 1.2 or newer
  std::vector<std::string> hosts;             // names in Host beside the address and, on loopback, localhost
  std::vector<std::string> origins;           // of pages that may call, "https://example.org"; none: no page may
  std::string incoming_folder;
  size_t header_bytes_max = 32 * 1024;        // of a request's head, its first line included
  size_t json_bytes_max = size_t{16} << 20;
  int64_t upload_bytes_max = int64_t{16} << 30;       // of one request
  int64_t incoming_bytes_max = int64_t{32} << 30;     // of the files of all requests together, until each is answered
  size_t connections_max = 2048;
  absl::Duration idle_timeout = absl::Seconds(75);    // for the next request, headers included
  absl::Duration transfer_timeout = absl::Seconds(30);  // without a byte of a body, either way
  int64_t bytes_per_second_min = 1024;                // of a body, on average, once transfer_timeout has passed
  absl::Duration keep_alive = absl::Seconds(5);       // between comments in a silent stream of events
  const service::Tokens* tokens = nullptr;            // null: no token is asked for, and `anonymous` asks
  service::Token anonymous;
  std::function<void(const RequestFacts&)> on_request;  // thread-safe
};

class HttpServer {
 public:
  // kInvalidArgument: an option; kFailedPrecondition: open to others without tokens; else why it cannot listen.
  // The threads are stopped before the server is destroyed.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Listen(HttpServerOptions options, IoThreads& threads, Api& api, std::function<void(const std::string&)> cancel);
  virtual ~HttpServer() = default;

  virtual std::string address() const = 0;    // "http://127.0.0.1:8765", "unix:/run/cellblock.sock"
  virtual size_t connections() const = 0;
  virtual uint64_t connections_refused() const = 0;  // beyond connections_max
  // No new connections; those that are open end with their request, at once if they wait for one. Waits for them up to `limit`.
  virtual void Drain(absl::Duration limit) = 0;
};

}  // namespace cellblock::front

#endif  // CELLBLOCK_FRONT_HTTP_SERVER_H_
