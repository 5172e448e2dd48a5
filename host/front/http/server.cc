// See server.h. The one translation unit that compiles connections.
#include "front/http/server.h"

#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/ssl.hpp>

#include "base/status_macros.h"
#include "front/http/connection.h"

namespace cellblock::front {
namespace {

namespace net = boost::asio;
namespace beast = boost::beast;

using Protocol = net::generic::stream_protocol;
using PlainStream = beast::basic_stream<Protocol>;
using TlsStream = beast::ssl_stream<PlainStream>;

constexpr auto kToken = net::experimental::as_tuple(net::use_awaitable);
constexpr absl::Duration kHandshakeMax = absl::Seconds(10);
constexpr auto kLookEvery = std::chrono::milliseconds(200);
constexpr auto kRetryAccept = std::chrono::milliseconds(100);  // when there are no descriptors left

absl::Status SystemError(absl::string_view what, const beast::error_code& error) { return absl::UnavailableError(absl::StrCat(what, ": ", error.message())); }

class HttpServerImpl : public HttpServer {
 public:
  HttpServerImpl(HttpServerOptions options, IoThreads& threads, Api& api, std::function<void(const std::string&)> cancel, std::vector<std::string> hosts)
      : threads_(threads),
        acceptor_(net::make_strand(threads.context())),
        look_timer_(threads.context()),
        state_(std::make_shared<ServerState>(std::move(options), std::move(hosts), threads, api, std::move(cancel))) {}
  // The threads have been stopped, or it never listened: nothing of it runs any more.
  ~HttpServerImpl() override {
    if (listens_ && !state_->options.unix_path.empty()) unlink(state_->options.unix_path.c_str());
  }

  absl::Status UseTls() {
    beast::error_code error;
    tls_.emplace(net::ssl::context::tls_server);
    SSL_CTX_set_min_proto_version(tls_->native_handle(), TLS1_2_VERSION);
    if (tls_->use_certificate_chain_file(state_->options.certificate_file, error)) return SystemError(absl::StrCat("certificate ", state_->options.certificate_file), error);
    if (tls_->use_private_key_file(state_->options.key_file, net::ssl::context::pem, error)) return SystemError(absl::StrCat("key ", state_->options.key_file), error);
    return absl::OkStatus();
  }

  absl::Status ListenTcp() {
    beast::error_code error;
    const net::ip::address address = net::ip::make_address(state_->options.address, error);
    if (error) return absl::InvalidArgumentError(absl::StrCat("\"", state_->options.address, "\" is no address; 127.0.0.1 or ::1 for this machine alone, 0.0.0.0 or :: for all"));
    const net::ip::tcp::endpoint endpoint(address, state_->options.port);
    const std::string name = absl::StrCat(address.is_v6() ? "[" : "", address.to_string(), address.is_v6() ? "]" : "");
    if (acceptor_.open(Protocol(endpoint.protocol().family(), IPPROTO_TCP), error)) return SystemError("open a socket", error);
    acceptor_.set_option(net::socket_base::reuse_address(true), error);
    if (acceptor_.bind(endpoint, error)) return SystemError(absl::StrCat("listen on ", name, ":", state_->options.port), error);
    if (acceptor_.listen(net::socket_base::max_listen_connections, error)) return SystemError("listen", error);
    sockaddr_storage bound = {};
    socklen_t size = sizeof(bound);
    getsockname(acceptor_.native_handle(), reinterpret_cast<sockaddr*>(&bound), &size);
    const uint16_t port = ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&bound)->sin6_port : reinterpret_cast<sockaddr_in*>(&bound)->sin_port);
    address_ = absl::StrCat(tls_.has_value() ? "https://" : "http://", name, ":", port);
    return absl::OkStatus();
  }

  absl::Status ListenUnix() {
    const std::string& path = state_->options.unix_path;
    if (path.size() >= sizeof(sockaddr_un::sun_path)) return absl::InvalidArgumentError(absl::StrCat(path, " is longer than a socket's path may be"));
    struct stat found = {};
    if (lstat(path.c_str(), &found) == 0) {
      if (!S_ISSOCK(found.st_mode)) return absl::InvalidArgumentError(absl::StrCat(path, " is there and no socket"));
      if (IsAnswered(path)) return absl::UnavailableError(absl::StrCat("listen on ", path, ": another server does"));
      unlink(path.c_str());  // of one that was killed
    }
    beast::error_code error;
    const net::local::stream_protocol::endpoint endpoint(path);
    if (acceptor_.open(Protocol(AF_UNIX, 0), error)) return SystemError("open a socket", error);
    const mode_t before = umask(0177);
    acceptor_.bind(endpoint, error);
    umask(before);
    if (error) return SystemError(absl::StrCat("listen on ", path), error);
    if (acceptor_.listen(net::socket_base::max_listen_connections, error)) return SystemError("listen", error);
    address_ = absl::StrCat("unix:", path);
    return absl::OkStatus();
  }

  absl::Status Listen() { return state_->options.unix_path.empty() ? ListenTcp() : ListenUnix(); }

  void Start() {
    listens_ = true;
    net::co_spawn(acceptor_.get_executor(), Accept(), net::detached);
    LookForVanished();
  }

  std::string address() const override { return address_; }
  size_t connections() const override { return state_->connections; }
  uint64_t connections_refused() const override { return state_->connections_refused; }

  void Drain(absl::Duration limit) override {
    state_->draining = true;
    net::post(acceptor_.get_executor(), [this, state = state_] {
      beast::error_code ignored;
      acceptor_.close(ignored);
    });
    state_->idle.CloseAll();
    for (const absl::Time end = absl::Now() + limit; state_->connections > 0 && absl::Now() < end;) absl::SleepFor(absl::Milliseconds(20));
  }

 private:
  bool IsAnswered(const std::string& path) {
    beast::error_code error;
    net::local::stream_protocol::socket probe(threads_.context());
    probe.connect(net::local::stream_protocol::endpoint(path), error);
    return !error;
  }

  net::awaitable<void> Accept() {
    net::steady_timer pause(acceptor_.get_executor());
    while (acceptor_.is_open()) {
      auto [error, socket] = co_await acceptor_.async_accept(net::make_strand(threads_.context()), kToken);
      if (error == net::error::operation_aborted) co_return;
      if (error) {  // out of descriptors or memory: what is open goes on
        pause.expires_after(kRetryAccept);
        co_await pause.async_wait(kToken);
        continue;
      }
      const auto executor = socket.get_executor();
      if (state_->connections >= state_->options.connections_max) {
        ++state_->connections_refused;
        net::co_spawn(executor, SayBusy(PlainStream(std::move(socket))), net::detached);
        continue;
      }
      ++state_->connections;
      auto done = [state = state_](std::exception_ptr) { --state->connections; };
      if (tls_.has_value()) {
        net::co_spawn(executor, ServeTls(TlsStream(PlainStream(std::move(socket)), *tls_)), done);
      } else {
        beast::error_code ignored;
        socket.set_option(net::ip::tcp::no_delay(true), ignored);  // not of a unix socket, which needs none
        net::co_spawn(executor, ServePlain(PlainStream(std::move(socket))), done);
      }
    }
  }

  net::awaitable<void> ServePlain(PlainStream stream) {
    Connection<PlainStream> connection(state_, std::move(stream));
    co_await connection.Serve();
  }

  net::awaitable<void> ServeTls(TlsStream stream) {
    Connection<TlsStream> connection(state_, std::move(stream));
    beast::get_lowest_layer(connection.stream()).expires_after(absl::ToChronoNanoseconds(kHandshakeMax));
    auto [error] = co_await connection.stream().async_handshake(net::ssl::stream_base::server, kToken);
    if (!error) co_await connection.Serve();
    if (error.category() == net::error::get_ssl_category() && ERR_GET_REASON(static_cast<unsigned long>(error.value())) == SSL_R_HTTP_REQUEST) {
      co_await SayTls(beast::get_lowest_layer(connection.stream()));
    }
  }

  // To one that speaks plain HTTP to a port of TLS: without an answer it would only see the connection end.
  static net::awaitable<void> SayTls(PlainStream& stream) {
    static constexpr absl::string_view kTls = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: 39\r\n\r\nthis port speaks TLS: ask by https://.\n";
    stream.expires_after(std::chrono::seconds(1));
    (void)co_await net::async_write(stream, net::buffer(kTls.data(), kTls.size()), kToken);
  }

  static net::awaitable<void> SayBusy(PlainStream stream) {
    static constexpr absl::string_view kBusy = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    stream.expires_after(std::chrono::seconds(1));
    (void)co_await net::async_write(stream, net::buffer(kBusy.data(), kBusy.size()), kToken);
  }

  void LookForVanished() {
    look_timer_.expires_after(kLookEvery);
    look_timer_.async_wait([this](const beast::error_code& error) {
      if (error) return;
      state_->vanished.Look();
      LookForVanished();
    });
  }

  IoThreads& threads_;
  net::basic_socket_acceptor<Protocol> acceptor_;
  net::steady_timer look_timer_;
  std::optional<net::ssl::context> tls_;
  std::string address_;
  bool listens_ = false;
  const std::shared_ptr<ServerState> state_;
};

bool IsLoopback(const HttpServerOptions& options) {
  beast::error_code error;
  const net::ip::address address = net::ip::make_address(options.address, error);
  return !options.unix_path.empty() || (!error && address.is_loopback());
}

// The names that a client may call this server by.
std::vector<std::string> HostsOf(const HttpServerOptions& options) {
  std::vector<std::string> hosts = options.hosts;
  if (!options.unix_path.empty()) return {};
  beast::error_code error;
  const net::ip::address address = net::ip::make_address(options.address, error);
  if (error) return hosts;
  if (address.is_unspecified() && hosts.empty()) return {};  // reached by names that nobody has told it; the token decides
  hosts.push_back(address.is_v6() ? absl::StrCat("[", address.to_string(), "]") : address.to_string());
  if (address.is_loopback() || address.is_unspecified()) hosts.insert(hosts.end(), {"localhost", "127.0.0.1", "[::1]"});
  return hosts;
}

}  // namespace

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Listen(HttpServerOptions options, IoThreads& threads, Api& api, std::function<void(const std::string&)> cancel) {
  if (options.tokens == nullptr && !IsLoopback(options)) {
    return absl::FailedPreconditionError(absl::StrCat("without tokens only this machine may call: listen on 127.0.0.1, ::1 or a unix socket, not on ", options.address));
  }
  if (options.certificate_file.empty() != options.key_file.empty()) return absl::InvalidArgumentError("TLS needs both a certificate and its key");
  const bool tls = !options.certificate_file.empty();
  std::vector<std::string> hosts = HostsOf(options);
  auto server = std::make_unique<HttpServerImpl>(std::move(options), threads, api, std::move(cancel), std::move(hosts));
  if (tls) CELLBLOCK_RETURN_IF_ERROR(server->UseTls());
  CELLBLOCK_RETURN_IF_ERROR(server->Listen());
  server->Start();
  return server;
}

}  // namespace cellblock::front
