// A session with a call of every kind, for the tests of transcripts. Tests only.
#ifndef CELLBLOCK_TESTS_UNIT_RENDER_SAMPLE_TRANSCRIPT_H_
#define CELLBLOCK_TESTS_UNIT_RENDER_SAMPLE_TRANSCRIPT_H_

#include <string>
#include <utility>

#include "render/transcript.h"
#include "tests/unit/render/random_record.h"

namespace cellblock::render {

inline Record Ended(int64_t call, CallStatus status) {
  Record record;
  record.call = call;
  record.status = status;
  record.receipt.wall = absl::Milliseconds(1500);
  return record;
}

inline TranscriptCall FigureCall() {
  Record record = Ended(1, CallStatus::kOk);
  record.results.push_back({.mime = {{.type = "text/plain", .data = "<Figure>"}, {.type = "image/png", .data = std::string("\x89PNG\0", 5), .is_text = false}}, .metadata_json = "{}"});
  record.results.push_back({.mime = {{.type = "text/plain", .data = "42"}}, .metadata_json = "{}", .is_value = true});
  record.events = {{.type = Event::Type::kStdout, .text = "hello\n"}, {.type = Event::Type::kDisplay, .result = 0}, {.type = Event::Type::kResult, .result = 1}};
  record.artifacts.push_back({.id = "a1", .path = "out/p.png", .size_bytes = 10, .mime = "image/png", .sha256 = "ab", .call = 1});
  return {.code = "plot()\n42\n", .started_at = absl::FromUnixSeconds(1700000000), .record = std::move(record)};
}

inline TranscriptCall ErrorCall() {
  Record record = Ended(3, CallStatus::kError);
  record.error = ErrorInfo{.name = "ValueError", .value = "bad", .traceback = "Traceback:\nValueError: bad", .hint = "Try again."};
  record.events = {{.type = Event::Type::kError}};
  return {.code = "raise ValueError('bad')", .record = std::move(record)};
}

// Python; bash; an error; a time-out; rejected; lost; without a record.
inline Transcript SampleTranscript() {
  Transcript transcript{.session_id = "s-1", .policy = "default"};
  transcript.calls.push_back(FigureCall());
  Record bash = Ended(2, CallStatus::kError);
  bash.exit_code = 3;
  bash.reason = "bash ended with 3";
  transcript.calls.push_back({.language = Language::kBash, .code = "ls '*'\nexit 3\n", .record = std::move(bash)});
  transcript.calls.push_back(ErrorCall());
  Record timeout = Ended(4, CallStatus::kTimeout);
  timeout.reason = "It ran longer than limits.wall, 120 s.";
  timeout.session_state = SessionState::kRestarted;
  transcript.calls.push_back({.code = "%matplotlib inline\nwhile True: pass", .record = std::move(timeout)});
  Record rejected = Ended(0, CallStatus::kRejected);
  rejected.reason = "The queue is full.";
  transcript.calls.push_back({.code = "too_many()", .record = std::move(rejected)});
  Record lost = Ended(5, CallStatus::kLost);
  lost.reason = "The supervisor ended.";
  transcript.calls.push_back({.code = "x = '''\n# %%\n'''", .record = std::move(lost)});
  transcript.calls.push_back({.code = "forever()", .note = "It still runs."});
  return transcript;
}

inline Transcript RandomTranscript(RandomRecords& random, size_t calls) {
  Transcript transcript{.session_id = random.Text(), .policy = random.Text()};
  for (size_t i = 0; i < calls; ++i) {
    TranscriptCall call{.language = random.Below(4) == 0 ? Language::kBash : Language::kPython, .code = random.Text(), .note = random.Maybe() ? random.Text() : ""};
    if (random.Below(5) != 0) call.record = random.Next();
    if (call.record.has_value()) call.started_at = call.record->started_at;
    transcript.calls.push_back(std::move(call));
  }
  return transcript;
}

}  // namespace cellblock::render

#endif  // CELLBLOCK_TESTS_UNIT_RENDER_SAMPLE_TRANSCRIPT_H_
