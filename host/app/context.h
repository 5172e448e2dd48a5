// Everything a command needs from outside, so that tests can give it other pipes, folders and hosts. Supervisor.
#ifndef CELLBLOCK_APP_CONTEXT_H_
#define CELLBLOCK_APP_CONTEXT_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "app/console.h"
#include "app/locations.h"
#include "cellblock/host.h"

namespace cellblock::app {

struct Context {
  Surroundings surroundings;
  int stdin_fd = 0;
  bool stdin_is_terminal = false;
  ConsoleOptions console;  // `quiet` is set by the command
  std::function<absl::StatusOr<std::unique_ptr<Host>>(HostOptions)> create_host;
  std::function<std::vector<LayerReport>()> inspect_machine;
  // Ends the process at once, for the third Ctrl-C: the helpers die with it (parent-death signals) and take every jail along.
  std::function<void(int exit_code)> exit_now;
};

}  // namespace cellblock::app

#endif  // CELLBLOCK_APP_CONTEXT_H_
