// PID 1 of the nest: the one place where jails and zygotes are made. Runs in cellblock-init, inside the supervisor's outer user, pid
// and mount namespaces, single-threaded; trusts the supervisor's messages. When its control socket closes it ends, and the kernel
// ends every process in the nest.
#ifndef CELLBLOCK_JAIL_NEST_H_
#define CELLBLOCK_JAIL_NEST_H_

#include "base/unique_fd.h"

namespace cellblock::jail {

// Never returns. Sends one Reply when set up (or why not), then answers requests in order.
[[noreturn]] void RunNest(UniqueFd control);

}  // namespace cellblock::jail

#endif  // CELLBLOCK_JAIL_NEST_H_
