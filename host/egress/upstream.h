// The way to a server: its name resolved here and nowhere else, every address checked, a connection to the address that was checked.
// Egress proxy: its one thread, and a few more that wait for name servers.
#ifndef CELLBLOCK_EGRESS_UPSTREAM_H_
#define CELLBLOCK_EGRESS_UPSTREAM_H_

#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "policy/address.h"
#include "egress/session.h"
#include "egress/stream.h"

namespace cellblock::egress {

class Upstream {
 public:
  explicit Upstream(net::io_context& context);

  // A connection to an allowed host and port. kUnavailable: no such name, no answer; kPermissionDenied: where it leads is refused, with
  // the rule.
  Task<absl::StatusOr<std::unique_ptr<Stream>>> Connect(Session& session, std::string host, uint16_t port);
  // The same, inside TLS: the certificate must be for `host`, from an authority of the rule's or the system's.
  Task<absl::StatusOr<std::unique_ptr<Stream>>> ConnectTls(Session& session, std::string host, uint16_t port);

 private:
  struct Known {
    absl::StatusOr<std::vector<policy::Address>> addresses;
    absl::Time until;
  };
  Task<absl::StatusOr<std::vector<policy::Address>>> Resolve(Session& session, std::string host);
  absl::StatusOr<std::shared_ptr<net::ssl::context>> TrustOf(const std::string& authorities);

  net::io_context& context_;
  net::thread_pool waiting_;
  std::map<std::string, Known> known_;
  std::map<std::string, std::shared_ptr<net::ssl::context>> trust_;  // by PEM text; empty: the system's
};

}  // namespace cellblock::egress

#endif  // CELLBLOCK_EGRESS_UPSTREAM_H_
