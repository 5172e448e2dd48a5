// See session.h.
#include "egress/session.h"

#include <sys/socket.h>
#include <time.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "wire/messages.h"

namespace cellblock::egress {
namespace {

// How far a session that was quiet may run ahead of network.rate.
constexpr std::chrono::milliseconds kBurst(250);
constexpr std::chrono::milliseconds kPaceLook(250);  // how soon who waits sees that the session has ended
constexpr size_t kNoteTextBytesMax = 1024;

void Cut(std::string& text) {
  if (text.size() > kNoteTextBytesMax) text.resize(kNoteTextBytesMax);
}

}  // namespace

absl::StatusOr<std::shared_ptr<Session>> Session::Create(net::any_io_executor executor, const Network& network, std::vector<Secret> secrets,
                                                         std::map<std::string, std::string> authorities) {
  std::shared_ptr<Session> session(new Session(std::move(executor), network));
  CELLBLOCK_ASSIGN_OR_RETURN(session->rules_, RuleSet::Create(network));
  session->secrets_ = std::move(secrets);
  session->authorities_ = std::move(authorities);
  if (std::vector<std::string> inspected = session->rules_.InspectedHosts(); !inspected.empty()) {
    CELLBLOCK_ASSIGN_OR_RETURN(session->authority_, SessionAuthority::Create(inspected));
  }
  return session;
}

const std::string& Session::AuthoritiesFor(absl::string_view host, uint16_t port) const {
  static const std::string kSystem;
  auto found = authorities_.find(rules_.AuthoritiesFor(host, port));
  return found == authorities_.end() ? kSystem : found->second;
}

std::vector<const Secret*> Session::SecretsFor(absl::string_view host, uint16_t port) const {
  std::vector<const Secret*> found;
  for (const Secret& secret : secrets_) {
    if (secret.description().host == host && secret.description().port == port) found.push_back(&secret);
  }
  return found;
}

std::vector<std::string> Session::NeedlesFor(absl::string_view host) const {
  std::vector<std::string> needles;
  for (const Secret& secret : secrets_) {
    if (secret.description().host != host) continue;
    for (std::string& spelling : secret.Spellings()) needles.push_back(std::move(spelling));
  }
  return needles;
}

std::optional<uint32_t> Session::AddressOf(const std::string& host) {
  if (auto found = addresses_.find(host); found != addresses_.end()) return found->second;
  if (names_.size() >= kNamesMax) return std::nullopt;
  const auto address = wire::kFirstNameAddress + static_cast<uint32_t>(names_.size());
  names_.push_back(host);
  addresses_.emplace(host, address);
  return address;
}

const std::string* Session::NameOf(uint32_t address) const {
  const uint32_t index = address - wire::kFirstNameAddress;  // of an address below the first: far beyond the last
  return index < names_.size() ? &names_[index] : nullptr;
}

absl::Status Session::TakeRequest() {
  if (++requests_ <= limits_.requests) return absl::OkStatus();
  ++count_.over_requests;
  return absl::ResourceExhaustedError(absl::StrCat("this call has made ", limits_.requests, " lookups, connections and requests (network.requests)"));
}

Task<absl::Status> Session::Take(size_t bytes) {
  count_.bytes += bytes;
  if (count_.bytes > static_cast<uint64_t>(limits_.call_bytes)) {
    ++count_.over_bytes;
    co_return absl::ResourceExhaustedError(absl::StrCat("this call has sent and received ", limits_.call_bytes, " bytes (network.call_bytes)"));
  }
  if (!limits_.rate_bytes.has_value()) co_return absl::OkStatus();
  const std::chrono::duration<double> price(static_cast<double>(bytes) / static_cast<double>(*limits_.rate_bytes));
  paid_until_ = std::max(paid_until_, Clock::now() - kBurst) + std::chrono::duration_cast<Clock::duration>(price);
  const Clock::time_point turn = paid_until_;
  net::steady_timer timer(executor_);
  while (!is_closed_ && Clock::now() < turn) {
    timer.expires_at(std::min(turn, Clock::now() + kPaceLook));
    co_await timer.async_wait(net::as_tuple(net::use_awaitable));
  }
  if (is_closed_) co_return absl::CancelledError("the session has ended");
  co_return absl::OkStatus();
}

std::shared_ptr<void> Session::TakeConnection() {
  if (is_closed_ || connections_ >= limits_.connections) {
    ++count_.over_connections;
    return nullptr;
  }
  ++connections_;
  return std::shared_ptr<void>(this, [self = shared_from_this()](void*) { --self->connections_; });
}

void Session::CloseIdle(Clock::time_point now) {
  const auto idle = absl::ToChronoNanoseconds(limits_.idle);
  for (Stream* stream : streams_) {
    if (!stream->waits() && now - stream->active_at() > idle) stream->Expire();
  }
}

void Session::Close() {
  is_closed_ = true;
  for (Stream* stream : streams_) stream->Reset();
}

uint64_t Session::Decided(wire::EgressNote note) {
  note.id = ++last_note_;
  Send(note);
  return note.id;
}

void Session::Ended(uint64_t id, wire::EgressNote note) {
  note.id = id;
  note.has_ended = 1;
  Send(note);
}

// Never waits: who does not read loses notes, and is told how many.
void Session::Send(wire::EgressNote& note) {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  note.monotonic_nanoseconds = static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
  for (std::string* text : {&note.host, &note.path, &note.rule, &note.reason}) Cut(*text);
  const std::string bytes = wire::EncodeMessage(note);
  if (!notes_.valid() || send(notes_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL) < 0) ++count_.notes_lost;
}

wire::EgressCount Session::TakeCount() {
  requests_ = 0;
  return std::exchange(count_, {});
}

}  // namespace cellblock::egress
