// The library's front door. A Host owns the helper processes (nest, zygotes) and the sessions' watch; a Session is one live
// interpreter in its jail; an Execution is one call. Runs in the supervisor; links no Python.
//
//   auto host = cellblock::Host::Create({.python_environment = "/opt/cellblock/env"});
//   auto session = (*host)->CreateSession(cellblock::Policy{});
//   auto record = (*session)->Execute("sum(range(10))");
//   std::cout << record->results.front().mime.front().data;   // 45
#ifndef CELLBLOCK_HOST_H_
#define CELLBLOCK_HOST_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "cellblock/policy.h"
#include "cellblock/record.h"

namespace cellblock {

// Workers made ahead of sessions, so that one is handed out and not built (docs/performance.md). Policies share them when they differ only
// in what can be set late: limits but those of files, seed, time zone, variables, redaction, artifacts, display. A session with attached
// files is always built, and so is one with secrets.
struct PoolOptions {
  int64_t ready_max = 0;            // of all kinds together, 0 – 1,024; 0: none is made ahead
  int64_t ready_min = 1;            // of each kind that was asked for within the last hour, 0 – ready_max
  double refills_per_second = 50;   // 0.1 – 10,000: how fast what was taken is made again, beside the sessions' own work
  absl::Duration age_max = absl::Minutes(10);      // 1 s – 24 h; an older one is made anew
  int64_t memory_bytes_max = int64_t{512} << 20;   // what those that are ready hold by themselves, together; 1 MiB – 16 TiB
};

struct HostOptions {
  std::string python_environment;   // folder built by tools/setup/build-python-env; required
  std::string libexec_directory;    // holds cellblock-guest and cellblock-init; empty: beside the running executable
  std::string state_directory;      // collected artifacts; empty: a temporary folder removed with the Host (also after kill -9)
  // As root: outside user ids, one per live session, [first, first + count). Never 0.
  uint32_t first_user_id = 100'000;
  uint32_t user_id_count = 65'536;
  size_t sessions_max = 1024;
  // Collected artifacts kept, all sessions together; beyond it the oldest copies are removed (their records then point nowhere).
  int64_t artifact_bytes_max = int64_t{10} << 30;
  PoolOptions pool;
};

// A file of the host that a session reads under a name in its workspace, without a copy: read-only, there for the session's whole life,
// however many sessions have it and whatever becomes of its name on the host.
struct AttachedFile {
  std::string path;                 // below /workspace, where nothing stands yet; kInvalidArgument as Session::PutFile
  std::string host_path;            // absolute, a regular file that others may read (mode o+r): inside, the session's own user opens it
};

inline constexpr size_t kAttachedMax = 64;

struct SessionOptions {
  std::string id;                   // 1 – 64 of a–z, 0–9, '-' and '_', unique; empty: a random one
  std::optional<uint64_t> seed;     // overrides policy.determinism.seed
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<AttachedFile> attached;  // at most kAttachedMax
};

struct ExecuteOptions {
  std::string id;                           // of the record, as SessionOptions::id; empty: a random one
  Language language = Language::kPython;
  std::optional<absl::Duration> timeout;    // at most policy.limits.wall
  std::string file_name;                    // shown in tracebacks; empty: "Cell In[n]"
  std::vector<std::string> arguments;       // sys.argv[1:], or bash's $1 …; at most 1,000, 128 KiB together
  std::vector<std::pair<std::string, std::string>> environment;  // variables set for this call only; at most 128, 64 KiB together
  // Called on the executing thread when the call has its turn: from now to its end Interrupt() reaches it, and no other call. Not for one
  // that is rejected.
  std::function<void()> on_started;
  // Called on the executing thread for each event as it happens; text arrives cut only at character borders.
  std::function<void(const Event&, const Record& so_far)> on_event;
};

// One file in a session's workspace.
struct FileEntry {
  std::string path;
  int64_t size_bytes = 0;
  absl::Time modified_at;
  bool read_only = false;           // an attached one
};

// How long the steps of a session's start took, one after the other.
struct StartTimings {
  absl::Duration cgroup;      // its group is made; nothing where there is none
  absl::Duration jail;        // namespaces and mounts
  absl::Duration workspace;   // looked at for the first time
  absl::Duration zygote;      // found; started, if it is the first session that needs it
  absl::Duration fork;        // the worker is there
  absl::Duration lock_down;   // it has locked itself
  absl::Duration interpreter; // it has reseeded its generators, taken its settings, and said that it is ready
  absl::Duration hand_out;    // or it was taken from the pool, and all of the others are nothing
};

// What has been done about the memory of a session that waits for its next call.
enum class MemoryLevel {
  kInUse,      // nothing: a call runs, or ran within the last two seconds
  kGivenBack,  // what code has freed was given back to the kernel, if it was much
};
absl::string_view MemoryLevelName(MemoryLevel level);  // "in_use", "given_back"

struct SessionMemory {
  int64_t bytes = 0;          // held now: as the control group counts, or as the watch last saw it; files in memory included
  int64_t swapped_bytes = 0;  // in swap; 0 where no control group counts it
  MemoryLevel level = MemoryLevel::kInUse;
};

// One live interpreter. Thread-safe: calls queue in order (at most policy.session.queue wait, beyond it kResourceExhausted).
class Session {
 public:
  virtual ~Session() = default;             // ends every process of the session

  virtual const std::string& id() const = 0;
  virtual const Policy& policy() const = 0;
  virtual const std::vector<Layer>& layers() const = 0;
  virtual bool alive() const = 0;           // false once the worker ended and was not restarted
  virtual bool lost() const { return false; }  // its jail has ended, so no call and no restart brings it back
  virtual StartTimings start_timings() const { return {}; }  // of its first interpreter
  virtual SessionMemory memory() const { return {}; }

  // Runs one cell (or bash script) to its end; blocks up to timeout + grace. The Status says whether the host did its work, the
  // record how the guest ended. kInvalidArgument: code over limits.code_bytes, a NUL in it, or Python that is not UTF-8. After a
  // kill the session is gone until Restart().
  virtual absl::StatusOr<Record> Execute(absl::string_view code, const ExecuteOptions& options = {}) = 0;
  // From any thread: interrupts the running call, as Ctrl-C would; kill after the grace, or at once when asked a second time during the
  // same call. No-op when idle.
  virtual void Interrupt() = 0;
  // New interpreter, same workspace.
  virtual absl::Status Restart() = 0;

  // Files come and go at any time, also while a call runs: it sees a new file whole or not at all.
  // Copies a host file (read from `source_fd`, from its current offset to its end) to `path` below /workspace, replacing it.
  virtual absl::Status PutFile(int source_fd, absl::string_view path) = 0;
  // Makes the folder, and those above it, that do not exist yet. kInvalidArgument: a file is in the way.
  virtual absl::Status MakeFolder(absl::string_view path) = 0;
  virtual absl::Status GetFile(absl::string_view path, int target_fd) = 0;
  virtual absl::StatusOr<std::vector<FileEntry>> ListFiles() = 0;  // at most 10,000, sorted by path
  // The interpreter's variables by name, type and size, as a JSON object (docs/http-api.md), without running code of theirs. Takes its turn
  // like a call and is none: no number, no artifact, no trace in the namespace. kFailedPrecondition: the interpreter has ended.
  virtual absl::StatusOr<std::string> DescribeVariables() = 0;
  // kNotFound; a folder goes with all that is in it. This, PutFile and MakeFolder: kFailedPrecondition where an attached file stands.
  virtual absl::Status RemoveFile(absl::string_view path) = 0;
  // What a file is, its columns and its first `rows` (0 – 100) rows, as a JSON object (docs/preview.md). Parsed by a fresh worker in the
  // session's jail, which takes its turn like a call; works without a living interpreter too. kNotFound, kInvalidArgument as PutFile.
  virtual absl::StatusOr<std::string> PreviewFile(absl::string_view path, int64_t rows) = 0;
};

struct PoolUsage {
  int64_t ready = 0;                // now
  int64_t wanted = 0;               // as the demand is
  int64_t memory_bytes = 0;         // that those hold by themselves
  int64_t handed_out = 0, built = 0;   // sessions since the start, of those that the pool could serve: it had one, or had none
  int64_t made = 0, discarded = 0;  // workers made ahead, and those of them that no session got: too old, too many, or ended
};

struct HostUsage {
  int64_t zygotes = 0;              // live template interpreters, one for each environment, root and preload list in use
  bool has_cgroups = false;         // else memory is watched
  bool alive = true;                // false: the process that makes jails was ended, and every session with it; another Host is needed
  PoolUsage pool;
};

// Thread-safe. One per process is enough.
class Host {
 public:
  // Starts the nest, and raises the soft limit on open files of this process to its hard one. kFailedPrecondition names what the
  // machine lacks and how to turn it on.
  static absl::StatusOr<std::unique_ptr<Host>> Create(HostOptions options);
  virtual ~Host() = default;                // ends the helper processes, or leaves them to the last session that is still there

  // kFailedPrecondition when a layer that the policy requires cannot be had; kResourceExhausted beyond sessions_max.
  virtual absl::StatusOr<std::unique_ptr<Session>> CreateSession(const Policy& policy, const SessionOptions& options = {}) = 0;
  virtual HostUsage usage() { return {}; }
};

// One row of `cellblock doctor`: a layer, whether this machine gives it, and how to turn it on where not.
struct LayerReport {
  std::string name;
  bool available = false;
  std::string detail;
  std::string advice;
};
std::vector<LayerReport> InspectMachine();

}  // namespace cellblock

#endif  // CELLBLOCK_HOST_H_
