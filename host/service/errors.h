// Errors that a client acts on: an absl::Status with a stable code ("queue_full"), and when to try again. Every front shows the code as
// its protocol does. Supervisor; pure.
#ifndef CELLBLOCK_SERVICE_ERRORS_H_
#define CELLBLOCK_SERVICE_ERRORS_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace cellblock::service {

// `code`: lower case with '_'; part of the API, so it never changes. The codes in use stand in docs/http-api.md.
absl::Status Error(absl::StatusCode kind, absl::string_view code, absl::string_view message, std::optional<absl::Duration> retry_after = std::nullopt);

// The same error with a code, unless it has one.
// What the journal could not take for want of room is no limit of the caller's: store_full.
absl::Status StoreStatus(const absl::Status& status);
absl::Status WithCode(const absl::Status& status, absl::string_view code);

// Of an error without a code, one that follows from its kind.
std::string CodeOf(const absl::Status& status);
std::optional<absl::Duration> RetryAfterOf(const absl::Status& status);

}  // namespace cellblock::service

#endif  // CELLBLOCK_SERVICE_ERRORS_H_
