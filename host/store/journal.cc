// See journal.h.
#include "store/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <tuple>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "store/schema.h"
#include "sys/files.h"

namespace cellblock::store {
namespace {

constexpr const char* kSupervisorEnded = "the supervisor ended while the session lived";

absl::Status Migrate(Database& database) {
  int64_t version = 0;
  CELLBLOCK_RETURN_IF_ERROR(database.Run("PRAGMA user_version", {}, [&](const Row& row) { version = row.Int(0); }));
  const auto known = static_cast<int64_t>(kMigrations.size());
  if (version > known) {
    return absl::FailedPreconditionError(absl::StrCat("the journal has version ", version, ", this program knows ", known, ": it was written by a newer Cellblock; use that, or another folder"));
  }
  for (; version < known; ++version) {
    auto step = [&]() -> absl::Status {
      CELLBLOCK_RETURN_IF_ERROR(database.RunScript(kMigrations[static_cast<size_t>(version)]));
      return database.RunScript(absl::StrCat("PRAGMA user_version = ", version + 1).c_str());
    };
    CELLBLOCK_RETURN_IF_ERROR(database.InTransaction(step));
  }
  return absl::OkStatus();
}

// Held for the life of the process; the kernel lets go of it at the end, however that comes.
absl::StatusOr<UniqueFd> Lock(const std::string& folder) {
  CELLBLOCK_ASSIGN_OR_RETURN(UniqueFd lock, sys::Open(folder + "/lock", O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
  if (flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno != EWOULDBLOCK) return sys::ErrnoStatus(absl::StrCat("lock ", folder));
  return absl::FailedPreconditionError(absl::StrCat("another supervisor uses the journal in ", folder, "; stop it, or name another folder"));
}

// Columns in the order of schema.h.
SessionEntry SessionOf(const Row& row) {
  SessionEntry entry;
  entry.number = row.Int(0);
  entry.id = row.Text(1);
  entry.owner = row.Text(2);
  entry.policy = row.Text(3);
  entry.metadata_json = row.Text(4);
  entry.created_at = row.Time(5);
  entry.state = static_cast<LifeState>(row.Int(6));
  entry.reason = row.Text(7);
  entry.ended_at = row.Time(8);
  return entry;
}

ExecutionEntry ExecutionOf(const Row& row) {
  ExecutionEntry entry;
  entry.number = row.Int(0);
  entry.id = row.Text(1);
  entry.session_id = row.Text(2);
  entry.language = row.Text(3);
  entry.code = row.Text(4);
  entry.accepted_at = row.Time(5);
  entry.state = static_cast<CallState>(row.Int(6));
  entry.call = row.Int(7);
  entry.status = row.Text(8);
  entry.record_json = row.Text(9);
  entry.ended_at = row.Time(10);
  return entry;
}

ArtifactEntry ArtifactOf(const Row& row) {
  ArtifactEntry entry;
  entry.number = row.Int(0);
  entry.id = row.Text(1);
  entry.session_id = row.Text(2);
  entry.execution_id = row.Text(3);
  entry.path = row.Text(4);
  entry.size_bytes = row.Int(5);
  entry.mime = row.Text(6);
  entry.sha256 = row.Text(7);
  entry.created = row.Int(8) != 0;
  entry.call = row.Int(9);
  if (!row.IsNull(10)) entry.image_size.emplace(row.Int(10), row.Int(11));
  entry.kept = row.Int(12) != 0;
  return entry;
}

// The rows of a statement as entries.
template <typename Entry>
absl::StatusOr<std::vector<Entry>> List(Database& database, const char* sql, std::initializer_list<Value> values, Entry (*entry_of)(const Row&)) {
  std::vector<Entry> entries;
  CELLBLOCK_RETURN_IF_ERROR(database.Run(sql, values, [&](const Row& row) { entries.push_back(entry_of(row)); }));
  return entries;
}

absl::Status NotThere(absl::string_view kind) { return absl::NotFoundError(absl::StrCat("there is no ", kind, " with this id; it may have been removed after its time")); }

template <typename Entry>
absl::StatusOr<Entry> Get(Database& database, const char* sql, absl::string_view id, absl::string_view kind, Entry (*entry_of)(const Row&)) {
  CELLBLOCK_ASSIGN_OR_RETURN(std::vector<Entry> found, List(database, sql, {id}, entry_of));
  if (found.empty()) return NotThere(kind);
  return std::move(found.front());
}

constexpr const char* kGetSession = "SELECT * FROM sessions WHERE id = ?1";

// Then what is missing is not ours to make room for by forgetting.
bool IsDiskFull(int file) {
  constexpr uint64_t kReserveBytes = uint64_t{16} << 20;
  struct statvfs info;
  return fstatvfs(file, &info) == 0 && uint64_t{info.f_bavail} * info.f_frsize < kReserveBytes;
}

int64_t PageOf(int64_t count) { return std::clamp<int64_t>(count, 0, kPageMax); }

}  // namespace

absl::string_view LifeStateName(LifeState state) {
  switch (state) {
    case LifeState::kLive: return "live";
    case LifeState::kClosed: return "closed";
    case LifeState::kExpired: return "expired";
    case LifeState::kDied: return "died";
  }
  return "died";
}

absl::string_view CallStateName(CallState state) {
  switch (state) {
    case CallState::kRunning: return "running";
    case CallState::kDone: return "done";
    case CallState::kLost: return "lost";
  }
  return "lost";
}

absl::StatusOr<std::unique_ptr<Journal>> Journal::Open(const JournalOptions& options, absl::Time now) {
  if (mkdir(options.folder.c_str(), 0700) != 0 && errno != EEXIST) return sys::ErrnoStatus(absl::StrCat("make the folder ", options.folder));
  CELLBLOCK_ASSIGN_OR_RETURN(UniqueFd lock, Lock(options.folder));
  const std::string path = options.folder + "/journal.sqlite";
  absl::StatusOr<Database> database = Database::Open(path, options.database_bytes_max);
  if (absl::IsDataLoss(database.status())) {
    return absl::DataLossError(absl::StrCat(std::string(database.status().message()), "; move ", options.folder, "/journal.sqlite away to start anew, or bring back a copy"));
  }
  CELLBLOCK_RETURN_IF_ERROR(database.status());
  CELLBLOCK_RETURN_IF_ERROR(Migrate(*database));
  CELLBLOCK_ASSIGN_OR_RETURN(Blobs blobs, Blobs::Open(options.folder + "/blobs"));
  CELLBLOCK_ASSIGN_OR_RETURN(Database keeper, Database::Open(path, options.database_bytes_max));
  std::unique_ptr<Journal> journal(new Journal(options, std::move(lock), *std::move(database), std::move(keeper), std::move(blobs)));
  CELLBLOCK_RETURN_IF_ERROR(journal->Recover(now));
  CELLBLOCK_RETURN_IF_ERROR(journal->Prune(now));
  return journal;
}

Journal::~Journal() { (void)database_.Run("INSERT INTO orderly VALUES (1)"); }

absl::Status Journal::Recover(absl::Time now) {
  bool orderly = false;
  auto note_the_end = [&]() -> absl::Status {
    CELLBLOCK_RETURN_IF_ERROR(database_.Run("DELETE FROM orderly"));
    orderly = database_.changes() > 0;
    CELLBLOCK_RETURN_IF_ERROR(database_.Run("UPDATE executions SET state = 2, ended = ?1 WHERE state = 0", {TimeValue(now)}));
    recovered_.executions_lost = database_.changes();
    CELLBLOCK_RETURN_IF_ERROR(database_.Run("UPDATE sessions SET state = 3, reason = ?1, ended = ?2 WHERE state = 0", {absl::string_view(kSupervisorEnded), TimeValue(now)}));
    recovered_.sessions_died = database_.changes();
    return absl::OkStatus();
  };
  CELLBLOCK_RETURN_IF_ERROR(database_.InTransaction(note_the_end));
  CELLBLOCK_RETURN_IF_ERROR(KeepSharedApart());
  return RemoveStrayContents(/*verify=*/!orderly);
}

// A content is placed before the row that names it, so a crash between the two leaves one that nobody names. After an end that was not
// orderly each is read, too: a power cut may have kept its name and not its bytes.
absl::Status Journal::RemoveStrayContents(bool verify) {
  absl::Status status;
  CELLBLOCK_RETURN_IF_ERROR(blobs_.ForEach([&](const std::string& name, int64_t size_bytes) {
    std::string sha256;
    absl::StatusOr<bool> kept = IsKept(name, &sha256);
    status.Update(kept.status());
    if (kept.ok() && *kept && (!verify || blobs_.IsWhole(name, sha256))) {
      content_bytes_ += size_bytes;
    } else if (kept.ok()) {
      status.Update(blobs_.Remove(name));
      ++recovered_.contents_removed;
    }
  }));
  return status;
}

absl::Status Journal::Write(absl::FunctionRef<absl::Status()> body) {
  while (true) {
    absl::Status status = database_.InTransaction(body);
    if (!absl::IsResourceExhausted(status) || IsDiskFull(lock_.get())) return status;
    absl::StatusOr<bool> removed = RemoveOldestEnded(absl::InfiniteFuture());
    if (!removed.ok() || !*removed) return status;
  }
}

// --- sessions ---------------------------------------------------------------------------------------------------------------------

absl::Status Journal::AddSession(const SessionEntry& session) {
  std::lock_guard<std::mutex> lock(mutex_);
  return Write([&] {
    return database_.Run("INSERT INTO sessions (id, owner, policy, metadata, created, state, reason) VALUES (?1, ?2, ?3, ?4, ?5, 0, '')",
                         {session.id, session.owner, session.policy, session.metadata_json, TimeValue(session.created_at)});
  });
}

absl::Status Journal::CheckSession(absl::string_view id) {
  bool found = false;
  CELLBLOCK_RETURN_IF_ERROR(database_.Run("SELECT 1 FROM sessions WHERE id = ?1", {id}, [&](const Row&) { found = true; }));
  return found ? absl::OkStatus() : NotThere("session");
}

absl::Status Journal::WriteEndOfSession(const std::string& id, const End& end) {
  return Write([&]() -> absl::Status {
    CELLBLOCK_RETURN_IF_ERROR(database_.Run("UPDATE executions SET state = 2, ended = ?2 WHERE session = ?1 AND state = 0", {id, TimeValue(end.at)}));
    return database_.Run("UPDATE sessions SET state = ?2, reason = ?3, ended = ?4 WHERE id = ?1 AND state = 0", {id, static_cast<int64_t>(end.state), end.reason, TimeValue(end.at)});
  });
}

absl::Status Journal::EndSession(absl::string_view id, LifeState state, absl::string_view reason, absl::Time now) {
  std::lock_guard<std::mutex> lock(mutex_);
  CELLBLOCK_RETURN_IF_ERROR(CheckSession(id));
  const std::string name(id);
  End end = {state, std::string(reason), now};
  const absl::Status written = WriteEndOfSession(name, end);
  if (!written.ok()) unwritten_ends_.try_emplace(name, std::move(end));
  return written;
}

void Journal::RetryEnds() {
  std::lock_guard<std::mutex> lock(mutex_);
  while (!unwritten_ends_.empty() && WriteEndOfSession(unwritten_ends_.begin()->first, unwritten_ends_.begin()->second).ok()) unwritten_ends_.erase(unwritten_ends_.begin());
}

SessionEntry Journal::WithUnwrittenEnd(SessionEntry entry) const {
  const auto found = unwritten_ends_.find(entry.id);
  if (found == unwritten_ends_.end() || entry.state != LifeState::kLive) return entry;
  entry.state = found->second.state;
  entry.reason = found->second.reason;
  entry.ended_at = found->second.at;
  return entry;
}

absl::StatusOr<SessionEntry> Journal::GetSession(absl::string_view id) {
  std::lock_guard<std::mutex> lock(mutex_);
  CELLBLOCK_ASSIGN_OR_RETURN(SessionEntry entry, Get(database_, kGetSession, id, "session", SessionOf));
  return WithUnwrittenEnd(std::move(entry));
}

absl::StatusOr<std::vector<SessionEntry>> Journal::ListSessions(absl::string_view owner, int64_t before, int64_t count) {
  std::lock_guard<std::mutex> lock(mutex_);
  CELLBLOCK_ASSIGN_OR_RETURN(std::vector<SessionEntry> entries,
                             List(database_, "SELECT * FROM sessions WHERE owner = ?1 AND (?2 = 0 OR number < ?2) ORDER BY number DESC LIMIT ?3", {owner, before, PageOf(count)}, SessionOf));
  for (SessionEntry& entry : entries) entry = WithUnwrittenEnd(std::move(entry));
  return entries;
}

// --- calls ------------------------------------------------------------------------------------------------------------------------

absl::Status Journal::AddExecution(const ExecutionEntry& execution) {
  std::lock_guard<std::mutex> lock(mutex_);
  CELLBLOCK_RETURN_IF_ERROR(CheckSession(execution.session_id));
  return Write([&] {
    return database_.Run("INSERT INTO executions (id, session, language, code, accepted, state, call, status, record) VALUES (?1, ?2, ?3, ?4, ?5, 0, 0, '', '')",
                         {execution.id, execution.session_id, execution.language, execution.code, TimeValue(execution.accepted_at)});
  });
}

absl::Status Journal::StartExecution(absl::string_view id) {
  std::lock_guard<std::mutex> lock(mutex_);
  return database_.Run("UPDATE executions SET status = ?2 WHERE id = ?1 AND state = 0", {id, kStarted});
}

absl::Status Journal::WriteEnd(const ExecutionEntry& execution) {
  return database_.Run(
      "INSERT INTO executions (id, session, language, code, accepted, state, call, status, record, ended) VALUES (?1, ?2, ?3, ?4, ?5, 1, ?6, ?7, ?8, ?9) "
      "ON CONFLICT (id) DO UPDATE SET state = 1, call = ?6, status = ?7, record = ?8, ended = ?9",
      {execution.id, execution.session_id, execution.language, execution.code, TimeValue(execution.accepted_at), execution.call, execution.status, execution.record_json,
       TimeValue(execution.ended_at)});
}

absl::Status Journal::WriteArtifact(const ExecutionEntry& execution, const ArtifactEntry& artifact, bool kept) {
  Value width = nullptr, height = nullptr;
  if (artifact.image_size.has_value()) std::tie(width, height) = *artifact.image_size;
  return database_.Run(
      "INSERT INTO artifacts (id, session, execution, path, bytes, mime, sha256, created, call, width, height, kept) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
      {artifact.id, execution.session_id, execution.id, artifact.path, artifact.size_bytes, artifact.mime, artifact.sha256, int64_t{artifact.created}, execution.call, width, height,
       int64_t{kept}});
}

absl::StatusOr<int64_t> Journal::FinishExecution(const ExecutionEntry& execution, const std::vector<ArtifactEntry>& artifacts) {
  std::lock_guard<std::mutex> lock(mutex_);
  CELLBLOCK_RETURN_IF_ERROR(CheckSession(execution.session_id));
  // Contents first: a row never names what is not there.
  for (const ArtifactEntry& artifact : artifacts) pending_.insert(artifact.sha256);
  absl::Cleanup written = [this] { pending_.clear(); };
  std::vector<bool> kept;
  for (const ArtifactEntry& artifact : artifacts) {
    CELLBLOCK_ASSIGN_OR_RETURN(bool is_kept, KeepContent(artifact));
    kept.push_back(is_kept);
  }
  auto write = [&]() -> absl::Status {
    CELLBLOCK_RETURN_IF_ERROR(WriteEnd(execution));
    for (size_t i = 0; i < artifacts.size(); ++i) CELLBLOCK_RETURN_IF_ERROR(WriteArtifact(execution, artifacts[i], kept[i]));
    return absl::OkStatus();
  };
  CELLBLOCK_RETURN_IF_ERROR(Write(write));
  return std::count(kept.begin(), kept.end(), false);
}

absl::StatusOr<ExecutionEntry> Journal::GetExecution(absl::string_view id) {
  std::lock_guard<std::mutex> lock(mutex_);
  return Get(database_, "SELECT * FROM executions WHERE id = ?1", id, "execution", ExecutionOf);
}

absl::StatusOr<std::vector<ExecutionEntry>> Journal::ListExecutions(absl::string_view session_id, int64_t after, int64_t count) {
  std::lock_guard<std::mutex> lock(mutex_);
  return List(database_, "SELECT * FROM executions WHERE session = ?1 AND number > ?2 ORDER BY number LIMIT ?3", {session_id, after, PageOf(count)}, ExecutionOf);
}

// --- artifacts --------------------------------------------------------------------------------------------------------------------

absl::StatusOr<ArtifactEntry> Journal::GetArtifact(absl::string_view id) {
  std::lock_guard<std::mutex> lock(mutex_);
  return Get(database_, "SELECT * FROM artifacts WHERE id = ?1", id, "artifact", ArtifactOf);
}

absl::StatusOr<std::vector<ArtifactEntry>> Journal::ListArtifacts(absl::string_view session_id, int64_t after, int64_t count) {
  std::lock_guard<std::mutex> lock(mutex_);
  return List(database_, "SELECT * FROM artifacts WHERE session = ?1 AND number > ?2 ORDER BY number LIMIT ?3", {session_id, after, PageOf(count)}, ArtifactOf);
}

absl::StatusOr<UniqueFd> Journal::OpenArtifact(const ArtifactEntry& artifact) {
  std::lock_guard<std::mutex> lock(mutex_);
  return blobs_.OpenBlob(artifact.sha256, artifact.size_bytes);
}

absl::StatusOr<bool> Journal::IsKept(absl::string_view name, std::string* sha256) {
  bool kept = pending_.count(std::string(name)) > 0 || pinned_.count(std::string(name)) > 0;
  auto named = [&](const Row& row) {
    kept = true;
    if (sha256 != nullptr) *sha256 = row.Text(0);
  };
  CELLBLOCK_RETURN_IF_ERROR(database_.Run("SELECT sha256 FROM artifacts WHERE sha256 = ?1 AND kept = 1 UNION ALL SELECT sha256 FROM shared_files WHERE content = ?1 LIMIT 1", {name}, named));
  return kept;
}

absl::StatusOr<bool> Journal::KeepContent(const ArtifactEntry& artifact) {
  if (blobs_.OpenBlob(artifact.sha256, artifact.size_bytes).ok()) return true;
  CELLBLOCK_ASSIGN_OR_RETURN(bool has_room, MakeRoom(artifact.size_bytes));
  if (!has_room) return false;
  absl::Status taken = blobs_.Take(artifact.stored_at, artifact.sha256);
  if (absl::IsResourceExhausted(taken)) return false;  // the disk, before our own limit
  CELLBLOCK_RETURN_IF_ERROR(taken);
  content_bytes_ += artifact.size_bytes;
  return true;
}

absl::StatusOr<bool> Journal::MakeRoom(int64_t size_bytes) {
  if (size_bytes > options_.content_bytes_max) return false;
  while (content_bytes_ + size_bytes > options_.content_bytes_max) {
    CELLBLOCK_ASSIGN_OR_RETURN(bool removed, RemoveContentsOfOldestEnded());
    if (!removed) return false;
  }
  return true;
}

absl::Status Journal::RemoveContents(const std::vector<ArtifactEntry>& artifacts) {
  for (const ArtifactEntry& artifact : artifacts) CELLBLOCK_RETURN_IF_ERROR(RemoveContent(artifact.sha256, artifact.size_bytes));
  return absl::OkStatus();
}

absl::Status Journal::RemoveContent(absl::string_view name, int64_t size_bytes) {
  CELLBLOCK_ASSIGN_OR_RETURN(const bool kept, IsKept(name));
  if (kept || !blobs_.OpenBlob(name, size_bytes).ok()) return absl::OkStatus();
  CELLBLOCK_RETURN_IF_ERROR(blobs_.Remove(name));
  content_bytes_ -= size_bytes;
  return absl::OkStatus();
}

// --- what is removed ----------------------------------------------------------------------------------------------------------------

absl::StatusOr<bool> Journal::RemoveContentsOfOldestEnded() {
  constexpr const char* kOldest =
      "SELECT s.* FROM sessions s WHERE s.ended IS NOT NULL AND EXISTS (SELECT 1 FROM artifacts a WHERE a.session = s.id AND a.kept = 1) ORDER BY s.ended LIMIT 1";
  CELLBLOCK_ASSIGN_OR_RETURN(std::vector<SessionEntry> oldest, List(database_, kOldest, {}, SessionOf));
  if (oldest.empty()) return false;
  CELLBLOCK_ASSIGN_OR_RETURN(std::vector<ArtifactEntry> artifacts, List(database_, "SELECT * FROM artifacts WHERE session = ?1 AND kept = 1", {oldest[0].id}, ArtifactOf));
  CELLBLOCK_RETURN_IF_ERROR(database_.Run("UPDATE artifacts SET kept = 0 WHERE session = ?1", {oldest[0].id}));
  CELLBLOCK_RETURN_IF_ERROR(RemoveContents(artifacts));
  return true;
}

absl::StatusOr<bool> Journal::RemoveOldestEnded(absl::Time ended_before) {
  absl::StatusOr<std::vector<SessionEntry>> oldest =
      ended_before == absl::InfiniteFuture()
          ? List(database_, "SELECT * FROM sessions WHERE ended IS NOT NULL ORDER BY ended LIMIT 1", {}, SessionOf)
          : List(database_, "SELECT * FROM sessions WHERE ended IS NOT NULL AND ended < ?1 ORDER BY ended LIMIT 1", {TimeValue(ended_before)}, SessionOf);
  CELLBLOCK_RETURN_IF_ERROR(oldest.status());
  if (oldest->empty()) return false;
  const std::string& id = oldest->front().id;
  CELLBLOCK_ASSIGN_OR_RETURN(std::vector<ArtifactEntry> artifacts, List(database_, "SELECT * FROM artifacts WHERE session = ?1 AND kept = 1", {id}, ArtifactOf));
  CELLBLOCK_RETURN_IF_ERROR(database_.Run("DELETE FROM sessions WHERE id = ?1", {id}));  // and by it what is the session's
  CELLBLOCK_RETURN_IF_ERROR(RemoveContents(artifacts));
  return true;
}

absl::Status Journal::Checkpoint() {
  std::unique_lock<std::mutex> lock(keeper_mutex_, std::try_to_lock);
  return lock.owns_lock() ? keeper_.Checkpoint() : absl::OkStatus();  // else it is just being done
}

absl::Status Journal::Prune(absl::Time now) {
  bool more = true;
  while (more) {  // others take their turn between two
    std::lock_guard<std::mutex> lock(mutex_);
    CELLBLOCK_ASSIGN_OR_RETURN(more, RemoveOldestEnded(now - options_.kept_for));
  }
  std::lock_guard<std::mutex> lock(mutex_);
  return database_.Run("DELETE FROM requests WHERE created < ?1", {TimeValue(now - options_.requests_kept_for)});
}

int64_t Journal::content_bytes() {
  std::lock_guard<std::mutex> lock(mutex_);
  return content_bytes_;
}

// --- idempotency ------------------------------------------------------------------------------------------------------------------

absl::StatusOr<std::string> Journal::ClaimRequest(absl::string_view owner, absl::string_view key, absl::string_view request_sha256, absl::string_view target, absl::Time now) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::string hash, found;
  auto read = [&](const Row& row) {
    hash = row.Text(0);
    found = row.Text(1);
  };
  CELLBLOCK_RETURN_IF_ERROR(database_.Run("SELECT hash, target FROM requests WHERE owner = ?1 AND key = ?2", {owner, key}, read));
  if (!found.empty() && hash != request_sha256) {
    return absl::FailedPreconditionError("this idempotency key was used for another request; use a new key for each request");
  }
  if (!found.empty()) return found;
  CELLBLOCK_RETURN_IF_ERROR(Write([&] {
    return database_.Run("INSERT INTO requests (owner, key, hash, target, created) VALUES (?1, ?2, ?3, ?4, ?5)", {owner, key, request_sha256, target, TimeValue(now)});
  }));
  return std::string(target);
}

absl::Status Journal::ForgetRequest(absl::string_view owner, absl::string_view key, absl::string_view target, bool even_if_begun) {
  std::lock_guard<std::mutex> lock(mutex_);
  return database_.Run("DELETE FROM requests WHERE owner = ?1 AND key = ?2 AND target = ?3 AND (?4 OR NOT EXISTS (SELECT 1 FROM executions WHERE id = ?3))",
                       {owner, key, target, int64_t{even_if_begun}});
}

}  // namespace cellblock::store
