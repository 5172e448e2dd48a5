// YAML in, validated Policy out; LoadPolicy() of cellblock/policy.h is the short form. Supervisor only: this is the target that links
// the YAML library. Trusts the operator with paths, and no file's content. Thread-safe.
#ifndef CELLBLOCK_POLICY_LOAD_LOAD_H_
#define CELLBLOCK_POLICY_LOAD_LOAD_H_

#include <cstddef>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "policy/load/apply.h"

namespace cellblock::policy {

inline constexpr size_t kExtendsFilesMax = 8;  // of one chain, the first file counted
inline constexpr size_t kListedProblemsMax = 20;

// As LoadPolicy(), and says where each key was set.
absl::StatusOr<LoadedPolicy> LoadPolicyWithOrigins(absl::string_view name_or_path, absl::string_view policy_directory);

// The same for a text that is in no file; `file_name` stands for it in messages. It may extend shipped policies by name only.
absl::StatusOr<LoadedPolicy> LoadPolicyText(absl::string_view text, absl::string_view file_name, absl::string_view policy_directory);

// As LoadPolicy(), but the error lists up to kListedProblemsMax problems, one a line.
absl::Status CheckPolicyFile(absl::string_view name_or_path, absl::string_view policy_directory);

}  // namespace cellblock::policy

#endif  // CELLBLOCK_POLICY_LOAD_LOAD_H_
