// See stream.h.
#include "egress/stream.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <tuple>

#include "absl/strings/str_cat.h"

namespace cellblock::egress {
namespace {

constexpr std::chrono::milliseconds kPeersEnd(500);
constexpr auto kAwait = net::as_tuple(net::use_awaitable);

absl::Status Failed(absl::string_view what, const boost::system::error_code& error) { return absl::UnavailableError(absl::StrCat(what, ": ", error.message())); }

bool IsEnd(const boost::system::error_code& error) { return error == net::error::eof || error == net::ssl::error::stream_truncated; }

}  // namespace

Stream::Stream(Tcp::socket socket, Meter* meter) : socket_(std::move(socket)), meter_(meter) {
  boost::system::error_code ignored;
  socket_.set_option(Tcp::no_delay(true), ignored);
  socket_.non_blocking(true, ignored);
}

// Waits without a buffer: of thousands of quiet connections none holds one.
Task<std::pair<boost::system::error_code, size_t>> Stream::ReadPlain() {
  static std::array<char, kPieceBytes> piece;  // one thread, and no wait between its reads and writes
  while (true) {
    auto [failed] = co_await socket_.async_wait(Tcp::socket::wait_read, kAwait);
    if (failed) co_return std::make_pair(failed, size_t{0});
    boost::system::error_code error;
    const size_t count = socket_.read_some(net::buffer(piece), error);
    if (error == net::error::would_block) continue;
    ahead_.append(piece.data(), count);
    co_return std::make_pair(error, count);
  }
}

Task<std::pair<boost::system::error_code, size_t>> Stream::ReadTls() {
  std::array<char, kPieceBytes> piece;
  auto [error, count] = co_await tls_->async_read_some(net::buffer(piece), kAwait);
  ahead_.append(piece.data(), count);
  co_return std::make_pair(error, count);
}

Task<absl::StatusOr<bool>> Stream::Read() {
  std::pair<boost::system::error_code, size_t> read;
  if (tls_.has_value()) {  // not by `?:`, which GCC 12 compiles wrongly around co_await
    read = co_await ReadTls();
  } else {
    read = co_await ReadPlain();
  }
  const auto& [error, count] = read;
  active_at_ = Clock::now();
  is_cut_ = error == net::ssl::error::stream_truncated;
  if (IsEnd(error)) co_return false;
  if (error) co_return Failure("read", error);
  read_bytes_ += count;
  if (absl::Status paid = co_await Pay(count); !paid.ok()) co_return paid;
  co_return true;
}

Task<absl::Status> Stream::Pay(size_t bytes) {
  if (meter_ == nullptr) co_return absl::OkStatus();
  waits_ = true;
  absl::Status taken = co_await meter_->Take(bytes);
  waits_ = false;
  active_at_ = Clock::now();
  co_return taken;
}

Task<absl::Status> Stream::Write(absl::string_view bytes) {
  if (absl::Status paid = co_await Pay(bytes.size()); !paid.ok()) co_return paid;
  const net::const_buffer buffer(bytes.data(), bytes.size());
  std::tuple<boost::system::error_code, size_t> written;
  if (tls_.has_value()) {
    written = co_await net::async_write(*tls_, buffer, kAwait);
  } else {
    written = co_await net::async_write(socket_, buffer, kAwait);
  }
  const auto& [error, count] = written;
  written_bytes_ += count;
  active_at_ = Clock::now();
  if (error) co_return Failure("write", error);
  co_return absl::OkStatus();
}

Task<absl::Status> Stream::AcceptTls(net::ssl::context& context) {
  tls_.emplace(socket_, context);
  const std::string hello = std::exchange(ahead_, {});
  auto [error, used] = co_await tls_->async_handshake(net::ssl::stream_base::server, net::buffer(hello), kAwait);
  active_at_ = Clock::now();
  if (error) co_return Failed("the session's code does not accept the proxy's certificate", error);
  co_return absl::OkStatus();
}

Task<absl::Status> Stream::ConnectTls(net::ssl::context& context, const std::string& host) {
  tls_.emplace(socket_, context);
  boost::system::error_code ignored;
  SSL_set_hostflags(tls_->native_handle(), X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  if (SSL_set_tlsext_host_name(tls_->native_handle(), host.c_str()) != 1 || SSL_set1_host(tls_->native_handle(), host.c_str()) != 1) {
    co_return absl::InternalError("the server's name could not be set");
  }
  tls_->set_verify_mode(net::ssl::verify_peer, ignored);
  auto [error] = co_await tls_->async_handshake(net::ssl::stream_base::client, kAwait);
  active_at_ = Clock::now();
  if (!error) co_return absl::OkStatus();
  const long verified = SSL_get_verify_result(tls_->native_handle());
  if (verified != X509_V_OK) co_return absl::UnavailableError(absl::StrCat("the certificate of ", host, " is not trusted: ", X509_verify_cert_error_string(verified)));
  co_return Failed(absl::StrCat("TLS with ", host), error);
}

absl::Status Stream::Failure(absl::string_view what, const boost::system::error_code& error) const {
  if (is_expired_) return absl::DeadlineExceededError("nothing came for as long as network.idle allows");
  return Failed(what, error);
}

void Stream::Expire() {
  is_expired_ = true;
  Close();
}

Task<void> Stream::EndWriting() {
  using net::experimental::awaitable_operators::operator||;
  if (tls_.has_value()) {  // asio goes on to wait for the peer's own, which need not come
    net::steady_timer timer(socket_.get_executor(), kPeersEnd);
    (void)co_await (tls_->async_shutdown(kAwait) || timer.async_wait(kAwait));
  }
  boost::system::error_code ignored;
  socket_.shutdown(Tcp::socket::shutdown_send, ignored);
}

void Stream::Close() {
  boost::system::error_code ignored;
  socket_.close(ignored);
}

void Stream::Reset() {
  boost::system::error_code ignored;
  socket_.set_option(net::socket_base::linger(true, 0), ignored);
  socket_.close(ignored);
}

}  // namespace cellblock::egress
