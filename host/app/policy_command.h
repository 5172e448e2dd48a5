// `cellblock policy check | print | diff | explain`. Supervisor; policy files are checked, not trusted.
#ifndef CELLBLOCK_APP_POLICY_COMMAND_H_
#define CELLBLOCK_APP_POLICY_COMMAND_H_

#include <string>
#include <vector>

#include "app/context.h"

namespace cellblock::app {

enum class PolicyAction { kCheck, kPrint, kDiff, kExplain };

struct PolicyOptions {
  PolicyAction action = PolicyAction::kCheck;
  std::vector<std::string> policies;  // names or files: check 1 or more, print 1, diff 2; explain: one, then at least one URL
  std::string method = "GET";         // explain
};

// check: 0 when all are well, 1 when one is not. print: 0, or 2. diff: 0 when they are the same, 1 when they differ, 2 when one is unreadable. explain: 0 when
// all are allowed, 1 when one is refused, 2 when the policy or a URL cannot be read.
int PolicyCommand(const PolicyOptions& options, const Context& context);

}  // namespace cellblock::app

#endif  // CELLBLOCK_APP_POLICY_COMMAND_H_
