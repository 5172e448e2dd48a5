// See body_sink.h.
#include "front/http/body_sink.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "service/errors.h"
#include "sys/files.h"

namespace cellblock::front {

void BodySink::LimitFiles(service::UploadLimit limit, IncomingBytes::Share* share) {
  limit_ = std::move(limit);
  share_ = share;
}

absl::Status BodySink::BeginFile(absl::string_view path) {
  if (files_.size() >= kFilesMax) return absl::InvalidArgumentError(absl::StrCat("at most ", kFilesMax, " files may come in one request"));
  ReceivedFile file;
  file.path = std::string(path);
  CELLBLOCK_ASSIGN_OR_RETURN(file.content, sys::Open(folder_, O_RDWR | O_TMPFILE, 0600));
  files_.push_back(std::move(file));
  hash_.emplace();
  in_file_ = true;
  return absl::OkStatus();
}

absl::Status BodySink::BeginMultipart(absl::string_view boundary) {
  multipart_ = std::make_unique<MultipartReader>(
      boundary, MultipartReader::Sink{[this](const Part& part) { return BeginPart(part); }, [this](absl::string_view piece) { return WritePart(piece); },
                                      [this] { return in_file_ ? EndFile() : absl::OkStatus(); }});
  return absl::OkStatus();
}

absl::Status BodySink::Write(absl::string_view piece) { return multipart_ != nullptr ? multipart_->Read(piece) : WritePart(piece); }

absl::Status BodySink::BeginPart(const Part& part) {
  // The field's name is the file's path where it is none of ours, so that "-F data/a.csv=@x" can say where the file goes.
  if (part.is_file) return BeginFile(part.name == "file" || part.name == "files" || part.name == "files[]" ? part.file_name : part.name);
  if (part.name != "request") return absl::InvalidArgumentError("a multipart body has files and one field \"request\" with the JSON; another field has no meaning here");
  if (std::exchange(has_text_, true)) return absl::InvalidArgumentError("the field \"request\" comes twice");
  return absl::OkStatus();
}

absl::Status BodySink::WritePart(absl::string_view piece) {
  if (!in_file_) {
    if (text_.size() + piece.size() > text_bytes_max_) {
      return service::Error(absl::StatusCode::kResourceExhausted, "body_too_large", absl::StrCat("the JSON has more than ", text_bytes_max_, " bytes; hand large data in as a file"));
    }
    absl::StrAppend(&text_, piece);
    return absl::OkStatus();
  }
  ReceivedFile& file = files_.back();
  const auto bytes = static_cast<int64_t>(piece.size());
  if (bytes > limit_.bytes_max - file.size_bytes) return limit_.beyond;
  if (share_ != nullptr) CELLBLOCK_RETURN_IF_ERROR(share_->Hold(files_bytes_ + bytes));
  hash_->Update(piece);
  file.size_bytes += bytes;
  files_bytes_ += bytes;
  absl::Status written = sys::WriteAll(file.content.get(), piece);
  if (absl::IsResourceExhausted(written)) return service::Error(absl::StatusCode::kResourceExhausted, "workspace_full", "the server's disk is full: the upload was not kept");
  return written;
}

absl::Status BodySink::EndFile() {
  ReceivedFile& file = files_.back();
  in_file_ = false;
  CELLBLOCK_ASSIGN_OR_RETURN(file.sha256, hash_->Hex());
  return lseek(file.content.get(), 0, SEEK_SET) == 0 ? absl::OkStatus() : sys::ErrnoStatus("rewind the upload");
}

absl::Status BodySink::Finish(HttpRequest* request) {
  if (multipart_ != nullptr) CELLBLOCK_RETURN_IF_ERROR(multipart_->Finish());
  if (in_file_) CELLBLOCK_RETURN_IF_ERROR(EndFile());
  request->body = std::move(text_);
  request->files = std::move(files_);
  return absl::OkStatus();
}

}  // namespace cellblock::front
