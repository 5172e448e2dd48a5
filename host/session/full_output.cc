// See full_output.h.
#include "session/full_output.h"

#include <fcntl.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "capture/utf8.h"
#include "sys/files.h"

namespace cellblock::session {

void FullOutput::Append(Event::Type type, absl::string_view text) {
  Stream& stream = type == Event::Type::kStderr ? errors_ : output_;
  if (stream.cut) return;
  if (!stream.file.valid()) {
    absl::StatusOr<UniqueFd> file = sys::Open(store_.directory(), O_RDWR | O_TMPFILE, 0600);
    if (!file.ok()) {
      Log(LogLevel::kWarning, absl::StrCat("the full text of a stream is not kept: ", file.status().message()));
      stream.cut = true;
      return;
    }
    stream.file = *std::move(file);
  }
  const size_t room = static_cast<size_t>(limits_.full_output_bytes - stream.bytes);
  const absl::string_view fits = text.substr(0, capture::FloorToCharacter(text, std::min(room, text.size())));
  const bool written = sys::WriteAll(stream.file.get(), fits).ok();
  stream.cut = !written || fits.size() < text.size();
  stream.bytes += static_cast<int64_t>(fits.size());
}

void FullOutput::FinishOne(Stream& stream, const char* name, std::optional<StreamTruncation>& truncation, Record& record) {
  if (!stream.file.valid() || !truncation.has_value()) return;
  absl::StatusOr<artifact::StoredCopy> copy = store_.Copy(stream.file.get(), limits_.full_output_bytes);
  if (!copy.ok()) {
    record.receipt.limits_hit.push_back({"artifacts", absl::StrCat("the full text of ", name, " could not be kept: ", std::string(copy.status().message()))});
    return;
  }
  if (stream.cut) {
    record.receipt.limits_hit.push_back({"artifacts", absl::StrCat("of ", name, " the first ", copy->size_bytes, " bytes are kept (artifacts.full_output is ", limits_.full_output_bytes, ")")});
  }
  truncation->artifact_id = copy->id;
  Artifact artifact;
  artifact.id = std::move(copy->id);
  artifact.path = absl::StrCat(name, "-of-call-", record.call, ".txt");
  artifact.size_bytes = copy->size_bytes;
  artifact.mime = "text/plain";
  artifact.sha256 = std::move(copy->sha256);
  artifact.call = record.call;
  artifact.stored_at = std::move(copy->path);
  record.artifacts.push_back(std::move(artifact));
}

void FullOutput::Finish(Record& record) {
  FinishOne(output_, "stdout", record.stdout_truncation, record);
  FinishOne(errors_, "stderr", record.stderr_truncation, record);
}

}  // namespace cellblock::session
