// From what the supervisor saw to a status and a sentence: one place decides how a call is said to have ended. Supervisor; pure.
#ifndef CELLBLOCK_SUPERVISE_OUTCOME_H_
#define CELLBLOCK_SUPERVISE_OUTCOME_H_

#include <optional>

#include "cellblock/policy.h"
#include "cellblock/record.h"
#include "supervise/call.h"
#include "supervise/worker.h"
#include "wire/messages.h"

namespace cellblock::supervise {

struct Evidence {
  Stop stop = Stop::kNone;
  std::optional<wire::CellDone> done;     // python: the cell ended and said so
  std::optional<WorkerExit> exit;         // the process ended
  bool is_worker = true;                  // else: bash, whose end is the normal end of a call
  bool worker_lives = true;               // bash: whether the worker beside it does
  bool out_of_memory = false;             // the kernel or the watch killed for memory
  absl::Duration timeout;                 // that applied
};

// Sets status, reason, exit_code, signal and session_state, and adds to receipt.limits_hit.
void Classify(const Evidence& evidence, const Policy& policy, Record& record);

}  // namespace cellblock::supervise

#endif  // CELLBLOCK_SUPERVISE_OUTCOME_H_
