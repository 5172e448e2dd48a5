// See json_writer.h.
#include "render/json_writer.h"

#include <cstring>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "capture/json_text.h"
#include "capture/utf8.h"

namespace cellblock::render {
namespace {

constexpr uint64_t kOnes = 0x0101010101010101u;
constexpr uint64_t kHigh = 0x8080808080808080u;

// The high bit of every byte of `word` that is zero (and perhaps of bytes above it: enough to know whether there is one).
uint64_t ZeroBytes(uint64_t word) { return (word - kOnes) & ~word & kHigh; }

bool NeedsEscape(char c) { return static_cast<uint8_t>(c) < 0x20 || c == '"' || c == '\\'; }

// Length of the run at the front that can be copied as it stands, eight bytes at a time.
size_t PlainRun(absl::string_view text) {
  size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    uint64_t word;
    std::memcpy(&word, text.data() + at, 8);
    uint64_t controls = ZeroBytes(word & (kOnes * 0xE0));  // no bit above the low five: below 0x20
    if ((controls | ZeroBytes(word ^ (kOnes * '"')) | ZeroBytes(word ^ (kOnes * '\\'))) != 0) break;
  }
  while (at < text.size() && !NeedsEscape(text[at])) ++at;
  return at;
}

}  // namespace

void JsonWriter::Separate() {
  if (comma_) out_->push_back(',');
  comma_ = true;
}

void JsonWriter::Open(char bracket) {
  Separate();
  out_->push_back(bracket);
  comma_ = false;
}

void JsonWriter::Close(char bracket) {
  out_->push_back(bracket);
  comma_ = true;
}

void JsonWriter::Key(absl::string_view name) {
  String(name);
  out_->push_back(':');
  comma_ = false;
}

void JsonWriter::String(absl::string_view text) {
  Separate();
  out_->push_back('"');
  if (capture::IsValidUtf8(text)) {
    Escape(text);
  } else {
    Escape(capture::ToValidUtf8(text));
  }
  out_->push_back('"');
}

void JsonWriter::Escape(absl::string_view text) {
  while (true) {
    size_t plain = PlainRun(text);
    out_->append(text.data(), plain);
    if (plain == text.size()) return;
    char c = text[plain];
    switch (c) {
      case '"': out_->append("\\\""); break;
      case '\\': out_->append("\\\\"); break;
      case '\n': out_->append("\\n"); break;
      case '\r': out_->append("\\r"); break;
      case '\t': out_->append("\\t"); break;
      default: absl::StrAppend(out_, "\\u00", absl::Hex(static_cast<uint8_t>(c), absl::kZeroPad2));
    }
    text.remove_prefix(plain + 1);
  }
}

void JsonWriter::Base64(absl::string_view bytes) {
  Separate();
  absl::StrAppend(out_, "\"", absl::Base64Escape(bytes), "\"");
}

void JsonWriter::Int(int64_t value) {
  Separate();
  absl::StrAppend(out_, value);
}

void JsonWriter::Bool(bool value) {
  Separate();
  out_->append(value ? "true" : "false");
}

void JsonWriter::Null() {
  Separate();
  out_->append("null");
}

void JsonWriter::Seconds(absl::Duration value) {
  if (value == absl::InfiniteDuration() || value == -absl::InfiniteDuration()) return Null();
  Separate();
  int64_t micros = absl::ToInt64Microseconds(value);
  uint64_t size = micros < 0 ? 0 - static_cast<uint64_t>(micros) : static_cast<uint64_t>(micros);
  if (micros < 0) out_->push_back('-');
  absl::StrAppend(out_, size / 1'000'000);
  if (size % 1'000'000 == 0) return;
  absl::StrAppend(out_, ".", absl::Dec(size % 1'000'000, absl::kZeroPad6));
  while (out_->back() == '0') out_->pop_back();
}

void JsonWriter::Time(absl::Time value) {
  if (value == absl::InfiniteFuture() || value == absl::InfinitePast()) return Null();
  String(absl::FormatTime("%E4Y-%m-%dT%H:%M:%E6SZ", value, absl::UTCTimeZone()));
}

void JsonWriter::JsonOrString(absl::string_view text) {
  size_t before = out_->size();
  bool comma = comma_;
  Separate();
  if (capture::AppendCompactJson(text, out_)) return;
  out_->resize(before);
  comma_ = comma;
  String(text);
}

void JsonWriter::JsonObject(absl::string_view text) {
  Separate();
  size_t before = out_->size();
  if (capture::AppendCompactJson(text, out_) && (*out_)[before] == '{') return;
  out_->resize(before);
  out_->append("{}");
}

void JsonWriter::Member(absl::string_view name, absl::string_view text) {
  Key(name);
  String(text);
}

void JsonWriter::Member(absl::string_view name, int64_t value) {
  Key(name);
  Int(value);
}

void JsonWriter::Member(absl::string_view name, absl::Duration value) {
  Key(name);
  Seconds(value);
}

}  // namespace cellblock::render
