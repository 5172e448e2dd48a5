// What the kernel says of this process: for metrics. Supervisor.
#ifndef CELLBLOCK_OBSERVE_PROCESS_FACTS_H_
#define CELLBLOCK_OBSERVE_PROCESS_FACTS_H_

#include <cstdint>

#include "absl/time/time.h"

namespace cellblock::observe {

struct ProcessFacts {
  int64_t resident_bytes = 0;
  int64_t virtual_bytes = 0;
  int64_t open_files = 0;
  int64_t open_files_max = 0;
  int64_t threads = 0;
  absl::Duration cpu;             // of all its threads; helpers and sessions are processes of their own
};

// What cannot be read stays 0.
ProcessFacts ReadProcessFacts();

}  // namespace cellblock::observe

#endif  // CELLBLOCK_OBSERVE_PROCESS_FACTS_H_
