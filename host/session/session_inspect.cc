// See session_impl.h: questions about a session that are no calls of it. Supervisor; what comes back is a guest's JSON text, bounded.
#include <algorithm>
#include <memory>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "capture/utf8.h"
#include "session/birth.h"
#include "session/session_impl.h"
#include "session/workspace.h"
#include "supervise/call.h"
#include "supervise/memory_watch.h"
#include "sys/files.h"

namespace cellblock::session {
namespace {

constexpr absl::Duration kAnswerTime = absl::Seconds(30);
constexpr int64_t kPreviewRowsMax = 100;

}  // namespace

absl::StatusOr<std::string> SessionImpl::Ask(supervise::Worker& worker, supervise::CpuMeter& meter, supervise::MemorySignals& memory, const char* question, absl::string_view argument, Record& record) {
  supervise::CallOptions call;
  call.inspect = question;
  call.number = calls_;
  call.timeout = std::min(kAnswerTime, policy_.limits.wall);
  call.interrupt_fd = interrupt_.get();
  call.redact = redact_;
  if (place_->cgroup != nullptr) call.out_of_memory_kills_before = place_->cgroup->OutOfMemoryKills();
  const supervise::CallParties parties = {policy_, *place_->jail, &worker, place_->cgroup.get(), memory, meter};
  CELLBLOCK_RETURN_IF_ERROR(supervise::RunPythonCall(parties, argument, std::move(call), record));
  for (const Result& result : record.results) {
    for (const MimeData& data : result.mime) {
      if (data.type == "application/json" && data.is_json) return data.data;
    }
  }
  const std::string why = record.error.has_value() ? absl::StrCat(record.error->name, ": ", record.error->value) : record.reason;
  return absl::AbortedError(absl::StrCat("the session gave no answer: ", why.empty() ? "its interpreter was tampered with" : why));
}

absl::StatusOr<std::string> SessionImpl::DescribeVariables() {
  CELLBLOCK_RETURN_IF_ERROR(WaitForTurn());
  absl::Cleanup leave = [this] { queue_.Leave(); };
  if (!alive_) return absl::FailedPreconditionError("the session's interpreter has ended, and its variables with it; restart the session");
  {
    std::lock_guard<std::mutex> lock(watched_mutex_);
    DrainIdle();
    idle_memory_.BeginUse();
  }
  absl::Cleanup idle = [this] { idle_memory_.EndUse(absl::Now()); };
  ForgetInterrupts();
  Record record;
  absl::StatusOr<std::string> answer = Ask(*worker_, BeginMeter(), memory_, "variables", "", record);
  {
    // Threads that live on may have written meanwhile: to the next call, as if nobody had asked.
    std::lock_guard<std::mutex> lock(watched_mutex_);
    late_output_ += record.stdout_text;
    late_errors_ += record.stderr_text;
  }
  if (record.session_state == SessionState::kGone) CleanUpAfter(record);
  return answer;
}

// By a fresh process: what the session's code did to its interpreter does not matter, and the memory is free again at once.
absl::StatusOr<std::string> SessionImpl::PreviewFile(absl::string_view path, int64_t rows) {
  if (rows < 0 || rows > kPreviewRowsMax) return absl::InvalidArgumentError(absl::StrCat("rows: ", rows, " is not from 0 to ", kPreviewRowsMax));
  if (!capture::IsValidUtf8(path)) return absl::InvalidArgumentError("the name is not UTF-8");
  CELLBLOCK_RETURN_IF_ERROR(WaitForTurn());
  absl::Cleanup leave = [this] { queue_.Leave(); };
  CELLBLOCK_RETURN_IF_ERROR(OpenForReading(path).status());
  StartTimings timings;
  CELLBLOCK_ASSIGN_OR_RETURN(std::unique_ptr<supervise::Worker> worker, ForkWorker(policy_, options_, cpus_, *place_, &timings));
  // Should the kernel have to choose, it ends this one and not the session's interpreter (proc(5)); an ordinary user may not be let to say so.
  (void)sys::WriteFile(absl::StrCat("/proc/", worker->process().pid(), "/oom_score_adj"), "1000");
  supervise::MemorySignals memory;
  SetBeside(Beside{worker.get(), &memory});
  supervise::CpuMeter meter({&worker->process(), &*place_->jail->process}, place_->cgroup.get());
  ForgetInterrupts();
  Record record;
  absl::StatusOr<std::string> answer = Ask(*worker, meter, memory, "preview", absl::StrCat(rows, " ", policy_.limits.memory_bytes / 2, " ", path), record);
  SetBeside(std::nullopt);
  worker.reset();
  KillOthers();
  if (!answer.ok() && memory.killed) return absl::AbortedError("the session gave no answer: it has not enough memory left (limits.memory) for a look into this file");
  if (!answer.ok() && record.session_state == SessionState::kGone) {  // which is the helper's: what its reason says of variables is not so
    return absl::AbortedError(absl::StrCat("the session gave no answer: the process that looked into the file was ended (", std::string(CallStatusName(record.status)), "); the session itself goes on as it was"));
  }
  return answer;
}

void SessionImpl::SetBeside(std::optional<Beside> beside) {
  std::lock_guard<std::mutex> lock(watched_mutex_);
  beside_ = beside;
}

// What a parser that was broken into may have started.
void SessionImpl::KillOthers() {
  int64_t threads = 0;
  if (policy_.keep_processes || supervise::HasNoOthers(*place_->jail, worker_ != nullptr ? &worker_->process() : nullptr, &threads)) return;
  wire::KillOthers request;
  request.worker_pid = worker_ != nullptr ? static_cast<uint64_t>(worker_->pid_in_jail()) : 0;
  (void)place_->jail->init->Ask(wire::EncodeMessage(request), {}, kKillDeadline);
}

}  // namespace cellblock::session
