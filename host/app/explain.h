// `cellblock policy explain`: what a policy's network rules say to a URL, without any traffic: the very decisions that the egress proxy
// makes, one after the other. Supervisor; the URL is a person's.
#ifndef CELLBLOCK_APP_EXPLAIN_H_
#define CELLBLOCK_APP_EXPLAIN_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cellblock/policy.h"

namespace cellblock::app {

struct Explanation {
  bool allowed = false;
  std::string text;  // some lines for a person, each with its end
};

// `url`: "https://host[:port]/path", "http://…", or "host:port" for any other protocol. kInvalidArgument: none of these.
absl::StatusOr<Explanation> ExplainUrl(const Network& network, absl::string_view url, absl::string_view method);

}  // namespace cellblock::app

#endif  // CELLBLOCK_APP_EXPLAIN_H_
