// See birth.h.
#include "session/birth.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "session/host_impl.h"

namespace cellblock::session {
namespace {

// On top of the session's own: the jail's init, which RLIMIT_NPROC counts too.
constexpr int64_t kInitProcesses = 1;
// The soft limit (RLIMIT_DATA, MemoryError) lies this much below the hard one (cgroup or watch), so that it is met first.
// Between them lies what RLIMIT_DATA does not see: the zygote's pages that the worker changed (some MiB), page tables, files in memory.
constexpr int64_t kSoftMarginMin = int64_t{12} << 20;
constexpr int64_t kSoftMarginMax = int64_t{64} << 20;
constexpr uint64_t kMainStackBytes = uint64_t{8} << 20;
constexpr size_t kFrameRoom = 64 * 1024;

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

absl::StatusOr<std::unique_ptr<supervise::Worker>> Fork(std::shared_ptr<supervise::Zygote> zygote, const Policy& policy, Place& place, supervise::WorkerOptions options, StartTimings* timings) {
  Laps laps;
  CELLBLOCK_ASSIGN_OR_RETURN(options.seccomp_fd, place.host.FilterFor(policy, place.cgroup != nullptr));
  options.bundle_bytes_max = BundleBytesMax(policy);
  if (place.cgroup != nullptr) {
    CELLBLOCK_ASSIGN_OR_RETURN(options.entrances, place.cgroup->Entrances());
  }
  if (place.cgroup != nullptr && options.entrances.empty()) {
    options.attach = [&place](pid_t pid) -> absl::Status {
      CELLBLOCK_RETURN_IF_ERROR(place.WaitUntilJoined());
      return place.cgroup->Attach({pid});
    };
  }
  for (const UniqueFd* folder : {&place.jail->workspace, &place.jail->tmp, &place.jail->shm}) LetOwnerIn(folder->get(), place.user_id);
  CELLBLOCK_ASSIGN_OR_RETURN(std::unique_ptr<supervise::Worker> worker, supervise::Worker::Start(std::move(zygote), *place.jail, options));
  timings->fork = worker->fork_took();
  timings->lock_down = worker->lock_down_took();
  timings->interpreter = std::max(absl::ZeroDuration(), laps.Next() - timings->fork - timings->lock_down);
  if (place.cgroup != nullptr) CELLBLOCK_RETURN_IF_ERROR(place.cgroup->Attach({place.jail->host_pid, worker->process().pid()}));  // those that did not enter
  return worker;
}

}  // namespace

size_t BundleBytesMax(const Policy& policy) { return static_cast<size_t>(policy.limits.result_bytes) + kFrameRoom; }

confine::Spec SpecFor(const Policy& policy, const Place& place, const std::vector<int32_t>& cpus, uint64_t data_bytes) {
  const Limits& limits = policy.limits;
  confine::Spec spec;
  spec.open_files = static_cast<uint64_t>(limits.open_files);
  spec.file_bytes = static_cast<uint64_t>(limits.file_bytes);
  spec.processes = static_cast<uint64_t>(limits.processes + kInitProcesses);
  int64_t margin = std::clamp(limits.memory_bytes / 16, kSoftMarginMin, kSoftMarginMax);
  spec.data_bytes = data_bytes + static_cast<uint64_t>(limits.memory_bytes - margin);
  spec.stack_bytes = kMainStackBytes;
  spec.cpus = cpus;
  spec.read_only_paths = {"/usr", "/etc", "/opt", "/proc", "/dev"};
  spec.listable_paths = {"/"};
  if (policy.files.directory.empty()) {
    for (const ReadOnlyMount& mount : policy.files.mounts) spec.read_only_paths.push_back(mount.target);
  }
  spec.writable_paths = {"/workspace", "/tmp", "/dev/shm", "/dev/null", "/dev/full", "/dev/random", "/dev/urandom"};
  if (place.cgroup != nullptr) spec.writable_paths.push_back("/dev/zero");  // a shared map of it is memory without a file: see AddMaps
  if (place.egress != nullptr) {
    spec.allow_inet = true;
    spec.read_only_paths.push_back("/run");
  }
  spec.landlock = policy.isolation.landlock;
  spec.seccomp = policy.isolation.seccomp;
  spec.capabilities = policy.isolation.capabilities_dropped;
  spec.no_new_privileges = policy.isolation.no_new_privileges;
  return spec;
}

std::vector<std::string> EnvironmentFor(const Policy& policy, const supervise::EgressLink* egress, const SessionOptions& options) {
  std::string threads = absl::StrCat(policy.limits.cpus);
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
                                   absl::StrCat("LANG=", policy.determinism.locale),
                                   absl::StrCat("TZ=", policy.determinism.time_zone)};
  for (const char* name : {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "NUMEXPR_MAX_THREADS", "POLARS_MAX_THREADS", "LOKY_MAX_CPU_COUNT"}) {
    list.push_back(absl::StrCat(name, "=", threads));
  }
  if (egress != nullptr) AddNetworkVariables(policy.network, !egress->certificates().empty(), list);
  for (const auto* variables : {&policy.environment, &options.environment}) {
    for (const auto& [name, value] : *variables) list.push_back(absl::StrCat(name, "=", value));
  }
  return list;
}

wire::StartSession StartFor(const Policy& policy, const supervise::EgressLink* egress, const SessionOptions& options, const confine::Spec& spec) {
  wire::StartSession start;
  std::optional<uint64_t> seed = options.seed.has_value() ? options.seed : policy.determinism.seed;
  start.has_seed = seed.has_value() ? 1 : 0;
  start.seed = seed.value_or(0);
  start.table_width = static_cast<uint64_t>(policy.python.table_width);
  start.table_columns = static_cast<uint64_t>(policy.python.table_columns);
  start.figure_dpi = static_cast<uint64_t>(policy.python.figure_dpi);
  start.figure_svg = policy.python.figure_svg ? 1 : 0;
  start.cpus = static_cast<uint64_t>(policy.limits.cpus);
  start.memory_bytes = static_cast<uint64_t>(policy.limits.memory_bytes);
  start.result_bytes = static_cast<uint64_t>(policy.limits.result_bytes);
  start.time_zone = policy.determinism.time_zone;
  start.environment = EnvironmentFor(policy, egress, options);
  start.network = !policy.network.is_on() ? "off" : policy.network.packages.url.empty() ? "rules" : "packages";
  start.open_files = spec.open_files;
  start.file_bytes = spec.file_bytes;
  start.processes = spec.processes;
  start.data_bytes = spec.data_bytes;
  return start;
}

absl::StatusOr<std::unique_ptr<supervise::Worker>> ForkWorker(const Policy& policy, const SessionOptions& options, const std::vector<int32_t>& cpus, Place& place, StartTimings* timings) {
  Laps laps;
  CELLBLOCK_ASSIGN_OR_RETURN(std::shared_ptr<supervise::Zygote> zygote, place.host.ZygoteFor(policy));
  timings->zygote = laps.Next();
  supervise::WorkerOptions worker;
  worker.spec = SpecFor(policy, place, cpus, zygote->data_bytes);
  worker.start = StartFor(policy, place.egress.get(), options, worker.spec);
  return Fork(std::move(zygote), policy, place, std::move(worker), timings);
}

absl::StatusOr<std::unique_ptr<supervise::Worker>> ForkWorkerAhead(const Policy& policy, Place& place, StartTimings* timings) {
  CELLBLOCK_ASSIGN_OR_RETURN(std::shared_ptr<supervise::Zygote> zygote, place.host.ZygoteFor(policy));
  supervise::WorkerOptions worker;
  worker.spec = SpecFor(policy, place, {}, zygote->data_bytes);
  // 0 keeps what is inherited; the session's own are set before its code runs.
  worker.spec.open_files = worker.spec.file_bytes = worker.spec.processes = worker.spec.data_bytes = 0;
  // What one session has and another has not is no other's: the second message adds and changes, it takes nothing away.
  Policy of_all = policy;
  of_all.environment.clear();
  of_all.determinism.seed.reset();
  worker.start = StartFor(of_all, place.egress.get(), {}, worker.spec);
  worker.start.made_ahead = 1;
  return Fork(std::move(zygote), policy, place, std::move(worker), timings);
}

supervise::Baseline HeldBy(supervise::Worker& worker, const Place& place) { return place.cgroup == nullptr ? supervise::BaselineOf(worker.process()) : supervise::Baseline{}; }

}  // namespace cellblock::session
