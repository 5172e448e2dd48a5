// The supervisor's end of the egress proxy: starts it, tells it of sessions, and hears what their code wanted. It opens the files that
// hold secrets and never reads them: the proxy gets descriptors. Supervisor. Thread-safe.
#ifndef CELLBLOCK_SUPERVISE_EGRESS_H_
#define CELLBLOCK_SUPERVISE_EGRESS_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/unique_fd.h"
#include "cellblock/policy.h"
#include "supervise/helpers.h"
#include "wire/network.h"

namespace cellblock::supervise {

struct EgressOptions {
  std::string path;            // of cellblock-egress
  uint32_t user_id = 0;        // as root: its own, of nobody else; else it stays the supervisor's, in a user namespace of its own
  int seccomp_fd = -1;
};

class EgressProxy;

// One session's part of it. Destroying it ends its connections.
class EgressLink {
 public:
  ~EgressLink();
  // PEM, to be trusted in the jail besides the system's; may be empty.
  const std::string& certificates() const { return certificates_; }
  const std::vector<std::string>& ports() const { return ports_; }   // for wire::MakeJail
  // `sockets` as jail/network.h orders them.
  absl::Status Serve(const std::vector<UniqueFd>& sockets);
  int notes_fd() const { return notes_.get(); }   // wire::EgressNote, one a message
  // What was used since the last time; every note of it stands in notes_fd() by then.
  absl::StatusOr<wire::EgressCount> Count();

 private:
  friend class EgressProxy;
  EgressLink(std::shared_ptr<EgressProxy> egress, uint64_t session) : egress_(std::move(egress)), session_(session) {}
  std::shared_ptr<EgressProxy> egress_;
  const uint64_t session_;
  std::string certificates_;
  std::vector<std::string> ports_;
  UniqueFd notes_;
};

class EgressProxy : public std::enable_shared_from_this<EgressProxy> {
 public:
  // kFailedPrecondition when it cannot be locked down.
  static absl::StatusOr<std::shared_ptr<EgressProxy>> Create(const EgressOptions& options);
  ~EgressProxy();
  // kFailedPrecondition names a secret or a file of authorities and what is wrong with it.
  absl::StatusOr<std::unique_ptr<EgressLink>> Open(const Network& network);
  bool alive() const { return !sys::HasEnded(pidfd_.get()); }

 private:
  friend class EgressLink;
  EgressProxy() = default;
  // The text of the answer.
  absl::StatusOr<std::string> Ask(absl::string_view request, const std::vector<int>& descriptors);

  std::unique_ptr<HelperSocket> socket_;
  UniqueFd pidfd_;
  pid_t pid_ = -1;
  std::atomic<uint64_t> last_session_ = 0;
};

}  // namespace cellblock::supervise

#endif  // CELLBLOCK_SUPERVISE_EGRESS_H_
