// One stream (stdout or stderr) of one call: raw bytes in, as they arrive; text out, live and at the end. Runs in the supervisor;
// the bytes are the guest's, hostile, and of any amount. Bytes → UTF-8 (utf8.h) → redaction (redact.h) → folding of carriage-return
// progress (line_folder.h) → head and tail within the cap (head_tail.h).
//
// What is promised:
//  - The final text depends on the bytes alone, not on how they were split or when they came. It is whole up to the cap; beyond it,
//    head and tail of half the cap each, with a line between them that says how much was left out.
//  - The live texts together have at most the cap's bytes plus one such line. While the call runs they carry the first half of the
//    cap; what Finish() returns carries the rest. Joined and folded they give the final text, less what rows that were shown and
//    then rewritten took of the cap: where that makes them too long, more of the middle is left out of them, and they say so.
//  - No character is ever split between two live texts, and no part of a redacted string is let out.
//  - Progress is shown live as "\r" and the new state of the row, at most every progress_interval.
// Memory: the cap, plus 64 KiB for a row, a literal as it is spelled (4 KiB, or where all of it is escapes 48 KiB, or 480 KiB of escapes in escapes), and a few times the slice of 64 KiB that is worked on.
#ifndef CELLBLOCK_CAPTURE_STREAM_CAPTURE_H_
#define CELLBLOCK_CAPTURE_STREAM_CAPTURE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "capture/head_tail.h"
#include "capture/line_folder.h"
#include "capture/redact.h"
#include "capture/utf8.h"
#include "cellblock/record.h"

namespace cellblock::capture {

struct StreamCaptureOptions {
  int64_t cap_bytes = int64_t{1} << 20;                        // policy.limits.output_bytes
  std::shared_ptr<const RedactionSet> redact;                  // null: nothing is redacted
  absl::Duration progress_interval = absl::Milliseconds(200);
  // Once the text is longer than the cap: gets all of it in order, from its beginning. May be null.
  std::function<void(absl::string_view)> on_whole_text;
};

class StreamCapture {
 public:
  explicit StreamCapture(StreamCaptureOptions options);
  StreamCapture(const StreamCapture&) = delete;
  StreamCapture& operator=(const StreamCapture&) = delete;

  // Takes what was read from the pipe; returns the text to show now, often empty. `now` may be any clock that goes forwards.
  std::string Append(absl::string_view bytes, absl::Time now);
  // Returns a progress state that waited for progress_interval to pass. Call it at times while the guest is silent.
  std::string Poll(absl::Time now);
  // Another event (a figure, a result) follows: returns a progress state at once, so that the order is right. Up to 3 bytes of an
  // incomplete character and the beginning of a redacted string stay held.
  std::string Border(absl::Time now);
  // The stream ended: returns the last live text. Only text(), truncation() and bytes_read() may be called afterwards.
  std::string Finish();

  const std::string& text() const { return text_; }            // after Finish()
  std::string TakeText() { return std::move(text_); }
  std::optional<StreamTruncation> truncation() const { return truncation_; }  // of text(), in its bytes; none when it is whole
  int64_t bytes_read() const { return bytes_read_; }           // raw, before any cut: what the guest wrote

 private:
  void AppendSlice(absl::string_view bytes);
  void GiveWholeText(absl::string_view text);
  void CommitText(absl::string_view text);
  void ShowRow(absl::Time now, bool force);
  void ShowProgress();
  // Adds to the live text what still fits of the first half; less than all of it closes the live text for good.
  size_t Show(absl::string_view text);
  size_t live_room() const { return cap_bytes_ / 2 - live_bytes_; }
  void CloseLive(uint64_t resume_at, bool rewrite_row);
  std::string LastLiveText(HeadTail::Tail tail);

  const size_t cap_bytes_;
  const absl::Duration progress_interval_;
  Utf8Decoder decoder_;
  Redactor redactor_;
  LineFolder folder_;
  HeadTail store_;
  int64_t bytes_read_ = 0;
  std::string text_;
  std::function<void(absl::string_view)> on_whole_text_;
  std::optional<StreamTruncation> truncation_;

  std::string live_;               // to be returned by the running Append, Poll or Border
  size_t live_bytes_ = 0;          // returned so far
  size_t live_wasted_bytes_ = 0;   // of these, rows that were rewritten, and returns
  bool live_open_ = true;
  uint64_t resume_at_ = 0;         // once closed: offset in the folded text at which Finish() goes on
  bool resume_rewrites_row_ = false;
  absl::Time last_progress_ = absl::InfinitePast();
};

}  // namespace cellblock::capture

#endif  // CELLBLOCK_CAPTURE_STREAM_CAPTURE_H_
