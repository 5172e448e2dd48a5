// See session_impl.h: questions about a session that are no calls of it. Supervisor; what comes back is a guest's JSON text, bounded.
#include <algorithm>
#include <memory>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "capture/utf8.h"
#include "session/session_impl.h"
#include "session/workspace.h"
#include "supervise/call.h"

namespace cellblock::session {
namespace {

constexpr absl::Duration kAnswerTime = absl::Seconds(30);
constexpr int64_t kPreviewRowsMax = 100;

}  // namespace

absl::StatusOr<std::string> SessionImpl::Ask(supervise::Worker& worker, supervise::CpuMeter& meter, const char* question, absl::string_view argument, Record& record) {
  supervise::CallOptions call;
  call.inspect = question;
  call.number = calls_;
  call.timeout = std::min(kAnswerTime, policy_.limits.wall);
  call.interrupt_fd = interrupt_.get();
  call.redact = redact_;
  const supervise::CallParties parties = {policy_, *jail_, &worker, cgroup_.get(), memory_, meter};
  CELLBLOCK_RETURN_IF_ERROR(supervise::RunPythonCall(parties, argument, std::move(call), record));
  for (const Result& result : record.results) {
    for (const MimeData& data : result.mime) {
      if (data.type == "application/json" && data.is_json) return data.data;
    }
  }
  const std::string why = record.error.has_value() ? absl::StrCat(record.error->name, ": ", record.error->value) : record.reason;
  return absl::UnavailableError(absl::StrCat("the session gave no answer: ", why.empty() ? "its interpreter was tampered with" : why));
}

absl::StatusOr<std::string> SessionImpl::DescribeVariables() {
  CELLBLOCK_RETURN_IF_ERROR(WaitForTurn());
  absl::Cleanup leave = [this] { queue_.Leave(); };
  if (!alive_) return absl::FailedPreconditionError("the session's interpreter has ended, and its variables with it; restart the session");
  {
    std::lock_guard<std::mutex> lock(watched_mutex_);
    DrainIdle();
    busy_ = true;
  }
  absl::Cleanup idle = [this] { busy_ = false; };
  ForgetInterrupts();
  Record record;
  absl::StatusOr<std::string> answer = Ask(*worker_, BeginMeter(), "variables", "", record);
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
  if (AttachedAt(path) == nullptr) CELLBLOCK_RETURN_IF_ERROR(OpenFile(jail_->workspace.get(), path).status());
  std::future<absl::Status> attached;
  StartTimings timings;
  CELLBLOCK_ASSIGN_OR_RETURN(const std::unique_ptr<supervise::Worker> worker, MakeWorker(attached, &timings));
  supervise::CpuMeter meter({&worker->process(), &*jail_->process}, cgroup_.get());
  ForgetInterrupts();
  Record record;
  return Ask(*worker, meter, "preview", absl::StrCat(rows, " ", path), record);
}

}  // namespace cellblock::session
