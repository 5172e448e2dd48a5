// Who ran what under which policy, and what was refused: one JSON object a line. User code stands in it by its SHA-256 alone, unless the
// operator wants the text. Supervisor. Thread-safe.
#ifndef CELLBLOCK_OBSERVE_AUDIT_LOG_H_
#define CELLBLOCK_OBSERVE_AUDIT_LOG_H_

#include "observe/json_lines.h"
#include "service/observer.h"

namespace cellblock::observe {

inline constexpr size_t kAuditCodeBytesMax = 64 * 1024;  // of a call's text; its hash is of the whole

class AuditLog : public service::Observer {
 public:
  AuditLog(JsonLines& lines, bool with_code) : lines_(lines), with_code_(with_code) {}

  void SessionCreated(const service::SessionFacts& session, const service::Origin& origin, absl::Duration took, const StartTimings& steps) override;
  void SessionEnded(const service::SessionFacts& session, absl::string_view state, service::EndCause cause, absl::string_view reason) override;
  void CallStarted(const service::CallFacts& call) override;
  void CallEnded(const service::CallFacts& call, const Record& record) override;
  void Refused(absl::string_view verb, absl::string_view session_id, const service::Origin& origin, const absl::Status& status) override;
  void FileMoved(absl::string_view verb, const service::SessionFacts& session, const service::Origin& origin, absl::string_view path, int64_t size_bytes) override;

 private:
  JsonLines& lines_;
  const bool with_code_;
};

}  // namespace cellblock::observe

#endif  // CELLBLOCK_OBSERVE_AUDIT_LOG_H_
