// The tables that the seccomp filter is built from: what is allowed, what is allowed for some arguments, what is denied on purpose
// and with which errno. Supervisor side; constant data.
#ifndef CELLBLOCK_CONFINE_SECCOMP_GROUPS_H_
#define CELLBLOCK_CONFINE_SECCOMP_GROUPS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace cellblock::confine {

struct SeccompOptions;

// Calls that need no look at their arguments.
struct CallGroup {
  const char* name;
  const char* reason;
  int error;  // 0: allowed; else what they answer
  absl::Span<const char* const> calls;
};
absl::Span<const CallGroup> AllowedGroups();
const CallGroup& ExecGroup();
absl::Span<const CallGroup> DeniedGroups();

// (argument & mask) == value. Arguments are compared as 32 bits: the kernel drops the high half of an int, and a comparison of 64
// bits would not see what it will do (CVE-2019-7303).
struct Condition {
  unsigned argument;
  uint32_t mask;
  uint32_t value;
};
constexpr uint32_t kWhole = 0xffffffff;

// One call with up to three conditions, all of which must hold. Rules of one call with different errors never overlap, so that their
// order does not matter; what no rule fits falls to the default, ENOSYS.
struct ArgumentRule {
  const char* call;
  int error;  // 0: allowed
  std::vector<Condition> conditions;
};
std::vector<ArgumentRule> ArgumentRules(const SeccompOptions& options);

// Why the call is in a denied group, or may be used with some arguments only; nullptr: neither.
const char* RefusalReason(const char* call);

// Splits the numbers below 2^bits that are not in `values` into blocks of (mask, value), each to be tested by one condition.
std::vector<Condition> ComplementBlocks(unsigned argument, absl::Span<const uint32_t> values, unsigned bits);

}  // namespace cellblock::confine

#endif  // CELLBLOCK_CONFINE_SECCOMP_GROUPS_H_
