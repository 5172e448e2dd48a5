// Records of every kind at random, for properties that must hold for all of them. Tests only.
#ifndef CELLBLOCK_TESTS_UNIT_RENDER_RANDOM_RECORD_H_
#define CELLBLOCK_TESTS_UNIT_RENDER_RANDOM_RECORD_H_

#include <cstdint>
#include <limits>
#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "cellblock/record.h"

namespace cellblock::render {

class RandomRecords {
 public:
  explicit RandomRecords(unsigned seed) : random_(seed) {}

  Record Next() {
    Record record;
    record.id = absl::StrCat("e", Below(1000));
    record.session_id = Text();
    record.call = Number();
    record.status = static_cast<CallStatus>(Below(10));
    record.reason = Maybe() ? Text() : "";
    if (Maybe()) record.exit_code = static_cast<int>(random_());
    if (Maybe()) record.signal = static_cast<int>(Below(65));
    record.session_state = static_cast<SessionState>(Below(3));
    record.started_at = Time();
    record.stdout_text = Text();
    record.stderr_text = Text();
    for (size_t i = Below(6); i > 0; --i) record.results.push_back(AResult(record));
    for (size_t i = Below(4); i > 0; --i) record.egress.push_back(AnEgress());
    if (!record.egress.empty()) record.egress_left_out = Number();
    for (size_t i = Below(12); i > 0; --i) record.events.push_back(AnEvent(record));
    if (Maybe()) record.error = ErrorInfo{.name = Text(), .value = Text(), .traceback = Text(), .line = Below(3), .column = Below(3), .hint = Maybe() ? Text() : ""};
    for (size_t i = Below(4); i > 0; --i) record.artifacts.push_back(AnArtifact());
    AReceipt(&record.receipt);
    for (size_t i = Below(3); i > 0; --i) record.denials.push_back({.kind = "file", .subject = Text(), .rule = Text(), .count = Number()});
    if (Maybe()) record.stdout_truncation = StreamTruncation{Number(), Number(), Number()};
    if (Maybe()) record.stderr_truncation = StreamTruncation{Number(), Number(), Number()};
    return record;
  }

  // Any bytes, mostly ASCII with what JSON, Markdown and Python give a meaning to.
  std::string Text() {
    static const char* const kParts[] = {"a",    "bc ",   "\n",     "\r\n",      "\t",  "\"",   "\\",     "{",     "}",      "[",         "]",    "é",   "漢",
                                         "😀",   "\x01",  "\x7F",   "\x1B[31m",  "`",   "```",  "'''",    "\"\"\"", "# %%\n", "<script>", "&amp;", "\xFF", "\xED\xA0\x80",
                                         "\\u12", "null", "\u2028", "# %% [md]", "%%x", "!ls\n", "\n    ", "$x$",   "# In[1]:\n"};
    std::string text;
    for (size_t i = Below(12); i > 0; --i) text += Below(20) == 0 ? std::string(1, '\0') : kParts[Below(std::size(kParts))];
    return text;
  }

  uint32_t Below(uint32_t bound) { return static_cast<uint32_t>(random_()) % bound; }
  bool Maybe() { return Below(2) == 0; }

 private:
  int64_t Number() {
    switch (Below(6)) {
      case 0: return 0;
      case 1: return std::numeric_limits<int64_t>::max();
      case 2: return std::numeric_limits<int64_t>::min();
      default: return Below(100'000);
    }
  }
  absl::Duration Duration() {
    switch (Below(8)) {
      case 0: return absl::InfiniteDuration();
      case 1: return -absl::InfiniteDuration();
      case 2: return absl::ZeroDuration();
      case 3: return absl::Microseconds(Number());
      case 4: return absl::Nanoseconds(Number());
      case 5: return absl::Hours(Number());
      default: return absl::Microseconds(random_());
    }
  }
  absl::Time Time() {
    switch (Below(8)) {
      case 0: return absl::InfiniteFuture();
      case 1: return absl::InfinitePast();
      case 2: return absl::UnixEpoch();
      case 3: return absl::FromUnixSeconds(Number() / 1'000'000);  // to the year 294247
      default: return absl::FromUnixMicros(1'700'000'000'000'000 + random_());
    }
  }

  std::string GuestJson() {
    static const char* const kValues[] = {"{ \"a\" : [1, 2.50e+3, -0, 1E400, null, true] }", "{\"a\":1,\"a\":2}", "\"text\"",           "\"\\u00e9\\/\\ud83d\\ude00\\b\"", "[]", "{}",
                                          "-0.0",                                            "true",              "[NaN]",             "no JSON",                       "",   "12345678901234567890123",
                                          "null",                                            "{\"é\":\"\\u0041\"}", "{\"\\\"\":{\"]\":[\"}\"]}}"};
    return kValues[Below(std::size(kValues))];
  }

  MimeData AMime() {
    static const char* const kTypes[] = {"text/plain", "text/html", "image/png", "image/svg+xml", "application/json", "application/vnd.x.v1+json", "application/pdf", "application/x-own", "é", "\xFF", "\xFE", ""};
    MimeData data{.type = kTypes[Below(std::size(kTypes))]};
    switch (Below(4)) {
      case 0:
        data.is_json = true;
        data.data = GuestJson();
        break;
      case 1:
        data.is_text = false;
        for (size_t i = Below(9); i > 0; --i) data.data.push_back(static_cast<char>(random_()));
        break;
      case 2:
        data.data = Maybe() ? "abcd" : "iVBORw==";  // text that could be base64
        break;
      default:
        data.data = Text();
    }
    return data;
  }

  Result AResult(const Record& record) {
    if (!record.results.empty() && Below(4) == 0) {  // the same bundle again
      Result again = record.results[Below(static_cast<uint32_t>(record.results.size()))];
      again.is_value = Maybe();
      if (Maybe()) again.display_id = Maybe() ? "d1" : "";
      return again;
    }
    Result result{.metadata_json = Maybe() ? "{}" : GuestJson(), .is_value = Maybe(), .display_id = Maybe() ? "" : Maybe() ? "d1" : Text()};
    for (size_t i = Below(5); i > 0; --i) result.mime.push_back(AMime());
    return result;
  }

  Event AnEvent(const Record& record) {
    Event event;
    event.type = static_cast<Event::Type>(Below(8));
    event.time = Duration();
    event.text = Text();
    event.late = Maybe();
    event.wait = Maybe();
    event.result = Below(10) == 0 ? ~size_t{0} : Below(static_cast<uint32_t>(record.results.size()) + 1);
    return event;
  }

  Egress AnEgress() {
    Egress egress{.protocol = "http", .host = Text(), .port = Number(), .method = Text(), .path = Text(), .allowed = Maybe(), .rule = Text(), .reason = Text(), .status = Number(),
                  .sent_bytes = Number(), .received_bytes = Number(), .time = Duration()};
    if (Maybe()) egress.wall = Duration();
    for (size_t i = Below(3); i > 0; --i) egress.secrets.push_back(Text());
    return egress;
  }

  Artifact AnArtifact() {
    Artifact artifact{.id = Text(), .path = Text(), .size_bytes = Number(), .mime = Text(), .sha256 = Text(), .created = Maybe(), .call = Number(), .stored_at = Text()};
    if (Maybe()) artifact.image_size = std::make_pair(Number(), Number());
    return artifact;
  }

  void AReceipt(Receipt* receipt) {
    receipt->wall = Duration();
    receipt->cpu = Duration();
    receipt->memory_peak_bytes = Number();
    receipt->written_bytes = Number();
    receipt->output_bytes = Number();
    receipt->egress_bytes = Number();
    receipt->processes_peak = Number();
    receipt->processes_killed = Number();
    receipt->threads_kept = Number();
    for (size_t i = Below(4); i > 0; --i) receipt->limits.emplace_back(absl::StrCat("limit-", Below(3)), Text());
    for (size_t i = Below(3); i > 0; --i) receipt->limits_hit.push_back({Text(), Text()});
    for (size_t i = Below(3); i > 0; --i) receipt->layers.push_back({Text(), "enforced", Maybe() ? Text() : ""});
  }

  std::mt19937 random_;
};

}  // namespace cellblock::render

#endif  // CELLBLOCK_TESTS_UNIT_RENDER_RANDOM_RECORD_H_
