// `cellblock run`: the cells of a source, one after the other, in a session made for them. Supervisor.
#ifndef CELLBLOCK_APP_RUN_COMMAND_H_
#define CELLBLOCK_APP_RUN_COMMAND_H_

#include <string>
#include <vector>

#include "app/context.h"
#include "app/session_setup.h"
#include "app/source.h"

namespace cellblock::app {

struct RunOptions {
  SessionChoices session;
  SourceChoices source;
  std::string out;            // --out; empty: nothing is kept
  std::string save_notebook;  // --save-notebook; empty: none is written
  bool json = false;
  bool keep_going = false;
  bool quiet = false;
  std::vector<std::string> arguments;  // behind "--"
};

// Returns the exit code (exit_codes.h).
int RunCommand(const RunOptions& options, const Context& context);

}  // namespace cellblock::app

#endif  // CELLBLOCK_APP_RUN_COMMAND_H_
