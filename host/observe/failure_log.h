// Tells the server's own log of requests that failed through no fault of who asked: a client has the request's id, an operator finds by
// it what went wrong. Supervisor. Thread-safe.
#ifndef CELLBLOCK_OBSERVE_FAILURE_LOG_H_
#define CELLBLOCK_OBSERVE_FAILURE_LOG_H_

#include "service/observer.h"

namespace cellblock::observe {

// Whether the host could not do its work; what a client did wrong, or must wait for, is no failure.
bool IsFailure(const absl::Status& status);

class FailureLog : public service::Observer {
 public:
  void Refused(absl::string_view verb, absl::string_view session_id, const service::Origin& origin, const absl::Status& status) override;
};

}  // namespace cellblock::observe

#endif  // CELLBLOCK_OBSERVE_FAILURE_LOG_H_
