// Values that code can use and never read, held by the egress proxy alone: never printed, copied to a log or sent anywhere but into the
// header or query parameter of the one host that each is for. Read once, when a session opens.
#ifndef CELLBLOCK_EGRESS_VAULT_H_
#define CELLBLOCK_EGRESS_VAULT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/unique_fd.h"
#include "cellblock/policy.h"

namespace cellblock::egress {

inline constexpr size_t kSecretBytesMax = 16 * 1024;
inline constexpr size_t kSecretBytesMin = 4;   // shorter ones cannot be told from other bytes in answers

class Secret {
 public:
  // The value is `file`'s whole content, or the variable `variable` of this process where that is not empty; one line end behind it is
  // left out. kFailedPrecondition names the secret and what is wrong: not there, empty, too short or long, with control characters
  // (a header could not carry them) or beyond ASCII (each server reads, and repeats, those in its own way).
  static absl::StatusOr<Secret> Read(NetworkSecret description, const std::string& variable, const UniqueFd& file);
  Secret(Secret&&) = default;
  Secret& operator=(Secret&&) = default;
  ~Secret();

  const NetworkSecret& description() const { return description_; }
  std::string Formatted() const;               // as the header or parameter has it
  std::vector<std::string> Spellings() const;  // what answers must not hold

 private:
  Secret(NetworkSecret description, std::string value) : description_(std::move(description)), value_(std::move(value)) {}
  NetworkSecret description_;
  std::string value_;
};

}  // namespace cellblock::egress

#endif  // CELLBLOCK_EGRESS_VAULT_H_
