// See api.h: files in and out, and what calls left.
#include <fcntl.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "front/http/api.h"
#include "front/http/api_json.h"
#include "front/http/header_fields.h"
#include "front/http/target.h"
#include "sys/files.h"

namespace cellblock::front {
namespace {

// Content that never changes under its tag: whole, in part, or not at all when the client has it.
HttpReply ContentReply(const HttpRequest& request, UniqueFd content, int64_t size_bytes, const std::string& sha256, const std::string& mime, absl::string_view name) {
  HttpReply reply;
  const std::string tag = absl::StrCat("\"", sha256, "\"");
  reply.headers.emplace_back("ETag", tag);
  reply.headers.emplace_back("Accept-Ranges", "bytes");
  // Made by a stranger's code: no browser may run it as a page of this server.
  reply.headers.emplace_back("X-Content-Type-Options", "nosniff");
  reply.headers.emplace_back("Content-Security-Policy", "sandbox");
  reply.headers.emplace_back("Content-Disposition", absl::StrCat("attachment; filename*=UTF-8''", EncodePercent(name.substr(name.rfind('/') + 1))));
  if (!request.if_none_match.empty() && NamesTag(request.if_none_match, tag)) {
    reply.status = 304;
    return reply;
  }
  Range range = {Range::Kind::kWhole, 0, size_bytes};
  if (!request.range.empty() && (request.if_range.empty() || request.if_range == tag)) range = ParseRange(request.range, size_bytes);
  if (range.kind == Range::Kind::kUnsatisfiable) {
    reply = ProblemReply(416, "range_not_satisfiable", absl::StrCat("the content has ", size_bytes, " bytes"), request.id);
    reply.headers.emplace_back("Content-Range", absl::StrCat("bytes */", size_bytes));
    return reply;
  }
  if (range.kind == Range::Kind::kPart) {
    reply.status = 206;
    reply.headers.emplace_back("Content-Range", absl::StrCat("bytes ", range.first, "-", range.first + range.bytes - 1, "/", size_bytes));
  }
  reply.content_type = mime;
  reply.file = std::move(content);
  reply.file_offset = range.first;
  reply.file_bytes = range.bytes;
  return reply;
}

std::string FilesJson(const std::vector<service::FileInfo>& files) {
  std::string text;
  render::JsonWriter json(&text);
  json.BeginObject();
  json.Key("files");
  json.BeginArray();
  for (const service::FileInfo& file : files) WriteFile(json, file);
  json.EndArray();
  json.EndObject();
  return text;
}

}  // namespace

absl::StatusOr<service::UploadLimit> Api::AdmitUpload(const Route& route, const HttpRequest& request, std::optional<int64_t> bytes) {
  if (route.handle == &Api::PutSharedFile) return service_.AdmitSharedUpload(AskedBy(request), request.captured[0], bytes);
  if (route.handle == &Api::PutFile || route.handle == &Api::PutFiles) return service_.AdmitUpload(AskedBy(request), request.captured[0], bytes);
  return service_.LimitOfRun(AskedBy(request));
}

HttpReply Api::PutFile(HttpRequest& request) {
  const ReceivedFile& file = request.files.front();
  const absl::StatusOr<service::FileInfo> put = service_.PutFile(AskedBy(request), request.captured[0], request.captured[1], file.content.get(), file.sha256);
  if (!put.ok()) return ProblemReply(put.status(), request.id);
  HttpReply reply;
  reply.status = 201;
  render::JsonWriter json(&reply.body);
  WriteFile(json, *put);
  return reply;
}

HttpReply Api::PutFiles(HttpRequest& request) {
  if (request.files.empty()) return ProblemReply(absl::InvalidArgumentError("no part of the multipart body is a file (with a filename)"), request.id);
  std::vector<service::FileInfo> files;
  for (const ReceivedFile& file : request.files) {
    absl::StatusOr<service::FileInfo> put = service_.PutFile(AskedBy(request), request.captured[0], file.path, file.content.get(), file.sha256);
    if (!put.ok()) return ProblemReply(put.status(), request.id);
    files.push_back(*std::move(put));
  }
  HttpReply reply;
  reply.status = 201;
  reply.body = FilesJson(files);
  return reply;
}

HttpReply Api::ListFiles(HttpRequest& request) {
  const auto files = service_.ListFiles(AskedBy(request), request.captured[0]);
  if (!files.ok()) return ProblemReply(files.status(), request.id);
  HttpReply reply;
  reply.body = FilesJson(*files);
  return reply;
}

HttpReply Api::GetFile(HttpRequest& request) {
  auto attached = service_.OpenAttached(AskedBy(request), request.captured[0], request.captured[1]);
  if (!attached.ok()) return ProblemReply(attached.status(), request.id);
  if (attached->has_value()) {
    const store::SharedFile& file = (*attached)->file;
    return ContentReply(request, std::move((*attached)->content), file.size_bytes, file.sha256, file.mime, request.captured[1]);
  }
  // A copy, so that the session's code cannot change it on the way: by its hash it has a tag.
  absl::StatusOr<UniqueFd> copy = sys::Open(service_.options().incoming_folder, O_RDWR | O_TMPFILE, 0600);
  if (!copy.ok()) return ProblemReply(copy.status(), request.id);
  const absl::StatusOr<service::FileInfo> file = service_.GetFile(AskedBy(request), request.captured[0], request.captured[1], copy->get());
  if (!file.ok()) return ProblemReply(file.status(), request.id);
  return ContentReply(request, *std::move(copy), file->entry.size_bytes, file->sha256, file->mime, file->entry.path);
}

HttpReply Api::RemoveFile(HttpRequest& request) {
  if (absl::Status status = service_.RemoveFile(AskedBy(request), request.captured[0], request.captured[1]); !status.ok()) return ProblemReply(status, request.id);
  HttpReply reply;
  reply.status = 204;
  return reply;
}

HttpReply Api::Variables(HttpRequest& request) {
  absl::StatusOr<std::string> variables = service_.DescribeVariables(AskedBy(request), request.captured[0]);
  if (!variables.ok()) return ProblemReply(variables.status(), request.id);
  HttpReply reply;
  render::JsonWriter(&reply.body).JsonObject(*variables);
  return reply;
}

HttpReply Api::Preview(HttpRequest& request) {
  int64_t rows = 10;
  if (absl::Status status = ReadNumber(request, "rows", 0, 100, &rows); !status.ok()) return ProblemReply(status, request.id);
  absl::StatusOr<std::string> preview = service_.PreviewFile(AskedBy(request), request.captured[0], request.captured[1], rows);
  if (!preview.ok()) return ProblemReply(preview.status(), request.id);
  HttpReply reply;
  render::JsonWriter(&reply.body).JsonObject(*preview);
  return reply;
}

HttpReply Api::PutSharedFile(HttpRequest& request) {
  const ReceivedFile& file = request.files.front();
  const absl::StatusOr<store::SharedFile> put = service_.PutSharedFile(AskedBy(request), request.captured[0], file.content.get(), file.sha256);
  if (!put.ok()) return ProblemReply(put.status(), request.id);
  HttpReply reply;
  reply.status = 201;
  render::JsonWriter json(&reply.body);
  WriteSharedFile(json, *put);
  return reply;
}

HttpReply Api::ListSharedFiles(HttpRequest& request) {
  const auto files = service_.ListSharedFiles(AskedBy(request));
  if (!files.ok()) return ProblemReply(files.status(), request.id);
  HttpReply reply;
  render::JsonWriter json(&reply.body);
  json.BeginObject();
  json.Key("shared_files");
  json.BeginArray();
  for (const store::SharedFile& file : *files) WriteSharedFile(json, file);
  json.EndArray();
  json.EndObject();
  return reply;
}

HttpReply Api::RemoveSharedFile(HttpRequest& request) {
  if (absl::Status status = service_.RemoveSharedFile(AskedBy(request), request.captured[0]); !status.ok()) return ProblemReply(status, request.id);
  HttpReply reply;
  reply.status = 204;
  return reply;
}

HttpReply Api::ListArtifacts(HttpRequest& request) {
  const absl::StatusOr<Page> page = ReadPage(request);
  if (!page.ok()) return ProblemReply(page.status(), request.id);
  const auto artifacts = service_.ListArtifacts(AskedBy(request), request.captured[0], page->cursor, page->count);
  if (!artifacts.ok()) return ProblemReply(artifacts.status(), request.id);
  HttpReply reply;
  render::JsonWriter json(&reply.body);
  json.BeginObject();
  json.Key("artifacts");
  json.BeginArray();
  for (const store::ArtifactEntry& artifact : *artifacts) WriteArtifact(json, artifact);
  json.EndArray();
  WriteNextCursor(json, *page, artifacts->size(), artifacts->empty() ? 0 : artifacts->back().number);
  json.EndObject();
  return reply;
}

HttpReply Api::GetArtifact(HttpRequest& request) {
  absl::StatusOr<service::Service::OpenedArtifact> artifact = service_.OpenArtifact(AskedBy(request), request.captured[0]);
  if (!artifact.ok()) return ProblemReply(artifact.status(), request.id);
  const store::ArtifactEntry& entry = artifact->entry;
  return ContentReply(request, std::move(artifact->content), entry.size_bytes, entry.sha256, entry.mime, entry.path);
}

}  // namespace cellblock::front
