// What the service does, without any protocol: sessions, calls, files, artifacts, each for a token. Every front calls these verbs and
// nothing below them. Supervisor. Thread-safe. Verbs block: a call until its end, what changes a session until its turn.
//
// Errors carry a stable code (service/errors.h). Of every verb that names a session: session_not_found (also another token's),
// session_expired, session_closed, session_died (each with when and why).
#ifndef CELLBLOCK_SERVICE_SERVICE_H_
#define CELLBLOCK_SERVICE_SERVICE_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "artifact/mime.h"
#include "cellblock/host.h"
#include "service/access.h"
#include "service/live_session.h"
#include "service/observer.h"
#include "service/policy_shelf.h"
#include "store/journal.h"

namespace cellblock::service {

inline constexpr size_t kMetadataBytesMax = 16 * 1024;
inline constexpr size_t kCellsMax = 1000;          // of one RunCells
inline constexpr size_t kPartialEventsBytesMax = size_t{8} << 20;  // of the events that a poll shows

struct ServiceOptions {
  int64_t sessions_max = 256;                      // live at once, of all tokens
  int64_t calls_max = 1024;                        // running and waiting at once, of all tokens: each holds a thread
  int64_t memory_spare_bytes = 0;                  // with less of the machine's memory available no session is made; 0: not looked at
  std::string incoming_folder;                     // uploads on their way; on the journal's file system
};

// Who asks for what.
struct Request {
  const Token* token = nullptr;                    // outlives the service
  std::string id;                                  // for logs
  // Both for create and execute: a request that carries a key runs once, however often it is sent.
  std::string idempotency_key;
  std::string content_sha256;                      // of what the key stands for
};

struct NewSession {
  std::string policy = "default";
  std::vector<std::pair<std::string, std::string>> environment;
  std::optional<uint64_t> seed;
  std::optional<absl::Duration> idle;              // at most the policy's
  std::optional<absl::Duration> life;              // at most the policy's
  std::string metadata_json = "{}";                // an object of the caller's
  std::vector<std::pair<std::string, std::string>> attach;  // a path in the workspace, and the shared file that is read there
};

struct SessionInfo {
  std::string id;
  std::string policy;
  std::string state;                               // idle, busy, no_interpreter (restart it), closed, expired, died
  absl::Time created_at;
  absl::Time last_used_at = absl::InfinitePast();  // this and the next two: of a live one
  absl::Time expires_at = absl::InfiniteFuture();
  absl::Time life_ends_at = absl::InfiniteFuture();
  absl::Duration idle;
  int64_t calls = 0;
  int64_t waiting = 0;
  std::vector<Layer> layers;
  SessionMemory memory;                            // of a live one
  std::string metadata_json = "{}";
  absl::Time ended_at = absl::InfiniteFuture();
  std::string reason;                              // why it ended
  int64_t number = 0;                              // its place in the list
};

struct NewCall {
  std::string code;
  Language language = Language::kPython;
  std::optional<absl::Duration> timeout;
  std::vector<std::pair<std::string, std::string>> environment;
  // As ExecuteOptions::on_event; not for a repeated request, whose call runs or ran elsewhere.
  std::function<void(const Event&, const Record& so_far)> on_event;
  // Told the execution's id before it waits for its turn.
  std::function<void(const std::string& execution_id)> on_accepted;
};

struct CallAnswer {
  std::string execution_id;
  std::shared_ptr<const std::string> record_json;  // never null; it may have many megabytes, and is there once
  std::optional<Record> record;                    // none for a repeated request; without output, events and results
};

struct CallInfo {
  std::string execution_id;
  std::string session_id;
  std::string state;                               // waiting, running, done, lost
  absl::Time accepted_at;
  std::shared_ptr<const std::string> record_json;  // null until it is done
  std::string events_json;                         // else, of a detached one: a list, so far; the first 8 MiB
  bool events_truncated = false;                   // there are more than that; the record will have them
};

struct FileInfo {
  FileEntry entry;
  std::string sha256;                              // empty in lists
  std::string mime;
};

// How much a file may have that is to be uploaded, and what is answered to more.
struct UploadLimit {
  int64_t bytes_max = std::numeric_limits<int64_t>::max();
  absl::Status beyond;
};

// What there is at one moment, of all tokens.
struct Load {
  int64_t idle = 0, busy = 0, no_interpreter = 0;  // sessions by state
  int64_t starting_or_ending = 0;                  // of which no one can say anything
  int64_t calls_running = 0, calls_waiting = 0;
  int64_t memory_bytes = 0;                        // of the sessions, together
};

class Service {
 public:
  using HostFactory = std::function<absl::StatusOr<std::shared_ptr<Host>>(const std::string& environment)>;  // by a policy's python.environment; thread-safe

  // All outlive the service. `background` runs what nobody waits for, on a thread that may block.
  Service(ServiceOptions options, HostFactory hosts, PolicyShelf& policies, store::Journal& journal, std::vector<Observer*> observers,
          std::function<void(std::function<void()>)> background);
  ~Service();                                      // as Stop()

  // ---- sessions ----
  absl::StatusOr<SessionInfo> CreateSession(const Request& request, const NewSession& wanted);
  absl::StatusOr<SessionInfo> GetSession(const Request& request, absl::string_view id);
  absl::StatusOr<std::vector<SessionInfo>> ListSessions(const Request& request, int64_t before, int64_t count);  // newest first, ended ones too
  absl::StatusOr<SessionInfo> RenewSession(const Request& request, absl::string_view id, std::optional<absl::Duration> idle);
  absl::StatusOr<SessionInfo> RestartSession(const Request& request, absl::string_view id);
  absl::Status InterruptSession(const Request& request, absl::string_view id);  // what runs; those who wait stay
  absl::Status CloseSession(const Request& request, absl::string_view id);      // OK for one that has ended

  // ---- calls ----
  absl::StatusOr<CallAnswer> Execute(const Request& request, absl::string_view session_id, const NewCall& wanted);
  absl::StatusOr<std::string> StartExecution(const Request& request, absl::string_view session_id, NewCall wanted);  // its id
  absl::StatusOr<CallInfo> GetExecution(const Request& request, absl::string_view id);
  // As Execute, on a thread of its own: what is refused before it has a place in the queue is refused here, and `on_end` not called.
  absl::Status StartWatched(const Request& request, absl::string_view session_id, NewCall wanted, std::function<void(const absl::StatusOr<CallAnswer>&)> on_end);
  // Interrupts it, or takes it out of the queue. By its id alone: for whoever was told it.
  void CancelExecution(const std::string& id);
  // The same when the client that waited for it is gone, unless another request with its key waits too.
  void ClientIsGone(const std::string& id);

  // Cells one after the other in a session of their own, which is closed then; takes no idempotency key. Stops at the first that does not end ok unless
  // `keep_going`. `files`: path and an open descriptor.
  struct Run {
    NewSession session;
    std::vector<NewCall> cells;
    std::vector<std::pair<std::string, int>> files;
    bool keep_going = false;
  };
  absl::StatusOr<std::vector<CallAnswer>> RunCells(const Request& request, const Run& run);

  // ---- files ----
  absl::StatusOr<FileInfo> PutFile(const Request& request, absl::string_view session_id, absl::string_view path, int source_fd, absl::string_view sha256);
  // Before the bytes of a file are taken in: errors as PutFile's. `bytes`: what it will have, where that is known.
  absl::StatusOr<UploadLimit> AdmitUpload(const Request& request, absl::string_view session_id, std::optional<int64_t> bytes);
  // The same for a file of RunCells: by the policy that allows most, as it is not known yet which one it will be.
  UploadLimit LimitOfRun(const Request& request) const;
  absl::StatusOr<std::vector<FileInfo>> ListFiles(const Request& request, absl::string_view session_id);
  // `target_fd`: an empty file of the caller's.
  absl::StatusOr<FileInfo> GetFile(const Request& request, absl::string_view session_id, absl::string_view path, int target_fd);
  absl::Status RemoveFile(const Request& request, absl::string_view session_id, absl::string_view path);
  // JSON of the session's own making: an object, and otherwise as little to be trusted as any output of it.
  absl::StatusOr<std::string> DescribeVariables(const Request& request, absl::string_view session_id);

  // What a file is, its columns and first rows: JSON, as little to be trusted. `rows` as Session::PreviewFile.
  absl::StatusOr<std::string> PreviewFile(const Request& request, absl::string_view session_id, absl::string_view path, int64_t rows);

  // ---- files of a token that many sessions read without a copy; names as a file's in a workspace ----
  absl::StatusOr<store::SharedFile> PutSharedFile(const Request& request, absl::string_view name, int source_fd, absl::string_view sha256);
  absl::StatusOr<UploadLimit> AdmitSharedUpload(const Request& request, absl::string_view name, std::optional<int64_t> bytes);  // as AdmitUpload
  absl::StatusOr<std::vector<store::SharedFile>> ListSharedFiles(const Request& request);
  absl::Status RemoveSharedFile(const Request& request, absl::string_view name);
  // The content of one that was attached at this path; none: nothing was.
  struct OpenedShared {
    store::SharedFile file;
    UniqueFd content;
  };
  absl::StatusOr<std::optional<OpenedShared>> OpenAttached(const Request& request, absl::string_view session_id, absl::string_view path);

  // ---- what calls left; of ended sessions too ----
  absl::StatusOr<std::vector<store::ArtifactEntry>> ListArtifacts(const Request& request, absl::string_view session_id, int64_t after, int64_t count);
  struct OpenedArtifact {
    store::ArtifactEntry entry;
    UniqueFd content;
  };
  absl::StatusOr<OpenedArtifact> OpenArtifact(const Request& request, absl::string_view id);
  absl::StatusOr<std::string> PolicyNameOf(const Request& request, absl::string_view session_id);
  // `visit` gets every call of a session in order.
  absl::Status ForEachExecution(const Request& request, absl::string_view session_id, absl::FunctionRef<void(const store::ExecutionEntry&)> visit);

  // ---- the service itself ----
  std::shared_ptr<const PolicyShelf::Policies> policies() const { return policies_.all(); }
  // Ends what has expired. Call about once a second.
  void Sweep(absl::Time now);
  // Nothing new from now on; waits up to `limit` for the calls, interrupts them then, ends every session. Once.
  void Stop(absl::Duration limit);
  bool stopping() const { return stopping_; }
  Load Look();
  const ServiceOptions& options() const { return options_; }

 private:
  struct Running;                                  // an accepted call until its record is kept
  using LivePtr = std::shared_ptr<LiveSession>;
  using RunningPtr = std::shared_ptr<Running>;

  absl::StatusOr<LivePtr> Find(const Request& request, absl::string_view id);
  absl::Status WhyNotLive(const Request& request, absl::string_view id);
  absl::StatusOr<store::SessionEntry> FindEntry(const Request& request, absl::string_view id);
  SessionInfo Describe(LiveSession& live) const;
  SessionInfo Describe(const store::SessionEntry& entry) const;
  absl::StatusOr<SessionInfo> MakeSession(const Request& request, const NewSession& wanted, const std::string& id);
  using AttachedShared = std::vector<std::pair<std::string, store::SharedFile>>;  // by path in the workspace; pinned
  absl::Status PinAttached(const Request& request, const NewSession& wanted, AttachedShared* attached);
  void Unpin(const AttachedShared& attached);
  absl::Status CheckPut(absl::string_view name) const;  // of a shared file
  std::string MimeOf(int fd, absl::string_view name);  // by the content's head
  absl::StatusOr<std::string> Claim(const Request& request, absl::string_view target);
  absl::Status CountIn(const Token& token);
  void CountOut(const std::string& owner);
  void End(const LivePtr& live, EndCause cause, const std::string& reason);
  void FinishEnd(const LivePtr& live, EndCause cause, const std::string& reason);
  std::vector<LivePtr> AllLiveLocked() const;

  struct Accepted {
    RunningPtr running;
    bool repeated = false;                         // somebody else runs it
    std::optional<CallAnswer> answer;              // it has run
  };
  absl::StatusOr<Accepted> Accept(const Request& request, absl::string_view session_id, const NewCall& wanted, bool detached);
  absl::StatusOr<CallAnswer> Answer(const Request& request, Accepted& accepted, const NewCall& wanted);
  RunningPtr FindRunning(absl::string_view id);    // null: it does not run or wait
  absl::StatusOr<Accepted> AcceptOrWait(const Request& request, absl::string_view session_id, const NewCall& wanted);
  absl::StatusOr<RunningPtr> Enter(const RunningPtr& running);
  absl::StatusOr<std::optional<CallAnswer>> AnswerOfEndedSession(const Request& request);
  absl::StatusOr<std::optional<CallAnswer>> AnswerOfEntered(const Running& running);
  absl::StatusOr<CallAnswer> RunToEnd(const RunningPtr& running, const NewCall& wanted);
  absl::StatusOr<CallAnswer> RunOnTurn(Running& running, const NewCall& wanted);
  // Whoever waits for another's call or for a turn holds a thread: counted as a call of its token. LeaveWait() then.
  absl::Status EnterWait(const Token& token);
  void LeaveWait(const Token& token);
  absl::Status WhyNoMoreCalls(const Token& token) const;  // under mutex_; OK: one more may come
  bool Begin(Running& running);                    // false: it was cancelled
  void Started(Running& running);                  // from now on interrupts reach it
  ExecuteOptions OptionsFor(Running& running, const NewCall& wanted);
  void Keep(Running& running, Record& record, CallAnswer& answer);
  void Forget(Running& running, const absl::StatusOr<CallAnswer>& answer);
  absl::StatusOr<CallAnswer> WaitFor(Running& running);
  absl::StatusOr<CallAnswer> AnswerFromJournal(absl::string_view execution_id);
  template <typename T>
  absl::StatusOr<T> Noted(absl::string_view verb, absl::string_view session_id, const Request& request, absl::StatusOr<T> result);
  absl::Status NotedStatus(absl::string_view verb, absl::string_view session_id, const Request& request, absl::Status result);

  const ServiceOptions options_;
  const HostFactory hosts_;
  std::atomic<int64_t> memory_available_ = std::numeric_limits<int64_t>::max();  // as Sweep last saw it
  PolicyShelf& policies_;
  store::Journal& journal_;
  std::mutex large_records_;                       // held while one is made and kept
  const std::vector<Observer*> observers_;
  const std::function<void(std::function<void()>)> background_;
  artifact::MimeSniffer sniffer_;
  std::atomic<bool> stopping_ = false;
  std::mutex mutex_;                               // of what follows
  std::condition_variable changed_;                // a call or a session ended
  absl::flat_hash_map<std::string, LivePtr> sessions_;  // null: being made
  absl::flat_hash_map<std::string, AttachedShared> attached_of_;  // by session
  int64_t sessions_counted_ = 0;                   // with those being made or ended
  std::map<std::string, int64_t> sessions_of_;     // by owner
  absl::flat_hash_map<std::string, RunningPtr> running_;
  std::map<std::string, int64_t> calls_of_;        // by owner, with the waits
  int64_t waits_ = 0;
  absl::Time pruned_at_ = absl::InfinitePast();
};

}  // namespace cellblock::service

#endif  // CELLBLOCK_SERVICE_SERVICE_H_
