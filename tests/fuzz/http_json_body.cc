// Fuzzes the JSON bodies of requests: any bytes give values within their ranges, or a short error in valid UTF-8. Each input is read as
// a session, as a call and as a run of cells.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/log.h"
#include "capture/utf8.h"
#include "front/http/api_json.h"
#include "front/http/json_body.h"

namespace {

using namespace cellblock;         // NOLINT: one file
using namespace cellblock::front;  // NOLINT: one file

constexpr absl::Duration kSecondsMax = absl::Hours(30 * 24);

void CheckText(const std::string& text) { CELLBLOCK_CHECK(capture::IsValidUtf8(text)); }

void CheckSeconds(const std::optional<absl::Duration>& seconds) { CELLBLOCK_CHECK(!seconds.has_value() || (*seconds > absl::ZeroDuration() && *seconds <= kSecondsMax)); }

// True: it was taken.
bool CheckStatus(const absl::Status& status) {
  if (status.ok()) return true;
  CELLBLOCK_CHECK(absl::IsInvalidArgument(status));
  CELLBLOCK_CHECK(!status.message().empty() && status.message().size() < 2000);
  CELLBLOCK_CHECK(capture::IsValidUtf8(status.message()));
  return false;
}

void CheckCall(const service::NewCall& call) {
  CheckText(call.code);
  CheckSeconds(call.timeout);
  for (const auto& [name, value] : call.environment) CheckText(name + value);
}

void ReadAsSession(JsonBody body) {
  service::NewSession session;
  ReadNewSession(body, &session);
  if (!CheckStatus(body.Finish())) return;
  CheckText(session.policy);
  CheckSeconds(session.idle);
  CheckSeconds(session.life);
  absl::StatusOr<JsonBody> metadata = JsonBody::Parse(session.metadata_json);
  CELLBLOCK_CHECK(metadata.ok() && !session.metadata_json.empty());
}

void ReadAsCall(JsonBody body) {
  service::NewCall call;
  bool detach = false;
  ReadNewCall(body, &call);
  body.Flag("detach", &detach);
  if (CheckStatus(body.Finish())) CheckCall(call);
}

void ReadAsCells(JsonBody body) {
  constexpr size_t kCells = 10;
  std::vector<service::NewCall> calls;
  body.Require("cells", body.List("cells", kCells, [&](JsonBody& cell) { ReadNewCall(cell, &calls.emplace_back()); }));
  CELLBLOCK_CHECK(calls.size() <= kCells);
  if (!CheckStatus(body.Finish())) return;
  for (const service::NewCall& call : calls) CheckCall(call);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  for (auto read : {ReadAsSession, ReadAsCall, ReadAsCells}) {
    absl::StatusOr<JsonBody> body = JsonBody::Parse(text);
    if (!CheckStatus(body.status())) return 0;
    read(*std::move(body));
  }
  return 0;
}
