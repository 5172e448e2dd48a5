// Who may use the service: bearer tokens, each with the policies, limits and counts that it may use. Supervisor. A presented token is
// anybody's bytes; only hashes of the real ones are held. Immutable, so thread-safe.
#ifndef CELLBLOCK_SERVICE_ACCESS_H_
#define CELLBLOCK_SERVICE_ACCESS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "cellblock/policy.h"

namespace cellblock::service {

inline constexpr size_t kTokensMax = 1000;
inline constexpr size_t kTokenBytesMin = 16;
inline constexpr size_t kTokenBytesMax = 512;

// Whether a token may see the whole server's metrics, which tell of everybody's sessions; kOnly: them and nothing else.
enum class MetricsAccess { kNo, kYes, kOnly };

struct Token {
  std::string name;                              // in logs, and the owner of its sessions
  std::string sha256;                            // of the secret, 64 hex digits
  std::vector<std::string> policies;             // by name; empty: every policy of the server
  int64_t sessions_max = 64;                     // live at once; 1 – 100,000
  int64_t calls_max = 256;                       // running and waiting at once; 1 – 100,000
  std::optional<absl::Duration> wall_max;        // these two lower what the policy gives
  std::optional<int64_t> memory_bytes_max;
  std::optional<int64_t> shared_bytes_max;       // of its shared files together; none: half of what those of all tokens may have
  MetricsAccess metrics = MetricsAccess::kNo;
};

class Tokens {
 public:
  // kInvalidArgument: two of one name or one secret, a value out of range, too many.
  static absl::StatusOr<Tokens> Create(std::vector<Token> tokens);

  // Null when it is none. Takes the same time whichever token it is, and however much of it is right.
  const Token* Find(absl::string_view presented) const;
  const std::vector<Token>& all() const { return tokens_; }

 private:
  explicit Tokens(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}
  std::vector<Token> tokens_;
};

bool MayUsePolicy(const Token& token, absl::string_view policy);
// The policy as the token may use it.
Policy WithLimitsOf(const Token& token, Policy policy);

// A new secret: 32 random bytes as text that needs no quoting.
std::string NewSecret();
absl::StatusOr<std::string> HashOfSecret(absl::string_view secret);

}  // namespace cellblock::service

#endif  // CELLBLOCK_SERVICE_ACCESS_H_
