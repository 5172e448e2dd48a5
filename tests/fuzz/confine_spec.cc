// Fuzzes the decoder of confinement specs: any bytes give a spec within its bounds that encodes and decodes to itself, or a short
// error. A worker locks itself by what comes out.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/log.h"
#include "confine/confine.h"

using namespace cellblock::confine;  // NOLINT: one file

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  absl::StatusOr<Spec> spec = DecodeSpec(absl::string_view(reinterpret_cast<const char*>(data), size));
  if (!spec.ok()) {
    CELLBLOCK_CHECK(absl::IsInvalidArgument(spec.status()));
    CELLBLOCK_CHECK(spec.status().message().size() < 1200);  // a path is quoted, escaped, up to 200 bytes
    return 0;
  }
  CELLBLOCK_CHECK(ValidateSpec(*spec).ok());
  for (const auto* list : {&spec->read_only_paths, &spec->writable_paths, &spec->listable_paths}) CELLBLOCK_CHECK(list->size() <= kPathsMax);
  const std::string once = EncodeSpec(*spec);
  CELLBLOCK_CHECK(once.size() <= kSpecBytesMax);
  absl::StatusOr<Spec> again = DecodeSpec(once);
  CELLBLOCK_CHECK(again.ok() && EncodeSpec(*again) == once);
  // A report may name any step and detail; what it says is bounded too.
  Report report;
  report.failure = {.step = static_cast<int32_t>(size % 32), .error = static_cast<int32_t>(size % 140), .detail = static_cast<int32_t>(spec->open_files)};
  CELLBLOCK_CHECK(ReportStatus(report, *spec).message().size() < 4 * kPathBytesMax + 1000);
  return 0;
}
