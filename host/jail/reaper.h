// What the PID 1s share: child signals as a descriptor, exit reports, and killing everything else in the pid namespace.
// cellblock-init (and the zygote, for the first two).
#ifndef CELLBLOCK_JAIL_REAPER_H_
#define CELLBLOCK_JAIL_REAPER_H_

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>

#include "absl/status/statusor.h"
#include "base/unique_fd.h"
#include "wire/messages.h"

namespace cellblock::jail {

// Blocks SIGCHLD and gives a signalfd for it.
absl::StatusOr<UniqueFd> ChildSignals();
void DrainSignals(int signal_fd);

wire::ProcessExited ExitOf(pid_t pid, int wait_status, const rusage& usage);

// As PID 1 with CAP_KILL: kills every process of the namespace but itself and `kept` (0: none), and returns how many there were.
// They are stopped first, so that a fork bomb cannot outrun the loop; the number of rounds is bounded. Fails when /proc cannot be read.
absl::StatusOr<uint64_t> KillAllBut(pid_t kept);

}  // namespace cellblock::jail

#endif  // CELLBLOCK_JAIL_REAPER_H_
