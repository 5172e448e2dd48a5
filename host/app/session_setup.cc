// See session_setup.h.
#include "app/session_setup.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "app/exit_codes.h"
#include "app/locations.h"
#include "app/terminal_text.h"
#include "base/status_macros.h"

namespace cellblock::app {
namespace {

Failure FailureOf(const absl::Status& status, int limit_reached) { return {status, ExitCodeFor(status, limit_reached)}; }

absl::Status PutUploads(const UploadPlan& plan, Session& session, Console& console) {
  LeftOut left_out = plan.left_out;
  for (size_t i = 0; i < plan.uploads.size(); ++i) {
    if (plan.uploads.size() > 1) console.Status(absl::StrCat("copying files, ", i + 1, " of ", plan.uploads.size()));
    if (absl::StatusOr<bool> put = PutUpload(plan.uploads[i], session, &left_out); !put.ok()) {
      console.Status("");
      return put.status();
    }
  }
  console.Status("");
  for (const std::string& line : LeftOutLines(left_out)) console.Note(line);
  return absl::OkStatus();
}

// Files lie in memory: a disk that is full is an error that code can handle, memory that is full is the session's end.
void TakeMemory(int64_t bytes, Limits& limits) {
  limits.memory_bytes = bytes;
  limits.workspace_bytes = std::min(limits.workspace_bytes, bytes / 2);
  limits.tmp_bytes = std::min(limits.tmp_bytes, bytes / 4);
  limits.shm_bytes = std::min(limits.shm_bytes, bytes / 4);
}

}  // namespace

absl::StatusOr<Policy> ChoosePolicy(const SessionChoices& choices, const Context& context) {
  CELLBLOCK_ASSIGN_OR_RETURN(Policy policy, LoadPolicy(choices.policy, FindLocations(context.surroundings).policy_directory));
  // Whoever may choose the policy may choose its limits.
  if (choices.timeout.has_value()) policy.limits.wall = *choices.timeout;
  if (choices.memory_bytes.has_value()) TakeMemory(*choices.memory_bytes, policy.limits);
  CELLBLOCK_RETURN_IF_ERROR(ValidatePolicy(policy));
  return policy;
}

std::optional<Failure> StartSession(const SessionChoices& choices, const Policy& policy, const UploadPlan& uploads, const Context& context,
                                    Console& console, LiveSession* live) {
  absl::StatusOr<std::string> environment =
      FindPythonEnvironment(context.surroundings, choices.python_environment, policy.python.environment);
  if (!environment.ok()) return Failure{environment.status(), kExitHost};

  console.Status("starting Python …");
  HostOptions host_options;
  host_options.python_environment = *environment;
  absl::StatusOr<std::unique_ptr<Host>> host = context.create_host(std::move(host_options));
  if (!host.ok()) {
    console.Status("");
    return Failure{host.status(), kExitHost};
  }
  live->host = *std::move(host);

  SessionOptions session_options;
  session_options.seed = choices.seed;
  session_options.environment = choices.environment;
  absl::StatusOr<std::unique_ptr<Session>> session = live->host->CreateSession(policy, session_options);
  console.Status("");
  if (!session.ok()) return FailureOf(session.status(), kExitHost);
  live->session = *std::move(session);

  if (absl::Status put = PutUploads(uploads, *live->session, console); !put.ok()) return FailureOf(put, kExitLimit);
  return std::nullopt;
}

}  // namespace cellblock::app
