// What an operator sees of a running server: the audit log, the log of requests, metrics, and lines on standard error. Wires observe/ to
// the service and the front. Supervisor. Thread-safe once made.
#ifndef CELLBLOCK_APP_SERVER_WATCHING_H_
#define CELLBLOCK_APP_SERVER_WATCHING_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "app/console.h"
#include "app/serve_command.h"
#include "front/http/server.h"
#include "observe/audit_log.h"
#include "observe/failure_log.h"
#include "observe/json_lines.h"
#include "observe/metrics.h"
#include "observe/request_log.h"

namespace cellblock::app {

// The server's own lines on standard error: for a person, or as JSON (--log-format).
class ServerLog {
 public:
  explicit ServerLog(Console& console) : console_(console) {}
  void Note(absl::string_view message);
  void Problem(absl::string_view message);

 private:
  Console& console_;
};

class ServerWatching {
 public:
  // Opens the files that the options name. `look`: see observe::Metrics.
  static absl::StatusOr<std::unique_ptr<ServerWatching>> Create(const ServeOptions& options, const std::string& state, const std::string& version, std::function<observe::Moment()> look);

  std::vector<service::Observer*> observers();
  void RequestAnswered(const front::RequestFacts& facts);
  std::string MetricsText() const { return metrics_.Text(); }

 private:
  ServerWatching(const std::string& version, std::function<observe::Moment()> look) : metrics_(version, std::move(look)) {}

  observe::Metrics metrics_;
  observe::FailureLog failures_;
  std::unique_ptr<observe::JsonLines> audit_lines_, request_lines_;
  std::unique_ptr<observe::AuditLog> audit_;
  std::unique_ptr<observe::RequestLog> requests_;  // null: none is kept
};

}  // namespace cellblock::app

#endif  // CELLBLOCK_APP_SERVER_WATCHING_H_
