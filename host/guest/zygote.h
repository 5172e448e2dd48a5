// The zygote: CPython with the packages loaded, single-threaded, forking one worker per request. Guest; runs no user code ever.
#ifndef CELLBLOCK_GUEST_ZYGOTE_H_
#define CELLBLOCK_GUEST_ZYGOTE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/unique_fd.h"

namespace cellblock::guest {

// Preloads, proves itself (one thread, no unreviewed generator), sends one Reply on `control` (its value: VmData in bytes, the base
// for a worker's RLIMIT_DATA; or why it could not start), then serves ForkWorker requests until the socket closes.
absl::Status RunZygote(UniqueFd control, const std::vector<std::string>& preload, bool fixed_hash_seed);

}  // namespace cellblock::guest

#endif  // CELLBLOCK_GUEST_ZYGOTE_H_
