// See place.h.
#include "session/place.h"

#include "base/status_macros.h"
#include "confine/test_layer_switches.h"
#include "session/host_impl.h"

namespace cellblock::session {
namespace {

// In the cgroup, on top of the session's own processes: the jail's init, and one more for bash, which the init starts even when the
// session's processes are as many as they may be.
constexpr int64_t kOwnProcesses = 2;

sys::CgroupLimits GroupLimits(const Limits& limits) { return {limits.memory_bytes, limits.processes + kOwnProcesses, limits.cpus, limits.cpu_weight}; }

}  // namespace

absl::StatusOr<std::unique_ptr<Place>> Place::Make(HostImpl& host, const Policy& policy, const std::vector<AttachedFile>& attached, const std::string& name, StartTimings* timings) {
  std::unique_ptr<Place> place(new Place(host));
  Laps laps;
  if (host.as_root()) {
    CELLBLOCK_ASSIGN_OR_RETURN(place->user_id, host.user_ids().Take());
  }
  CELLBLOCK_RETURN_IF_ERROR(place->MakeCgroup(policy, name));
  timings->cgroup = laps.Next();
  CELLBLOCK_RETURN_IF_ERROR(place->MakeJail(policy, attached));
  timings->jail = laps.Next();
  place->BeginToJoin();
  return place;
}

Place::~Place() {
  if (joining_.valid()) joining_.wait();
  jail.reset();
  cgroup.reset();
  if (user_id != 0) host.user_ids().Give(user_id);
}

absl::Status Place::MakeCgroup(const Policy& policy, const std::string& name) {
  if (host.cgroups() == nullptr || policy.isolation.cgroup == Requirement::kOff || confine::IsLayerSwitchedOff("cgroup")) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<sys::Cgroup>> made = sys::Cgroup::Create(*host.cgroups(), name, GroupLimits(policy.limits));
  if (!made.ok() && (policy.isolation.cgroup == Requirement::kRequired || policy.isolation.memory == MemoryRequirement::kEnforced)) return made.status();
  if (made.ok()) cgroup = *std::move(made);
  return absl::OkStatus();
}

absl::Status Place::TakeLimits(const Limits& limits) { return cgroup != nullptr ? cgroup->SetLimits(GroupLimits(limits)) : absl::OkStatus(); }

absl::Status Place::MakeJail(const Policy& policy, const std::vector<AttachedFile>& files) {
  wire::MakeJail request;
  CELLBLOCK_ASSIGN_OR_RETURN(request.root_id, host.RootFor(policy));
  request.user_id = user_id;
  request.workspace_bytes = static_cast<uint64_t>(policy.limits.workspace_bytes);
  request.workspace_inodes = static_cast<uint64_t>(policy.limits.workspace_files);
  request.tmp_bytes = static_cast<uint64_t>(policy.limits.tmp_bytes);
  request.shm_bytes = static_cast<uint64_t>(policy.limits.shm_bytes);
  for (const AttachedFile& file : files) {
    CELLBLOCK_ASSIGN_OR_RETURN(attached.emplace_back(), LookAtAttached(file, user_id != 0));
    request.attached.push_back(file.host_path);
    request.attached.push_back(file.path);
  }
  if (policy.network.is_on()) {
    CELLBLOCK_ASSIGN_OR_RETURN(std::shared_ptr<supervise::EgressProxy> proxy, host.StartedEgress());
    CELLBLOCK_ASSIGN_OR_RETURN(egress, proxy->Open(policy.network));
    request.has_network = 1;
    request.ports = egress->ports();
    request.certificates = egress->certificates();
  }
  std::vector<UniqueFd> entrances;
  if (cgroup != nullptr) {
    CELLBLOCK_ASSIGN_OR_RETURN(entrances, cgroup->Entrances());
  }
  CELLBLOCK_ASSIGN_OR_RETURN(jail, host.nest().MakeJail(request, entrances));
  if (egress != nullptr) CELLBLOCK_RETURN_IF_ERROR(egress->Serve(std::exchange(jail->network, {})));
  for (size_t i = 0; i < attached.size(); ++i) {
    CELLBLOCK_RETURN_IF_ERROR(CheckSameFile(attached[i], jail->workspace.get(), files[i]));
  }
  return absl::OkStatus();
}

// On cgroup v2 the first move after a while waits some 8 ms for the kernel; meanwhile the worker is forked and locks itself, and the
// move of the worker right after is then quick. On v1 the init has entered by itself.
void Place::BeginToJoin() {
  if (cgroup != nullptr && host.cgroups()->version() != 1) joining_ = std::async(std::launch::async, [this] { return cgroup->Attach({jail->host_pid}); });
}

absl::Status Place::WaitUntilJoined() { return joining_.valid() ? joining_.get() : absl::OkStatus(); }

}  // namespace cellblock::session
