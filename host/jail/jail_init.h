// PID 1 of one jail: mounts what is the session's own (proc, workspace, /tmp, /dev/shm), then reaps orphans, runs programs (bash)
// and kills what a call left behind. Runs in cellblock-init, inside the jail's namespaces, non-dumpable, keeping only the
// capabilities to kill and to look; trusts the supervisor's messages and nothing that the jail's other processes do.
#ifndef CELLBLOCK_JAIL_JAIL_INIT_H_
#define CELLBLOCK_JAIL_JAIL_INIT_H_

#include <vector>

#include "base/unique_fd.h"
#include "confine/confine.h"
#include "wire/messages.h"

namespace cellblock::jail {

// Never returns. `attached`: the detached mounts of request.attached, in order. `control`: the socket to the supervisor; its first message
// is a Reply with the descriptors of /workspace, /tmp and /dev/shm, or an error. `go`: readable once the user and group maps are written.
// `outside`: what the nest sees, which no program here may. Ends when `control` closes, and the jail with it.
[[noreturn]] void RunJailInit(const wire::MakeJail& request, UniqueFd control, UniqueFd go, std::vector<UniqueFd> attached, const confine::Outside& outside);

}  // namespace cellblock::jail

#endif  // CELLBLOCK_JAIL_JAIL_INIT_H_
