// See journal.h: files that an owner put there once for many sessions to read.
#include <algorithm>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "store/journal.h"

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

}  // namespace

absl::Status Journal::CheckSharedRoom(const SharedFile& file) {
  int64_t count = 0, bytes = 0;
  CELLBLOCK_RETURN_IF_ERROR(database_.Run("SELECT count(*) FROM shared_files WHERE owner = ?1 AND name != ?2", {file.owner, file.name}, [&](const Row& row) { count = row.Int(0); }));
  if (count >= kSharedFilesMax) return absl::ResourceExhaustedError(absl::StrCat("a token may have ", kSharedFilesMax, " shared files; remove one that is not needed"));
  // Each content once, whoever else has it.
  CELLBLOCK_RETURN_IF_ERROR(database_.Run("SELECT coalesce(sum(bytes), 0) FROM (SELECT DISTINCT sha256, bytes FROM shared_files WHERE sha256 != ?3 AND NOT (owner = ?1 AND name = ?2))",
                                          {file.owner, file.name, file.sha256}, [&](const Row& row) { bytes = row.Int(0); }));
  // The other half stays for what calls make.
  if (bytes + file.size_bytes <= options_.content_bytes_max / 2) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat("shared files may have ", options_.content_bytes_max / 2, " bytes together, ", bytes, " are taken, and this one has ", file.size_bytes,
                                                   "; remove one that is not needed"));
}

absl::Status Journal::PutSharedFile(const SharedFile& file, int content_fd) {
  std::lock_guard<std::mutex> lock(mutex_);
  CELLBLOCK_RETURN_IF_ERROR(CheckSharedRoom(file));
  pending_.insert(file.sha256);
  absl::Cleanup written = [this] { pending_.clear(); };
  if (!blobs_.OpenBlob(file.sha256, file.size_bytes).ok()) {
    CELLBLOCK_ASSIGN_OR_RETURN(const bool has_room, MakeRoom(file.size_bytes));
    if (!has_room) return absl::ResourceExhaustedError("there is no room for it: what calls of live sessions made fills the store");
    CELLBLOCK_RETURN_IF_ERROR(blobs_.TakeOpen(content_fd, file.sha256));
    content_bytes_ += file.size_bytes;
  }
  const absl::StatusOr<SharedFile> before = Find(database_, file.owner, file.name);
  absl::Status named = blobs_.LetOthersRead(file.sha256);
  if (named.ok()) named = Write([&] {
    return database_.Run("INSERT INTO shared_files (owner, name, sha256, bytes, mime, created) VALUES (?1, ?2, ?3, ?4, ?5, ?6) "
                         "ON CONFLICT (owner, name) DO UPDATE SET sha256 = ?3, bytes = ?4, mime = ?5, created = ?6",
                         {file.owner, file.name, file.sha256, file.size_bytes, file.mime, TimeValue(file.created_at)});
  });
  pending_.clear();
  if (!named.ok()) {
    (void)RemoveContent(file.sha256, file.size_bytes);  // unless others name it
    return named;
  }
  if (before.ok()) (void)RemoveContent(before->sha256, before->size_bytes);  // else it is found at the next start
  return absl::OkStatus();
}

absl::StatusOr<SharedFile> Journal::PinSharedFile(absl::string_view owner, absl::string_view name) {
  std::lock_guard<std::mutex> lock(mutex_);
  CELLBLOCK_ASSIGN_OR_RETURN(SharedFile file, Find(database_, owner, name));
  CELLBLOCK_RETURN_IF_ERROR(blobs_.OpenBlob(file.sha256, file.size_bytes).status());
  ++pinned_[file.sha256];
  return file;
}

void Journal::UnpinSharedFile(const SharedFile& file) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = pinned_.find(file.sha256);
  if (found == pinned_.end() || --found->second > 0) return;
  pinned_.erase(found);
  (void)RemoveContent(file.sha256, file.size_bytes);  // else it is found at the next start
}

absl::StatusOr<UniqueFd> Journal::OpenShared(const SharedFile& file) {
  std::lock_guard<std::mutex> lock(mutex_);
  return blobs_.OpenBlob(file.sha256, file.size_bytes);
}

absl::StatusOr<std::vector<SharedFile>> Journal::ListSharedFiles(absl::string_view owner) {
  std::lock_guard<std::mutex> lock(mutex_);
  return Read(database_, "SELECT * FROM shared_files WHERE owner = ?1 ORDER BY name", {owner});
}

absl::Status Journal::RemoveSharedFile(absl::string_view owner, absl::string_view name) {
  std::lock_guard<std::mutex> lock(mutex_);
  CELLBLOCK_ASSIGN_OR_RETURN(const SharedFile file, Find(database_, owner, name));
  CELLBLOCK_RETURN_IF_ERROR(database_.Run("DELETE FROM shared_files WHERE owner = ?1 AND name = ?2", {owner, name}));
  return RemoveContent(file.sha256, file.size_bytes);
}

std::string Journal::ContentPath(const SharedFile& file) const { return absl::StrCat(options_.folder, "/blobs/", Blobs::PathOf(file.sha256)); }

}  // namespace cellblock::store
