// Every answered request as one JSON line. Supervisor. Thread-safe.
#ifndef CELLBLOCK_OBSERVE_REQUEST_LOG_H_
#define CELLBLOCK_OBSERVE_REQUEST_LOG_H_

#include "observe/answered_request.h"
#include "observe/json_lines.h"

namespace cellblock::observe {

inline constexpr size_t kMethodBytesMax = 32;  // of a line; all else in it has a bound of its own

class RequestLog {
 public:
  explicit RequestLog(JsonLines& lines) : lines_(lines) {}
  void RequestAnswered(const AnsweredRequest& request);

 private:
  JsonLines& lines_;
};

}  // namespace cellblock::observe

#endif  // CELLBLOCK_OBSERVE_REQUEST_LOG_H_
