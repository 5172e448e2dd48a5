// Finds and ends the processes of a jail from outside. Supervisor. A number of a process may be another's by the time it is used, also
// one of the host's that has nothing to do with us; so a walk starts from the folders of /proc that are held open, and what is found
// by number counts only when it is in the jail's pid namespace, out of which nothing in a jail can get.
#ifndef CELLBLOCK_SUPERVISE_JAIL_PROCESSES_H_
#define CELLBLOCK_SUPERVISE_JAIL_PROCESSES_H_

#include <sys/types.h>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "supervise/helpers.h"
#include "sys/proc_reader.h"

namespace cellblock::supervise {

// Every process of the jail but its init and the worker; `worker` may be null, or have ended. Each reader lives for its visit only, so a
// crowd takes no more descriptors than one. A process whose namespace is closed to this user is visited too.
void VisitJail(Jail& jail, sys::ProcReader* worker, absl::FunctionRef<void(sys::ProcReader&)> visit);

// The process with that number, if it is still the jail's: false when not.
bool VisitInJail(const Jail& jail, pid_t pid, absl::FunctionRef<void(sys::ProcReader&)> visit);

// SIGKILL, if it is proven to be the jail's. kPermissionDenied when that cannot be known; OK when it has ended or is another's.
absl::Status KillInJail(const Jail& jail, pid_t pid);

// Kills all that VisitJail finds, and what they fork meanwhile. Where one cannot be told from a stranger, the jail's init is killed
// instead, and with it the kernel ends the whole jail.
void KillAllInJail(Jail& jail, sys::ProcReader* worker);

}  // namespace cellblock::supervise

#endif  // CELLBLOCK_SUPERVISE_JAIL_PROCESSES_H_
