// See server.h.
#include "egress/server.h"

#include <unistd.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "egress/listener.h"
#include "egress/session.h"
#include "egress/upstream.h"
#include "sys/files.h"
#include "sys/sockets.h"
#include "wire/messages.h"
#include "wire/network.h"

namespace cellblock::egress {
namespace {

constexpr size_t kSessionsMax = 4096;
constexpr size_t kAuthoritiesBytesMax = 128 * 1024;   // of one file
constexpr size_t kCertificatesBytesMax = 192 * 1024;  // of all, in one message
constexpr std::chrono::seconds kIdleLook(1);

struct Entry {
  std::shared_ptr<Session> session;
  std::unique_ptr<Listener> listener;  // once it is served
};

absl::StatusOr<std::vector<uint16_t>> ToPorts(const std::vector<std::string>& texts) {
  std::vector<uint16_t> ports;
  for (const std::string& text : texts) {
    uint32_t port = 0;
    if (!absl::SimpleAtoi(text, &port) || port == 0 || port > 65535) return absl::InvalidArgumentError("a port is no number");
    ports.push_back(static_cast<uint16_t>(port));
  }
  return ports;
}

// The descriptors of a message, one after the other.
class Descriptors {
 public:
  explicit Descriptors(std::vector<UniqueFd>& all) : all_(all) {}
  absl::StatusOr<UniqueFd> Next() {
    if (next_ >= all_.size()) return absl::InvalidArgumentError("a descriptor is missing");
    return std::move(all_[next_++]);
  }

 private:
  std::vector<UniqueFd>& all_;
  size_t next_ = 0;
};

absl::StatusOr<std::string> ReadAuthorities(Descriptors& descriptors) {
  CELLBLOCK_ASSIGN_OR_RETURN(UniqueFd file, descriptors.Next());
  std::string text(kAuthoritiesBytesMax + 1, '\0');
  const ssize_t count = pread(file.get(), text.data(), text.size(), 0);
  if (count < 0) return sys::ErrnoStatus("read a policy's file of authorities");
  if (static_cast<size_t>(count) > kAuthoritiesBytesMax) return absl::FailedPreconditionError(absl::StrCat("authorities: a file has more than ", kAuthoritiesBytesMax, " bytes"));
  text.resize(static_cast<size_t>(count));
  return text;
}

absl::Status AddRules(const wire::OpenEgress& request, Descriptors& descriptors, Network& network, std::map<std::string, std::string>& authorities) {
  auto take = [&](uint64_t has, std::string& name) -> absl::Status {
    if (has == 0) return absl::OkStatus();
    name = absl::StrCat("/", authorities.size());  // what it is called outside says nothing here
    CELLBLOCK_ASSIGN_OR_RETURN(authorities[name], ReadAuthorities(descriptors));
    return absl::OkStatus();
  };
  for (const std::string& bytes : request.rules) {
    CELLBLOCK_ASSIGN_OR_RETURN(wire::EgressRule rule, wire::DecodeBody<wire::EgressRule>(bytes));
    NetworkRule& added = network.allow.emplace_back();
    CELLBLOCK_ASSIGN_OR_RETURN(std::vector<uint16_t> ports, ToPorts(rule.ports));
    added.host = rule.host;
    added.ports.assign(ports.begin(), ports.end());
    added.protocol = rule.protocol == 1 ? NetworkProtocol::kHttp : rule.protocol == 2 ? NetworkProtocol::kTls : NetworkProtocol::kAny;
    added.methods = rule.methods;
    added.paths = rule.paths;
    added.addresses = rule.addresses;
    CELLBLOCK_RETURN_IF_ERROR(take(rule.has_authorities, added.authorities));
  }
  network.packages.url = request.package_url;
  network.packages.hosts = request.package_hosts;
  network.packages.addresses = request.package_addresses;
  return take(request.package_has_authorities, network.packages.authorities);
}

absl::StatusOr<std::vector<Secret>> ReadSecrets(const wire::OpenEgress& request, Descriptors& descriptors, Network& network) {
  std::vector<Secret> secrets;
  for (const std::string& bytes : request.secrets) {
    CELLBLOCK_ASSIGN_OR_RETURN(wire::EgressSecret secret, wire::DecodeBody<wire::EgressSecret>(bytes));
    NetworkSecret about = {secret.name, secret.host, static_cast<int64_t>(secret.port), secret.header, secret.query, secret.format, ""};
    UniqueFd file;
    if (secret.variable.empty()) {
      CELLBLOCK_ASSIGN_OR_RETURN(file, descriptors.Next());
    }
    network.secrets.push_back(about);
    CELLBLOCK_ASSIGN_OR_RETURN(Secret read, Secret::Read(std::move(about), secret.variable, file));
    secrets.push_back(std::move(read));
  }
  return secrets;
}

class Proxy {
 public:
  Proxy(net::io_context& context, UniqueFd control) : context_(context), upstream_(context), control_(context, control.Release()) {}

  Task<void> Run() {
    while (true) {
      auto [error] = co_await control_.async_wait(net::posix::stream_descriptor::wait_read, net::as_tuple(net::use_awaitable));
      if (error) co_return context_.stop();
      absl::StatusOr<sys::Message> message = sys::ReceiveMessage(control_.native_handle());
      absl::StatusOr<std::string> answer = message.status().ok() ? absl::StatusOr<std::string>(std::string()) : message.status();
      // Read whole, but for its descriptors, which there is no room for: this session cannot be served, others go on.
      if (!message.ok() && !absl::IsResourceExhausted(message.status())) co_return context_.stop();
      if (message.ok()) answer = Handle(*message);
      wire::Reply reply = wire::ReplyFor(answer.status());
      if (answer.ok()) reply.message = *std::move(answer);
      if (!sys::SendMessage(control_.native_handle(), wire::EncodeMessage(reply)).ok()) co_return context_.stop();
    }
  }

  Task<void> LookForIdle() {
    net::steady_timer timer(context_);
    while (true) {
      timer.expires_after(kIdleLook);
      co_await timer.async_wait(net::as_tuple(net::use_awaitable));
      for (auto& [number, entry] : sessions_) entry.session->CloseIdle(Clock::now());
    }
  }

 private:
  absl::StatusOr<std::string> Handle(sys::Message& message) {
    switch (wire::MessageType(message.bytes)) {
      case wire::OpenEgress::kType:
        return Open(message);
      case wire::ServeEgress::kType:
        return StartServing(message);
      case wire::CountEgress::kType: {
        CELLBLOCK_ASSIGN_OR_RETURN(wire::CountEgress request, wire::DecodeMessage<wire::CountEgress>(message.bytes));
        CELLBLOCK_ASSIGN_OR_RETURN(Entry * entry, Find(request.session));
        return wire::EncodeMessage(entry->session->TakeCount());
      }
      case wire::CloseEgress::kType: {
        CELLBLOCK_ASSIGN_OR_RETURN(wire::CloseEgress request, wire::DecodeMessage<wire::CloseEgress>(message.bytes));
        sessions_.erase(request.session);
        return std::string();
      }
      default:
        return absl::InvalidArgumentError("unknown request to the egress proxy");
    }
  }

  absl::StatusOr<Entry*> Find(uint64_t number) {
    auto found = sessions_.find(number);
    if (found == sessions_.end()) return absl::NotFoundError("no such session");
    return &found->second;
  }

  absl::StatusOr<std::string> Open(sys::Message& message) {
    CELLBLOCK_ASSIGN_OR_RETURN(wire::OpenEgress request, wire::DecodeMessage<wire::OpenEgress>(message.bytes));
    if (sessions_.size() >= kSessionsMax) return absl::ResourceExhaustedError(absl::StrCat("at most ", kSessionsMax, " sessions with a network"));
    if (sessions_.count(request.session) > 0) return absl::AlreadyExistsError("this session is open");
    Network network;
    std::map<std::string, std::string> authorities;
    Descriptors descriptors(message.descriptors);
    CELLBLOCK_RETURN_IF_ERROR(AddRules(request, descriptors, network, authorities));
    CELLBLOCK_ASSIGN_OR_RETURN(std::vector<Secret> secrets, ReadSecrets(request, descriptors, network));
    network.call_bytes = static_cast<int64_t>(request.call_bytes);
    if (request.rate_bytes > 0) network.rate_bytes = static_cast<int64_t>(request.rate_bytes);
    network.connections = static_cast<int64_t>(request.connections);
    network.requests = static_cast<int64_t>(request.requests);
    network.idle = absl::Milliseconds(static_cast<int64_t>(request.idle_milliseconds));
    Entry entry;
    CELLBLOCK_ASSIGN_OR_RETURN(entry.session, Session::Create(context_.get_executor(), network, std::move(secrets), authorities));
    wire::EgressOpened opened;
    if (entry.session->authority() != nullptr) opened.certificates = entry.session->authority()->pem();
    for (const auto& [name, text] : authorities) absl::StrAppend(&opened.certificates, text, "\n");  // for TLS that is passed on
    if (opened.certificates.size() > kCertificatesBytesMax) return absl::ResourceExhaustedError(absl::StrCat("the policy's files of authorities have more than ", kCertificatesBytesMax, " bytes together"));
    for (uint16_t port : entry.session->rules().Ports()) opened.ports.push_back(absl::StrCat(port));
    sessions_.emplace(request.session, std::move(entry));
    return wire::EncodeMessage(opened);
  }

  absl::StatusOr<std::string> StartServing(sys::Message& message) {
    CELLBLOCK_ASSIGN_OR_RETURN(wire::ServeEgress request, wire::DecodeMessage<wire::ServeEgress>(message.bytes));
    CELLBLOCK_ASSIGN_OR_RETURN(Entry * entry, Find(request.session));
    CELLBLOCK_ASSIGN_OR_RETURN(std::vector<uint16_t> ports, ToPorts(request.ports));
    if (message.descriptors.empty() || entry->listener != nullptr) return absl::InvalidArgumentError("a session is served once, with its sockets");
    entry->session->SendNotesTo(std::move(message.descriptors.front()));
    message.descriptors.erase(message.descriptors.begin());
    CELLBLOCK_ASSIGN_OR_RETURN(entry->listener, Listener::Create(context_, entry->session, upstream_, std::move(message.descriptors), ports));
    return std::string();
  }

  net::io_context& context_;
  Upstream upstream_;
  net::posix::stream_descriptor control_;
  std::map<uint64_t, Entry> sessions_;
};

}  // namespace

void Serve(UniqueFd control) {
  net::io_context context(1);
  Proxy proxy(context, std::move(control));
  // Without its supervisor, or unable to hear it, this process must not go on.
  const auto end = [](std::exception_ptr) { _exit(1); };
  net::co_spawn(context, proxy.Run(), end);
  net::co_spawn(context, proxy.LookForIdle(), end);
  context.run();
  _exit(0);  // a thread may still wait for a name server
}

}  // namespace cellblock::egress
