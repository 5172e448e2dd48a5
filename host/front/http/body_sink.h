// Where a body goes as it arrives: a JSON text into memory up to a limit, files onto the disk under no name, hashed on the way.
// Supervisor; every byte is a client's.
#ifndef CELLBLOCK_FRONT_HTTP_BODY_SINK_H_
#define CELLBLOCK_FRONT_HTTP_BODY_SINK_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "front/http/incoming_bytes.h"
#include "front/http/message.h"
#include "front/http/multipart.h"
#include "service/service.h"
#include "sys/sha256.h"

namespace cellblock::front {

inline constexpr size_t kFilesMax = 100;  // of one request: each holds a descriptor until the request is answered

class BodySink {
 public:
  BodySink(std::string folder, size_t text_bytes_max) : folder_(std::move(folder)), text_bytes_max_(text_bytes_max) {}

  // Of the files to come: how much each may have, and where their sum is counted; the share outlives this. Without: nothing bounds them here.
  void LimitFiles(service::UploadLimit limit, IncomingBytes::Share* share);

  absl::Status BeginFile(absl::string_view path);          // the whole body is one file
  absl::Status BeginMultipart(absl::string_view boundary); // files, and a text field "request"
  absl::Status Write(absl::string_view piece);
  // The body is complete: what came is put into the request.
  absl::Status Finish(HttpRequest* request);

 private:
  absl::Status BeginPart(const Part& part);
  absl::Status WritePart(absl::string_view piece);
  absl::Status EndFile();

  const std::string folder_;
  const size_t text_bytes_max_;
  std::unique_ptr<MultipartReader> multipart_;
  bool in_file_ = false;
  bool has_text_ = false;                                  // the field "request" has come
  std::string text_;
  std::vector<ReceivedFile> files_;
  int64_t files_bytes_ = 0;
  service::UploadLimit limit_;
  IncomingBytes::Share* share_ = nullptr;
  std::optional<sys::Sha256> hash_;
};

}  // namespace cellblock::front

#endif  // CELLBLOCK_FRONT_HTTP_BODY_SINK_H_
