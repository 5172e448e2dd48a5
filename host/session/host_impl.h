// The Host: helper processes made once and shared (nest, broom, roots, zygotes, filters), and what sessions are made from.
// Supervisor. Thread-safe.
#ifndef CELLBLOCK_SESSION_HOST_IMPL_H_
#define CELLBLOCK_SESSION_HOST_IMPL_H_

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "artifact/mime.h"
#include "artifact/store.h"
#include "cellblock/host.h"
#include "session/pool.h"
#include "supervise/egress.h"
#include "supervise/helpers.h"
#include "supervise/watch.h"
#include "sys/cgroup.h"

namespace cellblock::session {

// The number of outside user ids is bounded; a session gives its own back.
class UserIds {
 public:
  UserIds(uint32_t first, uint32_t count) : next_(first), first_(first), count_(count) {}
  absl::StatusOr<uint32_t> Take();
  void Give(uint32_t id);

 private:
  std::mutex mutex_;
  uint32_t next_;
  uint32_t first_, count_;
  std::set<uint32_t> taken_;
};

// Held by the caller's Host and by each session, so that a session which outlives its Host still ends well.
class HostImpl : public std::enable_shared_from_this<HostImpl> {
 public:
  static absl::StatusOr<std::shared_ptr<HostImpl>> Create(HostOptions options);
  ~HostImpl();

  absl::StatusOr<std::unique_ptr<Session>> CreateSession(const Policy& policy, const SessionOptions& options);
  HostUsage usage();

  // For sessions.
  absl::StatusOr<std::shared_ptr<supervise::Zygote>> ZygoteFor(const Policy& policy);
  absl::StatusOr<uint64_t> RootFor(const Policy& policy);
  absl::StatusOr<int> FilterFor(const Policy& policy, bool in_cgroup);  // a memfd that lives as long as the Host
  absl::StatusOr<std::shared_ptr<supervise::EgressProxy>> StartedEgress();  // started for the first session with a network
  std::vector<int32_t> CpusFor(int count);
  supervise::Nest& nest() { return *nest_; }
  supervise::Watch& watch() { return *watch_; }
  sys::CgroupParent* cgroups() { return cgroups_.get(); }
  const std::string& why_no_cgroup() const { return why_no_cgroup_; }
  UserIds& user_ids() { return user_ids_; }
  const artifact::ArtifactStore& store() const { return *store_; }
  artifact::MimeSniffer& sniffer() { return sniffer_; }
  bool as_root() const { return nest_->as_root(); }
  // Keeps count of stored copies and removes the oldest beyond artifact_bytes_max.
  void CountArtifacts(const std::vector<Artifact>& artifacts);
  void SessionEnded() { --sessions_; }
  Pool& pool() { return *pool_; }
  // Ends what is ready: sessions may live on after the caller's Host, but nobody asks for another one.
  void ClosePool() { pool_.reset(); }

 private:
  explicit HostImpl(HostOptions options);
  absl::Status Start();
  absl::Status PrepareStateFolder();
  absl::StatusOr<uint64_t> RootLocked(const Policy& policy);

  HostOptions options_;
  UserIds user_ids_;
  std::unique_ptr<supervise::Broom> broom_;
  std::string temporary_folder_;
  std::optional<artifact::ArtifactStore> store_;
  artifact::MimeSniffer sniffer_;
  std::unique_ptr<sys::CgroupParent> cgroups_;
  std::string why_no_cgroup_;
  std::unique_ptr<supervise::Nest> nest_;  // made and ended on the watch's thread
  std::unique_ptr<supervise::Watch> watch_;
  std::atomic<size_t> sessions_ = 0;
  std::atomic<int64_t> zygotes_seen_ = 0;
  std::vector<int32_t> all_cpus_;
  std::atomic<size_t> next_cpu_ = 0;

  std::unique_ptr<Pool> pool_;             // ends before all of the above
  std::mutex egress_mutex_;                // apart, since it waits for the start of a process
  std::shared_ptr<supervise::EgressProxy> egress_;

  std::mutex mutex_;                       // of what follows
  std::map<std::string, uint64_t> roots_;
  std::map<std::string, std::shared_ptr<supervise::Zygote>> zygotes_;
  std::map<std::string, UniqueFd> filters_;
  std::deque<std::pair<std::string, int64_t>> artifacts_;
  int64_t artifact_bytes_ = 0;
};

}  // namespace cellblock::session

#endif  // CELLBLOCK_SESSION_HOST_IMPL_H_
