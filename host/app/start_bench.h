// `cellblock doctor --bench`: what a session costs on this machine, step by step. Supervisor.
#ifndef CELLBLOCK_APP_START_BENCH_H_
#define CELLBLOCK_APP_START_BENCH_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "app/context.h"
#include "cellblock/host.h"
#include "cellblock/policy.h"

namespace cellblock::app {

struct BenchRow {
  std::string name;
  absl::Duration median, least;
  bool is_part = false;  // of the row before it that is none
};

// Makes sessions under `policy`, one after another, each by itself and then each from a pool, and runs a cell in each. Some seconds.
absl::StatusOr<std::vector<BenchRow>> MeasureSessions(const Policy& policy, const HostOptions& options, const Context& context);

std::string BenchTable(const std::vector<BenchRow>& rows, const std::string& policy);

}  // namespace cellblock::app

#endif  // CELLBLOCK_APP_START_BENCH_H_
