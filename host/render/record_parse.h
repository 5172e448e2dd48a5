// Reads a record back from the JSON that RenderRecordJson wrote, for what is made of records later: transcripts of sessions that the
// journal holds. Pure function, run in the supervisor. The JSON is ours and the texts in it are a guest's; since a file can be damaged,
// nothing in it is taken for granted.
#ifndef CELLBLOCK_RENDER_RECORD_PARSE_H_
#define CELLBLOCK_RENDER_RECORD_PARSE_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cellblock/record.h"

namespace cellblock::render {

inline constexpr size_t kRecordJsonBytesMax = size_t{1} << 30;  // more than SQLite takes as one value (1e9)
inline constexpr size_t kRecordItemsMax = 100'000;              // of one list: as many as policies allow artifacts, more than events or results
inline constexpr size_t kRecordMembersMax = 64;                 // of one object of ours

// The inverse of RenderRecordJson: rendered again, the record gives the same bytes, whatever it holds. kDataLoss says what is missing,
// wrong or too many, and where; kResourceExhausted beyond kRecordJsonBytesMax. Members that are not known are passed over, as a later version may have
// written them. What the JSON does not tell is guessed or lost:
// - Artifact::stored_at, `late` of events without text, and the display id of events are not in it; the results have theirs.
// - Times are to the microsecond. An infinite one is null, whatever its sign: it comes back as InfiniteDuration() or InfiniteFuture().
// - Which result an event shows is found by what it shows: the next one with that bundle. An event without a bundle, whose index led
//   nowhere, comes back with kNoResult.
// - Whether a string in a bundle is text, JSON or bytes in base64 is told by its type, as the guest's side does it.
// - Bytes that were no UTF-8, and what a type or name that came twice said the second time, were lost in writing.
absl::StatusOr<Record> ParseRecordJson(absl::string_view json);

inline constexpr size_t kNoResult = ~size_t{0};  // Event::result that leads nowhere

}  // namespace cellblock::render

#endif  // CELLBLOCK_RENDER_RECORD_PARSE_H_
