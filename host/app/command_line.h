// The command line as values. The one adapter to CLI11, which throws; nothing else sees it. Supervisor.
#ifndef CELLBLOCK_APP_COMMAND_LINE_H_
#define CELLBLOCK_APP_COMMAND_LINE_H_

#include <string>
#include <variant>
#include <vector>

#include "app/doctor_command.h"
#include "app/policy_command.h"
#include "app/repl_command.h"
#include "app/run_command.h"
#include "app/serve_command.h"

namespace cellblock::app {

// Help, the version, or what is wrong with the arguments: print and end.
struct Answer {
  std::string text;
  bool is_error = false;  // to standard error, and exit code 2
};

using Invocation = std::variant<RunOptions, ReplOptions, PolicyOptions, DoctorOptions, ServeOptions, Answer>;

// `arguments`: without the program's name.
Invocation ParseCommandLine(const std::vector<std::string>& arguments);

}  // namespace cellblock::app

#endif  // CELLBLOCK_APP_COMMAND_LINE_H_
