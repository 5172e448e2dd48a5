// One connection's bytes, plain or inside TLS, with what was read ahead. Egress proxy, on its one thread. The peer is the session's code
// or a server: both hostile.
#ifndef CELLBLOCK_EGRESS_STREAM_H_
#define CELLBLOCK_EGRESS_STREAM_H_

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cellblock::egress {

namespace net = boost::asio;
using Tcp = net::ip::tcp;
using Clock = std::chrono::steady_clock;
template <typename T>
using Task = net::awaitable<T>;

inline constexpr size_t kPieceBytes = 16 * 1024;  // read at once, and so held of one direction

// Is asked before bytes go on. Outlives its streams.
class Meter {
 public:
  virtual ~Meter() = default;
  // Counts bytes; kResourceExhausted names the limit that they are beyond. Waits where the session is faster than it may be.
  virtual Task<absl::Status> Take(size_t bytes) = 0;
};

class Stream {
 public:
  // `meter`: for the session's side; null for a server's.
  Stream(Tcp::socket socket, Meter* meter);

  // Reads once, to the end of ahead(). False at the end of the peer's bytes.
  Task<absl::StatusOr<bool>> Read();
  Task<absl::Status> Write(absl::string_view bytes);
  std::string& ahead() { return ahead_; }
  // Ends TLS here, as the server; what was read ahead belongs to it.
  Task<absl::Status> AcceptTls(net::ssl::context& context);
  // Starts TLS as the client: `host` goes into SNI and must be the certificate's.
  Task<absl::Status> ConnectTls(net::ssl::context& context, const std::string& host);
  // Says that no more comes, inside TLS too (close_notify, RFC 8446 section 6.1), so that what was sent does not look cut.
  Task<void> EndWriting();
  void Expire();  // as Close(), because it was idle for too long
  void Close();   // whatever waits on it ends with an error
  void Reset();   // the same, and the peer hears of it as a reset connection

  Tcp::socket& socket() { return socket_; }
  uint64_t read_bytes() const { return read_bytes_; }        // of what TLS carries
  uint64_t written_bytes() const { return written_bytes_; }
  Clock::time_point active_at() const { return active_at_; }
  bool waits() const { return waits_; }                      // for its meter: it is not idle
  bool is_cut() const { return is_cut_; }                    // TLS ended without saying so

 private:
  Task<absl::Status> Pay(size_t bytes);
  absl::Status Failure(absl::string_view what, const boost::system::error_code& error) const;
  // What came and how many bytes; at least one unless there is an error.
  Task<std::pair<boost::system::error_code, size_t>> ReadPlain();
  Task<std::pair<boost::system::error_code, size_t>> ReadTls();

  Tcp::socket socket_;
  Meter* meter_;
  std::optional<net::ssl::stream<Tcp::socket&>> tls_;
  std::string ahead_;
  uint64_t read_bytes_ = 0, written_bytes_ = 0;
  Clock::time_point active_at_ = Clock::now();
  bool waits_ = false, is_cut_ = false, is_expired_ = false;
};

}  // namespace cellblock::egress

#endif  // CELLBLOCK_EGRESS_STREAM_H_
