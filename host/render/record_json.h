// The record as the one JSON that the HTTP API and `cellblock run --json` give: the names are part of the API, the JSON is strict, on one
// line. Pure functions, run in the supervisor. Text, bundles and metadata in the record are a guest's: they are data here, never structure.
#ifndef CELLBLOCK_RENDER_RECORD_JSON_H_
#define CELLBLOCK_RENDER_RECORD_JSON_H_

#include <string>

#include "cellblock/record.h"

namespace cellblock::render {

// No newline at the end. Absent values are null; NaN and infinity never appear; bytes are base64, and only where a MIME type is binary.
std::string RenderRecordJson(const Record& record);
// About as many bytes as that has where its text needs no escapes: the size of what the record holds, not a bound.
size_t RecordJsonBytes(const Record& record);

// One event as it stands in the record's `events`, for streams of events. `record` holds its results and error.
std::string RenderEventJson(const Event& event, const Record& record);

}  // namespace cellblock::render

#endif  // CELLBLOCK_RENDER_RECORD_JSON_H_
