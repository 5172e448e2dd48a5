// Fuzzes requests on their way out: any bytes give a head that says the same when it is built anew, or a short error; a chunked body
// behind it comes out the same however it is cut.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "base/log.h"
#include "egress/http_head.h"

namespace {

using namespace cellblock::egress;  // NOLINT: one file

constexpr size_t kMessageBytesMax = 600;

void CheckError(const absl::Status& status) {
  CELLBLOCK_CHECK(absl::IsInvalidArgument(status));
  CELLBLOCK_CHECK(!status.message().empty() && status.message().size() < kMessageBytesMax);
  CELLBLOCK_CHECK(IsFieldValue(status.message()));   // an answer may quote it
}

void CheckFields(const RequestHead& head) {
  for (const Field& field : head.fields) {
    CELLBLOCK_CHECK(IsToken(field.name) && IsFieldValue(field.value));
    CELLBLOCK_CHECK(TrimBlanks(field.value) == field.value);
  }
  for (absl::string_view name : {"Host", "Content-Length", "Transfer-Encoding", "Connection", "Proxy-Authorization", "Upgrade", "Content_Length"}) CELLBLOCK_CHECK(!HasField(head.fields, name));
  CELLBLOCK_CHECK(head.fields.size() <= kFieldsMax);
}

void CheckRebuilt(const RequestHead& head) {
  RequestHead expected = head;
  expected.scheme.clear();   // the target is built in origin form
  expected.minor_version = 1;
  const std::string text = FormatRequestHead(expected);
  // "a:b" became "a: b", Host and Connection may be new, and HTTP/1.0 may name no host.
  if (text.size() > kHeadBytesMax || head.fields.size() + 4 > kFieldsMax || head.host.empty()) return;
  absl::StatusOr<RequestHead> again = ParseRequestHead(text);
  CELLBLOCK_CHECK(again.ok());
  CELLBLOCK_CHECK(*again == expected);
}

struct Decoded {
  bool ok = true;
  bool done = false;
  size_t used = 0;
  std::string body;
};

Decoded Decode(absl::string_view bytes, size_t piece) {
  ChunkDecoder decoder;
  Decoded decoded;
  while (!bytes.empty() && !decoder.done()) {
    const absl::string_view next = bytes.substr(0, piece);
    absl::StatusOr<size_t> used = decoder.Feed(next, decoded.body);
    decoded.ok = used.ok();
    if (!used.ok()) break;
    CELLBLOCK_CHECK(*used == next.size() || decoder.done());
    decoded.used += *used;
    bytes.remove_prefix(next.size());
  }
  decoded.done = decoder.done();
  return decoded;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  absl::StatusOr<std::optional<size_t>> end = FindHeadEnd(bytes);
  if (!end.ok()) CheckError(end.status());
  if (!end.ok() || !end->has_value()) {
    CELLBLOCK_CHECK(!ParseRequestHead(bytes).ok());
    return 0;
  }
  absl::StatusOr<RequestHead> head = ParseRequestHead(bytes.substr(0, **end));
  if (!head.ok()) {
    CheckError(head.status());
    return 0;
  }
  CELLBLOCK_CHECK(head->is_connect == head->target.empty());
  CheckFields(*head);
  CheckRebuilt(*head);
  if (head->body.kind != Framing::Kind::kChunked) return 0;
  const absl::string_view rest = bytes.substr(**end);
  const Decoded whole = Decode(rest, rest.size()), pieces = Decode(rest, 1);
  CELLBLOCK_CHECK(whole.ok == pieces.ok && whole.done == pieces.done && whole.body == pieces.body);
  if (whole.ok) CELLBLOCK_CHECK(whole.used == pieces.used && whole.body.size() <= whole.used);
  return 0;
}
