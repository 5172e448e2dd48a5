// HTTP/1 between the session's code and servers, request by request: each is parsed once, decided, built anew, given its secrets, and its
// answer is read, cleaned of them and passed on. Redirects are answers like others: following one is a new request. Egress proxy; both
// sides are hostile.
#ifndef CELLBLOCK_EGRESS_EXCHANGE_H_
#define CELLBLOCK_EGRESS_EXCHANGE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "egress/byte_redactor.h"
#include "egress/http_head.h"
#include "egress/session.h"
#include "egress/stream.h"
#include "egress/upstream.h"

namespace cellblock::egress {

struct Target {
  std::string host;  // canonical
  uint16_t port = 0;
  friend bool operator==(const Target&, const Target&) = default;
};

// What comes of one piece of a body after the other.
class BodyReader {
 public:
  BodyReader(Stream& stream, Framing framing) : stream_(stream), framing_(framing) {}
  // Empty: the end.
  Task<absl::StatusOr<std::string>> Next();

 private:
  Stream& stream_;
  Framing framing_;
  ChunkDecoder chunks_;
};

class Exchange {
 public:
  // `target`: what the connection is to; nullopt: an HTTP proxy's client, whose requests name it.
  Exchange(Session& session, Upstream& upstream, Stream& client, std::optional<Target> target, Scheme scheme)
      : session_(session), upstream_(upstream), client_(client), target_(std::move(target)), scheme_(scheme) {}

  // Answers requests until the connection ends, or until one asks for a tunnel (proxies alone): its target, already decided and answered.
  Task<std::optional<Target>> Run();

 private:
  enum class Next { kRequest, kEnd, kTunnel };

  Task<Next> One(const std::string& text);
  Task<absl::StatusOr<std::string>> ReadHead(Stream& stream);
  absl::StatusOr<Target> TargetOf(const RequestHead& head) const;
  Task<Next> Tunnel(const RequestHead& head, const Target& target);
  Task<Next> Refuse(int status, absl::string_view title, const std::string& reason, wire::EgressNote note);
  Task<Next> RefuseBroken(const absl::Status& why, absl::string_view head = "");
  Task<absl::StatusOr<bool>> ReadServer();
  Task<void> ClientIsGone();
  Task<Next> Fail(uint64_t id, wire::EgressNote note, const absl::Status& failure);
  Task<void> Answer(int status, absl::string_view title, const std::string& text);
  Task<absl::Status> Reach(const Target& target);
  void Leave();
  std::vector<const Secret*> SecretsFor(const Target& target) const;
  std::string BuildRequest(RequestHead& head, const Target& target, const std::vector<const Secret*>& secrets) const;
  Task<absl::Status> SendRequest(RequestHead& head, const Target& target, const std::vector<const Secret*>& secrets);
  Task<absl::StatusOr<ResponseHead>> ReadResponse(const RequestHead& head);
  Task<absl::Status> PassOn(const RequestHead& head, ResponseHead response);
  absl::Status Told(const absl::Status& failure) const;
  void PrepareToClean(const std::string& host);
  std::string Cleaned(const std::string& text);

  Session& session_;
  Upstream& upstream_;
  Stream& client_;
  std::optional<Target> target_;
  Scheme scheme_;
  std::optional<Target> tunnel_;
  std::unique_ptr<Stream> server_;      // kept for the next request to the same place
  std::optional<Session::Held> held_;   // of server_
  Target server_target_;
  bool client_keeps_ = true;            // the connection can take another request
  std::string cleaned_host_;            // whose answers needles_ and redactor_ are for
  std::vector<std::string> needles_;
  std::optional<ByteRedactor> redactor_;
};

}  // namespace cellblock::egress

#endif  // CELLBLOCK_EGRESS_EXCHANGE_H_
