// See host_impl.h.
#include "session/host_impl.h"

#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <future>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "confine/seccomp_program.h"
#include "session/birth.h"
#include "session/libexec.h"
#include "session/requests.h"
#include "session/session_impl.h"
#include "sys/files.h"
#include "sys/process.h"

namespace cellblock::session {
namespace {

constexpr size_t kRootsMax = 32;
constexpr size_t kZygotesMax = 16;
constexpr size_t kFiltersMax = 64;
constexpr int kOpenFolders = 16;

int RemoveEntry(const char* path, const struct stat*, int, FTW*) {
  remove(path);
  return 0;
}

std::string MountKey(const Policy& policy) {
  std::string key = policy.files.directory;
  for (const ReadOnlyMount& mount : policy.files.mounts) absl::StrAppend(&key, "\n", mount.source, "\n", mount.target);
  return key;
}

}  // namespace

absl::StatusOr<uint32_t> UserIds::Take() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (taken_.size() >= count_) return absl::ResourceExhaustedError(absl::StrCat("all ", count_, " user ids for sessions are taken"));
  // Goes round, so that an id is not used again right after its session ended.
  while (!taken_.insert(next_).second) next_ = next_ + 1 < first_ + count_ ? next_ + 1 : first_;
  uint32_t id = next_;
  next_ = next_ + 1 < first_ + count_ ? next_ + 1 : first_;
  return id;
}

void UserIds::Give(uint32_t id) {
  std::lock_guard<std::mutex> lock(mutex_);
  taken_.erase(id);
}

// The first id is the zygotes' own, the last one the egress proxy's.
HostImpl::HostImpl(HostOptions options) : options_(std::move(options)), user_ids_(options_.first_user_id + 1, options_.user_id_count > 1 ? options_.user_id_count - 2 : 0) {}

absl::StatusOr<std::shared_ptr<HostImpl>> HostImpl::Create(HostOptions options) {
  if (options.libexec_directory.empty()) {
    CELLBLOCK_ASSIGN_OR_RETURN(options.libexec_directory, FindLibexec());
  }
  if (options.first_user_id == 0) return absl::InvalidArgumentError("first_user_id must not be 0: a worker never runs as the host's root");
  if (options.python_environment.empty() || access((options.python_environment + "/site-packages").c_str(), R_OK) != 0) {
    return absl::NotFoundError(absl::StrCat("no Python environment at \"", options.python_environment, "\": build one with tools/setup/build-python-env and name it with --python-env"));
  }
  CELLBLOCK_RETURN_IF_ERROR(CheckPoolOptions(options.pool));
  // Absolute: the process that looks for them again for each new root leaves the caller's working directory.
  std::array<char, PATH_MAX> absolute;
  if (realpath(options.python_environment.c_str(), absolute.data()) == nullptr) return sys::ErrnoStatus("find the Python environment");
  options.python_environment = absolute.data();
  if (realpath(options.libexec_directory.c_str(), absolute.data()) == nullptr) return sys::ErrnoStatus(absl::StrCat("find ", options.libexec_directory));
  options.libexec_directory = absolute.data();
  std::shared_ptr<HostImpl> host(new HostImpl(std::move(options)));
  CELLBLOCK_RETURN_IF_ERROR(host->Start());
  return host;
}

absl::Status HostImpl::Start() {
  sys::FillStandardDescriptors();
  sys::RaiseOpenFilesLimit();
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &set)) all_cpus_.push_back(cpu);
    }
  }
  std::string init = options_.libexec_directory + "/cellblock-init";
  CELLBLOCK_ASSIGN_OR_RETURN(broom_, supervise::Broom::Create(init));
  CELLBLOCK_RETURN_IF_ERROR(PrepareStateFolder());
  std::string name = absl::StrCat("cellblock-", getpid(), "-", absl::ToUnixMicros(absl::Now()));
  absl::StatusOr<std::unique_ptr<sys::CgroupParent>> cgroups = sys::CgroupParent::Create(name, [this](const std::string& folder) { broom_->Register(folder); });
  if (cgroups.ok()) {
    cgroups_ = *std::move(cgroups);
  } else {
    why_no_cgroup_ = std::string(cgroups.status().message());
  }
  std::promise<absl::Status> started;
  std::future<absl::Status> ready = started.get_future();
  supervise::NestOptions nest_options = {init, options_.first_user_id, options_.user_id_count};
  watch_ = std::make_unique<supervise::Watch>(
      [this, nest_options, &started] {
        absl::StatusOr<std::unique_ptr<supervise::Nest>> nest = supervise::Nest::Create(nest_options);
        if (nest.ok()) nest_ = *std::move(nest);
        started.set_value(nest.status());
      },
      [this] {
        zygotes_.clear();
        nest_.reset();
      });
  CELLBLOCK_RETURN_IF_ERROR(ready.get());
  pool_ = std::make_unique<Pool>(*this, options_.pool);
  return absl::OkStatus();
}

absl::Status HostImpl::PrepareStateFolder() {
  std::string folder = options_.state_directory;
  if (folder.empty()) {
    const char* base = getenv("TMPDIR");
    std::string pattern = absl::StrCat(base != nullptr && base[0] == '/' ? base : "/tmp", "/cellblock-XXXXXX");
    if (mkdtemp(pattern.data()) == nullptr) return sys::ErrnoStatus(absl::StrCat("make a folder for artifacts like ", pattern));
    temporary_folder_ = folder = pattern;
    broom_->Register(folder);
  }
  CELLBLOCK_ASSIGN_OR_RETURN(store_, artifact::ArtifactStore::Open(folder));
  return absl::OkStatus();
}

HostImpl::~HostImpl() {
  pool_.reset();
  watch_.reset();  // ends the nest
  cgroups_.reset();
  store_.reset();
  if (!temporary_folder_.empty()) nftw(temporary_folder_.c_str(), RemoveEntry, kOpenFolders, FTW_DEPTH | FTW_PHYS);
}

absl::StatusOr<uint64_t> HostImpl::RootLocked(const Policy& policy) {
  std::string key = MountKey(policy);
  auto found = roots_.find(key);
  if (found != roots_.end()) return found->second;
  if (roots_.size() >= kRootsMax) return absl::ResourceExhaustedError(absl::StrCat("policies name more than ", kRootsMax, " different sets of mounts"));
  wire::PrepareRoot request;
  request.root_id = roots_.size() + 1;
  request.environment = options_.python_environment;
  CELLBLOCK_ASSIGN_OR_RETURN(request.guest, FindGuestFolder(options_.libexec_directory));
  request.guest_binary = options_.libexec_directory + "/cellblock-guest";
  request.root_directory = policy.files.directory;
  for (const ReadOnlyMount& mount : policy.files.mounts) {
    request.mounts.push_back(mount.source);
    request.mounts.push_back(mount.target);
  }
  absl::Status prepared = nest_->PrepareRoot(request);
  if (!prepared.ok()) return absl::Status(prepared.code(), absl::StrCat("the sandbox's root could not be made: ", std::string(prepared.message())));
  roots_[key] = request.root_id;
  return request.root_id;
}

absl::StatusOr<uint64_t> HostImpl::RootFor(const Policy& policy) {
  std::lock_guard<std::mutex> lock(mutex_);
  return RootLocked(policy);
}

absl::StatusOr<std::shared_ptr<supervise::Zygote>> HostImpl::ZygoteFor(const Policy& policy) {
  std::lock_guard<std::mutex> lock(mutex_);
  CELLBLOCK_ASSIGN_OR_RETURN(uint64_t root, RootLocked(policy));
  std::string key = absl::StrCat(root, "\n", policy.determinism.fixed_hash_seed, "\n", policy.determinism.locale, "\n", absl::StrJoin(policy.python.preload, "\n"));
  std::shared_ptr<supervise::Zygote>& zygote = zygotes_[key];
  if (zygote != nullptr && !sys::HasEnded(zygote->pidfd.get())) return zygote;
  if (zygotes_.size() > kZygotesMax) {
    zygotes_.erase(key);
    return absl::ResourceExhaustedError(absl::StrCat("policies ask for more than ", kZygotesMax, " different Python template processes"));
  }
  wire::StartZygote request;
  request.root_id = root;
  request.user_id = nest_->as_root() ? options_.first_user_id : 0;
  request.preload = policy.python.preload;
  // Nothing of the supervisor's own environment: it may hold secrets.
  request.environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/tmp", "TMPDIR=/tmp", absl::StrCat("LANG=", policy.determinism.locale), "OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1",
                         "MKL_NUM_THREADS=1", "NUMEXPR_NUM_THREADS=1", "NUMEXPR_MAX_THREADS=1", "GLIBC_TUNABLES=glibc.malloc.hugetlb=1"};
  if (policy.determinism.fixed_hash_seed) request.environment.push_back("CELLBLOCK_FIXED_HASH_SEED=1");
#ifdef CELLBLOCK_TEST_LAYER_SWITCHES  // a test-only build, to show that each layer matters
  if (const char* off = getenv("CELLBLOCK_TEST_LAYERS_OFF"); off != nullptr) request.environment.push_back(absl::StrCat("CELLBLOCK_TEST_LAYERS_OFF=", off));
#endif
  Policy usual;  // nothing of any policy: sessions of others have this template too
  usual.determinism.locale = policy.determinism.locale;
  absl::StatusOr<std::unique_ptr<supervise::Zygote>> started = nest_->StartZygote(request, StartFor(usual, /*egress=*/nullptr, {}, {}));
  if (!started.ok()) {
    zygotes_.erase(key);
    return started.status();
  }
  zygote = std::shared_ptr<supervise::Zygote>(*std::move(started));
  return zygote;
}

absl::StatusOr<int> HostImpl::FilterFor(const Policy& policy, bool in_cgroup) {
  std::string key = absl::StrCat(in_cgroup, "\n", policy.languages.subprocesses, "\n", policy.network.is_on(), "\n", absl::StrJoin(policy.isolation.extra_syscalls, "\n"));
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = filters_.find(key);
  if (found != filters_.end()) return found->second.get();
  if (filters_.size() >= kFiltersMax) return absl::ResourceExhaustedError(absl::StrCat("policies ask for more than ", kFiltersMax, " different system call filters"));
  confine::SeccompOptions options;
  options.allow_exec = policy.languages.subprocesses;
  options.allow_inet = policy.network.is_on();
  options.allow_uncounted_memory = in_cgroup;  // the watch could not see it
  options.extra_syscalls = policy.isolation.extra_syscalls;
  CELLBLOCK_ASSIGN_OR_RETURN(confine::SeccompProgram program, confine::SeccompProgram::Build(options));
  CELLBLOCK_ASSIGN_OR_RETURN(UniqueFd memfd, program.ToMemFd());
  return filters_.emplace(key, std::move(memfd)).first->second.get();
}

absl::StatusOr<std::shared_ptr<supervise::EgressProxy>> HostImpl::StartedEgress() {
  std::lock_guard<std::mutex> lock(egress_mutex_);
  if (egress_ != nullptr && egress_->alive()) return egress_;
  confine::SeccompOptions filter;
  filter.allow_exec = false;
  filter.allow_inet = true;
  CELLBLOCK_ASSIGN_OR_RETURN(confine::SeccompProgram program, confine::SeccompProgram::Build(filter));
  CELLBLOCK_ASSIGN_OR_RETURN(UniqueFd memfd, program.ToMemFd());
  supervise::EgressOptions options;
  options.path = options_.libexec_directory + "/cellblock-egress";
  options.user_id = nest_->as_root() ? options_.first_user_id + options_.user_id_count - 1 : 0;
  options.seccomp_fd = memfd.get();
  CELLBLOCK_ASSIGN_OR_RETURN(egress_, supervise::EgressProxy::Create(options));
  return egress_;
}

std::vector<int32_t> HostImpl::CpusFor(int count) {
  if (all_cpus_.empty() || count >= static_cast<int>(all_cpus_.size())) return all_cpus_;
  std::vector<int32_t> cpus;
  size_t first = next_cpu_.fetch_add(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) cpus.push_back(all_cpus_[(first + static_cast<size_t>(i)) % all_cpus_.size()]);
  return cpus;
}

void HostImpl::CountArtifacts(const std::vector<Artifact>& artifacts) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (const Artifact& artifact : artifacts) {
    artifacts_.emplace_back(artifact.id, artifact.size_bytes);
    artifact_bytes_ += artifact.size_bytes;
  }
  while (artifact_bytes_ > options_.artifact_bytes_max && !artifacts_.empty()) {
    (void)store_->Remove(artifacts_.front().first);
    artifact_bytes_ -= artifacts_.front().second;
    artifacts_.pop_front();
  }
}

absl::StatusOr<std::unique_ptr<Session>> HostImpl::CreateSession(const Policy& policy, const SessionOptions& options) {
  CELLBLOCK_RETURN_IF_ERROR(ValidatePolicy(policy));
  CELLBLOCK_RETURN_IF_ERROR(CheckId(options.id));
  CELLBLOCK_RETURN_IF_ERROR(CheckAttached(options.attached));
  CELLBLOCK_RETURN_IF_ERROR(CheckVariables(policy, options.environment));
  if (++sessions_ > options_.sessions_max) {
    --sessions_;
    return absl::ResourceExhaustedError(absl::StrCat("there are ", options_.sessions_max, " sessions already (sessions_max)"));
  }
  absl::StatusOr<std::unique_ptr<SessionImpl>> session = SessionImpl::Create(shared_from_this(), policy, options);
  if (!session.ok()) return session.status();  // it has counted itself out again
  return std::unique_ptr<Session>(*std::move(session));
}

HostUsage HostImpl::usage() {
  // Who asks does not wait for a zygote that is just being started.
  if (std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock); lock.owns_lock()) {
    zygotes_seen_ = std::count_if(zygotes_.begin(), zygotes_.end(), [](const auto& entry) { return entry.second != nullptr && !sys::HasEnded(entry.second->pidfd.get()); });
  }
  return {zygotes_seen_, cgroups_ != nullptr, nest_->alive(), pool_->usage()};
}

}  // namespace cellblock::session

namespace cellblock {
namespace {

class HeldHost : public Host {
 public:
  explicit HeldHost(std::shared_ptr<session::HostImpl> host) : host_(std::move(host)) {}
  ~HeldHost() override { host_->ClosePool(); }
  absl::StatusOr<std::unique_ptr<Session>> CreateSession(const Policy& policy, const SessionOptions& options) override { return host_->CreateSession(policy, options); }
  HostUsage usage() override { return host_->usage(); }

 private:
  const std::shared_ptr<session::HostImpl> host_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Host>> Host::Create(HostOptions options) {
  absl::StatusOr<std::shared_ptr<session::HostImpl>> host = session::HostImpl::Create(std::move(options));
  if (!host.ok()) return host.status();
  return std::make_unique<HeldHost>(*std::move(host));
}

}  // namespace cellblock
