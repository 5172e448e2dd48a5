// One worker: the forked interpreter that joins its jail, locks itself, and runs cells until its channel closes. Guest; untrusted
// from its first user byte, trusted until then.
#ifndef CELLBLOCK_GUEST_WORKER_H_
#define CELLBLOCK_GUEST_WORKER_H_

#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "confine/confine.h"
#include "interp/interpreter.h"

namespace cellblock::guest {

// As it came: what can be done after the fork is done there, since each page that the zygote writes to it copies again.
struct WorkerSetup {
  std::string spec;         // confine::Spec, encoded
  UniqueFd filter;          // see confine::ReadSeccompProgram
  confine::Outside outside;  // as the zygote sees it
  UniqueFd jail;      // pidfd of the jail's init
  UniqueFd channel;
  UniqueFd output;
  UniqueFd errors;
  std::vector<UniqueFd> entrances;  // of its cgroup (sys::Cgroup)
};

// In the zygote's child, right after fork. Never returns.
[[noreturn]] void RunWorker(interp::Interpreter& interpreter, WorkerSetup setup);

}  // namespace cellblock::guest

#endif  // CELLBLOCK_GUEST_WORKER_H_
