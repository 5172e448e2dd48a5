// Where a session lives, but for its interpreter: the jail, its control group, its outside user id, its way to the network. Made for one
// session, or ahead of it for whichever comes. Supervisor. Used by one thread at a time.
#ifndef CELLBLOCK_SESSION_PLACE_H_
#define CELLBLOCK_SESSION_PLACE_H_

#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "cellblock/host.h"
#include "cellblock/policy.h"
#include "session/workspace.h"
#include "supervise/egress.h"
#include "supervise/helpers.h"
#include "sys/cgroup.h"

namespace cellblock::session {

class HostImpl;

// The time since the last one, for StartTimings.
class Laps {
 public:
  absl::Duration Next() {
    const absl::Time now = absl::Now();
    return now - std::exchange(last_, now);
  }

 private:
  absl::Time last_ = absl::Now();
};

class Place {
 public:
  // `name`: of its control group. kFailedPrecondition when a layer that the policy requires cannot be had. `host` outlives it.
  static absl::StatusOr<std::unique_ptr<Place>> Make(HostImpl& host, const Policy& policy, const std::vector<AttachedFile>& attached, const std::string& name, StartTimings* timings);
  ~Place();
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  // What of the policy's limits the control group keeps, for a place that was made under others.
  absl::Status TakeLimits(const Limits& limits);
  // kOk once the jail's init is in the control group.
  absl::Status WaitUntilJoined();

  HostImpl& host;
  uint32_t user_id = 0;                               // outside, as root; 0: none was taken
  std::vector<FileIdentity> attached;                 // as they were given
  std::unique_ptr<supervise::EgressLink> egress;      // null: no network
  std::unique_ptr<supervise::Jail> jail;
  std::unique_ptr<sys::Cgroup> cgroup;                // null: memory is watched

 private:
  explicit Place(HostImpl& owner) : host(owner) {}
  absl::Status MakeCgroup(const Policy& policy, const std::string& name);
  absl::Status MakeJail(const Policy& policy, const std::vector<AttachedFile>& files);
  void BeginToJoin();

  std::future<absl::Status> joining_;
};

}  // namespace cellblock::session

#endif  // CELLBLOCK_SESSION_PLACE_H_
