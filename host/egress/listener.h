// The session's side of the proxy: its resolver, the HTTP proxy for clients that look for one, and the ports of allowed hosts. The
// sockets stand in the session's network namespace; what comes through them is hostile. Egress proxy, on its one thread.
#ifndef CELLBLOCK_EGRESS_LISTENER_H_
#define CELLBLOCK_EGRESS_LISTENER_H_

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "base/unique_fd.h"
#include "egress/session.h"
#include "egress/upstream.h"

namespace cellblock::egress {

// Destroying it ends its sockets and all connections of the session.
class Listener {
 public:
  // `sockets` as jail/network.h orders them, `ports` of those behind the first three. `upstream` outlives it.
  static absl::StatusOr<std::unique_ptr<Listener>> Create(net::io_context& context, std::shared_ptr<Session> session, Upstream& upstream, std::vector<UniqueFd> sockets,
                                                          const std::vector<uint16_t>& ports);
  ~Listener();

 private:
  Listener(std::shared_ptr<Session> session) : session_(std::move(session)) {}

  std::shared_ptr<Session> session_;
  std::shared_ptr<net::ip::udp::socket> resolver_;
  std::vector<std::shared_ptr<Tcp::acceptor>> acceptors_;
};

}  // namespace cellblock::egress

#endif  // CELLBLOCK_EGRESS_LISTENER_H_
