// How a session comes to be: jail, cgroup, worker, and the list of layers that hold it. See session_impl.h.
#include <algorithm>
#include <future>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/status_macros.h"
#include "confine/seccomp_program.h"
#include "confine/test_layer_switches.h"
#include "session/session_impl.h"
#include "session/workspace.h"
#include "sys/files.h"

namespace cellblock::session {
namespace {

// On top of the session's own: the jail's init, which RLIMIT_NPROC counts too; and in the cgroup one more for bash, which the init
// starts even when the session's processes are as many as they may be.
constexpr int64_t kInitProcesses = 1;
constexpr int64_t kOwnProcesses = 2;
// The soft limit (RLIMIT_DATA, MemoryError) lies this much below the hard one (cgroup or watch), so that it is met first.
// Between them lies what RLIMIT_DATA does not see: the zygote's pages that the worker changed (some MiB), page tables, files in memory.
constexpr int64_t kSoftMarginMin = int64_t{12} << 20;
constexpr int64_t kSoftMarginMax = int64_t{64} << 20;
constexpr uint64_t kMainStackBytes = uint64_t{8} << 20;
constexpr size_t kFrameRoom = 64 * 1024;

struct NamespaceRule {
  const char* name;
  Requirement Isolation::* requirement;
};
constexpr NamespaceRule kNamespaces[] = {{"user_namespace", &Isolation::user_namespace},   {"pid_namespace", &Isolation::pid_namespace},
                                         {"mount_namespace", &Isolation::mount_namespace}, {"network_namespace", &Isolation::network_namespace},
                                         {"ipc_namespace", &Isolation::ipc_namespace},     {"uts_namespace", &Isolation::uts_namespace}};

// Clients that look for a proxy or for certificates find them; those that don't reach allowed hosts all the same.
void AddNetworkVariables(const Network& network, bool has_certificates, std::vector<std::string>& list) {
  for (const char* name : {"http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"}) list.push_back(absl::StrCat(name, "=http://198.18.0.1:", wire::kProxyPort));
  for (const char* name : {"no_proxy", "NO_PROXY"}) list.push_back(absl::StrCat(name, "=localhost,127.0.0.1"));
  if (has_certificates) {
    for (const char* name : {"SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PIP_CERT", "NODE_EXTRA_CA_CERTS"}) list.push_back(absl::StrCat(name, "=", wire::kCertificatesPath));
  }
  for (const NetworkSecret& secret : network.secrets) list.push_back(absl::StrCat(secret.name, "=cellblock-placeholder-for-", secret.name));
  if (network.packages.url.empty()) return;
  list.push_back(absl::StrCat("PIP_INDEX_URL=", network.packages.url));
  for (const char* setting : {"PIP_USER=1", "PIP_BREAK_SYSTEM_PACKAGES=1", "PIP_DISABLE_PIP_VERSION_CHECK=1", "PIP_NO_INPUT=1", "PIP_RETRIES=1"}) list.push_back(setting);
}

class Laps {
 public:
  absl::Duration Next() {
    const absl::Time now = absl::Now();
    return now - std::exchange(last_, now);
  }

 private:
  absl::Time last_ = absl::Now();
};

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
  CELLBLOCK_ASSIGN_OR_RETURN(uint64_t root, host_->RootFor(policy_));
  Laps laps;
  if (host_->as_root()) {
    CELLBLOCK_ASSIGN_OR_RETURN(user_id_, host_->user_ids().Take());
  }
  if (host_->cgroups() != nullptr && policy_.isolation.cgroup != Requirement::kOff && !confine::IsLayerSwitchedOff("cgroup")) {
    sys::CgroupLimits limits = {policy_.limits.memory_bytes, policy_.limits.processes + kOwnProcesses, policy_.limits.cpus};
    absl::StatusOr<std::unique_ptr<sys::Cgroup>> cgroup = sys::Cgroup::Create(*host_->cgroups(), id_, limits);
    if (!cgroup.ok() && (policy_.isolation.cgroup == Requirement::kRequired || policy_.isolation.memory == MemoryRequirement::kEnforced)) return cgroup.status();
    if (cgroup.ok()) cgroup_ = *std::move(cgroup);
  }
  timings_.cgroup = laps.Next();
  std::vector<UniqueFd> entrances;
  if (cgroup_ != nullptr) {
    CELLBLOCK_ASSIGN_OR_RETURN(entrances, cgroup_->Entrances());
  }
  CELLBLOCK_RETURN_IF_ERROR(OpenNetwork());
  CELLBLOCK_RETURN_IF_ERROR(MakeJail(root, entrances));
  timings_.jail = laps.Next();
  CELLBLOCK_ASSIGN_OR_RETURN(UniqueFd workspace, sys::DuplicateAbove(jail_->workspace.get(), 3));
  artifact::CollectorOptions collector_options;
  collector_options.limits = policy_.artifacts;
  collector_options.workspace_files = policy_.limits.workspace_files;
  CELLBLOCK_ASSIGN_OR_RETURN(collector_, artifact::Collector::Create(std::move(workspace), collector_options, &host_->store(), &host_->sniffer()));
  CELLBLOCK_ASSIGN_OR_RETURN(snapshot_, collector_->TakeSnapshot());
  timings_.workspace = laps.Next();
  // On cgroup v2 the first move after a while waits some 8 ms for the kernel; meanwhile the worker is forked and locks itself, and the
  // move of the worker right after is then quick.
  std::future<absl::Status> attached;
  if (cgroup_ != nullptr && entrances.empty()) attached = std::async(std::launch::async, [this] { return cgroup_->Attach({jail_->host_pid}); });
  absl::Status started = StartWorker(attached, &timings_);
  if (attached.valid()) attached.wait();
  CELLBLOCK_RETURN_IF_ERROR(started);
  host_->watch().Add(this);
  return absl::OkStatus();
}

absl::Status SessionImpl::OpenNetwork() {
  if (!policy_.network.is_on()) return absl::OkStatus();
  CELLBLOCK_ASSIGN_OR_RETURN(std::shared_ptr<supervise::EgressProxy> egress, host_->StartedEgress());
  CELLBLOCK_ASSIGN_OR_RETURN(egress_, egress->Open(policy_.network));
  return absl::OkStatus();
}

absl::Status SessionImpl::MakeJail(uint64_t root, const std::vector<UniqueFd>& entrances) {
  wire::MakeJail request;
  request.root_id = root;
  request.user_id = user_id_;
  request.workspace_bytes = static_cast<uint64_t>(policy_.limits.workspace_bytes);
  request.workspace_inodes = static_cast<uint64_t>(policy_.limits.workspace_files);
  request.tmp_bytes = static_cast<uint64_t>(policy_.limits.tmp_bytes);
  request.shm_bytes = static_cast<uint64_t>(policy_.limits.shm_bytes);
  for (const AttachedFile& file : options_.attached) {
    CELLBLOCK_ASSIGN_OR_RETURN(attached_.emplace_back(), LookAtAttached(file, user_id_ != 0));
    request.attached.push_back(file.host_path);
    request.attached.push_back(file.path);
  }
  if (egress_ != nullptr) {
    request.has_network = 1;
    request.ports = egress_->ports();
    request.certificates = egress_->certificates();
  }
  CELLBLOCK_ASSIGN_OR_RETURN(jail_, host_->nest().MakeJail(request, entrances));
  if (egress_ != nullptr) {
    CELLBLOCK_RETURN_IF_ERROR(egress_->Serve(std::exchange(jail_->network, {})));
  }
  for (size_t i = 0; i < attached_.size(); ++i) {
    CELLBLOCK_RETURN_IF_ERROR(CheckSameFile(attached_[i], jail_->workspace.get(), options_.attached[i]));
  }
  return absl::OkStatus();
}

confine::Spec SessionImpl::WorkerSpec(const supervise::Zygote& zygote) {
  const Limits& limits = policy_.limits;
  confine::Spec spec;
  spec.open_files = static_cast<uint64_t>(limits.open_files);
  spec.file_bytes = static_cast<uint64_t>(limits.file_bytes);
  spec.processes = static_cast<uint64_t>(limits.processes + kInitProcesses);
  int64_t margin = std::clamp(limits.memory_bytes / 16, kSoftMarginMin, kSoftMarginMax);
  spec.data_bytes = zygote.data_bytes + static_cast<uint64_t>(limits.memory_bytes - margin);
  spec.stack_bytes = kMainStackBytes;
  spec.cpus = cpus_;
  spec.read_only_paths = {"/usr", "/etc", "/opt", "/proc", "/dev"};
  spec.listable_paths = {"/"};
  if (policy_.files.directory.empty()) {
    for (const ReadOnlyMount& mount : policy_.files.mounts) spec.read_only_paths.push_back(mount.target);
  }
  spec.writable_paths = {"/workspace", "/tmp", "/dev/shm", "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"};
  if (egress_ != nullptr) {
    spec.allow_inet = true;
    spec.read_only_paths.push_back("/run");
  }
  spec.landlock = policy_.isolation.landlock;
  spec.seccomp = policy_.isolation.seccomp;
  spec.capabilities = policy_.isolation.capabilities_dropped;
  spec.no_new_privileges = policy_.isolation.no_new_privileges;
  return spec;
}

std::vector<std::string> SessionImpl::Environment() const {
  std::string threads = absl::StrCat(policy_.limits.cpus);
  std::vector<std::string> list = {"PATH=/usr/local/bin:/usr/bin:/bin",
                                   "HOME=/workspace",
                                   "USER=user",
                                   "LOGNAME=user",
                                   "SHELL=/bin/bash",
                                   "TMPDIR=/tmp",
                                   "TERM=dumb",
                                   "MPLBACKEND=agg",
                                   "MPLCONFIGDIR=/tmp/.cellblock-cache/matplotlib",
                                   "XDG_CACHE_HOME=/tmp/.cellblock-cache",
                                   "PYTHONPATH=/opt/cellblock/env/site-packages:/opt/cellblock/guest",
                                   "PYTHONDONTWRITEBYTECODE=1",
                                   "PYTHONUTF8=1",
                                   absl::StrCat("LANG=", policy_.determinism.locale),
                                   absl::StrCat("TZ=", policy_.determinism.time_zone)};
  for (const char* name : {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "NUMEXPR_MAX_THREADS", "POLARS_MAX_THREADS", "LOKY_MAX_CPU_COUNT"}) {
    list.push_back(absl::StrCat(name, "=", threads));
  }
  if (egress_ != nullptr) AddNetworkVariables(policy_.network, !egress_->certificates().empty(), list);
  for (const auto& variables : {policy_.environment, options_.environment}) {
    for (const auto& [name, value] : variables) list.push_back(absl::StrCat(name, "=", value));
  }
  return list;
}

absl::StatusOr<std::unique_ptr<supervise::Worker>> SessionImpl::MakeWorker(std::future<absl::Status>& jail_attached, StartTimings* timings) {
  Laps laps;
  CELLBLOCK_ASSIGN_OR_RETURN(std::shared_ptr<supervise::Zygote> zygote, host_->ZygoteFor(policy_));
  timings->zygote = laps.Next();
  supervise::WorkerOptions options;
  spec_ = options.spec = WorkerSpec(*zygote);
  CELLBLOCK_ASSIGN_OR_RETURN(options.seccomp_fd, host_->FilterFor(policy_, cgroup_ != nullptr));
  options.bundle_bytes_max = static_cast<size_t>(policy_.limits.result_bytes) + kFrameRoom;
  std::optional<uint64_t> seed = options_.seed.has_value() ? options_.seed : policy_.determinism.seed;
  options.start.has_seed = seed.has_value() ? 1 : 0;
  options.start.seed = seed.value_or(0);
  options.start.table_width = static_cast<uint64_t>(policy_.python.table_width);
  options.start.table_columns = static_cast<uint64_t>(policy_.python.table_columns);
  options.start.figure_dpi = static_cast<uint64_t>(policy_.python.figure_dpi);
  options.start.figure_svg = policy_.python.figure_svg ? 1 : 0;
  options.start.cpus = static_cast<uint64_t>(policy_.limits.cpus);
  options.start.memory_bytes = static_cast<uint64_t>(policy_.limits.memory_bytes);
  options.start.result_bytes = static_cast<uint64_t>(policy_.limits.result_bytes);
  options.start.time_zone = policy_.determinism.time_zone;
  options.start.environment = Environment();
  options.start.network = !policy_.network.is_on() ? "off" : policy_.network.packages.url.empty() ? "rules" : "packages";
  if (cgroup_ != nullptr) {
    CELLBLOCK_ASSIGN_OR_RETURN(options.entrances, cgroup_->Entrances());
  }
  if (cgroup_ != nullptr && options.entrances.empty()) {
    options.attach = [this, &jail_attached](pid_t pid) -> absl::Status {
      if (jail_attached.valid()) CELLBLOCK_RETURN_IF_ERROR(jail_attached.get());
      return cgroup_->Attach({pid});
    };
  }
  for (const UniqueFd* folder : {&jail_->workspace, &jail_->tmp, &jail_->shm}) LetOwnerIn(folder->get(), user_id_);
  CELLBLOCK_ASSIGN_OR_RETURN(std::unique_ptr<supervise::Worker> worker, supervise::Worker::Start(std::move(zygote), *jail_, options));
  timings->fork = worker->fork_took();
  timings->lock_down = laps.Next() - timings->fork;
  if (cgroup_ != nullptr) CELLBLOCK_RETURN_IF_ERROR(cgroup_->Attach({jail_->host_pid, worker->process().pid()}));  // those that did not enter
  return worker;
}

absl::Status SessionImpl::StartWorker(std::future<absl::Status>& jail_attached, StartTimings* timings) {
  CELLBLOCK_ASSIGN_OR_RETURN(std::unique_ptr<supervise::Worker> worker, MakeWorker(jail_attached, timings));
  DescribeLayers(worker->report());
  std::lock_guard<std::mutex> lock(watched_mutex_);
  worker_ = std::move(worker);
  if (cgroup_ == nullptr) baseline_ = worker_->process().ReadUsage();
  high_water_ = 0;
  memory_.killed = false;
  kept_busy_ = false;
  alive_ = true;
  return absl::OkStatus();
}

void SessionImpl::DescribeLayers(const confine::Report& report) {
  layers_.clear();
  auto add = [this](const char* name, bool on, std::string detail) { layers_.push_back({name, on ? "enforced" : "off", std::move(detail)}); };
  const bool has_network = egress_ != nullptr;
  for (const NamespaceRule& rule : kNamespaces) {
    add(rule.name, true, has_network && absl::string_view(rule.name) == "network_namespace" ? "with a way to the egress proxy alone" : "");
  }
  add("read_only_root", true, "pivot_root, old root let go");
  add("user_id", user_id_ != 0, user_id_ != 0 ? absl::StrCat("outside id ", user_id_, ", of this session alone") : "the supervisor's own user id outside: no subordinate ids are used");
  add("capabilities_dropped", report.capabilities_dropped != 0, "");
  add("no_new_privileges", report.no_new_privileges != 0, "");
  add("landlock", report.landlock_abi > 0, report.landlock_abi > 0 ? absl::StrCat("ABI ", report.landlock_abi) : "the kernel has none, or the policy switched it off");
  add("seccomp", report.seccomp != 0, "");
  add("rlimits", true, "");
  std::string group = cgroup_ != nullptr ? absl::StrCat("cgroup v", host_->cgroups()->version()) : "";
  std::string why = policy_.isolation.cgroup == Requirement::kOff ? "the policy switched cgroups off" : host_->why_no_cgroup();
  layers_.push_back({"memory", cgroup_ != nullptr ? "enforced" : "watched", cgroup_ != nullptr ? group : absl::StrCat("summed every 100 ms; no cgroup: ", why)});
  layers_.push_back({"processes", "enforced", cgroup_ != nullptr ? group : "RLIMIT_NPROC, counted in the session's user namespace"});
  layers_.push_back({"cpu", cgroup_ != nullptr ? "enforced" : "watched", cgroup_ != nullptr ? group : "affinity alone"});
}

}  // namespace cellblock::session
