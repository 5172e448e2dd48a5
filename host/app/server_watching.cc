// See server_watching.h.
#include "app/server_watching.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/status_macros.h"

namespace cellblock::app {
namespace {

constexpr int64_t kLogBytesMax = int64_t{64} << 20;

}  // namespace

void ServerLog::Note(absl::string_view message) {
  if (CurrentLogFormat() == LogFormat::kJson) return Log(LogLevel::kInfo, message);
  console_.Note(message);
}

void ServerLog::Problem(absl::string_view message) {
  if (CurrentLogFormat() == LogFormat::kJson) return Log(LogLevel::kError, message);
  console_.Problem(message);
}

absl::StatusOr<std::unique_ptr<ServerWatching>> ServerWatching::Create(const ServeOptions& options, const std::string& state, const std::string& version,
                                                                       std::function<observe::Moment()> look) {
  std::unique_ptr<ServerWatching> watching(new ServerWatching(version, std::move(look)));
  const std::string audit = options.audit.empty() ? absl::StrCat(state, "/audit.jsonl") : options.audit;
  CELLBLOCK_ASSIGN_OR_RETURN(watching->audit_lines_, observe::JsonLines::Open(audit, kLogBytesMax));
  watching->audit_ = std::make_unique<observe::AuditLog>(*watching->audit_lines_, options.audit_code);
  if (!options.log.empty()) {
    CELLBLOCK_ASSIGN_OR_RETURN(watching->request_lines_, observe::JsonLines::Open(options.log, kLogBytesMax));
    watching->requests_ = std::make_unique<observe::RequestLog>(*watching->request_lines_);
  }
  return watching;
}

std::vector<service::Observer*> ServerWatching::observers() { return {audit_.get(), &metrics_, &failures_}; }

void ServerWatching::RequestAnswered(const front::RequestFacts& facts) {
  const observe::AnsweredRequest request = {facts.id, facts.method, facts.route, facts.session, facts.token, facts.status, facts.took, facts.bytes_in, facts.bytes_out};
  metrics_.RequestAnswered(request);
  if (requests_ != nullptr) requests_->RequestAnswered(request);
}

}  // namespace cellblock::app
