// See validate.h.
#include "policy/validate.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "policy/network_conflicts.h"
#include "policy/print.h"
#include "policy/schema.h"
#include "policy/text.h"
#include "policy/units.h"
#include "policy/value.h"

namespace cellblock {
namespace policy {

namespace {

// Those that need no file: a machine's others depend on what its administrator generated, and glibc falls back to C in silence.
bool IsBuiltInLocale(absl::string_view locale) { return locale == "C.UTF-8" || locale == "C" || locale == "POSIX"; }

}  // namespace

std::optional<Conflict> FindConflict(const Policy& policy) {
  const Isolation& isolation = policy.isolation;
  if (policy.limits.wall > policy.session.life) {
    return Conflict{{"limits.wall", "session.life"},
                    absl::StrCat("limits.wall: one call may take ", DurationText(policy.limits.wall),
                                 ", longer than the whole session (session.life: ", DurationText(policy.session.life),
                                 "); lower the one or raise the other")};
  }
  if (policy.session.idle > policy.session.life) {
    return Conflict{{"session.idle", "session.life"},
                    absl::StrCat("session.idle: ", DurationText(policy.session.idle), " is longer than session.life, ",
                                 DurationText(policy.session.life), "; lower the one or raise the other")};
  }
  if (!policy.languages.python && !policy.languages.bash) {
    return Conflict{{"languages.python", "languages.bash"},
                    "languages.python: neither python nor bash is on, so nothing could run; write true for one"};
  }
  if (policy.languages.bash && !policy.languages.subprocesses) {
    return Conflict{{"languages.bash", "languages.subprocesses"},
                    "languages.bash: bash starts programs, which languages.subprocesses: false forbids; write languages.bash: false too"};
  }
  if (isolation.memory == MemoryRequirement::kEnforced && isolation.cgroup == Requirement::kOff) {
    return Conflict{{"isolation.memory", "isolation.cgroup"},
                    "isolation.memory: only a cgroup can enforce it, and isolation.cgroup is off; write isolation.cgroup: required"};
  }
  bool needs_no_new_privileges = isolation.landlock != Requirement::kOff || isolation.seccomp != Requirement::kOff;
  if (isolation.no_new_privileges == Requirement::kOff && needs_no_new_privileges) {
    return Conflict{{"isolation.no_new_privileges", "isolation.landlock", "isolation.seccomp"},
                    "isolation.no_new_privileges: the kernel sets up landlock and seccomp only with it; write required"};
  }
  if (policy.files.directory.empty() && !IsBuiltInLocale(policy.determinism.locale)) {
    return Conflict{{"determinism.locale", "files.root"},
                    absl::StrCat("determinism.locale: ", Shown(policy.determinism.locale),
                                 " is not sure to exist in a session over the host's /usr; write C.UTF-8, C or POSIX, or name a root that has it "
                                 "(files.root)")};
  }
  if (std::optional<Conflict> conflict = FindNetworkConflict(policy); conflict.has_value()) return conflict;
  size_t bytes = PrintPolicy(policy).size();
  if (bytes > kPolicyFileBytesMax) {
    return Conflict{{"redact", "environment", "network.allow"},
                    absl::StrCat("redact: the whole policy takes ", bytes, " bytes as text, more than the ", kPolicyFileBytesMax,
                                 " of a policy file; shorten redact, environment or network.allow")};
  }
  return std::nullopt;
}

}  // namespace policy

absl::Status ValidatePolicy(const Policy& policy) {
  for (const policy::Key& key : policy::Schema()) CELLBLOCK_RETURN_IF_ERROR(policy::CheckKey(key, policy));
  std::optional<policy::Conflict> conflict = policy::FindConflict(policy);
  return conflict.has_value() ? absl::InvalidArgumentError(conflict->message) : absl::OkStatus();
}

}  // namespace cellblock
