// One session: its jail, its cgroup, its worker, and the calls on it, one at a time in order. Supervisor. Thread-safe.
#ifndef CELLBLOCK_SESSION_SESSION_IMPL_H_
#define CELLBLOCK_SESSION_SESSION_IMPL_H_

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "artifact/collector.h"
#include "capture/redact.h"
#include "cellblock/host.h"
#include "session/full_output.h"
#include "session/host_impl.h"
#include "session/idle_memory.h"
#include "session/place.h"
#include "session/pool.h"
#include "session/workspace.h"
#include "supervise/call.h"
#include "supervise/memory_watch.h"
#include "supervise/worker.h"
#include "sys/process.h"

namespace cellblock::session {

inline constexpr absl::Duration kKillDeadline = absl::Seconds(10);  // for a jail's init to end the others

// Calls in the order in which they came; a bounded number wait.
class CallQueue {
 public:
  explicit CallQueue(int64_t waiting_max) : waiting_max_(waiting_max) {}
  bool Enter();            // false when too many wait; else blocks until it is this caller's turn
  bool TryEnter();         // false when a call runs or waits
  void Leave();

 private:
  std::mutex mutex_;
  std::condition_variable turn_;
  int64_t waiting_max_;
  uint64_t next_ticket_ = 0;
  uint64_t serving_ = 0;
};

class SessionImpl : public Session, private supervise::Watched {
 public:
  static absl::StatusOr<std::unique_ptr<SessionImpl>> Create(std::shared_ptr<HostImpl> host, const Policy& policy, const SessionOptions& options);
  ~SessionImpl() override;

  const std::string& id() const override { return id_; }
  const Policy& policy() const override { return policy_; }
  const std::vector<Layer>& layers() const override { return layers_; }
  bool alive() const override;
  bool lost() const override { return sys::HasEnded(place_->jail->pidfd.get()); }
  StartTimings start_timings() const override { return timings_; }
  SessionMemory memory() const override;
  absl::StatusOr<Record> Execute(absl::string_view code, const ExecuteOptions& options) override;
  void Interrupt() override;
  absl::Status Restart() override;
  absl::Status PutFile(int source_fd, absl::string_view path) override;
  absl::Status MakeFolder(absl::string_view path) override;
  absl::Status GetFile(absl::string_view path, int target_fd) override;
  absl::StatusOr<std::vector<FileEntry>> ListFiles() override;
  absl::Status RemoveFile(absl::string_view path) override;
  absl::StatusOr<std::string> DescribeVariables() override;
  absl::StatusOr<std::string> PreviewFile(absl::string_view path, int64_t rows) override;

 private:
  // Made for one question: where memory is short it goes first.
  struct Beside {
    supervise::Worker* worker;
    supervise::MemorySignals* memory;
  };

  SessionImpl(std::shared_ptr<HostImpl> host, const Policy& policy, const SessionOptions& options);
  absl::Status Start();
  absl::Status Build();                    // a place and a worker of its own
  absl::Status TakeOver(std::unique_ptr<Ready> ready);
  absl::Status LookAtWorkspace();
  // From now on by this worker; `held`: what it held when it was ready, looked at where no cgroup counts.
  void Serve(std::unique_ptr<supervise::Worker> worker, const supervise::Baseline& held);
  absl::Status WaitForTurn();              // Leave() then
  bool IsAttached(const FileIdentity& file) const;
  absl::StatusOr<UniqueFd> OpenForReading(absl::string_view path) const;  // a plain file of the workspace, or an attached one
  absl::Status CheckNotAttached(absl::string_view path) const;  // nor a folder above one
  absl::StatusOr<std::string> Ask(supervise::Worker& worker, supervise::CpuMeter& meter, supervise::MemorySignals& memory, const char* question, absl::string_view argument, Record& record);
  void SetBeside(std::optional<Beside> beside);
  void KillOthers();
  absl::Status CheckLayers();
  void DescribeLayers(const confine::Report& report);

  absl::StatusOr<Record> ExecuteNow(absl::string_view code, const ExecuteOptions& options);
  Record Rejected(const char* reason);
  absl::Status RunCall(absl::string_view code, const ExecuteOptions& options, FullOutput& full, Record& record);
  bool MayBeOverMemory(supervise::MemorySample* sample);  // without a cgroup, as the next; under watched_mutex_
  void EndOverMemory();                    // looks closer, and kills what is over the limit; under watched_mutex_
  supervise::CpuMeter& BeginMeter();
  std::unique_ptr<supervise::Worker> TakeWorker();
  // What a call left, looked at once for all that asks.
  struct Left {
    supervise::DiskUse disk;
    sys::ProcReader::Usage worker;         // without a cgroup
  };
  Left LookAtWhatIsLeft();
  void EndIfOverMemory(const Left& left, Record& record);
  void CleanUpAfter(Record& record);
  void Abandon(Record& record);
  void CollectArtifacts(Record& record);
  void ForgetInterrupts();                 // an interrupt while idle is nobody's
  void FillReceipt(const Left& left, Record& record);
  bool Tick() override;
  void LookCloser() override;
  void DrainIdle();

  const std::shared_ptr<HostImpl> host_;   // ends after all that follows
  const Policy policy_;
  const SessionOptions options_;
  const std::string id_;
  std::vector<int32_t> cpus_;
  std::vector<Layer> layers_;
  StartTimings timings_;                   // set by Start
  std::shared_ptr<const capture::RedactionSet> redact_;
  UniqueFd interrupt_;
  std::unique_ptr<Place> place_;           // outlives the worker
  std::unique_ptr<supervise::Worker> worker_;
  std::optional<supervise::CpuMeter> cpu_; // of worker_
  std::optional<artifact::Collector> collector_;
  std::optional<artifact::Snapshot> snapshot_;
  CallQueue queue_;
  std::mutex files_mutex_;                 // snapshot_ and collector_: a call's artifacts against uploads while it runs
  std::atomic<bool> files_changed_ = false;           // from outside, since disk_ was read
  std::atomic<int64_t> uploaded_bytes_ = 0;           // since the call began
  std::atomic<bool> alive_ = false;
  IdleMemory idle_memory_{absl::Now()};    // busy or not
  bool yields_ = false;                    // without a cgroup: its weight beside this process was lowered
  std::atomic<bool> kept_busy_ = false;               // threads or processes live on after the last call
  int64_t calls_ = 0;
  supervise::MemorySignals memory_;
  supervise::Baseline baseline_;           // without a cgroup
  int64_t high_water_ = 0;                 // without a cgroup: the worker's, when the last call ended
  std::optional<supervise::DiskUse> disk_; // when the last call ended, if nobody can have changed it since
  mutable std::mutex watched_mutex_;       // worker_ and beside_ against the watch
  std::optional<Beside> beside_;
  std::string late_output_, late_errors_;
};

}  // namespace cellblock::session

#endif  // CELLBLOCK_SESSION_SESSION_IMPL_H_
