// See policy_shelf.h.
#include "service/policy_shelf.h"

#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "service/errors.h"

namespace cellblock::service {

absl::Status PolicyShelf::Read() {
  Policies policies;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder_, error), end; !error && entry != end; entry.increment(error)) {
    const std::filesystem::path& path = entry->path();
    if (path.extension() != ".yaml" || path.filename().string().front() == '.') continue;
    if (policies.size() >= kPoliciesMax) return absl::ResourceExhaustedError(absl::StrCat(folder_, " holds more than ", kPoliciesMax, " policies"));
    CELLBLOCK_ASSIGN_OR_RETURN(Policy policy, LoadPolicy(path.string(), folder_));
    policies.emplace(path.stem().string(), std::move(policy));
  }
  if (error) return absl::NotFoundError(absl::StrCat("the folder of policies ", folder_, " cannot be read: ", error.message()));
  if (policies.empty()) return absl::NotFoundError(absl::StrCat(folder_, " holds no policy (*.yaml)"));
  std::lock_guard<std::mutex> lock(mutex_);
  policies_ = std::make_shared<const Policies>(std::move(policies));
  return absl::OkStatus();
}

std::shared_ptr<const PolicyShelf::Policies> PolicyShelf::all() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return policies_;
}

absl::StatusOr<Policy> PolicyShelf::Find(absl::string_view name) const {
  const std::shared_ptr<const Policies> policies = all();
  const auto found = policies->find(std::string_view(name.data(), name.size()));
  if (found != policies->end()) return found->second;
  auto name_of = [](std::string* out, const auto& entry) { out->append(entry.first); };
  return Error(absl::StatusCode::kNotFound, "unknown_policy",
               absl::StrCat("there is no policy \"", absl::Utf8SafeCHexEscape(name.substr(0, 100)), "\" here; there are: ", absl::StrJoin(*policies, ", ", name_of)));
}

}  // namespace cellblock::service
