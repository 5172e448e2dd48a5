// See errors.h.
#include "service/errors.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace cellblock::service {
namespace {

constexpr char kCode[] = "cellblock/code";
constexpr char kRetryAfter[] = "cellblock/retry-after-ms";

absl::string_view CodeOfKind(absl::StatusCode kind) {
  switch (kind) {
    case absl::StatusCode::kInvalidArgument: return "invalid_request";
    case absl::StatusCode::kNotFound: return "not_found";
    case absl::StatusCode::kAlreadyExists: return "already_exists";
    case absl::StatusCode::kPermissionDenied: return "forbidden";
    case absl::StatusCode::kUnauthenticated: return "unauthenticated";
    case absl::StatusCode::kResourceExhausted: return "limit_reached";
    case absl::StatusCode::kFailedPrecondition: return "not_possible_now";
    case absl::StatusCode::kAborted: return "cancelled";
    case absl::StatusCode::kUnavailable: return "unavailable";
    case absl::StatusCode::kDeadlineExceeded: return "too_slow";
    case absl::StatusCode::kUnimplemented: return "not_supported";
    default: return "internal_error";
  }
}

}  // namespace

absl::Status Error(absl::StatusCode kind, absl::string_view code, absl::string_view message, std::optional<absl::Duration> retry_after) {
  absl::Status status(kind, message);
  status.SetPayload(kCode, absl::Cord(code));
  if (retry_after.has_value()) status.SetPayload(kRetryAfter, absl::Cord(absl::StrCat(absl::ToInt64Milliseconds(*retry_after))));
  return status;
}

absl::Status StoreStatus(const absl::Status& status) {
  if (!absl::IsResourceExhausted(status)) return status;
  return Error(status.code(), "store_full", absl::StrCat("nothing was started: the server cannot note it (", std::string(status.message()), "); its operator must make room in the state folder"), absl::Seconds(10));
}

absl::Status WithCode(const absl::Status& status, absl::string_view code) {
  if (status.ok() || status.GetPayload(kCode).has_value()) return status;
  return Error(status.code(), code, status.message());
}

std::string CodeOf(const absl::Status& status) {
  const absl::optional<absl::Cord> code = status.GetPayload(kCode);
  return code.has_value() ? std::string(*code) : std::string(CodeOfKind(status.code()));
}

std::optional<absl::Duration> RetryAfterOf(const absl::Status& status) {
  const absl::optional<absl::Cord> text = status.GetPayload(kRetryAfter);
  int64_t milliseconds = 0;
  if (!text.has_value() || !absl::SimpleAtoi(std::string(*text), &milliseconds)) return std::nullopt;
  return absl::Milliseconds(milliseconds);
}

}  // namespace cellblock::service
