// See listener.h.
#include "egress/listener.h"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <climits>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "egress/dns_message.h"
#include "egress/exchange.h"
#include "policy/host_name.h"
#include "egress/tunnel.h"

namespace cellblock::egress {
namespace {

constexpr auto kAwait = net::as_tuple(net::use_awaitable);
constexpr uint32_t kAnswerSeconds = 60;            // a name keeps its address for as long as the session lives
constexpr std::chrono::milliseconds kAcceptPause(50);  // when descriptors have run out

using Shared = std::shared_ptr<Session>;

// ---- names ----

std::string AnswerQuestion(Session& session, absl::string_view message) {
  absl::StatusOr<DnsQuestion> question = ParseDnsQuestion(message);
  if (!question.ok()) return FormatDnsFailure(message, absl::IsUnimplemented(question.status()) ? DnsCode::kNotImplemented : DnsCode::kFormatError);
  wire::EgressNote note;
  note.protocol = "dns";
  note.host = question->name;
  absl::StatusOr<std::string> host = policy::CanonicalHost(question->name);
  Verdict verdict;
  if (absl::Status taken = session.TakeRequest(); !taken.ok()) {
    verdict = {false, "network.requests", std::string(taken.message())};
  } else if (!host.ok()) {
    verdict = {false, "network.allow", std::string(host.status().message())};
  } else {
    note.host = *host;
    verdict = session.rules().ForLookup(*host);
  }
  // Clients ask for both kinds of address at once: one of the questions is told of.
  const bool is_told = question->type != kDnsTypeAaaa;
  std::optional<uint32_t> address = verdict.allowed ? session.AddressOf(*host) : std::nullopt;
  if (verdict.allowed && !address.has_value()) verdict = {false, "network.allow", absl::StrCat("the session has looked up ", kNamesMax, " names, which is the most")};
  if (!verdict.allowed) {
    note.rule = verdict.rule;
    note.reason = verdict.reason;
    if (is_told) session.Decided(std::move(note));
    return FormatDnsAnswer(*question, DnsCode::kNameError, std::nullopt, kAnswerSeconds);
  }
  const bool wants_address = question->type == kDnsTypeA || question->type == kDnsTypeAny;
  return FormatDnsAnswer(*question, DnsCode::kNoError, wants_address ? std::optional<policy::Address>(policy::Address::V4(*address)) : std::nullopt, kAnswerSeconds);
}

Task<void> ServeDatagrams(Shared session, std::shared_ptr<net::ip::udp::socket> socket) {
  std::array<char, kDnsQuestionBytesMax> message;
  while (socket->is_open()) {
    net::ip::udp::endpoint from;
    auto [error, size] = co_await socket->async_receive_from(net::buffer(message), from, kAwait);
    if (error == net::error::operation_aborted || !socket->is_open()) co_return;
    if (error) continue;
    const std::string answer = AnswerQuestion(*session, absl::string_view(message.data(), size));
    boost::system::error_code ignored;  // who does not take it, asks again
    if (!answer.empty()) socket->send_to(net::buffer(answer), from, 0, ignored);
  }
}

// RFC 1035, 4.2.2: each message with its length before it.
Task<void> ServeQuestions(Session& session, Stream& client) {
  while (true) {
    std::string& ahead = client.ahead();
    const size_t length = ahead.size() < 2 ? 0 : static_cast<size_t>(static_cast<unsigned char>(ahead[0]) << 8 | static_cast<unsigned char>(ahead[1]));
    if (ahead.size() >= 2 && (length == 0 || length > kDnsQuestionBytesMax)) co_return;
    if (ahead.size() >= 2 && ahead.size() >= 2 + length) {
      const std::string answer = AnswerQuestion(session, absl::string_view(ahead).substr(2, length));
      ahead.erase(0, 2 + length);
      if (answer.empty()) co_return;
      const char prefix[2] = {static_cast<char>(answer.size() >> 8), static_cast<char>(answer.size() & 0xff)};
      if (!(co_await client.Write(absl::StrCat(absl::string_view(prefix, 2), answer))).ok()) co_return;
      continue;
    }
    absl::StatusOr<bool> more = co_await client.Read();
    if (!more.ok() || !*more) co_return;
  }
}

// ---- connections ----

Task<void> ServeProxyClient(Session& session, Upstream& upstream, Stream& client) {
  std::optional<Target> target;
  {
    Exchange exchange(session, upstream, client, std::nullopt, Scheme::kHttp);
    target = co_await exchange.Run();
  }
  if (target.has_value()) co_await ServeTarget(session, upstream, client, *std::move(target));
}

Task<void> ServeAddress(Session& session, Upstream& upstream, Stream& client) {
  boost::system::error_code error;
  const Tcp::endpoint at = client.socket().local_endpoint(error);
  const std::string* host = error || !at.address().is_v4() ? nullptr : session.NameOf(at.address().to_v4().to_uint());
  if (host == nullptr) co_return client.Reset();  // an address that stands for nothing, such as 127.0.0.1
  const Target target = {*host, at.port()};
  wire::EgressNote note;
  note.protocol = "tcp";
  note.host = target.host;
  note.port = target.port;
  Verdict verdict = session.rules().ForConnection(target.host, target.port);
  if (absl::Status taken = session.TakeRequest(); !taken.ok()) verdict = {false, "network.requests", std::string(taken.message())};
  if (verdict.allowed) co_return co_await ServeTarget(session, upstream, client, target);
  note.rule = verdict.rule;
  note.reason = verdict.reason;
  session.Decided(std::move(note));
  client.Reset();
}

using Server = std::function<Task<void>(Session&, Stream&)>;

Task<void> ServeConnection(Shared session, Tcp::socket socket, Server serve) {
  Stream client(std::move(socket), session.get());
  std::shared_ptr<void> place = session->TakeConnection();
  if (place == nullptr) {
    wire::EgressNote note;
    note.protocol = "tcp";
    note.rule = "network.connections";
    note.host = "any host";
    note.reason = absl::StrCat("as many connections are open as there may be (network.connections: ", session->connections_max(), "); close some, or wait for those that are done");
    session->Decided(std::move(note));
    co_return client.Reset();
  }
  Session::Held held(*session, client);
  co_await serve(*session, client);
}

int DescriptorsMax() {
  constexpr rlim_t kReserved = 256;
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  return static_cast<int>(std::min<rlim_t>(limit.rlim_cur, INT_MAX) - std::min<rlim_t>(limit.rlim_cur / 2, kReserved));
}

Task<void> Accept(Shared session, std::shared_ptr<Tcp::acceptor> acceptor, Server serve) {
  const int descriptors_max = DescriptorsMax();
  while (acceptor->is_open()) {
    auto [error, socket] = co_await acceptor->async_accept(kAwait);
    if (error == net::error::operation_aborted || !acceptor->is_open()) co_return;
    if (error) {
      net::steady_timer pause(acceptor->get_executor(), kAcceptPause);
      co_await pause.async_wait(kAwait);
      continue;
    }
    // Refusing is no work for the session, and must not become this thread's only one. Descriptors are handed out from the lowest up: near
    // the limit, what is left is for the supervisor's messages.
    const bool is_full = !session->has_place() || socket.native_handle() > descriptors_max;
    if (is_full) {
      net::steady_timer pause(acceptor->get_executor(), kAcceptPause);
      co_await pause.async_wait(kAwait);
    }
    if (socket.native_handle() > descriptors_max) continue;
    net::co_spawn(acceptor->get_executor(), ServeConnection(session, std::move(socket), serve), net::detached);
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Listener>> Listener::Create(net::io_context& context, std::shared_ptr<Session> session, Upstream& upstream, std::vector<UniqueFd> sockets,
                                                           const std::vector<uint16_t>& ports) {
  constexpr size_t kResolver = 0, kResolverStream = 1, kProxy = 2, kFirstPort = 3;
  if (sockets.size() != kFirstPort + ports.size()) return absl::InvalidArgumentError("a session's sockets are missing");
  std::unique_ptr<Listener> listener(new Listener(session));
  boost::system::error_code error;
  listener->resolver_ = std::make_shared<net::ip::udp::socket>(context);
  listener->resolver_->assign(net::ip::udp::v4(), sockets[kResolver].Release(), error);
  if (!error) listener->resolver_->non_blocking(true, error);  // an answer that does not fit is lost, and nobody waits for it
  for (size_t i = kResolverStream; i < sockets.size() && !error; ++i) {
    auto acceptor = std::make_shared<Tcp::acceptor>(context);
    acceptor->assign(Tcp::v4(), sockets[i].Release(), error);
    if (error) break;
    Server serve = [](Session& s, Stream& client) { return ServeQuestions(s, client); };
    if (i == kProxy) serve = [&upstream](Session& s, Stream& client) { return ServeProxyClient(s, upstream, client); };
    if (i >= kFirstPort) serve = [&upstream](Session& s, Stream& client) { return ServeAddress(s, upstream, client); };
    net::co_spawn(context, Accept(session, acceptor, std::move(serve)), net::detached);
    listener->acceptors_.push_back(std::move(acceptor));
  }
  if (error) return absl::InternalError(absl::StrCat("listen for a session: ", error.message()));
  net::co_spawn(context, ServeDatagrams(session, listener->resolver_), net::detached);
  return listener;
}

Listener::~Listener() {
  boost::system::error_code ignored;
  if (resolver_ != nullptr) resolver_->close(ignored);
  for (const auto& acceptor : acceptors_) acceptor->close(ignored);
  session_->Close();
}

}  // namespace cellblock::egress
