// One connection: requests one after the other, each read within bounds and deadlines. A template over the kind of stream (plain, TLS);
// server.cc alone includes it. Supervisor; every byte is anybody's until its token is known.
#ifndef CELLBLOCK_FRONT_HTTP_CONNECTION_H_
#define CELLBLOCK_FRONT_HTTP_CONNECTION_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/experimental/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <functional>
#include <optional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "front/http/admission.h"
#include "front/http/body_sink.h"
#include "front/http/event_stream.h"
#include "front/http/idle.h"
#include "front/http/incoming_bytes.h"
#include "front/http/request_head.h"
#include "front/http/server.h"
#include "front/http/vanished.h"
#include "sys/random_id.h"

namespace cellblock::front {

// What the connections of one server share.
struct ServerState {
  ServerState(HttpServerOptions given, std::vector<std::string> hosts, IoThreads& io_threads, Api& answers, std::function<void(const std::string&)> cancel_call)
      : options(std::move(given)),
        threads(io_threads),
        api(answers),
        cancel(cancel_call),
        admission(std::move(hosts), options.origins, options.tokens, &options.anonymous),
        vanished(std::move(cancel_call)),
        incoming(options.incoming_bytes_max) {}

  const HttpServerOptions options;
  IoThreads& threads;
  Api& api;
  std::function<void(const std::string& execution_id)> cancel;
  Admission admission;
  VanishedClients vanished;
  IncomingBytes incoming;
  IdleConnections idle;
  std::atomic<size_t> connections = 0;
  std::atomic<uint64_t> connections_refused = 0;
  std::atomic<bool> draining = false;
};

template <class Stream>
class Connection {
 public:
  Connection(std::shared_ptr<ServerState> state, Stream stream) : state_(std::move(state)), stream_(std::move(stream)) {}

  boost::asio::awaitable<void> Serve() {
    while (co_await ServeOne()) {
    }
    lowest().expires_never();
    boost::beast::error_code ignored;
    lowest().socket().shutdown(boost::asio::socket_base::shutdown_send, ignored);
  }

  Stream& stream() { return stream_; }

 private:
  using Parser = boost::beast::http::request_parser<boost::beast::http::buffer_body>;
  using HeaderParser = boost::beast::http::request_parser<boost::beast::http::empty_body>;
  static constexpr size_t kPieceBytes = 64 * 1024;
  static constexpr size_t kHeadPieceBytes = 4 * 1024;
  static constexpr size_t kDiscardBytesMax = 1 << 20;
  static constexpr auto kToken = boost::asio::experimental::as_tuple(boost::asio::use_awaitable);

  auto& lowest() { return boost::beast::get_lowest_layer(stream_); }
  // When it is over, the stream is closed: nothing more can be said.
  void Deadline(absl::Duration duration) { lowest().expires_after(absl::ToChronoNanoseconds(duration)); }

  // When it is over, what is being read ends with an error, and the client can be told. What the timer calls may come when this object
  // is gone; all of it runs on the connection's strand.
  class Patience {
   public:
    Patience(Connection& connection, absl::Duration duration) : timer_(connection.stream_.get_executor()), over_(std::make_shared<bool>(false)), reading_(std::make_shared<bool>(true)) {
      connection.lowest().expires_never();
      timer_.expires_after(absl::ToChronoNanoseconds(duration));
      timer_.async_wait([lowest = &connection.lowest(), over = over_, reading = reading_](boost::beast::error_code error) {
        if (error || !*reading) return;
        *over = true;
        lowest->cancel();
      });
    }
    ~Patience() { *reading_ = false; }
    Patience(const Patience&) = delete;
    Patience& operator=(const Patience&) = delete;
    bool over() const { return *over_; }

   private:
    boost::asio::steady_timer timer_;
    const std::shared_ptr<bool> over_, reading_;
  };

  // False: the connection is over.
  boost::asio::awaitable<bool> ServeOne() {
    namespace http = boost::beast::http;
    HeaderParser header;
    LimitHead(header, state_->options.header_bytes_max);
    Deadline(state_->options.idle_timeout);
    IdleConnections::Wait wait(state_->idle, static_cast<int>(lowest().socket().native_handle()));
    if (!wait.may_wait()) co_return false;
    const boost::beast::error_code error = co_await ReadHeader(header);
    wait.End();
    if (error) co_return co_await AnswerBadHeader(error);
    began_ = absl::Now();
    version_ = header.get().version();
    keep_alive_ = header.get().keep_alive() && !state_->draining;
    is_head_ = header.get().method() == http::verb::head;
    bytes_streamed_ = 0;
    IncomingBytes::Share incoming(state_->incoming);  // until the request's files are gone with it
    RequestHead head;
    HttpReply reply;
    bool body_left = true;
    std::optional<HttpReply> refused = ReadHead(header.get(), state_->admission, state_->api.metrics_open(), &head);
    HttpRequest& request = head.request;
    route_ = head.route;
    session_ = head.session;
    expects_continue_ = head.expects_continue;
    if (refused.has_value()) {
      reply = std::move(*refused);
      body_left = header.get().count(http::field::transfer_encoding) > 0 || (!header.is_done() && header.content_length().value_or(0) > 0);
    } else if (std::optional<HttpReply> failed = co_await ReadBody(header, &request, &incoming, &body_left); failed.has_value()) {
      reply = std::move(*failed);
      incoming.GiveBack();
    } else {
      body_left = false;
      co_return co_await Answer(request);
    }
    if (body_left) keep_alive_ = false;
    const bool more = co_await Send(request, std::move(reply));
    if (body_left) co_await Discard();
    co_return more && !body_left;
  }

  boost::asio::awaitable<boost::beast::error_code> ReadHeader(HeaderParser& header) {
    namespace http = boost::beast::http;
    CountingFeed<HeaderParser> feed(header);
    while (true) {
      const boost::beast::error_code error = feed.Take(buffer_);
      if (feed.IsBeyondHead(state_->options.header_bytes_max)) co_return http::error::header_limit;
      if (header.is_header_done()) co_return boost::beast::error_code();
      if (error && error != http::error::need_more) co_return error;
      auto [failed, bytes] = co_await stream_.async_read_some(buffer_.prepare(kHeadPieceBytes), kToken);
      if (failed == boost::asio::error::eof) co_return header.got_some() ? http::error::partial_message : http::error::end_of_stream;
      if (failed) co_return failed;
      buffer_.commit(bytes);
    }
  }

  boost::asio::awaitable<bool> AnswerBadHeader(boost::beast::error_code error) {
    namespace http = boost::beast::http;
    HttpRequest request;
    request.id = sys::RandomId("r-");
    version_ = 11;
    keep_alive_ = false;
    is_head_ = false;
    route_ = nullptr;
    session_.clear();
    began_ = absl::Now();
    if (error == http::error::header_limit) {
      co_await Send(request, ProblemReply(431, "headers_too_large", absl::StrCat("the request's headers are longer than ", state_->options.header_bytes_max, " bytes"), request.id));
    } else if (error.category() == http::make_error_code(http::error::bad_method).category() && error != http::error::end_of_stream && error != http::error::partial_message) {
      co_await Send(request, ProblemReply(400, "bad_request", absl::StrCat("this is no HTTP request: ", error.message()), request.id));
    } else {
      co_return false;  // gone, or silent for too long
    }
    co_await Discard();
    co_return false;
  }

  // How the body is taken in; a reply when it is not. `length`: where it is told.
  std::optional<HttpReply> PrepareBody(const HttpRequest& request, std::optional<uint64_t> length, BodySink* sink, IncomingBytes::Share* incoming, uint64_t* bytes_max) {
    *bytes_max = state_->options.json_bytes_max;
    const bool is_file = route_->body == Route::Body::kFile;
    const absl::StatusOr<std::string> boundary = is_file ? std::string() : BoundaryOf(request.content_type);
    if (!boundary.ok()) return ProblemReply(boundary.status(), request.id);
    if (!is_file && boundary->empty()) return std::nullopt;
    if (!is_file && route_->body != Route::Body::kJsonOrMultipart) return ProblemReply(415, "unsupported_media_type", "this path takes JSON, not multipart/form-data", request.id);
    *bytes_max = static_cast<uint64_t>(std::min(state_->options.upload_bytes_max, state_->incoming.bytes_max()));
    if (length.value_or(0) > *bytes_max) return std::nullopt;  // it is refused for that
    const auto file_bytes = is_file && length.has_value() ? std::optional<int64_t>(static_cast<int64_t>(*length)) : std::nullopt;
    if (std::optional<HttpReply> refused = AdmitFiles(request, file_bytes, sink, incoming)) return refused;
    const absl::Status begun = is_file ? sink->BeginFile(request.captured.back()) : sink->BeginMultipart(*boundary);
    return begun.ok() ? std::nullopt : std::optional<HttpReply>(ProblemReply(begun, request.id));
  }

  // By the limits of where they go to, and by the room that there is for uploads on their way: what does not fit is not sent for nothing.
  std::optional<HttpReply> AdmitFiles(const HttpRequest& request, std::optional<int64_t> file_bytes, BodySink* sink, IncomingBytes::Share* incoming) {
    const std::optional<IoThreads::Blocking> blocking = state_->threads.TryBlock();
    if (!blocking.has_value()) return BusyReply(request);
    absl::StatusOr<service::UploadLimit> limit = state_->api.AdmitUpload(*route_, request, file_bytes);
    if (!limit.ok()) return ProblemReply(limit.status(), request.id);
    if (absl::Status held = incoming->Hold(file_bytes.value_or(0)); !held.ok()) return ProblemReply(held, request.id);
    sink->LimitFiles(*std::move(limit), incoming);
    return std::nullopt;
  }

  static HttpReply BusyReply(const HttpRequest& request) {
    HttpReply reply = ProblemReply(429, "too_many_calls", "as many requests are being worked on as may; this one was not begun", request.id);
    reply.headers.emplace_back("Retry-After", "1");
    return reply;
  }

  boost::asio::awaitable<std::optional<HttpReply>> ReadBody(HeaderParser& header, HttpRequest* request, IncomingBytes::Share* incoming, bool* body_left) {
    namespace http = boost::beast::http;
    BodySink sink(state_->options.incoming_folder, state_->options.json_bytes_max);
    uint64_t bytes_max = 0;
    const std::optional<uint64_t> length = header.content_length() ? std::optional<uint64_t>(*header.content_length()) : std::nullopt;
    const bool has_body = header.chunked() || length.value_or(0) > 0;
    *body_left = has_body;
    if (std::optional<HttpReply> refused = PrepareBody(*request, length, &sink, incoming, &bytes_max)) co_return refused;
    auto too_large = [&] { return ProblemReply(413, "body_too_large", absl::StrCat("the body has more than ", bytes_max, " bytes"), request->id); };
    if (length.value_or(0) > bytes_max) co_return too_large();
    if (expects_continue_ && has_body) {
      static constexpr absl::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
      Deadline(state_->options.transfer_timeout);
      auto [error, bytes] = co_await boost::asio::async_write(stream_, boost::asio::buffer(kContinue.data(), kContinue.size()), kToken);
      if (error) keep_alive_ = false;
    }
    Parser parser(std::move(header));
    parser.body_limit(bytes_max);
    CountingFeed<Parser> feed(parser);
    uint64_t received = 0;
    const absl::Time start = absl::Now();
    while (has_body && !parser.is_done()) {
      if (piece_ == nullptr) piece_ = std::make_unique<std::array<char, kPieceBytes>>();
      parser.get().body().data = piece_->data();
      parser.get().body().size = kPieceBytes;
      boost::beast::error_code error = feed.Take(buffer_);
      const size_t count = kPieceBytes - parser.get().body().size;
      received += count;
      if (error == http::error::body_limit) co_return too_large();
      if (feed.IsBeyondBody(received)) co_return ProblemReply(400, "bad_request", "the body has far more chunks, extensions or trailers than bytes", request->id);
      if (error && error != http::error::need_buffer && error != http::error::need_more) co_return ProblemReply(400, "bad_request", absl::StrCat("the body is cut into chunks wrongly: ", error.message()), request->id);
      if (absl::Status status = sink.Write({piece_->data(), count}); !status.ok()) co_return ProblemReply(status, request->id);
      if (error != http::error::need_more) continue;
      if (std::optional<HttpReply> failed = co_await ReadMore(*request); failed.has_value()) co_return failed;
      const absl::Duration elapsed = absl::Now() - start;
      if (elapsed > state_->options.transfer_timeout && static_cast<double>(received) < absl::ToDoubleSeconds(elapsed) * static_cast<double>(state_->options.bytes_per_second_min)) {
        co_return ProblemReply(408, "too_slow", absl::StrCat("the body came slower than ", state_->options.bytes_per_second_min, " bytes a second"), request->id);
      }
    }
    *body_left = false;
    bytes_in_ = static_cast<int64_t>(received);
    if (absl::Status status = sink.Finish(request); !status.ok()) co_return ProblemReply(status, request->id);
    co_return std::nullopt;
  }

  // More of a body, into the buffer; a reply when none comes.
  boost::asio::awaitable<std::optional<HttpReply>> ReadMore(const HttpRequest& request) {
    const Patience patience(*this, state_->options.transfer_timeout);
    auto [error, bytes] = co_await stream_.async_read_some(buffer_.prepare(kPieceBytes), kToken);
    buffer_.commit(bytes);
    if (patience.over()) co_return ProblemReply(408, "too_slow", "the body did not come in time", request.id);
    if (error) co_return ProblemReply(400, "bad_request", absl::StrCat("the body was cut short: ", error.message()), request.id);
    co_return std::nullopt;
  }

  boost::asio::awaitable<bool> Answer(HttpRequest& request) {
    lowest().expires_never();
    VanishedClients::Watch watch(state_->vanished, static_cast<int>(lowest().socket().native_handle()));
    request.call_began = [watch = &watch](const std::string& id) { watch->Began(id); };
    HttpReply reply;
    {
      const std::optional<IoThreads::Blocking> blocking = state_->threads.TryBlock();
      if (blocking.has_value() || Api::IsQuick(*route_)) {
        reply = state_->api.Handle(*route_, request);
        Spool(state_->options.incoming_folder, &reply);
      } else {
        reply = BusyReply(request);
      }
    }
    co_return co_await Send(request, std::move(reply));
  }

  boost::asio::awaitable<bool> Send(const HttpRequest& request, HttpReply reply) {
    namespace http = boost::beast::http;
    const absl::Duration took = absl::Now() - began_;
    if (state_->draining) keep_alive_ = false;
    const bool streams = reply.events != nullptr;
    const bool bodyless = reply.status == 204 || reply.status == 304;
    if (streams && version_ == 10) keep_alive_ = false;
    http::response<http::string_body> message{http::int_to_status(static_cast<unsigned>(reply.status)), version_};
    message.result(static_cast<unsigned>(reply.status));
    message.set(http::field::server, "cellblock");
    message.set("X-Request-Id", request.id);
    for (const auto& [name, value] : reply.headers) message.insert(name, value);
    if (!bodyless) message.set(http::field::content_type, reply.content_type);
    if (!streams || message.count(http::field::cache_control) == 0) message.set(http::field::cache_control, streams ? "no-cache" : "no-store");
    if (streams) message.set("X-Accel-Buffering", "no");
    message.keep_alive(keep_alive_);
    const int64_t length = reply.file.valid() ? reply.file_bytes : static_cast<int64_t>(reply.body.size());
    if (streams) {
      message.chunked(version_ != 10);
    } else if (!bodyless) {
      message.content_length(static_cast<uint64_t>(length));
    }
    bool sent = true;
    if (is_head_ || bodyless || streams || reply.file.valid()) {
      http::response<http::empty_body> head(std::move(message.base()));
      http::response_serializer<http::empty_body> serializer(head);
      Deadline(state_->options.transfer_timeout);
      auto [error, bytes] = co_await http::async_write_header(stream_, serializer, kToken);
      sent = !error;
      if (sent && streams && !is_head_) sent = co_await SendEvents(request, *reply.events);
      if (sent && reply.file.valid() && !is_head_) sent = co_await SendFile(reply);
    } else {
      message.body() = std::move(reply.body);
      sent = co_await SendMessage(message);
    }
    if (state_->options.on_request) {
      state_->options.on_request({request.id, request.method, route_ == nullptr ? "" : std::string(route_->pattern), session_, request.token == nullptr ? "" : request.token->name, reply.status,
                                  took, std::exchange(bytes_in_, 0), streams ? bytes_streamed_ : is_head_ ? 0 : length});
    }
    co_return sent && keep_alive_;
  }

  // A large body in pieces, each with its deadline.
  template <class Message>
  boost::asio::awaitable<bool> SendMessage(Message& message) {
    namespace http = boost::beast::http;
    http::response_serializer<http::string_body> serializer(message);
    serializer.limit(kWritePieceBytes);
    while (!serializer.is_done()) {
      Deadline(state_->options.transfer_timeout);
      auto [error, bytes] = co_await http::async_write_some(stream_, serializer, kToken);
      if (error) co_return false;
    }
    co_return true;
  }

  boost::asio::awaitable<bool> SendFile(HttpReply& reply) {
    if (piece_ == nullptr) piece_ = std::make_unique<std::array<char, kPieceBytes>>();
    while (reply.file_bytes > 0) {
      const size_t wanted = static_cast<size_t>(std::min<int64_t>(reply.file_bytes, kPieceBytes));
      const ssize_t count = pread(reply.file.get(), piece_->data(), wanted, reply.file_offset);
      if (count <= 0) co_return false;  // shorter than promised: the client sees that from its length
      Deadline(state_->options.transfer_timeout);
      auto [error, bytes] = co_await boost::asio::async_write(stream_, boost::asio::buffer(piece_->data(), static_cast<size_t>(count)), kToken);
      if (error) co_return false;
      reply.file_offset += count;
      reply.file_bytes -= count;
    }
    co_return true;
  }

  boost::asio::awaitable<bool> SendEvents(const HttpRequest& request, EventStream& events) {
    auto executor = co_await boost::asio::this_coro::executor;
    VanishedClients::Watch watch(state_->vanished, static_cast<int>(lowest().socket().native_handle()));
    // Shared with the thread of the call, which may tell of a change when this coroutine is over.
    auto timer = std::make_shared<boost::asio::steady_timer>(executor);
    events.OnChange([timer, executor] { boost::asio::post(executor, [timer] { timer->cancel(); }); });
    bool sent = true, watched = false;
    while (sent && !events.finished()) {
      std::string text = events.Take();
      if (events.overflowed()) {
        sent = false;
        break;
      }
      if (text.empty()) {
        if (!watched && !events.execution_id().empty()) {
          watch.Began(events.execution_id());
          watched = true;
        }
        timer->expires_after(absl::ToChronoNanoseconds(state_->options.keep_alive));
        auto [woken] = co_await timer->async_wait(kToken);
        if (!woken) text = ": keep-alive\n\n";
      }
      for (size_t at = 0; sent && at < text.size(); at += kWritePieceBytes) sent = co_await SendChunk(absl::string_view(text).substr(at, kWritePieceBytes));
    }
    events.OnChange(nullptr);
    if (!sent && !events.execution_id().empty()) state_->cancel(events.execution_id());
    if (sent && version_ != 10) {
      Deadline(state_->options.transfer_timeout);
      auto [error, bytes] = co_await boost::asio::async_write(stream_, boost::beast::http::make_chunk_last(), kToken);
      sent = !error;
    }
    co_return sent;
  }

  boost::asio::awaitable<bool> SendChunk(absl::string_view text) {
    Deadline(state_->options.transfer_timeout);
    const boost::asio::const_buffer piece(text.data(), text.size());
    bytes_streamed_ += static_cast<int64_t>(text.size());
    boost::beast::error_code failed;
    if (version_ == 10) {
      auto [error, bytes] = co_await boost::asio::async_write(stream_, piece, kToken);
      failed = error;
    } else {
      auto [error, bytes] = co_await boost::asio::async_write(stream_, boost::beast::http::make_chunk(piece), kToken);
      failed = error;
    }
    co_return !failed;
  }

  // A connection that is closed with bytes unread is reset, and the reply may be lost with it (RFC 9112, section 9.6).
  boost::asio::awaitable<void> Discard() {
    boost::beast::error_code ignored;
    lowest().socket().shutdown(boost::asio::socket_base::shutdown_send, ignored);
    if (piece_ == nullptr) piece_ = std::make_unique<std::array<char, kPieceBytes>>();
    Deadline(absl::Seconds(2));
    for (size_t discarded = 0; discarded < kDiscardBytesMax;) {
      auto [error, bytes] = co_await lowest().async_read_some(boost::asio::buffer(*piece_), kToken);
      if (error) break;
      discarded += bytes;
    }
  }

  static constexpr size_t kWritePieceBytes = 256 * 1024;

  const std::shared_ptr<ServerState> state_;
  Stream stream_;
  boost::beast::flat_buffer buffer_;
  std::unique_ptr<std::array<char, kPieceBytes>> piece_;
  // Of the request that is being served.
  const Route* route_ = nullptr;
  unsigned version_ = 11;
  bool keep_alive_ = false;
  bool is_head_ = false;
  bool expects_continue_ = false;
  absl::Time began_;
  std::string session_;
  int64_t bytes_in_ = 0;
  int64_t bytes_streamed_ = 0;
};

}  // namespace cellblock::front

#endif  // CELLBLOCK_FRONT_HTTP_CONNECTION_H_
