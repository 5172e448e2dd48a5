// The spelling of the record's enums in JSON and in messages, declared in cellblock/record.h. Every process; trusts nothing.
#include "cellblock/host.h"
#include "cellblock/record.h"

namespace cellblock {

absl::string_view CallStatusName(CallStatus status) {
  switch (status) {
    case CallStatus::kOk: return "ok";
    case CallStatus::kError: return "error";
    case CallStatus::kExited: return "exited";
    case CallStatus::kInterrupted: return "interrupted";
    case CallStatus::kTimeout: return "timeout";
    case CallStatus::kCpuLimit: return "cpu_limit";
    case CallStatus::kOutOfMemory: return "out_of_memory";
    case CallStatus::kKilled: return "killed";
    case CallStatus::kRejected: return "rejected";
    case CallStatus::kLost: return "lost";
  }
  return "lost";
}

absl::string_view MemoryLevelName(MemoryLevel level) {
  switch (level) {
    case MemoryLevel::kInUse: return "in_use";
    case MemoryLevel::kGivenBack: return "given_back";
  }
  return "in_use";
}

absl::string_view SessionStateName(SessionState state) {
  switch (state) {
    case SessionState::kKept: return "kept";
    case SessionState::kRestarted: return "restarted";
    case SessionState::kGone: return "gone";
  }
  return "gone";
}

absl::string_view EventTypeName(Event::Type type) {
  switch (type) {
    case Event::Type::kStdout: return "stdout";
    case Event::Type::kStderr: return "stderr";
    case Event::Type::kDisplay: return "display";
    case Event::Type::kUpdate: return "update";
    case Event::Type::kClear: return "clear";
    case Event::Type::kResult: return "result";
    case Event::Type::kError: return "error";
    case Event::Type::kEgress: return "egress";
  }
  return "error";
}

}  // namespace cellblock
