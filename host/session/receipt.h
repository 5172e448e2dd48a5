// What a receipt says of limits: those that applied, and those that bit though the code survived them. Supervisor; pure but for the
// disk figures it is given.
#ifndef CELLBLOCK_SESSION_RECEIPT_H_
#define CELLBLOCK_SESSION_RECEIPT_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "cellblock/policy.h"
#include "cellblock/record.h"
#include "supervise/memory_watch.h"

namespace cellblock::session {

std::vector<std::pair<std::string, std::string>> DescribeLimits(const Policy& policy, std::optional<absl::Duration> timeout);

// Adds to receipt.limits_hit: memory (MemoryError), workspace, workspace_files, tmp, shm, file_size, processes, open_files, from the disks'
// own figures before and after the call and from the error that ended it. A disk that was full before is news only to a call that met it.
void AddLimitsHit(const Policy& policy, const supervise::DiskUse& before, const supervise::DiskUse& after, Record& record);

// Adds to denials what the error that ended the call was refused: the kind, what was asked for, and the rule.
void AddDenials(const Policy& policy, Record& record);

}  // namespace cellblock::session

#endif  // CELLBLOCK_SESSION_RECEIPT_H_
