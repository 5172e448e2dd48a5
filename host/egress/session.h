// What the egress proxy knows of one session: its rules, the addresses that stand for names, what it has used, and who hears of it.
// Egress proxy, on its one thread.
#ifndef CELLBLOCK_EGRESS_SESSION_H_
#define CELLBLOCK_EGRESS_SESSION_H_

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/unique_fd.h"
#include "cellblock/policy.h"
#include "egress/session_authority.h"
#include "egress/rules.h"
#include "egress/stream.h"
#include "egress/vault.h"
#include "wire/network.h"

namespace cellblock::egress {

inline constexpr size_t kNamesMax = 4096;  // of one session; beyond it lookups are refused until it ends

class Session : public Meter, public std::enable_shared_from_this<Session> {
 public:
  static absl::StatusOr<std::shared_ptr<Session>> Create(net::any_io_executor executor, const Network& network, std::vector<Secret> secrets,
                                                         std::map<std::string, std::string> authorities);

  const RuleSet& rules() const { return rules_; }
  SessionAuthority* authority() { return authority_.get(); }  // null when nothing is inspected
  // PEM text of the authorities for an inspected host; empty: the system's.
  const std::string& AuthoritiesFor(absl::string_view host, uint16_t port) const;
  std::vector<const Secret*> SecretsFor(absl::string_view host, uint16_t port) const;
  // What no answer of a host may hold: the values of all its secrets, whatever the port, in every spelling.
  std::vector<std::string> NeedlesFor(absl::string_view host) const;

  // The address that stands for an allowed name, the same each time; nullopt when there are kNamesMax.
  std::optional<uint32_t> AddressOf(const std::string& host);
  // The name that an address stands for; null for none.
  const std::string* NameOf(uint32_t address) const;

  // Counts a lookup, connection or request of this call; kResourceExhausted: network.requests.
  absl::Status TakeRequest();
  // Counts bytes, and waits for as long as the session is ahead of network.rate; kResourceExhausted: network.call_bytes.
  Task<absl::Status> Take(size_t bytes) override;
  // Keeps a stream among those that Close() and CloseIdle() end, for as long as this lives.
  class Held {
   public:
    Held(Session& session, Stream& stream) : session_(session), stream_(&stream) {
      session_.streams_.insert(stream_);
      if (session_.is_closed_) stream_->Reset();  // it was on its way when the session ended
    }
    ~Held() { session_.streams_.erase(stream_); }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

   private:
    Session& session_;
    Stream* stream_;
  };
  // Counts a connection of the session's code; null: as many as network.connections are open. To be kept while it is.
  std::shared_ptr<void> TakeConnection();
  int64_t connections_max() const { return limits_.connections; }
  bool has_place() const { return !is_closed_ && connections_ < limits_.connections; }
  void CloseIdle(Clock::time_point now);
  void Close();
  bool is_closed() const { return is_closed_; }
  // At most two of one session wait for names at once, so that slow name servers of one keep nobody else's from being asked.
  int lookups = 0;

  void SendNotesTo(UniqueFd socket) { notes_ = std::move(socket); }
  // Says what was decided; the id for Ended().
  uint64_t Decided(wire::EgressNote note);
  void Ended(uint64_t id, wire::EgressNote note);
  // What was counted since the last time.
  wire::EgressCount TakeCount();

 private:
  Session(net::any_io_executor executor, const Network& network) : executor_(std::move(executor)), limits_(network) {}
  void Send(wire::EgressNote& note);

  net::any_io_executor executor_;
  Network limits_;
  RuleSet rules_;
  std::vector<Secret> secrets_;
  std::map<std::string, std::string> authorities_;  // by the path that the policy names
  std::unique_ptr<SessionAuthority> authority_;
  std::vector<std::string> names_;                  // by address, from kFirstNameAddress
  std::map<std::string, uint32_t, std::less<>> addresses_;
  std::set<Stream*> streams_;
  int64_t connections_ = 0;
  bool is_closed_ = false;
  UniqueFd notes_;
  uint64_t last_note_ = 0;
  wire::EgressCount count_;
  int64_t requests_ = 0;
  Clock::time_point paid_until_;                    // of network.rate
};

}  // namespace cellblock::egress

#endif  // CELLBLOCK_EGRESS_SESSION_H_
