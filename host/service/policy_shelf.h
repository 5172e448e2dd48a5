// The policies that the server offers, read from a folder at the start and again when asked. Supervisor. Thread-safe: sessions hold the
// policy that they were made with, whatever is read later.
#ifndef CELLBLOCK_SERVICE_POLICY_SHELF_H_
#define CELLBLOCK_SERVICE_POLICY_SHELF_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cellblock/policy.h"

namespace cellblock::service {

inline constexpr size_t kPoliciesMax = 1000;

class PolicyShelf {
 public:
  using Policies = std::map<std::string, Policy, std::less<>>;  // by file name without .yaml

  explicit PolicyShelf(std::string folder) : folder_(std::move(folder)) {}

  // Reads every *.yaml of the folder. All or nothing: with an error what was read before stays. kNotFound: none is there.
  absl::Status Read();

  std::shared_ptr<const Policies> all() const;
  absl::StatusOr<Policy> Find(absl::string_view name) const;  // kNotFound lists the names

 private:
  const std::string folder_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Policies> policies_ = std::make_shared<Policies>();
};

}  // namespace cellblock::service

#endif  // CELLBLOCK_SERVICE_POLICY_SHELF_H_
