// Fuzzes the encoder of Server-Sent Events: whatever an event's data is, a reader that follows the HTML standard gets it back, with every
// kind of line end as a line feed, and nothing in it can end the event, begin another or change its type. Events are cut at 0xff bytes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/log.h"
#include "front/http/event_stream.h"

namespace {

using namespace cellblock::front;  // NOLINT: one file

struct Received {
  std::string type, id, data;
};

// The HTML standard, section 9.2.6: lines end with CR LF, LF or CR; an empty line gives out the event; one space after the colon goes.
std::vector<Received> Decode(const std::string& stream) {
  std::vector<Received> events;
  Received event;
  bool has_data = false;
  const std::string text = absl::StrReplaceAll(stream, {{"\r\n", "\n"}, {"\r", "\n"}});
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (line.empty()) {
      if (has_data) events.push_back(event);
      event = {};
      has_data = false;
      continue;
    }
    const size_t colon = line.find(':');
    if (colon == 0) continue;  // a comment
    const absl::string_view name = line.substr(0, colon);
    absl::string_view value = colon == absl::string_view::npos ? "" : line.substr(colon + 1);
    if (absl::StartsWith(value, " ")) value.remove_prefix(1);
    if (name == "event") event.type = std::string(value);
    if (name == "id") event.id = std::string(value);
    if (name == "data") absl::StrAppend(&event.data, has_data ? "\n" : "", value);
    has_data = has_data || name == "data";
  }
  return events;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<std::string> sent = absl::StrSplit(absl::string_view(reinterpret_cast<const char*>(data), size), '\xff');
  EventStream stream;
  std::string text;
  for (size_t i = 0; i < sent.size(); ++i) {
    stream.Push(EncodeEvent("stdout", absl::StrCat(i), sent[i]));
    if (i % 2 == 1) absl::StrAppend(&text, ": keep-alive\n\n", stream.Take());
  }
  stream.Close();
  CELLBLOCK_CHECK(!stream.overflowed());
  absl::StrAppend(&text, stream.Take());
  CELLBLOCK_CHECK(stream.finished());
  const std::vector<Received> events = Decode(text);
  CELLBLOCK_CHECK(events.size() == sent.size());
  for (size_t i = 0; i < sent.size(); ++i) {
    CELLBLOCK_CHECK(events[i].type == "stdout");
    CELLBLOCK_CHECK(events[i].id == absl::StrCat(i));
    CELLBLOCK_CHECK(events[i].data == absl::StrReplaceAll(sent[i], {{"\r\n", "\n"}, {"\r", "\n"}}));
  }
  return 0;
}
