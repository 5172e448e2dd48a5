// See outcome.h.
#include "supervise/outcome.h"

#include <signal.h>
#include <string.h>

#include "absl/strings/str_cat.h"

namespace cellblock::supervise {
namespace {

std::string SignalName(int number) {
  const char* name = sigabbrev_np(number);
  return name == nullptr ? absl::StrCat("signal ", number) : absl::StrCat("SIG", name);
}

std::string Kept(bool kept) { return kept ? "the session and its variables are kept" : "the session's variables are lost; its files are kept"; }

void Hit(Record& record, const char* name, std::string detail) {
  for (const LimitHit& hit : record.receipt.limits_hit) {
    if (hit.name == name) return;
  }
  record.receipt.limits_hit.push_back({name, std::move(detail)});
}

// True when the supervisor itself ended the call.
bool ClassifyStopped(const Evidence& evidence, const Policy& policy, bool kept, Record& record) {
  switch (evidence.stop) {
    case Stop::kTimeout:
      record.status = CallStatus::kTimeout;
      record.reason = absl::StrCat("the call ran longer than its time limit of ", absl::FormatDuration(evidence.timeout), " (limits.wall or a shorter timeout asked for) and was ",
                                   kept ? "interrupted" : "killed", "; ", Kept(kept));
      Hit(record, "wall", absl::StrCat("stopped after ", absl::FormatDuration(evidence.timeout)));
      return true;
    case Stop::kCpu:
      record.status = CallStatus::kCpuLimit;
      record.reason = absl::StrCat("the call used more than limits.cpu (", absl::FormatDuration(policy.limits.cpu.value_or(absl::InfiniteDuration())), ") of CPU time; ", Kept(kept));
      Hit(record, "cpu", absl::StrCat("stopped after ", absl::FormatDuration(policy.limits.cpu.value_or(absl::InfiniteDuration())), " of CPU time"));
      return true;
    case Stop::kInterrupt:
      // The cell may have ended by itself in the same moment: then that is how it ended.
      if (kept && evidence.done.has_value() && evidence.done->ending != static_cast<uint64_t>(wire::CellEnding::kInterrupted)) return false;
      record.status = CallStatus::kInterrupted;
      record.reason = absl::StrCat("the caller interrupted the call; ", Kept(kept));
      return true;
    case Stop::kProtocol:
      record.status = CallStatus::kKilled;
      record.signal = SIGKILL;
      record.reason = absl::StrCat("the worker broke the protocol with its supervisor and was killed; ", Kept(false));
      return true;
    case Stop::kNone:
      return false;
  }
  return false;
}

void ClassifyExit(const WorkerExit& exit, bool is_worker, bool worker_lives, Record& record) {
  if (!exit.known) {
    record.status = CallStatus::kLost;
    record.reason = absl::StrCat("the process ended and how is unknown; ", Kept(worker_lives));
  } else if (exit.exited) {
    record.exit_code = exit.exit_code;
    record.status = is_worker ? CallStatus::kExited : exit.exit_code == 0 ? CallStatus::kOk : CallStatus::kError;
    if (is_worker) record.reason = absl::StrCat("the code ended the worker process with exit code ", exit.exit_code, "; ", Kept(false));
    if (!is_worker && exit.exit_code != 0) record.reason = absl::StrCat("bash ended with exit code ", exit.exit_code);
  } else {
    record.status = CallStatus::kKilled;
    record.signal = exit.signal;
    record.reason = absl::StrCat(is_worker ? "the worker process" : "bash", " was ended by ", SignalName(exit.signal), "; ", Kept(worker_lives));
    if (exit.signal == SIGXFSZ) Hit(record, "file_size", "a file grew beyond limits.file_size");
  }
}

}  // namespace

void Classify(const Evidence& evidence, const Policy& policy, Record& record) {
  bool worker_lives = evidence.is_worker ? !evidence.exit.has_value() : evidence.worker_lives;
  record.session_state = worker_lives ? SessionState::kKept : SessionState::kGone;
  if (evidence.out_of_memory) Hit(record, "memory", absl::StrCat("the kernel or the watch killed for memory: limits.memory is ", policy.limits.memory_bytes, " bytes"));
  if (evidence.out_of_memory && evidence.exit.has_value() && !evidence.exit->exited) {
    record.status = CallStatus::kOutOfMemory;
    record.signal = evidence.exit->signal;
    record.reason = absl::StrCat("out of memory: the session used more than limits.memory (", policy.limits.memory_bytes, " bytes, files in /workspace, /tmp and /dev/shm among them; peak ",
                                 record.receipt.memory_peak_bytes, ") and was killed; ", Kept(worker_lives), ". Use less at a time (read in chunks, narrower types) or a policy with more memory");
    return;
  }
  if (ClassifyStopped(evidence, policy, worker_lives, record)) return;
  if (evidence.exit.has_value()) return ClassifyExit(*evidence.exit, evidence.is_worker, worker_lives, record);
  if (!evidence.done.has_value()) return;
  if (evidence.done->has_exit_code != 0) record.exit_code = static_cast<int>(static_cast<int64_t>(evidence.done->exit_code));
  switch (static_cast<wire::CellEnding>(evidence.done->ending)) {
    case wire::CellEnding::kOk:
      record.status = CallStatus::kOk;
      return;
    case wire::CellEnding::kExited:
      record.status = CallStatus::kExited;
      return;
    default:  // KeyboardInterrupt that nobody asked for is an error of the code
      record.status = CallStatus::kError;
      if (record.error.has_value()) record.reason = absl::StrCat(record.error->name, record.error->value.empty() ? "" : ": ", record.error->value.substr(0, 200));
      return;
  }
}

}  // namespace cellblock::supervise
