// See service.h: files in and out of a session, and what calls left in the journal.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/status_macros.h"
#include "service/errors.h"
#include "service/running.h"
#include "service/service.h"
#include "sys/files.h"
#include "sys/sha256.h"

namespace cellblock::service {
namespace {

// What a session says of its files, with the code that a client acts on.
absl::Status WithFileCode(const absl::Status& status, absl::string_view path) {
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument: return WithCode(status, "file_name_refused");
    case absl::StatusCode::kNotFound: return Error(absl::StatusCode::kNotFound, "file_not_found", absl::StrCat("there is no file \"", absl::Utf8SafeCHexEscape(path.substr(0, 200)), "\" in this session"));
    case absl::StatusCode::kResourceExhausted: return WithCode(status, absl::StrContains(status.message(), "limits.file_size") ? "file_too_large" : "workspace_full");
    // A link, a device, a mount in the way: nothing that is handed out.
    case absl::StatusCode::kFailedPrecondition: return WithCode(status, absl::StrContains(status.message(), "read-only") ? "file_read_only" : "not_a_file");
    case absl::StatusCode::kAborted: return WithCode(status, "no_answer");
    default: return status;
  }
}

// Of one file: the smaller of two limits, by its name.
UploadLimit FileLimitOf(const Policy& policy) {
  const bool by_size = policy.limits.file_bytes <= policy.limits.workspace_bytes;
  const int64_t bytes_max = std::min(policy.limits.file_bytes, policy.limits.workspace_bytes);
  return {bytes_max, Error(absl::StatusCode::kResourceExhausted, "file_too_large",
                           absl::StrCat("the file has more than ", bytes_max, " bytes, which ", by_size ? "limits.file_size" : "limits.workspace", " of policy ", policy.name,
                                        " allows: use a policy with more, or hand in a part"))};
}

}  // namespace

std::string Service::MimeOf(int fd, absl::string_view name) {
  std::string head(artifact::kMimeHeadBytesMax, '\0');
  const ssize_t count = pread(fd, head.data(), head.size(), 0);
  head.resize(static_cast<size_t>(std::max<ssize_t>(count, 0)));
  return sniffer_.Sniff(head, name);
}

absl::StatusOr<FileInfo> Service::PutFile(const Request& request, absl::string_view session_id, absl::string_view path, int source_fd, absl::string_view sha256) {
  auto put = [&]() -> absl::StatusOr<FileInfo> {
    CELLBLOCK_ASSIGN_OR_RETURN(const LivePtr live, Find(request, session_id));
    FileInfo info;
    info.mime = MimeOf(source_fd, path);
    info.sha256 = std::string(sha256);
    struct stat found = {};
    if (fstat(source_fd, &found) != 0) return sys::ErrnoStatus("look at the upload");
    CELLBLOCK_RETURN_IF_ERROR(live->Use(absl::Now()));
    CELLBLOCK_RETURN_IF_ERROR(WithFileCode(live->session().PutFile(source_fd, path), path));
    (void)live->Use(absl::Now());  // it may have taken long
    info.entry = {std::string(path), found.st_size, absl::Now()};
    for (Observer* observer : observers_) observer->FileMoved("put_file", live->facts(), {request.token->name, request.id}, path, found.st_size);
    return info;
  };
  return Noted("put_file", session_id, request, put());
}

absl::StatusOr<UploadLimit> Service::AdmitUpload(const Request& request, absl::string_view session_id, std::optional<int64_t> bytes) {
  auto admit = [&]() -> absl::StatusOr<UploadLimit> {
    CELLBLOCK_ASSIGN_OR_RETURN(const LivePtr live, Find(request, session_id));
    UploadLimit limit = FileLimitOf(live->session().policy());
    if (bytes.value_or(0) > limit.bytes_max) return limit.beyond;
    CELLBLOCK_RETURN_IF_ERROR(live->Use(absl::Now()));
    return limit;
  };
  return Noted("put_file", session_id, request, admit());
}

UploadLimit Service::LimitOfRun(const Request& request) const {
  std::optional<UploadLimit> most;
  const std::shared_ptr<const PolicyShelf::Policies> all = policies_.all();
  for (const auto& [name, policy] : *all) {
    if (!MayUsePolicy(*request.token, name)) continue;
    UploadLimit limit = FileLimitOf(WithLimitsOf(*request.token, policy));
    if (!most.has_value() || limit.bytes_max > most->bytes_max) most = std::move(limit);
  }
  return most.value_or(UploadLimit());  // whoever may use no policy is told so when the request is read
}

absl::StatusOr<std::vector<FileInfo>> Service::ListFiles(const Request& request, absl::string_view session_id) {
  auto list = [&]() -> absl::StatusOr<std::vector<FileInfo>> {
    CELLBLOCK_ASSIGN_OR_RETURN(const LivePtr live, Find(request, session_id));
    CELLBLOCK_ASSIGN_OR_RETURN(std::vector<FileEntry> entries, live->session().ListFiles());
    std::vector<FileInfo> files;
    for (FileEntry& entry : entries) files.push_back({std::move(entry), "", ""});
    return files;
  };
  return Noted("list_files", session_id, request, list());
}

absl::StatusOr<FileInfo> Service::GetFile(const Request& request, absl::string_view session_id, absl::string_view path, int target_fd) {
  auto get = [&]() -> absl::StatusOr<FileInfo> {
    CELLBLOCK_ASSIGN_OR_RETURN(const LivePtr live, Find(request, session_id));
    CELLBLOCK_RETURN_IF_ERROR(live->Use(absl::Now()));
    CELLBLOCK_RETURN_IF_ERROR(WithFileCode(live->session().GetFile(path, target_fd), path));
    struct stat found = {};
    if (fstat(target_fd, &found) != 0 || lseek(target_fd, 0, SEEK_SET) != 0) return sys::ErrnoStatus("look at the copy");
    FileInfo info;
    CELLBLOCK_ASSIGN_OR_RETURN(info.sha256, sys::Sha256OfFile(target_fd));
    info.mime = MimeOf(target_fd, path);
    info.entry = {std::string(path), found.st_size, absl::Now()};
    for (Observer* observer : observers_) observer->FileMoved("get_file", live->facts(), {request.token->name, request.id}, path, found.st_size);
    return info;
  };
  return Noted("get_file", session_id, request, get());
}

absl::Status Service::RemoveFile(const Request& request, absl::string_view session_id, absl::string_view path) {
  auto remove = [&]() -> absl::Status {
    CELLBLOCK_ASSIGN_OR_RETURN(const LivePtr live, Find(request, session_id));
    CELLBLOCK_RETURN_IF_ERROR(live->Use(absl::Now()));
    CELLBLOCK_RETURN_IF_ERROR(WithFileCode(live->session().RemoveFile(path), path));
    for (Observer* observer : observers_) observer->FileMoved("remove_file", live->facts(), {request.token->name, request.id}, path, 0);
    return absl::OkStatus();
  };
  return NotedStatus("remove_file", session_id, request, remove());
}

absl::StatusOr<std::string> Service::DescribeVariables(const Request& request, absl::string_view session_id) {
  auto describe = [&]() -> absl::StatusOr<std::string> {
    CELLBLOCK_ASSIGN_OR_RETURN(const LivePtr live, Find(request, session_id));
    CELLBLOCK_RETURN_IF_ERROR(EnterWait(*request.token));
    absl::Cleanup leave = [&] { LeaveWait(*request.token); };
    LiveSession::Ticket ticket;
    CELLBLOCK_ASSIGN_OR_RETURN(LiveSession::Turn turn, live->TakeTurn(ticket));
    absl::StatusOr<std::string> answer = turn.session().DescribeVariables();
    if (answer.ok()) return answer;
    return WithCode(answer.status(), absl::IsFailedPrecondition(answer.status()) ? "no_interpreter" : absl::IsAborted(answer.status()) ? "no_answer" : CodeOf(answer.status()));
  };
  return Noted("variables", session_id, request, describe());
}

absl::StatusOr<std::string> Service::PreviewFile(const Request& request, absl::string_view session_id, absl::string_view path, int64_t rows) {
  auto preview = [&]() -> absl::StatusOr<std::string> {
    CELLBLOCK_ASSIGN_OR_RETURN(const LivePtr live, Find(request, session_id));
    CELLBLOCK_RETURN_IF_ERROR(EnterWait(*request.token));
    absl::Cleanup leave = [&] { LeaveWait(*request.token); };
    LiveSession::Ticket ticket;
    CELLBLOCK_ASSIGN_OR_RETURN(LiveSession::Turn turn, live->TakeTurn(ticket));
    absl::StatusOr<std::string> answer = turn.session().PreviewFile(path, rows);
    return answer.ok() ? std::move(answer) : WithFileCode(answer.status(), path);
  };
  return Noted("preview_file", session_id, request, preview());
}

absl::StatusOr<std::vector<store::ArtifactEntry>> Service::ListArtifacts(const Request& request, absl::string_view session_id, int64_t after, int64_t count) {
  CELLBLOCK_RETURN_IF_ERROR(FindEntry(request, session_id).status());
  return journal_.ListArtifacts(session_id, after, count);
}

absl::StatusOr<Service::OpenedArtifact> Service::OpenArtifact(const Request& request, absl::string_view id) {
  const absl::Status unknown = Error(absl::StatusCode::kNotFound, "artifact_not_found", absl::StrCat("there is no artifact \"", absl::Utf8SafeCHexEscape(id.substr(0, 100)), "\" of this token"));
  absl::StatusOr<store::ArtifactEntry> entry = journal_.GetArtifact(id);
  if (absl::IsNotFound(entry.status())) return unknown;
  CELLBLOCK_RETURN_IF_ERROR(entry.status());
  if (!FindEntry(request, entry->session_id).ok()) return unknown;
  OpenedArtifact opened;
  CELLBLOCK_ASSIGN_OR_RETURN(opened.content, journal_.OpenArtifact(*entry));
  opened.entry = *std::move(entry);
  return opened;
}

absl::StatusOr<std::string> Service::PolicyNameOf(const Request& request, absl::string_view session_id) {
  CELLBLOCK_ASSIGN_OR_RETURN(store::SessionEntry entry, FindEntry(request, session_id));
  return std::move(entry.policy);
}

absl::Status Service::ForEachExecution(const Request& request, absl::string_view session_id, absl::FunctionRef<void(const store::ExecutionEntry&)> visit) {
  CELLBLOCK_RETURN_IF_ERROR(FindEntry(request, session_id).status());
  constexpr int64_t kPage = 2;  // a record may have a hundred megabytes
  int64_t after = 0;
  while (true) {
    CELLBLOCK_ASSIGN_OR_RETURN(const std::vector<store::ExecutionEntry> page, journal_.ListExecutions(session_id, after, kPage));
    for (const store::ExecutionEntry& entry : page) visit(entry);
    if (static_cast<int64_t>(page.size()) < kPage) return absl::OkStatus();
    after = page.back().number;
  }
}

}  // namespace cellblock::service
