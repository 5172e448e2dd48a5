// Fuzzes the policy loader: any bytes give a policy that is valid and prints back to itself, or an error with a position. Nothing
// but the bytes is read: without a folder of policies, `extends` finds none.
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/match.h"
#include "base/log.h"
#include "policy/load/load.h"
#include "policy/print.h"
#include "policy/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cellblock;  // NOLINT: one function
  absl::string_view text(reinterpret_cast<const char*>(data), size);
  absl::StatusOr<policy::LoadedPolicy> loaded = policy::LoadPolicyText(text, "fuzz.yaml", "");
  if (!loaded.ok()) {
    absl::string_view message = loaded.status().message();
    CELLBLOCK_CHECK(absl::IsInvalidArgument(loaded.status()) || absl::IsResourceExhausted(loaded.status()));
    CELLBLOCK_CHECK(absl::StartsWith(message, "fuzz.yaml:"));
    CELLBLOCK_CHECK(message.size() < 2000);
    CELLBLOCK_CHECK(policy::TextProblem(message).empty());
    return 0;
  }
  CELLBLOCK_CHECK(ValidatePolicy(loaded->policy).ok());
  absl::StatusOr<policy::LoadedPolicy> again = policy::LoadPolicyText(policy::PrintPolicy(loaded->policy), "printed.yaml", "");
  CELLBLOCK_CHECK(again.ok());
  CELLBLOCK_CHECK(again->policy == loaded->policy);
  CELLBLOCK_CHECK(policy::DiffPolicies(loaded->policy, again->policy).empty());
  return 0;
}
