// See upstream.h.
#include "egress/upstream.h"

#include <netdb.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <resolv.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "base/status_macros.h"

namespace cellblock::egress {
namespace {

constexpr size_t kWaitingThreads = 64;                       // for name servers
constexpr int kLookupsOfOneSession = 2;
constexpr std::chrono::milliseconds kTurnPoll(50);
constexpr absl::Duration kKnownFor = absl::Seconds(30);
constexpr absl::Duration kUnknownFor = absl::Seconds(2);
constexpr size_t kKnownMax = 1024;
constexpr size_t kTrustsMax = 64;
constexpr size_t kAddressesMax = 16;                         // of one name
constexpr size_t kTriesMax = 6;
constexpr std::chrono::seconds kConnectTime(5);              // to one address
constexpr auto kAwait = net::as_tuple(net::use_awaitable);

// Waits for name servers, on a thread of its own: by the host's own rules (hosts file, resolv.conf), as everything else there does.
absl::StatusOr<std::vector<policy::Address>> AskSystem(const std::string& host) {
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  // Of the host's search domains (resolv.conf(5)) none is tried: the rule's name is whole, and must not become another one.
  res_init();
  _res.options &= ~static_cast<unsigned long>(RES_DNSRCH | RES_DEFNAMES);
  addrinfo* list = nullptr;
  const int error = getaddrinfo(host.c_str(), nullptr, &hints, &list);
  if (error != 0) return absl::UnavailableError(absl::StrCat(host, " cannot be resolved: ", gai_strerror(error)));
  std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(list, freeaddrinfo);
  std::vector<policy::Address> addresses;
  for (const addrinfo* item = list; item != nullptr && addresses.size() < kAddressesMax; item = item->ai_next) {
    policy::Address address;
    if (item->ai_family == AF_INET) {
      address = policy::Address::V4(ntohl(reinterpret_cast<const sockaddr_in*>(item->ai_addr)->sin_addr.s_addr));
    } else if (item->ai_family == AF_INET6) {
      address.is_v4 = false;
      std::memcpy(address.bytes.data(), &reinterpret_cast<const sockaddr_in6*>(item->ai_addr)->sin6_addr, sizeof(in6_addr));
    } else {
      continue;
    }
    if (std::find(addresses.begin(), addresses.end(), address) == addresses.end()) addresses.push_back(address);
  }
  if (addresses.empty()) return absl::UnavailableError(absl::StrCat(host, " has no address"));
  return addresses;
}

Tcp::endpoint EndpointOf(const policy::Address& address, uint16_t port) {
  if (address.is_v4) {
    net::ip::address_v4::bytes_type bytes;
    std::copy_n(address.bytes.begin(), bytes.size(), bytes.begin());
    return {net::ip::address_v4(bytes), port};
  }
  return {net::ip::address_v6(address.bytes), port};
}

// Both kinds by turns: a host without IPv6, or without IPv4, loses no time.
std::vector<policy::Address> ByTurns(const std::vector<policy::Address>& addresses) {
  std::vector<policy::Address> kinds[2], mixed;
  for (const policy::Address& address : addresses) kinds[address.is_v4 ? 0 : 1].push_back(address);
  for (size_t i = 0; i < addresses.size(); ++i) {
    for (const auto& kind : kinds) {
      if (i < kind.size()) mixed.push_back(kind[i]);
    }
  }
  return mixed;
}

Task<absl::StatusOr<std::unique_ptr<Stream>>> TryAddress(net::io_context& context, policy::Address address, uint16_t port) {
  using net::experimental::awaitable_operators::operator||;
  Tcp::socket socket(context);
  net::steady_timer timer(context, kConnectTime);
  auto winner = co_await (socket.async_connect(EndpointOf(address, port), kAwait) || timer.async_wait(kAwait));
  if (winner.index() == 1) co_return absl::UnavailableError(absl::StrCat(address.ToString(), " does not answer"));
  if (auto [error] = std::get<0>(winner); error) co_return absl::UnavailableError(absl::StrCat(address.ToString(), ": ", error.message()));
  co_return std::make_unique<Stream>(std::move(socket), nullptr);
}

}  // namespace

Upstream::Upstream(net::io_context& context) : context_(context), waiting_(kWaitingThreads) {}

Task<absl::StatusOr<std::vector<policy::Address>>> Upstream::Resolve(Session& session, std::string host) {
  while (session.lookups >= kLookupsOfOneSession && !session.is_closed()) {
    if (auto found = known_.find(host); found != known_.end() && found->second.until > absl::Now()) co_return found->second.addresses;
    net::steady_timer turn(context_, kTurnPoll);
    co_await turn.async_wait(kAwait);
  }
  if (auto found = known_.find(host); found != known_.end() && found->second.until > absl::Now()) co_return found->second.addresses;
  ++session.lookups;
  auto ask = [host]() -> Task<absl::StatusOr<std::vector<policy::Address>>> { co_return AskSystem(host); };
  auto addresses = co_await net::co_spawn(waiting_, ask, net::use_awaitable);
  --session.lookups;
  if (known_.size() >= kKnownMax) known_.erase(known_.begin());
  known_.insert_or_assign(host, Known{addresses, absl::Now() + (addresses.ok() ? kKnownFor : kUnknownFor)});
  co_return addresses;
}

Task<absl::StatusOr<std::unique_ptr<Stream>>> Upstream::Connect(Session& session, std::string host, uint16_t port) {
  std::vector<policy::Address> addresses = session.rules().FixedAddresses(host, port);
  if (addresses.empty()) {
    absl::StatusOr<std::vector<policy::Address>> resolved = co_await Resolve(session, host);
    if (!resolved.ok()) co_return resolved.status();
    addresses = *std::move(resolved);
  }
  // One address that is refused refuses the name: a server's own names do not lead inwards by accident.
  for (const policy::Address& address : addresses) {
    if (Verdict verdict = session.rules().ForAddress(host, port, address); !verdict.allowed) co_return absl::PermissionDeniedError(verdict.reason);
  }
  addresses = ByTurns(addresses);
  std::vector<std::string> failures;
  for (size_t i = 0; i < std::min(addresses.size(), kTriesMax); ++i) {
    if (session.is_closed()) co_return absl::CancelledError("the session has ended");
    absl::StatusOr<std::unique_ptr<Stream>> stream = co_await TryAddress(context_, addresses[i], port);
    if (stream.ok()) co_return stream;
    failures.emplace_back(stream.status().message());
  }
  co_return absl::UnavailableError(absl::StrCat(host, ":", port, " cannot be reached: ", absl::StrJoin(failures, "; ")));
}

absl::StatusOr<std::shared_ptr<net::ssl::context>> Upstream::TrustOf(const std::string& authorities) {
  if (auto found = trust_.find(authorities); found != trust_.end()) return found->second;
  auto context = std::make_shared<net::ssl::context>(net::ssl::context::tls_client);
  boost::system::error_code error;
  SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
  static constexpr unsigned char kHttp[] = "\x08http/1.1";
  SSL_CTX_set_alpn_protos(context->native_handle(), kHttp, sizeof(kHttp) - 1);
  if (authorities.empty()) {
    context->set_default_verify_paths(error);
  } else {
    context->add_certificate_authority(net::buffer(authorities), error);
  }
  if (error) return absl::FailedPreconditionError(absl::StrCat("the certificates to trust cannot be read: ", error.message()));
  if (trust_.size() >= kTrustsMax) trust_.clear();
  return trust_.emplace(authorities, std::move(context)).first->second;
}

Task<absl::StatusOr<std::unique_ptr<Stream>>> Upstream::ConnectTls(Session& session, std::string host, uint16_t port) {
  absl::StatusOr<std::shared_ptr<net::ssl::context>> trust = TrustOf(session.AuthoritiesFor(host, port));
  if (!trust.ok()) co_return trust.status();
  absl::StatusOr<std::unique_ptr<Stream>> stream = co_await Connect(session, host, port);
  if (!stream.ok()) co_return stream;
  Session::Held held(session, **stream);  // so that idle time and the session's end reach it
  absl::Status secured = co_await (*stream)->ConnectTls(**trust, host);
  if (!secured.ok()) co_return secured;
  co_return stream;
}

}  // namespace cellblock::egress
