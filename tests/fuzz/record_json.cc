// Fuzzes what reads records back from the journal: any bytes give a record, which then comes back from its own JSON unchanged, or a short
// error.
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "base/log.h"
#include "capture/utf8.h"
#include "render/record_json.h"
#include "render/record_parse.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cellblock;  // NOLINT: one function
  absl::StatusOr<Record> record = render::ParseRecordJson(absl::string_view(reinterpret_cast<const char*>(data), size));
  if (!record.ok()) {
    CELLBLOCK_CHECK(absl::IsDataLoss(record.status()));
    CELLBLOCK_CHECK(record.status().message().size() < 500);
    CELLBLOCK_CHECK(capture::IsValidUtf8(record.status().message()));
    return 0;
  }
  for (const Event& event : record->events) CELLBLOCK_CHECK(event.result < record->results.size() || event.result == render::kNoResult || event.result == 0);
  const std::string json = render::RenderRecordJson(*record);
  absl::StatusOr<Record> again = render::ParseRecordJson(json);
  CELLBLOCK_CHECK(again.ok());
  CELLBLOCK_CHECK(render::RenderRecordJson(*again) == json);
  return 0;
}
