// The commands of the repl that start with a colon: what is in the workspace, files in and out, limits, the last call. Supervisor.
#ifndef CELLBLOCK_APP_REPL_COMMANDS_H_
#define CELLBLOCK_APP_REPL_COMMANDS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "app/console.h"
#include "cellblock/host.h"

namespace cellblock::app {

// What the commands work on.
struct ReplState {
  Session& session;
  Console& console;
  const std::optional<Record>& last;
};

enum class ReplNext { kGoOn, kEnd };

// Runs one line that starts with ':'. Whatever goes wrong is told on the console.
ReplNext RunReplCommand(absl::string_view line, ReplState state);

// Words as a shell splits them: blanks separate, quotes and backslashes keep them. kInvalidArgument: a quote that is not closed.
absl::StatusOr<std::vector<std::string>> SplitWords(absl::string_view line);

}  // namespace cellblock::app

#endif  // CELLBLOCK_APP_REPL_COMMANDS_H_
