// See audit_log.h.
#include "observe/audit_log.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "render/json_writer.h"
#include "service/errors.h"
#include "sys/sha256.h"

namespace cellblock::observe {
namespace {

// An object with its first members; the rest follows, and the destructor writes the line.
class Line {
 public:
  Line(JsonLines& lines, absl::string_view event) : lines_(lines), json_(&text_) {
    json_.BeginObject();
    json_.Key("time");
    json_.Time(absl::Now());
    json_.Member("event", event);
  }
  ~Line() {
    json_.EndObject();
    lines_.Write(text_);
  }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  render::JsonWriter& json() { return json_; }
  void Session(const service::SessionFacts& session) {
    json_.Member("token", session.owner);
    json_.Member("session_id", session.id);
    json_.Member("policy", session.policy);
  }

 private:
  JsonLines& lines_;
  std::string text_;
  render::JsonWriter json_;
};

void WriteCall(Line& line, const service::CallFacts& call) {
  line.Session(call.session);
  line.json().Member("request_id", call.request_id);
  line.json().Member("execution_id", call.execution_id);
}

}  // namespace

void AuditLog::SessionCreated(const service::SessionFacts& session, const service::Origin& origin, absl::Duration took, const StartTimings& steps) {
  Line line(lines_, "session_created");
  line.Session(session);
  line.json().Member("request_id", origin.request_id);
}

void AuditLog::SessionEnded(const service::SessionFacts& session, absl::string_view state, service::EndCause cause, absl::string_view reason) {
  Line line(lines_, "session_ended");
  line.Session(session);
  line.json().Member("state", state);
  line.json().Member("reason", reason);
}

void AuditLog::CallStarted(const service::CallFacts& call) {
  Line line(lines_, "call_started");
  WriteCall(line, call);
  line.json().Member("language", call.language);
  sys::Sha256 hash;
  hash.Update(call.code);
  line.json().Member("code_sha256", hash.Hex().value_or(""));
  line.json().Member("code_bytes", static_cast<int64_t>(call.code.size()));
  if (with_code_) line.json().Member("code", call.code.substr(0, kAuditCodeBytesMax));
}

void AuditLog::CallEnded(const service::CallFacts& call, const Record& record) {
  Line line(lines_, "call_ended");
  WriteCall(line, call);
  line.json().Member("status", CallStatusName(record.status));
  line.json().Member("wall_seconds", record.receipt.wall);
  line.json().Member("cpu_seconds", record.receipt.cpu);
  line.json().Member("memory_peak_bytes", record.receipt.memory_peak_bytes);
  line.json().Key("limits_hit");
  line.json().BeginArray();
  for (const LimitHit& hit : record.receipt.limits_hit) line.json().String(hit.name);
  line.json().EndArray();
  line.json().Key("denials");
  line.json().BeginArray();
  for (const Denial& denial : record.denials) {
    line.json().BeginObject();
    line.json().Member("kind", denial.kind);
    line.json().Member("subject", denial.subject);
    line.json().Member("rule", denial.rule);
    line.json().Member("count", denial.count);
    line.json().EndObject();
  }
  line.json().EndArray();
}

void AuditLog::Refused(absl::string_view verb, absl::string_view session_id, const service::Origin& origin, const absl::Status& status) {
  Line line(lines_, "refused");
  line.json().Member("token", origin.owner);
  if (!session_id.empty()) line.json().Member("session_id", session_id.substr(0, 100));
  line.json().Member("request_id", origin.request_id);
  line.json().Member("verb", verb);
  line.json().Member("code", service::CodeOf(status));
  line.json().Member("detail", status.message());
}

void AuditLog::FileMoved(absl::string_view verb, const service::SessionFacts& session, const service::Origin& origin, absl::string_view path, int64_t size_bytes) {
  Line line(lines_, verb);
  line.Session(session);
  line.json().Member("request_id", origin.request_id);
  line.json().Member("path", path);
  line.json().Member("size_bytes", size_bytes);
}

}  // namespace cellblock::observe
