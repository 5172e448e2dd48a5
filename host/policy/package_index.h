// The package index of a policy: its URL in parts, and the rules that it stands for. Supervisor and egress proxy; trusts nothing. Pure.
#ifndef CELLBLOCK_POLICY_PACKAGE_INDEX_H_
#define CELLBLOCK_POLICY_PACKAGE_INDEX_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cellblock/policy.h"

namespace cellblock::policy {

struct IndexUrl {
  bool is_tls = true;  // https, else http
  std::string host;    // canonical
  int64_t port = 443;
  std::string path;    // "/simple/"
};

// "https://host[:port]/path" of at most 1,024 bytes, the host canonical, the path as in a rule. kInvalidArgument says what is wrong
// without the text, which may hold a password: user information, a query or a fragment, among others.
absl::StatusOr<IndexUrl> ParseIndexUrl(absl::string_view url);

// The rules that a package index stands for, behind those of network.allow: its own host, and the hosts that its links lead to on the
// same port. None for no index, or one whose URL ParseIndexUrl() refuses.
std::vector<NetworkRule> RulesOf(const PackageIndex& packages);

}  // namespace cellblock::policy

#endif  // CELLBLOCK_POLICY_PACKAGE_INDEX_H_
