// See policy_command.h.
#include "app/policy_command.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "app/console.h"
#include "app/exit_codes.h"
#include "app/explain.h"
#include "app/locations.h"
#include "app/terminal_text.h"
#include "cellblock/policy.h"
#include "policy/load/load.h"
#include "policy/print.h"

namespace cellblock::app {
namespace {

int Check(const PolicyOptions& options, const std::string& directory, Console& console) {
  int exit_code = kExitOk;
  for (const std::string& name : options.policies) {
    const absl::Status checked = policy::CheckPolicyFile(name, directory);
    if (checked.ok()) {
      console.Write(absl::StrCat(NeutralizeLine(name), ": ok\n"));
    } else {
      for (absl::string_view problem : absl::StrSplit(checked.message(), '\n')) console.Problem(problem);
      exit_code = kExitUserError;
    }
  }
  return exit_code;
}

int Print(const PolicyOptions& options, const std::string& directory, Console& console) {
  const absl::StatusOr<Policy> policy = LoadPolicy(options.policies[0], directory);
  if (!policy.ok()) {
    console.Problem(policy.status().message());
    return kExitUsage;
  }
  console.Write(policy::PrintPolicy(*policy));
  return kExitOk;
}

int Diff(const PolicyOptions& options, const std::string& directory, Console& console) {
  const absl::StatusOr<Policy> from = LoadPolicy(options.policies[0], directory);
  const absl::StatusOr<Policy> to = LoadPolicy(options.policies[1], directory);
  for (const auto* policy : {&from, &to}) {
    if (!policy->ok()) console.Problem(policy->status().message());
  }
  if (!from.ok() || !to.ok()) return kExitUsage;
  const std::string difference = policy::DiffPolicies(*from, *to);
  console.Write(difference);
  return difference.empty() ? kExitOk : kExitUserError;
}

int Explain(const PolicyOptions& options, const std::string& directory, Console& console) {
  const absl::StatusOr<Policy> policy = LoadPolicy(options.policies[0], directory);
  if (!policy.ok()) {
    console.Problem(policy.status().message());
    return kExitUsage;
  }
  int exit_code = kExitOk;
  for (size_t i = 1; i < options.policies.size(); ++i) {
    const absl::StatusOr<Explanation> explanation = ExplainUrl(policy->network, options.policies[i], options.method);
    if (!explanation.ok()) {
      console.Problem(explanation.status().message());
      return kExitUsage;
    }
    console.Write(explanation->text);
    if (!explanation->allowed) exit_code = kExitUserError;
  }
  return exit_code;
}

}  // namespace

int PolicyCommand(const PolicyOptions& options, const Context& context) {
  Console console(context.console);
  const std::string directory = FindLocations(context.surroundings).policy_directory;
  int exit_code = kExitUsage;
  switch (options.action) {
    case PolicyAction::kCheck:
      exit_code = Check(options, directory, console);
      break;
    case PolicyAction::kPrint:
      exit_code = Print(options, directory, console);
      break;
    case PolicyAction::kDiff:
      exit_code = Diff(options, directory, console);
      break;
    case PolicyAction::kExplain:
      exit_code = Explain(options, directory, console);
      break;
  }
  return console.stdout_closed() ? ExitCodeOfLostOutput(console) : exit_code;
}

}  // namespace cellblock::app
