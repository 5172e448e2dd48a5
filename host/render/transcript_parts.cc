// See transcript_parts.h.
#include "render/transcript_parts.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "capture/utf8.h"

namespace cellblock::render {
namespace {

constexpr size_t kFrameBytes = 8 * 1024;  // what stands around the calls: session, policy, calls left out; names are at most doubled by escapes
constexpr size_t kNoteBytes = 512;        // for the sentence about a call's outputs, as it is written in the longest form

}  // namespace

TranscriptLayout::TranscriptLayout(const Transcript& transcript, size_t bytes_max, absl::FunctionRef<std::string(const TranscriptCall&, size_t index)> code_of)
    : bytes_max_(std::max(bytes_max, kTranscriptBytesMin)), bytes_left_(bytes_max_ - kFrameBytes), calls_left_out_(transcript.calls_left_out) {
  for (const TranscriptCall& call : transcript.calls) {
    // Text is longer in every form than it is itself: what cannot fit is not written first.
    std::string code = codes_.size() < kTranscriptCallsMax && call.code.size() < bytes_left_ ? code_of(call, codes_.size()) : "";
    const size_t needed = code.size() + kNoteBytes;
    if (code.empty() || needed > bytes_left_) break;
    bytes_left_ -= needed;
    codes_.push_back(std::move(code));
  }
  calls_left_out_ += static_cast<int64_t>(transcript.calls.size() - codes_.size());
}

void TranscriptLayout::Add(absl::string_view output, std::string* out) {
  if (output.size() > bytes_left_) {
    ++outputs_left_out_;
    output_bytes_left_out_ += output.size();
    return;
  }
  bytes_left_ -= output.size();
  out->append(output.data(), output.size());
}

std::string TranscriptLayout::LeftOutOutputs() {
  if (outputs_left_out_ == 0) return "";
  std::string sentence = absl::StrCat(outputs_left_out_, outputs_left_out_ == 1 ? " output" : " outputs", " of this call (", output_bytes_left_out_,
                                      " bytes) left out: a transcript has at most ", bytes_max_, " bytes.");
  outputs_left_out_ = 0;
  output_bytes_left_out_ = 0;
  return sentence;
}

std::string TranscriptLayout::LeftOutCalls() const {
  if (calls_left_out_ == 0) return "";
  return absl::StrCat(calls_left_out_, calls_left_out_ == 1 ? " later call" : " later calls", " left out: a transcript has at most ", kTranscriptCallsMax, " calls and ",
                      bytes_max_, " bytes.");
}

std::vector<std::vector<Output>> OutputsOf(const Transcript& transcript, size_t calls) {
  std::vector<const Record*> records(calls);
  for (size_t i = 0; i < calls; ++i) {
    if (transcript.calls[i].record.has_value()) records[i] = &*transcript.calls[i].record;
  }
  return ReplayOutputs(records);
}

std::string OneLine(absl::string_view text, size_t bytes_max) {
  constexpr absl::string_view kCut = "…";
  std::string line = capture::ToValidUtf8(text);
  if (line.size() > bytes_max) {
    line.resize(capture::FloorToCharacter(line, bytes_max - kCut.size()));
    line.append(kCut.data(), kCut.size());
  }
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  }
  return line;
}

std::string CallLabel(const TranscriptCall& call) {
  const bool has_number = call.record.has_value() && call.record->status != CallStatus::kRejected && call.record->call > 0;
  return has_number ? absl::StrCat("call ", call.record->call) : "a call without a number";
}

absl::string_view EndingLabel(const TranscriptCall& call) { return call.record.has_value() ? CallStatusName(call.record->status) : "end unknown"; }

std::string NoteOf(const TranscriptCall& call) {
  if (call.note.empty() && !call.record.has_value()) return "How this call ended is not known.";
  return call.note;
}

std::string StartOf(const TranscriptCall& call) {
  if (call.started_at == absl::InfiniteFuture() || call.started_at == absl::InfinitePast()) return "";
  return absl::FormatTime("%E4Y-%m-%dT%H:%M:%SZ", call.started_at, absl::UTCTimeZone());
}

}  // namespace cellblock::render
