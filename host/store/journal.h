// What outlives the supervisor: sessions, calls with their code and records, and what calls made. One folder with a SQLite database and
// the contents by hash. What a caller was told stands here first, so that it is there after the supervisor's death; sessions that lived
// then are found dead, and say so. Supervisor; texts and contents are guests'. Thread-safe.
#ifndef CELLBLOCK_STORE_JOURNAL_H_
#define CELLBLOCK_STORE_JOURNAL_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/unique_fd.h"
#include "store/blobs.h"
#include "store/database.h"

namespace cellblock::store {

struct JournalOptions {
  std::string folder;                                // made when missing (mode 0700)
  int64_t content_bytes_max = int64_t{10} << 30;     // of all contents together; those of the oldest ended sessions go first
  int64_t database_bytes_max = int64_t{4} << 30;     // the oldest ended sessions go first, with all that is theirs
  absl::Duration kept_for = absl::Hours(7 * 24);     // ended sessions, with all that is theirs
  absl::Duration requests_kept_for = absl::Hours(24);  // idempotency keys
};

enum class LifeState { kLive, kClosed, kExpired, kDied };
absl::string_view LifeStateName(LifeState state);    // "live", "closed", "expired", "died"

struct SessionEntry {
  std::string id;
  std::string owner;                                 // the name of the token that it belongs to
  std::string policy;                                // its name
  std::string metadata_json = "{}";
  absl::Time created_at;
  LifeState state = LifeState::kLive;
  std::string reason;                                // why it ended, one sentence
  absl::Time ended_at = absl::InfiniteFuture();
  int64_t number = 0;                                // ascending; given by the journal
};

enum class CallState { kRunning, kDone, kLost };     // running: accepted, perhaps still waiting for its turn
absl::string_view CallStateName(CallState state);
inline constexpr absl::string_view kStarted = "started";  // the status of an execution that had its turn and has not ended

struct ExecutionEntry {
  std::string id;
  std::string session_id;
  std::string language;
  std::string code;
  absl::Time accepted_at;
  CallState state = CallState::kRunning;
  int64_t call = 0;                                  // 1, 2, … once it has run
  std::string status;                                // of its record
  std::string record_json;
  absl::Time ended_at = absl::InfiniteFuture();
  int64_t number = 0;
};

struct ArtifactEntry {
  std::string id;
  std::string session_id;
  std::string execution_id;
  std::string path;                                  // in the workspace
  int64_t size_bytes = 0;
  std::string mime;
  std::string sha256;
  bool created = true;                               // else modified
  int64_t call = 0;
  std::optional<std::pair<int64_t, int64_t>> image_size;
  bool kept = true;                                  // the content; without it there was no room
  std::string stored_at;                             // FinishExecution alone: where the content lies
  int64_t number = 0;
};

// A file that its owner put there once, for many sessions to read. Its content stays until it is removed, and is kept for this owner alone:
// no inode is seen by sessions of two.
struct SharedFile {
  std::string owner;
  std::string name;                                  // unique for the owner
  std::string sha256;
  int64_t size_bytes = 0;
  std::string mime;
  absl::Time created_at;
  std::string content = {};                          // its blob's name; the journal's own
};

inline constexpr int64_t kPageMax = 1000;            // entries of one listing
inline constexpr int64_t kSharedFilesMax = 1000;     // of one owner

class Journal {
 public:
  // Only one process may have the folder open: kFailedPrecondition for another, and for a journal of a newer version. kDataLoss: damaged;
  // the message says what to do.
  static absl::StatusOr<std::unique_ptr<Journal>> Open(const JournalOptions& options, absl::Time now);
  ~Journal();  // notes that the end was orderly; sessions that are live stay so until the next Open

  // What Open found left by a supervisor that did not end its sessions.
  struct Recovered {
    int64_t sessions_died = 0;
    int64_t executions_lost = 0;
    int64_t contents_removed = 0;                    // that no call names, or that a crash has damaged
  };
  const Recovered& recovered() const { return recovered_; }

  absl::Status AddSession(const SessionEntry& session);                     // kAlreadyExists
  // The first end stands; calls that still run are lost. kNotFound. Where it could not be written (a full disk) it stands all the same for
  // as long as this object lives, and is written by RetryEnds().
  absl::Status EndSession(absl::string_view id, LifeState state, absl::string_view reason, absl::Time now);
  void RetryEnds();                                                         // call now and then
  absl::StatusOr<SessionEntry> GetSession(absl::string_view id);            // kNotFound, as in the next
  // Of one owner, newest first, with numbers below `before` (0: from the newest); at most `count`, at most kPageMax.
  absl::StatusOr<std::vector<SessionEntry>> ListSessions(absl::string_view owner, int64_t before, int64_t count);

  absl::Status AddExecution(const ExecutionEntry& execution);               // kNotFound: no such session; kAlreadyExists
  absl::Status StartExecution(absl::string_view id);                        // of one that was added: its status is kStarted until its end
  // All or nothing: the call's end and what it made, whether or not AddExecution came before. Contents for which no room can be made are
  // not kept: how many is returned.
  absl::StatusOr<int64_t> FinishExecution(const ExecutionEntry& execution, const std::vector<ArtifactEntry>& artifacts);
  absl::StatusOr<ExecutionEntry> GetExecution(absl::string_view id);
  // Of one session in order, with numbers above `after`; code and records included.
  absl::StatusOr<std::vector<ExecutionEntry>> ListExecutions(absl::string_view session_id, int64_t after, int64_t count);

  absl::StatusOr<ArtifactEntry> GetArtifact(absl::string_view id);
  absl::StatusOr<std::vector<ArtifactEntry>> ListArtifacts(absl::string_view session_id, int64_t after, int64_t count);
  absl::StatusOr<UniqueFd> OpenArtifact(const ArtifactEntry& artifact);     // kNotFound: no longer kept; kDataLoss

  // In place of one of that name. `content_fd` is of that content, and nobody changes it any more. kResourceExhausted: too many, more than
  // `owner_bytes_max` with what the owner has (each content once, pinned ones too), or no room.
  absl::Status PutSharedFile(SharedFile file, int content_fd, int64_t owner_bytes_max);
  // What a content may have that is put under this name, before it has come: as much as there is room for, or as one that the owner has
  // and that it may equal. `beyond`: what is said of more. kResourceExhausted: too many files.
  struct SharedRoom {
    int64_t bytes_max = 0;
    absl::Status beyond;
  };
  absl::StatusOr<SharedRoom> RoomForSharedFile(absl::string_view owner, absl::string_view name, int64_t owner_bytes_max);
  int64_t shared_bytes_max() const { return options_.content_bytes_max / 2; }  // of all owners; the other half stays for what calls make
  absl::StatusOr<std::vector<SharedFile>> ListSharedFiles(absl::string_view owner);           // by name
  absl::Status RemoveSharedFile(absl::string_view owner, absl::string_view name);             // sessions that have it keep it
  std::string ContentPath(const SharedFile& file) const;
  absl::StatusOr<UniqueFd> OpenShared(const SharedFile& file);                                // of one that is pinned
  // A pinned content stays, and counts, whatever becomes of its name: as often as it is given back.
  // kNotFound, as of RemoveSharedFile; kDataLoss: its content is damaged or gone.
  absl::StatusOr<SharedFile> PinSharedFile(absl::string_view owner, absl::string_view name);
  void UnpinSharedFile(const SharedFile& file);

  // A request that carries an idempotency key. The first one claims it for `target` (the id of what it makes); later ones are told that
  // one's id. kFailedPrecondition: the key was used for another request.
  absl::StatusOr<std::string> ClaimRequest(absl::string_view owner, absl::string_view key, absl::string_view request_sha256, absl::string_view target, absl::Time now);
  // It came to nothing: the next one may try. A key that stands for another target by now stays; so does, unless `even_if_begun`, one whose
  // execution stands in the journal.
  absl::Status ForgetRequest(absl::string_view owner, absl::string_view key, absl::string_view target, bool even_if_begun);

  // Removes what is beyond kept_for and requests_kept_for. Call now and then.
  absl::Status Prune(absl::Time now);
  // Writes the database's log back while others go on, so that no call waits for the disk. Call where has_long_log(), on any thread.
  absl::Status Checkpoint();
  bool has_long_log() const { return database_.has_long_log(); }
  int64_t content_bytes();

 private:
  Journal(const JournalOptions& options, UniqueFd lock, Database database, Database keeper, Blobs blobs)
      : options_(options), lock_(std::move(lock)), database_(std::move(database)), blobs_(std::move(blobs)), keeper_(std::move(keeper)) {}
  absl::Status Recover(absl::Time now);
  absl::Status RemoveStrayContents(bool verify);
  absl::Status KeepSharedApart();                    // what an older version kept by its hash alone
  absl::Status KeepApart(const SharedFile& file);
  // In a transaction; where the database is full, again without the oldest ended session.
  absl::Status Write(absl::FunctionRef<absl::Status()> body);
  absl::Status CheckSession(absl::string_view id);   // kNotFound
  struct End {
    LifeState state;
    std::string reason;
    absl::Time at;
  };
  absl::Status WriteEndOfSession(const std::string& id, const End& end);
  SessionEntry WithUnwrittenEnd(SessionEntry entry) const;
  absl::Status WriteEnd(const ExecutionEntry& execution);
  absl::Status WriteArtifact(const ExecutionEntry& execution, const ArtifactEntry& artifact, bool kept);
  absl::StatusOr<bool> KeepContent(const ArtifactEntry& artifact);
  absl::StatusOr<bool> MakeRoom(int64_t size_bytes);
  // Whether a row, a session or a row that is just being written names this blob; `sha256`: what its content must have.
  absl::StatusOr<bool> IsKept(absl::string_view name, std::string* sha256 = nullptr);
  struct SharedUse {
    int64_t owner_bytes = 0, all_bytes = 0;
  };
  absl::StatusOr<SharedUse> SharedUseBeside(const SharedFile& file);
  absl::StatusOr<SharedRoom> RoomFor(const SharedFile& file, int64_t owner_bytes_max);
  absl::StatusOr<bool> RemoveOldestEnded(absl::Time ended_before);          // false: there is none
  absl::StatusOr<bool> RemoveContentsOfOldestEnded();
  absl::Status RemoveContents(const std::vector<ArtifactEntry>& artifacts);  // each as the next
  absl::Status RemoveContent(absl::string_view name, int64_t size_bytes);     // unless it is kept

  const JournalOptions options_;
  UniqueFd lock_;
  std::mutex mutex_;                                 // of what follows
  Database database_;
  Blobs blobs_;
  int64_t content_bytes_ = 0;
  struct Pinned {
    std::string owner;
    int64_t size_bytes = 0, sessions = 0;
  };
  std::map<std::string, Pinned> pinned_;             // blobs that sessions have
  std::set<std::string> pending_;                    // blobs that rows which are just being written will name
  std::map<std::string, End> unwritten_ends_;        // of sessions; as many as were live at most
  Recovered recovered_;
  std::mutex keeper_mutex_;                          // of the next
  Database keeper_;                                  // the same file once more, for Checkpoint()
};

}  // namespace cellblock::store

#endif  // CELLBLOCK_STORE_JOURNAL_H_
