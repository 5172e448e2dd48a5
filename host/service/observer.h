// What happens in the service, told as it happens: metrics and the audit log listen. Supervisor. Called from many threads at once, and
// on the way of a call: an observer is thread-safe and returns soon.
#ifndef CELLBLOCK_SERVICE_OBSERVER_H_
#define CELLBLOCK_SERVICE_OBSERVER_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "cellblock/host.h"
#include "cellblock/record.h"

namespace cellblock::service {

// Who asks: the token's name, and the request that a client can name when it complains.
struct Origin {
  std::string owner;
  std::string request_id;
};

struct SessionFacts {
  std::string id;
  std::string owner;
  std::string policy;
};

struct CallFacts {
  SessionFacts session;
  std::string request_id;
  std::string execution_id;
  absl::string_view language;
  absl::string_view code;          // user code: an audit log keeps its hash, unless it is told otherwise
  absl::Duration waited;           // for its turn
};

// Why a session ended, for who counts; `reason` is for who reads.
enum class EndCause { kClosed, kIdle, kLifeOver, kServerStopped, kLost };

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void SessionCreated(const SessionFacts& session, const Origin& origin, absl::Duration took, const StartTimings& steps) {}
  virtual void SessionEnded(const SessionFacts& session, absl::string_view state, EndCause cause, absl::string_view reason) {}
  virtual void CallStarted(const CallFacts& call) {}
  virtual void CallEnded(const CallFacts& call, const Record& record) {}
  // Of whatever verb; `session_id` is empty where there is none.
  virtual void Refused(absl::string_view verb, absl::string_view session_id, const Origin& origin, const absl::Status& status) {}
  // A file that came in or went out, or was removed.
  virtual void FileMoved(absl::string_view verb, const SessionFacts& session, const Origin& origin, absl::string_view path, int64_t size_bytes) {}
};

}  // namespace cellblock::service

#endif  // CELLBLOCK_SERVICE_OBSERVER_H_
