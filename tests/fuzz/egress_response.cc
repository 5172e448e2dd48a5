// Fuzzes answers on their way in: any bytes give a head that says the same when it is built anew, or a short error. The first byte
// chooses the request's method.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "base/log.h"
#include "egress/http_head.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cellblock::egress;  // NOLINT: one function
  if (size == 0) return 0;
  const absl::string_view method = data[0] % 2 == 0 ? "GET" : "HEAD", bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  absl::StatusOr<std::optional<size_t>> end = FindHeadEnd(bytes);
  if (!end.ok() || !end->has_value()) return 0;
  absl::StatusOr<ResponseHead> head = ParseResponseHead(bytes.substr(0, **end), method);
  if (!head.ok()) {
    CELLBLOCK_CHECK(absl::IsInvalidArgument(head.status()) && head.status().message().size() < 600 && IsFieldValue(head.status().message()));
    return 0;
  }
  CELLBLOCK_CHECK(head->status >= 100 && head->status < 600 && head->status != 101);
  CELLBLOCK_CHECK(IsFieldValue(head->reason) && head->fields.size() <= kFieldsMax);
  CELLBLOCK_CHECK(head->body.kind != Framing::Kind::kUntilClose || !head->keeps_alive);
  for (const Field& field : head->fields) CELLBLOCK_CHECK(IsToken(field.name) && IsFieldValue(field.value));
  const std::string text = FormatResponseHead(*head);
  if (text.size() > kHeadBytesMax || head->fields.size() + 2 > kFieldsMax) return 0;   // "a:b" became "a: b", Connection may be new
  absl::StatusOr<ResponseHead> again = ParseResponseHead(text, method);
  CELLBLOCK_CHECK(again.ok());
  CELLBLOCK_CHECK(again->status == head->status && again->reason == head->reason && again->body == head->body && again->fields == head->fields && again->keeps_alive == head->keeps_alive);
  return 0;
}
