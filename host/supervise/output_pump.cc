// See output_pump.h.
#include "supervise/output_pump.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "capture/redact_json.h"
#include "capture/utf8.h"

namespace cellblock::supervise {
namespace {

constexpr size_t kMetadataBytesMax = 64 * 1024;
constexpr size_t kMimeEntriesMax = 32;    // representations of one value
constexpr size_t kMimeTypeBytesMax = 256;
constexpr size_t kDisplayIdBytesMax = 256;

capture::StreamCaptureOptions StreamOptions(const Policy& policy, std::shared_ptr<const capture::RedactionSet> redact, Event::Type stream, const WholeText& on_whole_text) {
  capture::StreamCaptureOptions options;
  options.cap_bytes = policy.limits.output_bytes;
  options.redact = std::move(redact);
  if (on_whole_text) options.on_whole_text = [stream, on_whole_text](absl::string_view text) { on_whole_text(stream, text); };
  return options;
}

int64_t BytesOf(const wire::GuestOutput& output) {
  size_t bytes = output.metadata.size() + output.display_id.size();
  for (const std::string& part : output.mime) bytes += part.size();
  return static_cast<int64_t>(bytes);
}

}  // namespace

OutputPump::OutputPump(const Policy& policy, std::shared_ptr<const capture::RedactionSet> redact, std::function<void(const Event&, const Record&)> on_event,
                       const WholeText& on_whole_text, absl::Time start, Record& record)
    : policy_(policy),
      redact_(redact),
      on_event_(std::move(on_event)),
      start_(start),
      record_(record),
      output_(StreamOptions(policy, redact, Event::Type::kStdout, on_whole_text)),
      errors_(StreamOptions(policy, redact, Event::Type::kStderr, on_whole_text)) {}

std::string OutputPump::Clean(absl::string_view text) const {
  std::string valid = capture::ToValidUtf8(text);
  return redact_ == nullptr ? valid : capture::Redact(redact_, valid);
}

std::string OutputPump::CleanJson(absl::string_view json) const {
  std::string valid = capture::ToValidUtf8(json);
  return redact_ == nullptr ? valid : capture::RedactJson(redact_, valid);
}

// Cut after it is clean, for the beginning of a redacted text at the cut would stay.
std::string OutputPump::CleanUpTo(size_t bytes_max, absl::string_view text) const {
  std::string clean = Clean(text);
  clean.resize(capture::FloorToCharacter(clean, bytes_max));
  return clean;
}

void OutputPump::EmitText(Event::Type type, const std::string& text, bool late) {
  if (text.empty()) return;
  absl::Duration time = absl::Now() - start_;
  events_.AddText(type, text, time, late);
  if (!on_event_) return;
  Event event;
  event.type = type;
  event.time = time;
  event.text = text;
  event.late = late;
  on_event_(event, record_);
}

void OutputPump::Emit(Event event, bool keep) {
  event.time = absl::Now() - start_;
  if (keep) keep = events_.Add(event);
  if (on_event_) on_event_(event, record_);
}

void OutputPump::AddLate(absl::string_view output, absl::string_view errors) {
  // Text of an earlier call: shown and marked, but no part of this call's stdout_text.
  EmitText(Event::Type::kStdout, Clean(output), true);
  EmitText(Event::Type::kStderr, Clean(errors), true);
}

bool OutputPump::DrainOne(int fd, Event::Type type, capture::StreamCapture& stream) {
  std::array<char, 65536> chunk;
  int64_t total = 0;
  while (total < kDrainBytesMax) {
    ssize_t count = read(fd, chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return true;  // EAGAIN: nothing more for now
    if (count == 0) return false;
    total += count;
    EmitText(type, stream.Append(absl::string_view(chunk.data(), static_cast<size_t>(count)), absl::Now()), false);
  }
  return true;
}

OutputPump::Open OutputPump::Drain(int output_fd, int errors_fd) {
  Open open;
  if (output_fd >= 0) open.output = DrainOne(output_fd, Event::Type::kStdout, output_);
  if (errors_fd >= 0) open.errors = DrainOne(errors_fd, Event::Type::kStderr, errors_);
  return open;
}

void OutputPump::Poll() {
  EmitText(Event::Type::kStdout, output_.Poll(absl::Now()), false);
  EmitText(Event::Type::kStderr, errors_.Poll(absl::Now()), false);
}

void OutputPump::Borders() {
  EmitText(Event::Type::kStdout, output_.Border(absl::Now()), false);
  EmitText(Event::Type::kStderr, errors_.Border(absl::Now()), false);
}

void OutputPump::AddOutput(Event::Type type, wire::GuestOutput output) {
  Borders();
  int64_t bytes = BytesOf(output);
  if (record_.results.size() >= static_cast<size_t>(policy_.limits.results) || result_bytes_ + bytes > policy_.limits.result_bytes) {
    ++results_dropped_;
    return;
  }
  result_bytes_ += bytes;
  Result result;
  result.is_value = type == Event::Type::kResult;
  result.display_id = CleanUpTo(kDisplayIdBytesMax, output.display_id);
  result.metadata_json = output.metadata.size() <= kMetadataBytesMax ? CleanJson(output.metadata) : "{}";
  bool has_text = false;
  for (size_t i = 0; i + 2 < output.mime.size() && result.mime.size() < kMimeEntriesMax; i += 3) {
    MimeData data;
    data.type = CleanUpTo(kMimeTypeBytesMax, output.mime[i]);
    data.is_text = output.mime[i + 1] != "b";
    data.is_json = output.mime[i + 1] == "j";
    if (data.is_json) {
      data.data = CleanJson(output.mime[i + 2]);
    } else {
      data.data = data.is_text ? Clean(output.mime[i + 2]) : std::move(output.mime[i + 2]);
    }
    has_text = has_text || data.type == "text/plain";
    result.mime.push_back(std::move(data));
  }
  if (!has_text) result.mime.insert(result.mime.begin(), MimeData{"text/plain", "", true, false});
  record_.results.push_back(std::move(result));
  Event event;
  event.type = type;
  event.result = record_.results.size() - 1;
  Emit(event, true);
}

void OutputPump::AddError(wire::GuestError error) {
  Borders();
  if (record_.error.has_value()) return;  // the first one counts; a guest cannot grow the record by sending more
  ErrorInfo info;
  info.name = Clean(error.name);
  info.value = Clean(error.value);
  info.traceback = Clean(error.traceback);
  info.hint = Clean(error.hint);
  info.line = static_cast<int64_t>(error.line & 0x7fffffff);
  info.column = static_cast<int64_t>(error.column & 0x7fffffff);
  record_.error = std::move(info);
}

void OutputPump::AddClear(bool wait) {
  Borders();
  Event event;
  event.type = Event::Type::kClear;
  event.wait = wait;
  Emit(event, true);
}

void OutputPump::AddEgress(Egress egress) {
  for (std::string* text : {&egress.host, &egress.method, &egress.path, &egress.rule, &egress.reason}) *text = Clean(*text);
  record_.egress.push_back(std::move(egress));
  Event event;
  event.type = Event::Type::kEgress;
  event.result = record_.egress.size() - 1;
  Emit(event, true);
}

void OutputPump::Finish() {
  EmitText(Event::Type::kStdout, output_.Finish(), false);
  EmitText(Event::Type::kStderr, errors_.Finish(), false);
  if (record_.error.has_value()) {  // after what was cut in the middle: it is the last thing of a call
    Event event;
    event.type = Event::Type::kError;
    Emit(event, true);
  }
  record_.receipt.output_bytes = output_.bytes_read() + errors_.bytes_read();
  record_.stdout_truncation = output_.truncation();
  record_.stderr_truncation = errors_.truncation();
  record_.stdout_text = output_.TakeText();
  record_.stderr_text = errors_.TakeText();
  record_.events = events_.Take();
  for (const auto& [name, truncation] : {std::pair<const char*, const std::optional<StreamTruncation>&>{"stdout", record_.stdout_truncation}, {"stderr", record_.stderr_truncation}}) {
    if (!truncation.has_value()) continue;
    record_.receipt.limits_hit.push_back({"output", absl::StrCat(name, " was cut to limits.output (", policy_.limits.output_bytes, "): ", truncation->dropped_bytes, " bytes left out")});
  }
  if (results_dropped_ > 0) {
    record_.receipt.limits_hit.push_back({"results", absl::StrCat(results_dropped_, " results were left out: over limits.results (", policy_.limits.results, ") or limits.result_size (",
                                                                  policy_.limits.result_bytes, ")")});
  }
}

}  // namespace cellblock::supervise
