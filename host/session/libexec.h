// Where the helper programs stand: beside the running executable (a build tree), or in libexec/cellblock of the prefix that the
// executable or this library was installed into. Supervisor.
#ifndef CELLBLOCK_SESSION_LIBEXEC_H_
#define CELLBLOCK_SESSION_LIBEXEC_H_

#include <string>

#include "absl/status/statusor.h"

namespace cellblock::session {

// The folder that holds cellblock-init and cellblock-guest; kNotFound lists where it was looked for.
absl::StatusOr<std::string> FindLibexec();
// The folder with the guest's Python side that belongs to `libexec`.
absl::StatusOr<std::string> FindGuestFolder(const std::string& libexec);

}  // namespace cellblock::session

#endif  // CELLBLOCK_SESSION_LIBEXEC_H_
