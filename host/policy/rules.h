// What single texts of a policy may be: names, globs, paths, modules. Each function returns what is wrong, or empty. Every
// process; trusts nothing.
#ifndef CELLBLOCK_POLICY_RULES_H_
#define CELLBLOCK_POLICY_RULES_H_

#include <string>

#include "absl/strings/string_view.h"

namespace cellblock::policy {

// Policy and Python environment names: [A-Za-z0-9][A-Za-z0-9._-]*, at most 64 bytes, not `none`.
std::string NameProblem(absl::string_view name);
// Relative, 1 – 256 bytes, no empty part, `.` or `..`.
std::string GlobProblem(absl::string_view glob);
// A dotted module name of ASCII identifiers, at most 128 bytes.
std::string ModuleProblem(absl::string_view module);
// [a-z0-9_]+, at most 64 bytes. Whether the call may be allowed is for confine/ to say.
std::string SyscallProblem(absl::string_view name);
// 4 – 4,096 bytes: shorter ones would blot out ordinary output.
std::string RedactProblem(absl::string_view text);
// The name of a zone in the tz database, at most 64 bytes.
std::string TimeZoneProblem(absl::string_view zone);
// [A-Za-z0-9_.@-]+, at most 64 bytes.
std::string LocaleProblem(absl::string_view locale);
// [A-Za-z_][A-Za-z0-9_]*, at most 128 bytes.
std::string VariableNameProblem(absl::string_view name);
// Absolute and normal (no empty part, `.`, `..` or trailing slash), at most 1,024 bytes.
std::string PathProblem(absl::string_view path);
// The folder of another root: a path that is not `/`. Empty stands for the host's own /usr and is fine.
std::string RootProblem(absl::string_view path);
// What a read-only mount may show, and where.
std::string MountSourceProblem(absl::string_view source);
std::string MountTargetProblem(absl::string_view target);

// Whether `path` is `folder` or lies beneath it. Both normal and absolute.
bool IsAtOrBelow(absl::string_view path, absl::string_view folder);

}  // namespace cellblock::policy

#endif  // CELLBLOCK_POLICY_RULES_H_
