// How a worker is born into a place: what it is locked down to, and what it is told at its start. Supervisor.
#ifndef CELLBLOCK_SESSION_BIRTH_H_
#define CELLBLOCK_SESSION_BIRTH_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cellblock/host.h"
#include "cellblock/policy.h"
#include "confine/confine.h"
#include "session/place.h"
#include "supervise/memory_watch.h"
#include "supervise/worker.h"
#include "wire/messages.h"

namespace cellblock::session {

// What every process of a session is locked down to: the worker, and programs beside it. `data_bytes`: what the zygote holds already.
confine::Spec SpecFor(const Policy& policy, const Place& place, const std::vector<int32_t>& cpus, uint64_t data_bytes);
std::vector<std::string> EnvironmentFor(const Policy& policy, const supervise::EgressLink* egress, const SessionOptions& options);
// `spec`: its rlimits are named in the message, for a worker that was born without.
wire::StartSession StartFor(const Policy& policy, const supervise::EgressLink* egress, const SessionOptions& options, const confine::Spec& spec);
// The largest frame that a worker under this policy may send.
size_t BundleBytesMax(const Policy& policy);

// Forks a worker into `place` for its session, and returns once it is in the control group, locked down and started.
absl::StatusOr<std::unique_ptr<supervise::Worker>> ForkWorker(const Policy& policy, const SessionOptions& options, const std::vector<int32_t>& cpus, Place& place, StartTimings* timings);
// The same ahead of its session, which may have other rlimits and processors: no user code runs before it has them.
absl::StatusOr<std::unique_ptr<supervise::Worker>> ForkWorkerAhead(const Policy& policy, Place& place, StartTimings* timings);
// What a worker that is ready holds already; zero where a cgroup counts.
supervise::Baseline HeldBy(supervise::Worker& worker, const Place& place);

}  // namespace cellblock::session

#endif  // CELLBLOCK_SESSION_BIRTH_H_
