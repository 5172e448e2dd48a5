// See exit_codes.h.
#include "app/exit_codes.h"

namespace cellblock::app {

int ExitCodeFor(const Record& record) {
  switch (record.status) {
    case CallStatus::kOk:
      return kExitOk;
    case CallStatus::kError:
      return kExitUserError;
    case CallStatus::kExited:
      return record.exit_code.value_or(0) == 0 ? kExitOk : kExitUserError;
    case CallStatus::kInterrupted:
      return kExitInterrupted;
    case CallStatus::kTimeout:
    case CallStatus::kCpuLimit:
    case CallStatus::kOutOfMemory:
    case CallStatus::kKilled:
      return kExitLimit;
    case CallStatus::kRejected:
    case CallStatus::kLost:
      return kExitHost;
  }
  return kExitHost;
}

int ExitCodeOfSignal(int signal) { return 128 + signal; }

int ExitCodeFor(const absl::Status& status, int limit_reached) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kExitOk;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kNotFound:
      return kExitUsage;
    case absl::StatusCode::kResourceExhausted:
      return limit_reached;
    case absl::StatusCode::kCancelled:
      return kExitInterrupted;
    default:
      return kExitHost;
  }
}

}  // namespace cellblock::app
