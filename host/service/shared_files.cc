// See service.h: files of a token that many sessions read without a copy.
#include <sys/stat.h>

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "artifact/given_path.h"
#include "base/status_macros.h"
#include "service/errors.h"
#include "service/running.h"
#include "service/service.h"
#include "sys/files.h"

namespace cellblock::service {
namespace {

absl::Status NoSuchFile(absl::string_view name) {
  return Error(absl::StatusCode::kNotFound, "shared_file_not_found", absl::StrCat("there is no shared file \"", absl::Utf8SafeCHexEscape(name.substr(0, 200)), "\" of this token"));
}

// The half of a half: a token alone never takes the room of all.
int64_t SharedBytesMax(const Token& token, const store::Journal& journal) { return token.shared_bytes_max.value_or(journal.shared_bytes_max() / 2); }

}  // namespace

absl::Status Service::CheckPut(absl::string_view name) const {
  if (stopping_) return Error(absl::StatusCode::kUnavailable, "stopping", "the server is stopping and takes no new files");
  return WithCode(artifact::CheckGivenPath(name), "file_name_refused");
}

absl::StatusOr<store::SharedFile> Service::PutSharedFile(const Request& request, absl::string_view name, int source_fd, absl::string_view sha256) {
  auto put = [&]() -> absl::StatusOr<store::SharedFile> {
    CELLBLOCK_RETURN_IF_ERROR(CheckPut(name));
    struct stat found = {};
    if (fstat(source_fd, &found) != 0) return sys::ErrnoStatus("look at the upload");
    const store::SharedFile file = {request.token->name, std::string(name), std::string(sha256), found.st_size, MimeOf(source_fd, name), absl::Now()};
    const absl::Status kept = journal_.PutSharedFile(file, source_fd, SharedBytesMax(*request.token, journal_));
    if (absl::IsResourceExhausted(kept)) return WithCode(kept, "shared_files_full");
    CELLBLOCK_RETURN_IF_ERROR(kept);
    for (Observer* observer : observers_) observer->FileMoved("put_shared_file", {"", file.owner, ""}, {file.owner, request.id}, name, file.size_bytes);
    return file;
  };
  return Noted("put_shared_file", "", request, put());
}

absl::StatusOr<UploadLimit> Service::AdmitSharedUpload(const Request& request, absl::string_view name, std::optional<int64_t> bytes) {
  auto admit = [&]() -> absl::StatusOr<UploadLimit> {
    CELLBLOCK_RETURN_IF_ERROR(CheckPut(name));
    const absl::StatusOr<store::Journal::SharedRoom> room = journal_.RoomForSharedFile(request.token->name, name, SharedBytesMax(*request.token, journal_));
    if (!room.ok()) return WithCode(room.status(), absl::IsResourceExhausted(room.status()) ? "shared_files_full" : CodeOf(room.status()));
    UploadLimit limit = {room->bytes_max, WithCode(room->beyond, "shared_files_full")};
    if (bytes.value_or(0) > limit.bytes_max) return limit.beyond;
    return limit;
  };
  return Noted("put_shared_file", "", request, admit());
}

absl::StatusOr<std::vector<store::SharedFile>> Service::ListSharedFiles(const Request& request) { return journal_.ListSharedFiles(request.token->name); }

absl::Status Service::RemoveSharedFile(const Request& request, absl::string_view name) {
  const std::string& owner = request.token->name;
  absl::Status removed = journal_.RemoveSharedFile(owner, name);
  if (absl::IsNotFound(removed)) removed = NoSuchFile(name);
  if (!removed.ok()) return NotedStatus("remove_shared_file", "", request, removed);
  for (Observer* observer : observers_) observer->FileMoved("remove_shared_file", {"", owner, ""}, {owner, request.id}, name, 0);
  return absl::OkStatus();
}

absl::Status Service::PinAttached(const Request& request, const NewSession& wanted, AttachedShared* attached) {
  if (wanted.attach.size() > kAttachedMax) return absl::InvalidArgumentError(absl::StrCat("attach: at most ", kAttachedMax, " files"));
  for (const auto& [path, name] : wanted.attach) {
    const absl::StatusOr<store::SharedFile> file = journal_.PinSharedFile(request.token->name, name);
    if (absl::IsNotFound(file.status())) return NoSuchFile(name);
    if (absl::IsDataLoss(file.status())) return Error(absl::StatusCode::kNotFound, "shared_file_not_found", absl::StrCat("the content of shared file \"", name, "\" is damaged; upload it again"));
    CELLBLOCK_RETURN_IF_ERROR(file.status());
    attached->emplace_back(path, *file);
  }
  return absl::OkStatus();
}

void Service::Unpin(const AttachedShared& attached) {
  for (const auto& [path, file] : attached) journal_.UnpinSharedFile(file);
}

absl::StatusOr<std::optional<Service::OpenedShared>> Service::OpenAttached(const Request& request, absl::string_view session_id, absl::string_view path) {
  CELLBLOCK_ASSIGN_OR_RETURN(const LivePtr live, Find(request, session_id));
  std::optional<store::SharedFile> found;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto of_session = attached_of_.find(session_id);
    if (of_session == attached_of_.end()) return std::optional<OpenedShared>();
    for (const auto& [at, file] : of_session->second) {
      if (at == path) found = file;
    }
  }
  if (!found.has_value()) return std::optional<OpenedShared>();
  CELLBLOCK_RETURN_IF_ERROR(live->Use(absl::Now()));
  CELLBLOCK_ASSIGN_OR_RETURN(UniqueFd content, journal_.OpenShared(*found));
  for (Observer* observer : observers_) observer->FileMoved("get_file", live->facts(), {request.token->name, request.id}, path, found->size_bytes);
  return std::optional<OpenedShared>(OpenedShared{*std::move(found), std::move(content)});
}

}  // namespace cellblock::service
