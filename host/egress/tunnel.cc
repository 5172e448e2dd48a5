// See tunnel.h.
#include "egress/tunnel.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "egress/client_hello.h"

namespace cellblock::egress {
namespace {

using net::experimental::awaitable_operators::operator&&;
using net::experimental::awaitable_operators::operator||;

constexpr std::chrono::milliseconds kQuiet(300);  // a client that says nothing for so long waits for the server to begin
constexpr size_t kRequestLineMax = 8 * 1024;
constexpr auto kAwait = net::as_tuple(net::use_awaitable);

class Tunnel {
 public:
  Tunnel(Session& session, Upstream& upstream, Stream& client, Target target)
      : session_(session), upstream_(upstream), client_(client), target_(std::move(target)), handling_(session.rules().HandlingOf(target_.host, target_.port)) {}

  Task<void> Serve() {
    absl::StatusOr<Scheme> scheme = co_await Listen();
    if (!scheme.ok()) co_return Refuse("tcp", std::string(scheme.status().message()));
    if (*scheme == Scheme::kRaw && client_.ahead().empty() && handling_.may_raw) {
      const bool server_begins = co_await WaitForEither();
      if (server_begins) co_return co_await Relay("tcp");
      scheme = co_await Listen();
      if (!scheme.ok()) co_return client_.Close();
      if (*scheme != Scheme::kRaw) server_.reset();  // what is to be said is another server's connection
    }
    if (*scheme == Scheme::kRaw) {
      if (!handling_.may_raw) co_return Refuse("tcp", Unspoken("neither TLS nor HTTP"));
      co_return co_await Relay("tcp");
    }
    if (*scheme == Scheme::kHttp) {
      if (!handling_.may_http) co_return Refuse("http", Unspoken("HTTP in the clear"));
      co_return co_await Speak(Scheme::kHttp);
    }
    if (!handling_.may_tls) co_return Refuse("tls", Unspoken("TLS"));
    co_await ServeTls();
  }

 private:
  std::string Unspoken(absl::string_view what) const {
    return absl::StrCat("the connection to ", target_.host, ":", target_.port, " begins with ", what, ", and the rule lets ", handling_.may_tls ? "TLS" : "HTTP", " pass there");
  }

  wire::EgressNote Note(absl::string_view protocol) const {
    wire::EgressNote note;
    note.protocol = std::string(protocol);
    note.host = target_.host;
    note.port = target_.port;
    note.rule = session_.rules().ForConnection(target_.host, target_.port).rule;
    return note;
  }

  void Refuse(absl::string_view protocol, const std::string& reason) {
    wire::EgressNote note = Note(protocol);
    note.reason = reason;
    session_.Decided(std::move(note));
    client_.Reset();
  }

  // What the client's first bytes are. Raw also when it waits for the server to begin.
  Task<absl::StatusOr<Scheme>> Listen() {
    while (true) {
      absl::string_view ahead = client_.ahead();
      while (!ahead.empty() && (ahead[0] == '\r' || ahead[0] == '\n')) ahead.remove_prefix(1);  // as servers skip them before a request
      if (!ahead.empty() && MayBeTls(ahead)) co_return Scheme::kTls;
      if (!ahead.empty()) {
        const size_t line = ahead.find('\n');
        const bool may_be_http = absl::ascii_isupper(static_cast<unsigned char>(ahead[0])) != 0 && ahead.size() <= kRequestLineMax;
        if (!may_be_http) co_return Scheme::kRaw;
        if (line != absl::string_view::npos) co_return absl::StrContains(ahead.substr(0, line), " HTTP/") ? Scheme::kHttp : Scheme::kRaw;
      }
      if (handling_.may_raw && server_ == nullptr) {
        const bool has_more = co_await HasMoreSoon();
        if (!has_more) co_return Scheme::kRaw;
      }
      absl::StatusOr<bool> more = co_await client_.Read();
      if (!more.ok()) co_return more.status();
      if (!*more) co_return Scheme::kRaw;
    }
  }

  // The client says nothing: whether the server begins. What a client says first is looked at, however late. True also when there is no
  // server: Relay() tells of it.
  Task<bool> WaitForEither() {
    wire::EgressNote note = Note("tcp");
    note.allowed = 1;
    noted_ = session_.Decided(note);
    absl::StatusOr<std::unique_ptr<Stream>> server = co_await upstream_.Connect(session_, target_.host, target_.port);
    if (!server.ok()) co_return true;
    server_ = *std::move(server);
    Session::Held held(session_, *server_);
    auto winner = co_await (client_.socket().async_wait(Tcp::socket::wait_read, kAwait) || server_->socket().async_wait(Tcp::socket::wait_read, kAwait));
    co_return winner.index() == 1;
  }

  Task<bool> HasMoreSoon() {
    net::steady_timer timer(co_await net::this_coro::executor, kQuiet);
    auto winner = co_await (client_.socket().async_wait(Tcp::socket::wait_read, kAwait) || timer.async_wait(kAwait));
    co_return winner.index() == 0;
  }

  Task<void> Speak(Scheme scheme) {
    Exchange exchange(session_, upstream_, client_, target_, scheme);
    (void)co_await exchange.Run();
  }

  Task<void> ServeTls() {
    absl::StatusOr<std::optional<ClientHello>> hello = std::optional<ClientHello>();
    while (true) {
      hello = ReadClientHello(client_.ahead());
      if (!hello.ok()) co_return Refuse("tls", std::string(hello.status().message()));
      if (hello->has_value()) break;
      absl::StatusOr<bool> more = co_await client_.Read();
      if (!more.ok() || !*more) co_return client_.Close();
    }
    if ((*hello)->has_encrypted_hello) co_return Refuse("tls", "the TLS greeting is encrypted (ECH), so that the host it asks for cannot be seen");
    if ((*hello)->server_name.empty()) co_return Refuse("tls", absl::StrCat("the TLS greeting names no host (SNI); it must name ", target_.host));
    if ((*hello)->server_name != target_.host) {
      co_return Refuse("tls", absl::StrCat("the TLS greeting asks for ", (*hello)->server_name, ", and the connection was made to ", target_.host));
    }
    if (!handling_.inspect_tls) co_return co_await Relay("tls");
    absl::StatusOr<std::shared_ptr<net::ssl::context>> context = session_.authority()->ContextFor(target_.host);
    absl::Status accepted = context.status();
    if (accepted.ok()) accepted = co_await client_.AcceptTls(**context);
    if (!accepted.ok()) co_return Refuse("https", std::string(accepted.message()));
    co_await Speak(Scheme::kTls);
  }

  static Task<absl::Status> Pump(Stream& from, Stream& to) {
    while (true) {
      if (!from.ahead().empty()) {
        const std::string piece = std::exchange(from.ahead(), {});
        absl::Status written = co_await to.Write(piece);
        if (!written.ok()) {
          from.Reset();
          to.Reset();
          co_return written;
        }
      }
      absl::StatusOr<bool> more = co_await from.Read();
      if (more.ok() && *more) continue;
      if (more.ok()) {
        co_await to.EndWriting();
        co_return absl::OkStatus();
      }
      from.Reset();
      to.Reset();
      co_return more.status();
    }
  }

  Task<void> Relay(absl::string_view protocol) {
    wire::EgressNote note = Note(protocol);
    note.allowed = 1;
    const uint64_t id = noted_.has_value() ? *noted_ : session_.Decided(note);
    absl::StatusOr<std::unique_ptr<Stream>> server = std::move(server_);
    if (*server == nullptr) server = co_await upstream_.Connect(session_, target_.host, target_.port);
    if (server.ok()) {
      Session::Held held(session_, **server);
      auto [up, down] = co_await (Pump(client_, **server) && Pump(**server, client_));
      if (absl::IsResourceExhausted(up)) note.reason = std::string(up.message());
      if (absl::IsResourceExhausted(down)) note.reason = std::string(down.message());
    } else {
      note.reason = std::string(server.status().message());
      note.allowed = absl::IsPermissionDenied(server.status()) ? 0 : 1;
      client_.Reset();
    }
    note.sent_bytes = client_.read_bytes();
    note.received_bytes = client_.written_bytes();
    session_.Ended(id, note);
  }

  Session& session_;
  Upstream& upstream_;
  Stream& client_;
  const Target target_;
  const Handling handling_;
  std::unique_ptr<Stream> server_;  // connected while the client said nothing
  std::optional<uint64_t> noted_;   // and told of
};

}  // namespace

Task<void> ServeTarget(Session& session, Upstream& upstream, Stream& client, Target target) {
  Tunnel tunnel(session, upstream, client, std::move(target));
  co_await tunnel.Serve();
}

}  // namespace cellblock::egress
