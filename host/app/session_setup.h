// From options to a live session with its files in place: policy, Python environment, host, session, uploads. Shared by run and repl.
// Supervisor.
#ifndef CELLBLOCK_APP_SESSION_SETUP_H_
#define CELLBLOCK_APP_SESSION_SETUP_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "app/console.h"
#include "app/context.h"
#include "app/uploads.h"
#include "cellblock/host.h"
#include "cellblock/policy.h"

namespace cellblock::app {

// The options that say what a session is.
struct SessionChoices {
  std::string policy = "default";         // a shipped policy's name, or a file
  std::string python_environment;         // empty: found by itself
  std::optional<absl::Duration> timeout;  // replaces the policy's limits.wall
  std::optional<int64_t> memory_bytes;    // replaces the policy's limits.memory
  std::optional<uint64_t> seed;
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<std::string> files;  // the arguments of --file
};

// An error with the exit code that it means.
struct Failure {
  absl::Status status;
  int exit_code = 0;
};

// The policy of `choices` with their limits put in. kInvalidArgument or kNotFound.
absl::StatusOr<Policy> ChoosePolicy(const SessionChoices& choices, const Context& context);

struct LiveSession {
  std::unique_ptr<Host> host;
  std::unique_ptr<Session> session;  // ends before its host
};

// Starts a host and a session under `policy` and copies the uploads in; tells on the console what takes time and what was left out.
std::optional<Failure> StartSession(const SessionChoices& choices, const Policy& policy, const UploadPlan& uploads, const Context& context,
                                    Console& console, LiveSession* live);

}  // namespace cellblock::app

#endif  // CELLBLOCK_APP_SESSION_SETUP_H_
