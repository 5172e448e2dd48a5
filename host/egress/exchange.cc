// See exchange.h.
#include "egress/exchange.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <chrono>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "policy/host_name.h"

namespace cellblock::egress {
namespace {

constexpr std::chrono::milliseconds kGoneLook(250);
constexpr int kInformationalMax = 8;          // 1xx answers before the one that counts
constexpr size_t kTitleBytesMax = 300;        // of a refusal's status line, where clients show it

std::string AsChunk(absl::string_view bytes) { return absl::StrCat(absl::Hex(bytes.size()), "\r\n", bytes, "\r\n"); }

std::string HostField(const Target& target, Scheme scheme) {
  const bool is_default = target.port == (scheme == Scheme::kTls ? 443 : 80);
  return is_default ? target.host : absl::StrCat(target.host, ":", target.port);
}

// The name of a parameter, as servers decode it.
std::string ParameterName(absl::string_view part) {
  std::string name;
  part = part.substr(0, part.find('='));
  for (size_t i = 0; i < part.size(); ++i) {
    std::string byte;
    if (part[i] == '%' && i + 2 < part.size() && absl::ascii_isxdigit(static_cast<unsigned char>(part[i + 1])) && absl::ascii_isxdigit(static_cast<unsigned char>(part[i + 2]))) {
      byte = absl::HexStringToBytes(part.substr(i + 1, 2));
      i += 2;
    }
    name += byte.empty() ? std::string(1, part[i]) : byte;
  }
  return name;
}

// Sets a parameter of the target's query, in place of all others of its name.
std::string WithParameter(const std::string& target, const std::string& name, absl::string_view value) {
  const size_t mark = target.find('?');
  std::vector<std::string> kept;
  if (mark != std::string::npos) {
    for (absl::string_view part : absl::StrSplit(absl::string_view(target).substr(mark + 1), '&', absl::SkipEmpty())) {
      bool is_it = false;  // some servers split at ";" too
      for (absl::string_view piece : absl::StrSplit(part, ';')) is_it = is_it || ParameterName(piece) == name;
      if (!is_it) kept.emplace_back(part);
    }
  }
  std::string encoded;
  for (unsigned char c : value) {
    if (absl::ascii_isalnum(c) || c == '-' || c == '.' || c == '_' || c == '~') {
      encoded.push_back(static_cast<char>(c));
    } else {
      absl::StrAppend(&encoded, "%", absl::AsciiStrToUpper(std::string(absl::StrCat(absl::Hex(c, absl::kZeroPad2)))));
    }
  }
  kept.push_back(absl::StrCat(name, "=", encoded));
  std::string query;
  for (const std::string& part : kept) absl::StrAppend(&query, query.empty() ? "?" : "&", part);
  return absl::StrCat(target.substr(0, mark), query);
}

// No `?:` with objects stands in an expression with co_await in this room: GCC 12 ends such objects twice.

// Whether the server still waits for a request: nothing came that was not asked for, and it has not ended the connection.
bool IsQuiet(Stream& server) {
  char byte;
  return server.socket().is_open() && server.ahead().empty() && recv(server.socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
         (errno == EAGAIN || errno == EWOULDBLOCK);
}

// Some servers take "_" for "-" in names of fields.
bool IsSameField(absl::string_view a, absl::string_view b) {
  return absl::EqualsIgnoreCase(absl::StrReplaceAll(a, {{"_", "-"}}), absl::StrReplaceAll(b, {{"_", "-"}}));
}

void RemoveLike(std::vector<Field>& fields, absl::string_view name) {
  fields.erase(std::remove_if(fields.begin(), fields.end(), [&](const Field& field) { return IsSameField(field.name, name); }), fields.end());
}

// Fields by which frameworks take another method or path than the request's own: with them, the rules would decide something else.
constexpr const char* kOverrides[] = {"X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override", "X-Original-URL", "X-Original-URI", "X-Rewrite-URL"};

// The address that a head to a proxy asks for; empty: none. Never more than a few plain characters.
std::string AskedAddress(absl::string_view head) {
  constexpr size_t kAddressCharactersMax = 64;
  const std::vector<absl::string_view> words = absl::StrSplit(head.substr(0, head.find_first_of("\r\n")), ' ');
  if (words.size() != 3) return "";
  absl::string_view target = words[1];
  if (const size_t scheme = target.find("://"); scheme != absl::string_view::npos) target.remove_prefix(scheme + 3);
  target = target.substr(0, target.find_first_of("/?#"));
  const size_t end = absl::StartsWith(target, "[") ? target.find(']') + 1 : target.find(':');
  const absl::string_view host = target.substr(0, end);
  return host.size() <= kAddressCharactersMax && policy::IsAddressText(host) ? std::string(host) : "";
}

// What a status line may carry.
std::string Title(absl::string_view text) {
  std::string title(text.substr(0, kTitleBytesMax));
  for (char& c : title) {
    if (!absl::ascii_isprint(static_cast<unsigned char>(c))) c = '?';
  }
  return title;
}

}  // namespace

Task<absl::StatusOr<std::string>> BodyReader::Next() {
  while (true) {
    std::string& ahead = stream_.ahead();
    switch (framing_.kind) {
      case Framing::Kind::kNone:
        co_return std::string();
      case Framing::Kind::kLength:
        if (framing_.length == 0) co_return std::string();
        if (!ahead.empty()) {
          const size_t count = static_cast<size_t>(std::min<uint64_t>(ahead.size(), framing_.length));
          std::string piece = ahead.substr(0, count);
          ahead.erase(0, count);
          framing_.length -= count;
          co_return piece;
        }
        break;
      case Framing::Kind::kChunked: {
        std::string piece;
        absl::StatusOr<size_t> used = chunks_.Feed(ahead, piece);
        if (!used.ok()) co_return used.status();
        ahead.erase(0, *used);
        if (!piece.empty() || chunks_.done()) co_return piece;
        break;
      }
      case Framing::Kind::kUntilClose:
        if (!ahead.empty()) co_return std::exchange(ahead, {});
        break;
    }
    absl::StatusOr<bool> more = co_await stream_.Read();
    if (!more.ok()) co_return more.status();
    if (*more) continue;
    if (framing_.kind == Framing::Kind::kUntilClose) co_return std::string();
    co_return absl::UnavailableError("the connection ended within a body");
  }
}

Task<std::optional<Target>> Exchange::Run() {
  while (client_keeps_ && !session_.is_closed()) {
    absl::StatusOr<std::string> text = co_await ReadHead(client_);
    if (!text.ok()) {
      if (absl::IsInvalidArgument(text.status())) (void)co_await RefuseBroken(text.status());
      co_return std::nullopt;
    }
    const Next next = co_await One(*text);
    if (next == Next::kTunnel) co_return tunnel_;
    if (next == Next::kEnd) co_return std::nullopt;
  }
  co_return std::nullopt;
}

// kUnavailable: the peer has gone before a whole head came.
Task<absl::StatusOr<std::string>> Exchange::ReadHead(Stream& stream) {
  while (true) {
    absl::StatusOr<std::optional<size_t>> end = FindHeadEnd(stream.ahead());
    if (!end.ok()) co_return end.status();
    if (end->has_value()) {
      std::string head = stream.ahead().substr(0, **end);
      stream.ahead().erase(0, **end);
      co_return head;
    }
    absl::StatusOr<bool> more = false;
    if (&stream == &client_) {
      more = co_await stream.Read();
    } else {
      more = co_await ReadServer();
    }
    if (!more.ok()) co_return more.status();
    if (!*more) co_return absl::UnavailableError("the connection ended before a whole head came");
  }
}

// A client that gives up waiting must not hold its place, and the server's, until both are idle for too long.
Task<absl::StatusOr<bool>> Exchange::ReadServer() {
  using net::experimental::awaitable_operators::operator||;
  auto winner = co_await (server_->Read() || ClientIsGone());
  if (winner.index() == 1) co_return absl::CancelledError("the session's code has closed the connection");
  co_return std::get<0>(std::move(winner));
}

Task<void> Exchange::ClientIsGone() {
  net::steady_timer timer(client_.socket().get_executor());
  while (true) {
    pollfd item = {client_.socket().native_handle(), POLLRDHUP, 0};
    if (poll(&item, 1, 0) != 0) co_return;
    timer.expires_after(kGoneLook);
    auto [error] = co_await timer.async_wait(net::as_tuple(net::use_awaitable));
    if (error) co_return;
  }
}

absl::StatusOr<Target> Exchange::TargetOf(const RequestHead& head) const {
  if (!target_.has_value()) {
    if (head.is_connect) return Target{head.host, head.port.value_or(443)};
    if (head.scheme.empty()) return absl::InvalidArgumentError("a request to a proxy names the whole URL");
    return Target{head.host, head.port.value_or(80)};
  }
  if (head.is_connect) return absl::InvalidArgumentError("CONNECT is for proxies: 198.18.0.1:3128 is one");
  const uint16_t port = head.port.value_or(scheme_ == Scheme::kTls ? 443 : 80);
  // A port that a client leaves out although it is not the scheme's own is common, and leads nowhere else.
  const bool names_another = !head.host.empty() && head.host != target_->host;  // HTTP/1.0 may name none
  if (names_another || (head.port.has_value() && port != target_->port)) {
    return absl::PermissionDeniedError(absl::StrCat("the request is for ", head.host, ", and the connection was made to ", target_->host, ":", target_->port));
  }
  return *target_;
}

Task<Exchange::Next> Exchange::One(const std::string& text) {
  absl::StatusOr<RequestHead> head = ParseRequestHead(text);
  if (!head.ok()) co_return co_await RefuseBroken(head.status(), text);
  wire::EgressNote note;
  note.protocol = scheme_ == Scheme::kTls ? "https" : "http";
  note.host = head->host;
  note.port = head->port.value_or(0);
  note.method = head->method;
  note.path = std::string(PathOf(head->target));
  absl::StatusOr<Target> target = TargetOf(*head);
  if (!target.ok()) {
    note.rule = "network.allow";
    co_return co_await Refuse(absl::IsPermissionDenied(target.status()) ? 421 : 400, "Refused", std::string(target.status().message()), note);
  }
  note.host = target->host;
  note.port = target->port;
  if (absl::Status taken = session_.TakeRequest(); !taken.ok()) {
    note.rule = "network.requests";
    co_return co_await Refuse(429, "Too Many Requests", std::string(taken.message()), note);
  }
  if (head->is_connect) co_return co_await Tunnel(*head, *target);
  Verdict verdict = session_.rules().ForRequest(target->host, target->port, scheme_, head->method, PathOf(head->target));
  note.rule = verdict.rule;
  if (!verdict.allowed) co_return co_await Refuse(403, "Refused", verdict.reason, note);
  const std::vector<const Secret*> secrets = SecretsFor(*target);
  for (const Secret* secret : secrets) note.secrets.push_back(secret->description().name);
  note.allowed = 1;
  const uint64_t id = session_.Decided(note);
  const uint64_t read_before = client_.read_bytes() - text.size() - client_.ahead().size(), written_before = client_.written_bytes();
  auto count = [&] {
    note.sent_bytes = client_.read_bytes() - client_.ahead().size() - read_before;
    note.received_bytes = client_.written_bytes() - written_before;
  };
  PrepareToClean(target->host);
  absl::Status done = co_await Reach(*target);
  if (done.ok()) done = co_await SendRequest(*head, *target, secrets);
  absl::StatusOr<ResponseHead> response = ResponseHead();
  if (done.ok()) {
    response = co_await ReadResponse(*head);
    if (!response.ok()) response = Told(response.status());
  } else {
    response = done;
  }
  if (!response.ok()) {
    count();
    co_return co_await Fail(id, std::move(note), response.status());
  }
  note.status = static_cast<uint64_t>(response->status);
  absl::Status passed = co_await PassOn(*head, *std::move(response));
  passed = Told(passed);
  if (!passed.ok()) note.reason = std::string(passed.message());
  count();
  session_.Ended(id, note);
  co_return passed.ok() && client_keeps_ ? Next::kRequest : Next::kEnd;
}

Task<Exchange::Next> Exchange::Tunnel(const RequestHead& head, const Target& target) {
  wire::EgressNote note;
  note.protocol = "tcp";
  note.host = target.host;
  note.port = target.port;
  note.method = head.method;
  Verdict verdict = session_.rules().ForConnection(target.host, target.port);
  note.rule = verdict.rule;
  if (!verdict.allowed) co_return co_await Refuse(403, "Refused", verdict.reason, note);
  if (!(co_await client_.Write("HTTP/1.1 200 Connection established\r\n\r\n")).ok()) co_return Next::kEnd;
  tunnel_ = target;
  co_return Next::kTunnel;
}

// A request that is none, or could be read in two ways; also one to an address, which operators look for in the log.
Task<Exchange::Next> Exchange::RefuseBroken(const absl::Status& why, absl::string_view head) {
  wire::EgressNote note;
  note.protocol = scheme_ == Scheme::kTls ? "https" : "http";
  note.host = target_.has_value() ? target_->host : "unknown";
  note.port = target_.has_value() ? target_->port : 0;
  if (const std::string address = AskedAddress(head); !target_.has_value() && !address.empty()) {
    note.host = address;
    note.rule = "network.allow";
    co_return co_await Refuse(403, "Refused", absl::StrCat(address, " is an IP address: hosts are reached by their names alone"), note);
  }
  note.rule = "network: requests are read strictly";
  co_return co_await Refuse(400, "Refused", std::string(why.message()), note);
}

Task<Exchange::Next> Exchange::Refuse(int status, absl::string_view title, const std::string& reason, wire::EgressNote note) {
  note.reason = reason;
  session_.Decided(std::move(note));
  // In the status line too: of an answer to CONNECT, clients show nothing else.
  co_await Answer(status, absl::StrCat(title, " by Cellblock: ", reason), absl::StrCat(reason, "\n"));
  co_return Next::kEnd;
}

Task<Exchange::Next> Exchange::Fail(uint64_t id, wire::EgressNote note, const absl::Status& failure) {
  note.reason = std::string(failure.message());
  Leave();
  const bool refused = absl::IsPermissionDenied(failure);
  note.allowed = refused ? 0 : 1;
  const bool is_broken = absl::IsInvalidArgument(failure);  // the request's body: what a server sends is never told so
  note.status = refused ? 403 : is_broken ? 400 : absl::IsDeadlineExceeded(failure) ? 504 : 502;
  session_.Ended(id, note);
  co_await Answer(static_cast<int>(note.status), absl::StrCat(refused || is_broken ? "Refused" : "Not reached", " by Cellblock: ", note.reason), absl::StrCat(note.reason, "\n"));
  co_return Next::kEnd;
}

Task<void> Exchange::Answer(int status, absl::string_view title, const std::string& text) {
  client_keeps_ = false;
  std::string body = absl::EndsWith(text, "\n") ? text : absl::StrCat(text, "\n");
  (void)co_await client_.Write(absl::StrCat("HTTP/1.1 ", status, " ", Title(title), "\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ", body.size(),
                                            "\r\nConnection: close\r\n\r\n", body));
  co_await client_.EndWriting();
}

Task<absl::Status> Exchange::Reach(const Target& target) {
  if (server_ != nullptr && server_target_ == target && IsQuiet(*server_)) co_return absl::OkStatus();
  Leave();
  absl::StatusOr<std::unique_ptr<Stream>> reached;
  if (scheme_ == Scheme::kTls) {
    reached = co_await upstream_.ConnectTls(session_, target.host, target.port);
  } else {
    reached = co_await upstream_.Connect(session_, target.host, target.port);
  }
  if (!reached.ok()) co_return reached.status();
  server_ = *std::move(reached);
  server_target_ = target;
  held_.emplace(session_, *server_);
  co_return absl::OkStatus();
}

void Exchange::Leave() {
  held_.reset();
  server_.reset();
}

// What a server sent may hold a secret, cut and escaped as no redaction knows it: of such a server its own words are not told.
absl::Status Exchange::Told(const absl::Status& failure) const {
  if (!absl::IsInvalidArgument(failure)) return failure;
  if (needles_.empty()) return absl::UnavailableError(failure.message());
  return absl::UnavailableError("the server's answer is no HTTP (what is wrong is not told: it could hold a secret)");
}

void Exchange::PrepareToClean(const std::string& host) {
  if (cleaned_host_ == host) return;
  cleaned_host_ = host;
  needles_ = session_.NeedlesFor(host);
  redactor_.emplace(needles_);
}

std::string Exchange::Cleaned(const std::string& text) {
  std::string clean = redactor_->Feed(text);
  return clean + redactor_->Finish();
}

// Never in the clear, but to this machine itself.
std::vector<const Secret*> Exchange::SecretsFor(const Target& target) const {
  if (scheme_ != Scheme::kTls) {
    const std::vector<policy::Address> addresses = session_.rules().FixedAddresses(target.host, target.port);
    if (addresses.empty() || !std::all_of(addresses.begin(), addresses.end(), [](const policy::Address& address) { return policy::SpecialUse(address) == "loopback"; })) return {};
  }
  return session_.SecretsFor(target.host, target.port);
}

std::string Exchange::BuildRequest(RequestHead& head, const Target& target, const std::vector<const Secret*>& secrets) const {
  for (const char* name : kOverrides) RemoveLike(head.fields, name);
  if (!needles_.empty()) {  // so that the answer comes as bytes in which a value can be seen
    for (const char* name : {"Accept-Encoding", "Range", "If-Range"}) RemoveLike(head.fields, name);
    head.fields.push_back({"Accept-Encoding", "identity"});
  }
  for (const Secret* secret : secrets) {
    const NetworkSecret& about = secret->description();
    if (!about.header.empty()) {
      RemoveLike(head.fields, about.header);
      head.fields.push_back({about.header, secret->Formatted()});
    } else if (head.target != "*") {
      head.target = WithParameter(head.target, about.query, secret->Formatted());
    }
  }
  std::string text = absl::StrCat(head.method, " ", head.target, " HTTP/1.1\r\nHost: ", HostField(target, scheme_), "\r\n", FormatFields(head.fields));
  if (head.body.kind == Framing::Kind::kLength) absl::StrAppend(&text, "Content-Length: ", head.body.length, "\r\n");
  if (head.body.kind == Framing::Kind::kChunked) absl::StrAppend(&text, "Transfer-Encoding: chunked\r\n");
  return absl::StrCat(text, "\r\n");
}

Task<absl::Status> Exchange::SendRequest(RequestHead& head, const Target& target, const std::vector<const Secret*>& secrets) {
  if (absl::Status sent = co_await server_->Write(BuildRequest(head, target, secrets)); !sent.ok()) co_return sent;
  if (head.expects_continue) {
    if (absl::Status told = co_await client_.Write("HTTP/1.1 100 Continue\r\n\r\n"); !told.ok()) co_return told;
  }
  BodyReader body(client_, head.body);
  while (true) {
    absl::StatusOr<std::string> piece = co_await body.Next();
    if (!piece.ok()) co_return piece.status();
    if (piece->empty()) break;
    const std::string out = head.body.kind == Framing::Kind::kChunked ? AsChunk(*piece) : *piece;
    // A server may answer and end before it has read all: its answer counts.
    if (!(co_await server_->Write(out)).ok()) {
      client_keeps_ = false;
      co_return absl::OkStatus();
    }
  }
  if (head.body.kind == Framing::Kind::kChunked) (void)co_await server_->Write("0\r\n\r\n");
  co_return absl::OkStatus();
}

Task<absl::StatusOr<ResponseHead>> Exchange::ReadResponse(const RequestHead& head) {
  for (int i = 0; i <= kInformationalMax; ++i) {
    absl::StatusOr<std::string> text = co_await ReadHead(*server_);
    if (!text.ok()) co_return absl::Status(text.status().code(), absl::StrCat("the server's answer: ", std::string(text.status().message())));
    absl::StatusOr<ResponseHead> response = ParseResponseHead(*text, head.method);
    if (!response.ok()) co_return absl::InvalidArgumentError(absl::StrCat("the server's answer: ", std::string(response.status().message())));
    if (response->status < 200) continue;
    for (const Field& field : response->fields) {
      if (!needles_.empty() && absl::EqualsIgnoreCase(field.name, "Content-Encoding") && !absl::EqualsIgnoreCase(field.value, "identity")) {
        co_return absl::UnavailableError("the server's answer is compressed though it was asked not to be, so that a secret in it could not be seen");
      }
    }
    co_return response;
  }
  co_return absl::UnavailableError("the server sends nothing but interim answers");
}

Task<absl::Status> Exchange::PassOn(const RequestHead& head, ResponseHead response) {
  if (!needles_.empty()) {
    for (Field& field : response.fields) field = {Cleaned(field.name), Cleaned(field.value)};
    response.reason = Cleaned(response.reason);
  }
  // What the server's framing was says nothing to the client: redaction changes lengths.
  Framing framing = response.body;
  if (framing.kind == Framing::Kind::kLength && framing.length > 0 && !needles_.empty()) framing.kind = Framing::Kind::kUntilClose;
  const bool chunked = framing.kind == Framing::Kind::kChunked || framing.kind == Framing::Kind::kUntilClose;
  const bool ends_by_close = chunked && head.minor_version == 0;
  client_keeps_ = client_keeps_ && head.keeps_alive && !ends_by_close;
  std::string text = absl::StrCat("HTTP/1.1 ", response.status, " ", response.reason, "\r\n", FormatFields(response.fields));
  if (!chunked && response.content_length.has_value() && needles_.empty()) absl::StrAppend(&text, "Content-Length: ", *response.content_length, "\r\n");
  if (!chunked && !needles_.empty() && framing.kind == Framing::Kind::kLength) absl::StrAppend(&text, "Content-Length: 0\r\n");
  if (chunked && !ends_by_close) absl::StrAppend(&text, "Transfer-Encoding: chunked\r\n");
  absl::StrAppend(&text, client_keeps_ ? "" : "Connection: close\r\n", "\r\n");
  if (absl::Status sent = co_await client_.Write(text); !sent.ok()) co_return sent;
  BodyReader body(*server_, response.body);
  while (true) {
    absl::StatusOr<std::string> piece = co_await body.Next();
    const bool is_cut = piece.ok() && piece->empty() && response.body.kind == Framing::Kind::kUntilClose && server_->is_cut();
    if (!piece.ok() || is_cut) {
      client_.Reset();  // a body that is cut must not look whole
      if (is_cut) co_return absl::UnavailableError("the connection ended within a body, without TLS saying so");
      co_return piece.status();
    }
    const bool is_last = piece->empty();
    std::string out = *std::move(piece);
    if (!needles_.empty()) out = is_last ? redactor_->Finish() : redactor_->Feed(out);
    if (!out.empty()) {
      if (chunked && !ends_by_close) out = AsChunk(out);
      if (absl::Status sent = co_await client_.Write(out); !sent.ok()) co_return sent;
    }
    if (is_last) break;
  }
  if (chunked && !ends_by_close) {
    if (absl::Status sent = co_await client_.Write("0\r\n\r\n"); !sent.ok()) co_return sent;
  }
  if (!response.keeps_alive || response.body.kind == Framing::Kind::kUntilClose || !server_->ahead().empty()) Leave();
  if (!client_keeps_) co_await client_.EndWriting();
  co_return absl::OkStatus();
}

}  // namespace cellblock::egress
