// Fuzzes what reads records back from the journal: any bytes give a record, which then comes back from its own JSON unchanged, or a short
// error. What the record says is then also taken as the code of a transcript with that record.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "base/log.h"
#include "capture/utf8.h"
#include "render/notebook.h"
#include "render/record_json.h"
#include "render/record_parse.h"
#include "render/transcript.h"

namespace {

using namespace cellblock;          // NOLINT: one file
using namespace cellblock::render;  // NOLINT: one file

void CheckTranscript(const Record& record) {
  Transcript transcript{.session_id = record.session_id, .policy = record.reason};
  transcript.calls.push_back({.code = record.stdout_text, .record = record, .note = record.reason});
  transcript.calls.push_back({.language = Language::kBash, .code = record.stderr_text});
  const std::string python = capture::ToValidUtf8(record.stdout_text), bash = "%%bash\n" + capture::ToValidUtf8(record.stderr_text);
  for (size_t bytes_max : {kTranscriptBytesMin, kTranscriptBytesMax}) {
    const std::string notebook = RenderTranscriptNotebook(transcript, bytes_max);
    const std::string script = RenderTranscriptScript(transcript, bytes_max);
    CELLBLOCK_CHECK(notebook.size() <= bytes_max && script.size() <= bytes_max);
    CELLBLOCK_CHECK(RenderTranscriptMarkdown(transcript, bytes_max).size() <= bytes_max);
    absl::StatusOr<std::vector<NotebookCell>> cells = ParseNotebook(notebook), script_cells = SplitPercentCells(script);
    CELLBLOCK_CHECK(cells.ok() && script_cells.ok());
    if (bytes_max != kTranscriptBytesMax || notebook.size() > bytes_max / 2) continue;
    CELLBLOCK_CHECK(cells->size() == 2 && (*cells)[0].source == python && (*cells)[1].source == bash);
    CELLBLOCK_CHECK(script_cells->size() == 3 && (*script_cells)[2].source == bash);
    CELLBLOCK_CHECK(absl::StrContains(python, (*script_cells)[1].source));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  absl::StatusOr<Record> record = ParseRecordJson(absl::string_view(reinterpret_cast<const char*>(data), size));
  if (!record.ok()) {
    CELLBLOCK_CHECK(absl::IsDataLoss(record.status()));
    CELLBLOCK_CHECK(record.status().message().size() < 500);
    CELLBLOCK_CHECK(capture::IsValidUtf8(record.status().message()));
    return 0;
  }
  for (const Event& event : record->events) CELLBLOCK_CHECK(event.result < record->results.size() || event.result == kNoResult || event.result == 0);
  const std::string json = RenderRecordJson(*record);
  absl::StatusOr<Record> again = ParseRecordJson(json);
  CELLBLOCK_CHECK(again.ok());
  CELLBLOCK_CHECK(RenderRecordJson(*again) == json);
  CheckTranscript(*record);
  return 0;
}
