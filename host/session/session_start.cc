// How a session comes to be: taken over ready from the pool or built, and the list of layers that hold it. See session_impl.h.
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "session/birth.h"
#include "session/session_impl.h"
#include "sys/files.h"
#include "sys/process.h"

namespace cellblock::session {
namespace {

struct NamespaceRule {
  const char* name;
  Requirement Isolation::* requirement;
};
constexpr NamespaceRule kNamespaces[] = {{"user_namespace", &Isolation::user_namespace},   {"pid_namespace", &Isolation::pid_namespace},
                                         {"mount_namespace", &Isolation::mount_namespace}, {"network_namespace", &Isolation::network_namespace},
                                         {"ipc_namespace", &Isolation::ipc_namespace},     {"uts_namespace", &Isolation::uts_namespace}};

}  // namespace

absl::StatusOr<std::unique_ptr<SessionImpl>> SessionImpl::Create(std::shared_ptr<HostImpl> host, const Policy& policy, const SessionOptions& options) {
  std::unique_ptr<SessionImpl> session(new SessionImpl(std::move(host), policy, options));
  absl::Status started = session->Start();
  if (!started.ok()) return started;
  return session;
}

absl::Status SessionImpl::CheckLayers() {
  for (const NamespaceRule& rule : kNamespaces) {
    if (policy_.isolation.*(rule.requirement) == Requirement::kOff) {
      return absl::InvalidArgumentError(absl::StrCat("isolation.", rule.name, ": off cannot be had: a jail always has namespaces of its own"));
    }
  }
  bool has_cgroup = host_->cgroups() != nullptr && policy_.isolation.cgroup != Requirement::kOff;
  if (!has_cgroup && policy_.isolation.cgroup == Requirement::kRequired) {
    return absl::FailedPreconditionError(absl::StrCat("the policy requires isolation.cgroup, and this machine gives none: ", host_->why_no_cgroup(), "; `cellblock doctor` says how to get it"));
  }
  if (!has_cgroup && policy_.isolation.memory == MemoryRequirement::kEnforced) {
    return absl::FailedPreconditionError(
        absl::StrCat("the policy requires isolation.memory: enforced, which takes a cgroup, and this machine gives none: ", host_->why_no_cgroup(), "; `cellblock doctor` says how to get it"));
  }
  if (policy_.isolation.landlock == Requirement::kRequired && confine::LandlockAbi() == 0) {
    return absl::FailedPreconditionError("the policy requires isolation.landlock, and this kernel has none (it takes Linux 5.13 or newer with landlock in the `lsm=` list)");
  }
  return absl::OkStatus();
}

absl::Status SessionImpl::Start() {
  CELLBLOCK_RETURN_IF_ERROR(CheckLayers());
  if (!policy_.redact.empty()) {
    CELLBLOCK_ASSIGN_OR_RETURN(redact_, capture::RedactionSet::Create(policy_.redact));
  }
  CELLBLOCK_ASSIGN_OR_RETURN(interrupt_, sys::MakeEventFd());
  cpus_ = host_->CpusFor(policy_.limits.cpus);
  Laps laps;
  std::unique_ptr<Ready> ready = options_.attached.empty() ? host_->pool().Take(policy_) : nullptr;
  if (ready != nullptr && TakeOver(std::move(ready)).ok()) {
    timings_.hand_out = laps.Next();
  } else {
    const Pool::Building building(host_->pool());
    CELLBLOCK_RETURN_IF_ERROR(Build());
  }
  host_->watch().Add(this);
  return absl::OkStatus();
}

// Fails when the ready one has ended just now: then another is built, and what was taken goes.
absl::Status SessionImpl::TakeOver(std::unique_ptr<Ready> ready) {
  place_ = std::move(ready->place);
  CELLBLOCK_RETURN_IF_ERROR(place_->TakeLimits(policy_.limits));
  CELLBLOCK_RETURN_IF_ERROR(sys::SetProcessors(ready->worker->process().pid(), cpus_));
  const confine::Spec spec = SpecFor(policy_, *place_, cpus_, ready->worker->zygote_data_bytes());
  CELLBLOCK_RETURN_IF_ERROR(ready->worker->Begin(StartFor(policy_, place_->egress.get(), options_, spec), BundleBytesMax(policy_)));
  Serve(std::move(ready->worker), ready->held);
  return LookAtWorkspace();
}

absl::Status SessionImpl::Build() {
  TakeWorker().reset();
  CELLBLOCK_ASSIGN_OR_RETURN(place_, Place::Make(*host_, policy_, options_.attached, id_, &timings_));
  Laps laps;
  CELLBLOCK_RETURN_IF_ERROR(LookAtWorkspace());
  timings_.workspace = laps.Next();
  CELLBLOCK_ASSIGN_OR_RETURN(std::unique_ptr<supervise::Worker> worker, ForkWorker(policy_, options_, cpus_, *place_, &timings_));
  const supervise::Baseline held = HeldBy(*worker, *place_);
  Serve(std::move(worker), held);
  return absl::OkStatus();
}

absl::Status SessionImpl::LookAtWorkspace() {
  CELLBLOCK_ASSIGN_OR_RETURN(UniqueFd workspace, sys::DuplicateAbove(place_->jail->workspace.get(), 3));
  artifact::CollectorOptions collector_options;
  collector_options.limits = policy_.artifacts;
  collector_options.workspace_files = policy_.limits.workspace_files;
  CELLBLOCK_ASSIGN_OR_RETURN(collector_, artifact::Collector::Create(std::move(workspace), collector_options, &host_->store(), &host_->sniffer()));
  CELLBLOCK_ASSIGN_OR_RETURN(snapshot_, collector_->TakeSnapshot());
  return absl::OkStatus();
}

void SessionImpl::Serve(std::unique_ptr<supervise::Worker> worker, const supervise::Baseline& held) {
  DescribeLayers(worker->report());
  std::lock_guard<std::mutex> lock(watched_mutex_);
  worker_ = std::move(worker);
  baseline_ = held;
  high_water_ = 0;
  memory_.killed = false;
  kept_busy_ = yields_ = false;
  alive_ = true;
}

void SessionImpl::DescribeLayers(const confine::Report& report) {
  layers_.clear();
  auto add = [this](const char* name, bool on, std::string detail) { layers_.push_back({name, on ? "enforced" : "off", std::move(detail)}); };
  const bool has_network = place_->egress != nullptr;
  for (const NamespaceRule& rule : kNamespaces) {
    add(rule.name, true, has_network && absl::string_view(rule.name) == "network_namespace" ? "with a way to the egress proxy alone" : "");
  }
  add("read_only_root", true, "pivot_root, old root let go");
  add("user_id", place_->user_id != 0, place_->user_id != 0 ? absl::StrCat("outside id ", place_->user_id, ", of this session alone") : "the supervisor's own user id outside: no subordinate ids are used");
  add("capabilities_dropped", report.capabilities_dropped != 0, "");
  add("no_new_privileges", report.no_new_privileges != 0, "");
  add("landlock", report.landlock_abi > 0, report.landlock_abi > 0 ? absl::StrCat("ABI ", report.landlock_abi) : "the kernel has none, or the policy switched it off");
  add("seccomp", report.seccomp != 0, "");
  add("rlimits", true, "");
  std::string group = place_->cgroup != nullptr ? absl::StrCat("cgroup v", host_->cgroups()->version()) : "";
  std::string why = policy_.isolation.cgroup == Requirement::kOff ? "the policy switched cgroups off" : host_->why_no_cgroup();
  layers_.push_back({"memory", place_->cgroup != nullptr ? "enforced" : "watched", place_->cgroup != nullptr ? group : absl::StrCat("summed every 100 ms; no cgroup: ", why)});
  layers_.push_back({"processes", "enforced", place_->cgroup != nullptr ? group : "RLIMIT_NPROC, counted in the session's user namespace"});
  layers_.push_back({"cpu", place_->cgroup != nullptr ? "enforced" : "watched", place_->cgroup != nullptr ? group : "affinity alone"});
}

}  // namespace cellblock::session
