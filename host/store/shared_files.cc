// See journal.h: files that an owner put there once for many sessions to read.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "store/journal.h"
#include "sys/sha256.h"

namespace cellblock::store {
namespace {

SharedFile SharedFileOf(const Row& row) {
  SharedFile file;
  file.owner = row.Text(0);
  file.name = row.Text(1);
  file.sha256 = row.Text(2);
  file.size_bytes = row.Int(3);
  file.mime = row.Text(4);
  file.created_at = row.Time(5);
  file.content = row.Text(6);
  return file;
}

absl::StatusOr<std::vector<SharedFile>> Read(Database& database, const char* sql, std::initializer_list<Value> values) {
  std::vector<SharedFile> files;
  CELLBLOCK_RETURN_IF_ERROR(database.Run(sql, values, [&](const Row& row) { files.push_back(SharedFileOf(row)); }));
  return files;
}

absl::StatusOr<SharedFile> Find(Database& database, absl::string_view owner, absl::string_view name) {
  CELLBLOCK_ASSIGN_OR_RETURN(std::vector<SharedFile> found, Read(database, "SELECT * FROM shared_files WHERE owner = ?1 AND name = ?2", {owner, name}));
  if (found.empty()) return absl::NotFoundError("there is no shared file of this name");
  return std::move(found.front());
}

// Where equal contents of two owners are two blobs, and neither is one that a call made.
absl::StatusOr<std::string> BlobName(const SharedFile& file) {
  sys::Sha256 name;
  name.Update(absl::StrCat("shared ", file.sha256, " ", file.owner));
  return name.Hex();
}

}  // namespace

// --- each owner's apart -------------------------------------------------------------------------------------------------------------

absl::Status Journal::KeepSharedApart() {
  CELLBLOCK_ASSIGN_OR_RETURN(const std::vector<SharedFile> files, Read(database_, "SELECT * FROM shared_files WHERE content = ''", {}));
  for (const SharedFile& file : files) {
    const absl::Status kept = KeepApart(file);
    if (!kept.ok()) return absl::Status(kept.code(), absl::StrCat("keep a shared file of each token apart: ", kept.message(), "; every token needs a copy of its own on this disk"));
  }
  return absl::OkStatus();
}

// Interrupted at any point it is done again at the next start: the row is written last, and the old blob goes when the last row has left it.
absl::Status Journal::KeepApart(const SharedFile& file) {
  CELLBLOCK_ASSIGN_OR_RETURN(const std::string content, BlobName(file));
  const absl::StatusOr<UniqueFd> old = blobs_.OpenBlob(file.sha256, file.size_bytes);
  if (old.ok() && !blobs_.OpenBlob(content, file.size_bytes).ok()) {
    bool others = false;
    CELLBLOCK_RETURN_IF_ERROR(database_.Run("SELECT 1 FROM artifacts WHERE sha256 = ?1 AND kept = 1 UNION ALL SELECT 1 FROM shared_files WHERE content = '' AND sha256 = ?1 AND owner != ?2 LIMIT 1",
                                            {file.sha256, file.owner}, [&](const Row&) { others = true; }));
    CELLBLOCK_RETURN_IF_ERROR(others ? blobs_.TakeOpen(old->get(), content) : blobs_.Rename(file.sha256, content));
  }
  if (old.ok()) CELLBLOCK_RETURN_IF_ERROR(blobs_.LetOthersRead(content));
  return database_.Run("UPDATE shared_files SET content = ?3 WHERE owner = ?1 AND name = ?2", {file.owner, file.name, content});
}

// --- room ---------------------------------------------------------------------------------------------------------------------------

// What is kept when `file` has taken the place of the one of its name, without what it brings: each content once, and also those that
// sessions alone still have, or a token could have any number of them.
absl::StatusOr<Journal::SharedUse> Journal::SharedUseBeside(const SharedFile& file) {
  SharedUse use;
  CELLBLOCK_RETURN_IF_ERROR(database_.Run(
      "SELECT coalesce(sum(bytes) FILTER (WHERE owner = ?1), 0), coalesce(sum(bytes), 0) FROM (SELECT DISTINCT owner, content, bytes FROM shared_files WHERE content != ?3 AND NOT (owner = ?1 AND name = ?2))",
      {file.owner, file.name, file.content}, [&](const Row& row) { use = {row.Int(0), row.Int(1)}; }));
  for (const auto& [content, pinned] : pinned_) {
    bool counted = content == file.content;
    CELLBLOCK_RETURN_IF_ERROR(database_.Run("SELECT 1 FROM shared_files WHERE content = ?3 AND NOT (owner = ?1 AND name = ?2) LIMIT 1", {file.owner, file.name, content}, [&](const Row&) { counted = true; }));
    if (counted) continue;
    use.all_bytes += pinned.size_bytes;
    if (pinned.owner == file.owner) use.owner_bytes += pinned.size_bytes;
  }
  return use;
}

absl::StatusOr<Journal::SharedRoom> Journal::RoomFor(const SharedFile& file, int64_t owner_bytes_max) {
  int64_t count = 0;
  CELLBLOCK_RETURN_IF_ERROR(database_.Run("SELECT count(*) FROM shared_files WHERE owner = ?1 AND name != ?2", {file.owner, file.name}, [&](const Row& row) { count = row.Int(0); }));
  if (count >= kSharedFilesMax) return absl::ResourceExhaustedError(absl::StrCat("a token may have ", kSharedFilesMax, " shared files; remove one that is not needed"));
  CELLBLOCK_ASSIGN_OR_RETURN(const SharedUse use, SharedUseBeside(file));
  const int64_t of_owner = owner_bytes_max - use.owner_bytes, of_all = shared_bytes_max() - use.all_bytes;
  if (of_owner <= of_all) {
    return SharedRoom{of_owner, absl::ResourceExhaustedError(absl::StrCat("this token's shared files may have ", owner_bytes_max, " bytes together (shared_bytes), ", use.owner_bytes,
                                                                          " are taken, with those that sessions still have, and this one does not fit; remove one that is not needed"))};
  }
  // Nothing of what other tokens have.
  return SharedRoom{of_all, absl::ResourceExhaustedError(absl::StrCat("the shared files of all tokens may have ", shared_bytes_max(), " bytes together (half of --keep-bytes), and this one does not fit; this token's have ",
                                                                      use.owner_bytes, ": remove one that is not needed, or ask the server's operator for more"))};
}

absl::StatusOr<Journal::SharedRoom> Journal::RoomForSharedFile(absl::string_view owner, absl::string_view name, int64_t owner_bytes_max) {
  std::lock_guard<std::mutex> lock(mutex_);
  SharedFile file;
  file.owner = std::string(owner);
  file.name = std::string(name);
  CELLBLOCK_ASSIGN_OR_RETURN(SharedRoom room, RoomFor(file, owner_bytes_max));
  int64_t largest = 0;
  CELLBLOCK_RETURN_IF_ERROR(database_.Run("SELECT max(bytes) FROM shared_files WHERE owner = ?1", {owner}, [&](const Row& row) { largest = row.Int(0); }));
  room.bytes_max = std::max(room.bytes_max, largest);
  return room;
}

// --- verbs --------------------------------------------------------------------------------------------------------------------------

absl::Status Journal::PutSharedFile(SharedFile file, int content_fd, int64_t owner_bytes_max) {
  std::lock_guard<std::mutex> lock(mutex_);
  CELLBLOCK_ASSIGN_OR_RETURN(file.content, BlobName(file));
  CELLBLOCK_ASSIGN_OR_RETURN(const SharedRoom room, RoomFor(file, owner_bytes_max));
  if (file.size_bytes > room.bytes_max) return room.beyond;
  if (!blobs_.OpenBlob(file.content, file.size_bytes).ok()) {
    CELLBLOCK_ASSIGN_OR_RETURN(const bool has_room, MakeRoom(file.size_bytes));
    if (!has_room) return absl::ResourceExhaustedError("there is no room for it: what calls of live sessions made fills the store");
    CELLBLOCK_RETURN_IF_ERROR(blobs_.Remove(file.content));  // one that is damaged
    CELLBLOCK_RETURN_IF_ERROR(blobs_.TakeOpen(content_fd, file.content));
    content_bytes_ += file.size_bytes;
  }
  const absl::StatusOr<SharedFile> before = Find(database_, file.owner, file.name);
  absl::Status named = blobs_.LetOthersRead(file.content);
  if (named.ok()) named = Write([&] {
    return database_.Run("INSERT INTO shared_files (owner, name, sha256, bytes, mime, created, content) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) "
                         "ON CONFLICT (owner, name) DO UPDATE SET sha256 = ?3, bytes = ?4, mime = ?5, created = ?6, content = ?7",
                         {file.owner, file.name, file.sha256, file.size_bytes, file.mime, TimeValue(file.created_at), file.content});
  });
  if (!named.ok()) {
    (void)RemoveContent(file.content, file.size_bytes);  // unless others name it
    return named;
  }
  if (before.ok()) (void)RemoveContent(before->content, before->size_bytes);  // else it is found at the next start
  return absl::OkStatus();
}

absl::StatusOr<SharedFile> Journal::PinSharedFile(absl::string_view owner, absl::string_view name) {
  std::lock_guard<std::mutex> lock(mutex_);
  CELLBLOCK_ASSIGN_OR_RETURN(SharedFile file, Find(database_, owner, name));
  CELLBLOCK_RETURN_IF_ERROR(blobs_.OpenBlob(file.content, file.size_bytes).status());
  Pinned& pinned = pinned_[file.content];
  pinned = {file.owner, file.size_bytes, pinned.sessions + 1};
  return file;
}

void Journal::UnpinSharedFile(const SharedFile& file) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = pinned_.find(file.content);
  if (found == pinned_.end() || --found->second.sessions > 0) return;
  pinned_.erase(found);
  (void)RemoveContent(file.content, file.size_bytes);  // else it is found at the next start
}

absl::StatusOr<UniqueFd> Journal::OpenShared(const SharedFile& file) {
  std::lock_guard<std::mutex> lock(mutex_);
  return blobs_.OpenBlob(file.content, file.size_bytes);
}

absl::StatusOr<std::vector<SharedFile>> Journal::ListSharedFiles(absl::string_view owner) {
  std::lock_guard<std::mutex> lock(mutex_);
  return Read(database_, "SELECT * FROM shared_files WHERE owner = ?1 ORDER BY name", {owner});
}

absl::Status Journal::RemoveSharedFile(absl::string_view owner, absl::string_view name) {
  std::lock_guard<std::mutex> lock(mutex_);
  CELLBLOCK_ASSIGN_OR_RETURN(const SharedFile file, Find(database_, owner, name));
  CELLBLOCK_RETURN_IF_ERROR(database_.Run("DELETE FROM shared_files WHERE owner = ?1 AND name = ?2", {owner, name}));
  return RemoveContent(file.content, file.size_bytes);
}

std::string Journal::ContentPath(const SharedFile& file) const { return absl::StrCat(options_.folder, "/blobs/", Blobs::PathOf(file.content)); }

}  // namespace cellblock::store
