// One request that a front has answered, told in words of no protocol's library, for the log of requests and the metrics. Supervisor;
// `method` and `session` are the client's bytes.
#ifndef CELLBLOCK_OBSERVE_ANSWERED_REQUEST_H_
#define CELLBLOCK_OBSERVE_ANSWERED_REQUEST_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace cellblock::observe {

struct AnsweredRequest {
  absl::string_view id;
  absl::string_view method;
  absl::string_view route;        // the pattern of its path, never the path; "" when there is none
  absl::string_view session;      // that it names; "" for none
  absl::string_view token;        // its name
  int status = 0;
  absl::Duration took;
  int64_t bytes_in = 0, bytes_out = 0;
};

}  // namespace cellblock::observe

#endif  // CELLBLOCK_OBSERVE_ANSWERED_REQUEST_H_
