// What the forms of a transcript share: how its length is kept to, and what is said of a call and of what is left out. Runs in the
// supervisor.
#ifndef CELLBLOCK_RENDER_TRANSCRIPT_PARTS_H_
#define CELLBLOCK_RENDER_TRANSCRIPT_PARTS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "render/outputs.h"
#include "render/transcript.h"

namespace cellblock::render {

inline constexpr size_t kTranscriptNameMax = 256;  // of the session's id and the policy's name, as shown

// Shares the bytes of a document among its calls: first the code of each, then outputs.
class TranscriptLayout {
 public:
  // `code_of` gives the text that each call has in any case.
  TranscriptLayout(const Transcript& transcript, size_t bytes_max, absl::FunctionRef<std::string(const TranscriptCall&, size_t index)> code_of);

  size_t calls() const { return codes_.size(); }              // that fit
  int64_t calls_left_out() const { return calls_left_out_; }
  const std::string& code(size_t call) const { return codes_[call]; }

  // Appends `output`, below code(call), if it fits.
  void Add(absl::string_view output, std::string* out);
  // What Add has left out since the last time, in a sentence; empty when nothing. There is always room for it.
  std::string LeftOutOutputs();
  // The sentence about later calls; empty when there are none.
  std::string LeftOutCalls() const;

 private:
  size_t bytes_max_;
  size_t bytes_left_;
  std::vector<std::string> codes_;
  int64_t calls_left_out_;
  int64_t outputs_left_out_ = 0;
  size_t output_bytes_left_out_ = 0;
};

// The outputs of the transcript's first `calls` calls.
std::vector<std::vector<Output>> OutputsOf(const Transcript& transcript, size_t calls);

// On one line, without control characters, at most `bytes_max` long; cut text ends with "…".
std::string OneLine(absl::string_view text, size_t bytes_max);

// "call 3", or "a call without a number".
std::string CallLabel(const TranscriptCall& call);

// "ok", "error" …; "end unknown" without a record.
absl::string_view EndingLabel(const TranscriptCall& call);

// The note, and a sentence of our own where there is neither note nor record; empty otherwise.
std::string NoteOf(const TranscriptCall& call);

// RFC 3339 to the second, in UTC; empty when not known.
std::string StartOf(const TranscriptCall& call);

}  // namespace cellblock::render

#endif  // CELLBLOCK_RENDER_TRANSCRIPT_PARTS_H_
