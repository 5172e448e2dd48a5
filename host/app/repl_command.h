// `cellblock repl`: a session to type into. Supervisor.
#ifndef CELLBLOCK_APP_REPL_COMMAND_H_
#define CELLBLOCK_APP_REPL_COMMAND_H_

#include <string>

#include "app/context.h"
#include "app/session_setup.h"

namespace cellblock::app {

struct ReplOptions {
  SessionChoices session;
  std::string out;  // --out; empty: nothing is kept
  bool no_history = false;
  bool quiet = false;
};

// Returns the exit code: from a terminal 0; otherwise that of the first cell that did not end well.
int ReplCommand(const ReplOptions& options, const Context& context);

// ${XDG_STATE_HOME:-~/.local/state}/cellblock/history; empty when neither is known.
std::string HistoryFile(const Surroundings& surroundings);

}  // namespace cellblock::app

#endif  // CELLBLOCK_APP_REPL_COMMAND_H_
