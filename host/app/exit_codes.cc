// See exit_codes.h.
#include "app/exit_codes.h"

namespace cellblock::app {
namespace {

// A language that the policy turns off is the caller's to change, a limit that left no room to start is a limit like others.
int ExitCodeOfRejected(const Record& record, const Languages& languages, Language language) {
  const bool is_on = language == Language::kBash ? languages.bash && languages.subprocesses : languages.python;
  if (!is_on) return kExitUsage;
  return record.receipt.limits_hit.empty() ? kExitHost : kExitLimit;
}

}  // namespace

int ExitCodeFor(const Record& record, const Policy& policy, Language language) {
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
      return ExitCodeOfRejected(record, policy.languages, language);
    case CallStatus::kLost:
      return kExitHost;
  }
  return kExitHost;
}

int ExitCodeOfLostOutput(const Console& console) { return console.stdout_failed() ? kExitHost : kExitPipeClosed; }

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
