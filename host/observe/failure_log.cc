// See failure_log.h.
#include "observe/failure_log.h"

#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "service/errors.h"

namespace cellblock::observe {

bool IsFailure(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnknown:
    case absl::StatusCode::kDataLoss:
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
      return !service::RetryAfterOf(status).has_value();  // who is told when to try again meets a server that stops or is busy
    default:
      return false;
  }
}

void FailureLog::Refused(absl::string_view verb, absl::string_view session_id, const service::Origin& origin, const absl::Status& status) {
  if (!IsFailure(status)) return;
  const std::string session = absl::Utf8SafeCHexEscape(session_id.substr(0, 64));
  Log(LogLevel::kError, absl::StrCat(verb, " failed (", service::CodeOf(status), "): ", status.message()), {session, origin.request_id});
}

}  // namespace cellblock::observe
