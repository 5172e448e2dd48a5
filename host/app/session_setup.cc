// See session_setup.h.
#include "app/session_setup.h"

#include "absl/strings/str_cat.h"
#include "app/exit_codes.h"
#include "app/locations.h"
#include "app/terminal_text.h"
#include "base/status_macros.h"

namespace cellblock::app {
namespace {

Failure FailureOf(const absl::Status& status, int limit_reached) { return {status, ExitCodeFor(status, limit_reached)}; }

void TellSkipped(const UploadPlan& uploads, Console& console) {
  if (uploads.skipped_links > 0) {
    console.Note(absl::StrCat("--file: ", Counted(uploads.skipped_links, "symbolic link", "symbolic links"),
                              " left out (links in a folder are not followed)"));
  }
  if (uploads.skipped_special > 0) {
    console.Note(absl::StrCat("--file: ", Counted(uploads.skipped_special, "special file", "special files"), " left out"));
  }
}

}  // namespace

absl::StatusOr<Policy> ChoosePolicy(const SessionChoices& choices, const Context& context) {
  CELLBLOCK_ASSIGN_OR_RETURN(Policy policy, LoadPolicy(choices.policy, FindLocations(context.surroundings).policy_directory));
  // Whoever may choose the policy may choose its limits.
  if (choices.timeout.has_value()) policy.limits.wall = *choices.timeout;
  if (choices.memory_bytes.has_value()) policy.limits.memory_bytes = *choices.memory_bytes;
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

  TellSkipped(uploads, console);
  for (size_t i = 0; i < uploads.uploads.size(); ++i) {
    if (uploads.uploads.size() > 1) console.Status(absl::StrCat("copying files, ", i + 1, " of ", uploads.uploads.size()));
    if (absl::Status put = PutUpload(uploads.uploads[i], *live->session); !put.ok()) {
      console.Status("");
      return FailureOf(put, kExitLimit);
    }
  }
  console.Status("");
  return std::nullopt;
}

}  // namespace cellblock::app
