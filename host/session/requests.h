// What is refused of a request before anything is done for it. Supervisor; pure. Trusts nothing.
#ifndef CELLBLOCK_SESSION_REQUESTS_H_
#define CELLBLOCK_SESSION_REQUESTS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "cellblock/host.h"
#include "cellblock/policy.h"

namespace cellblock::session {

// All answer kInvalidArgument, with what is wrong and what is allowed.
absl::Status CheckId(absl::string_view id);  // empty is fine
// By the rules for a policy's own variables.
absl::Status CheckAttached(const std::vector<AttachedFile>& files);
absl::Status CheckVariables(const Policy& policy, const std::vector<std::pair<std::string, std::string>>& variables);
absl::Status CheckCall(const Policy& policy, absl::string_view code, const ExecuteOptions& options);

}  // namespace cellblock::session

#endif  // CELLBLOCK_SESSION_REQUESTS_H_
