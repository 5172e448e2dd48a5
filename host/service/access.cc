// See access.h.
#include "service/access.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "policy/text.h"
#include "sys/sha256.h"

namespace cellblock::service {
namespace {

constexpr size_t kHexDigits = 64;
constexpr int64_t kCountMax = 100'000;

bool IsHash(absl::string_view text) {
  return text.size() == kHexDigits && std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool IsVisibleLine(absl::string_view text) {
  while (!text.empty()) {
    const policy::Character character = policy::NextCharacter(text);
    if (character.bytes <= 0 || character.code < 0x20 || policy::IsHidden(character.code)) return false;
    text.remove_prefix(static_cast<size_t>(character.bytes));
  }
  return true;
}

absl::Status Check(const Token& token) {
  auto refuse = [&](absl::string_view why) { return absl::InvalidArgumentError(absl::StrCat("token ", policy::Shown(token.name), ": ", why)); };
  if (token.name.empty() || token.name.size() > 64) return absl::InvalidArgumentError("a token needs a name of 1 to 64 bytes");
  if (!IsVisibleLine(token.name)) return refuse("a name is one line of visible text: it stands in logs");
  if (!IsHash(token.sha256)) return refuse("sha256 is 64 digits of 0-9 and a-f");
  for (int64_t count : {token.sessions_max, token.calls_max}) {
    if (count < 1 || count > kCountMax) return refuse(absl::StrCat("sessions_max and calls_max are from 1 to ", kCountMax));
  }
  if (token.wall_max.has_value() && *token.wall_max < absl::Milliseconds(100)) return refuse("wall_max is at least 100ms");
  if (token.memory_bytes_max.has_value() && *token.memory_bytes_max < (int64_t{64} << 20)) return refuse("memory_max is at least 64MiB");
  if (token.shared_bytes_max.has_value() && *token.shared_bytes_max < 0) return refuse("shared_bytes_max is not below 0");
  return absl::OkStatus();
}

// Without a branch on what differs.
bool EqualInConstantTime(absl::string_view a, absl::string_view b) {
  unsigned char difference = 0;
  for (size_t i = 0; i < kHexDigits; ++i) difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

}  // namespace

absl::StatusOr<Tokens> Tokens::Create(std::vector<Token> tokens) {
  if (tokens.size() > kTokensMax) return absl::InvalidArgumentError(absl::StrCat("at most ", kTokensMax, " tokens"));
  std::set<std::string> names, secrets;
  for (const Token& token : tokens) {
    CELLBLOCK_RETURN_IF_ERROR(Check(token));
    if (!names.insert(token.name).second) return absl::InvalidArgumentError(absl::StrCat("two tokens are called ", policy::Shown(token.name)));
    if (!secrets.insert(token.sha256).second) return absl::InvalidArgumentError(absl::StrCat("token ", policy::Shown(token.name), " has the secret of another"));
  }
  return Tokens(std::move(tokens));
}

// What is compared are hashes: whoever measures the comparison learns about a hash that he cannot choose.
const Token* Tokens::Find(absl::string_view presented) const {
  if (presented.size() > kTokenBytesMax) return nullptr;
  const absl::StatusOr<std::string> hash = HashOfSecret(presented);
  if (!hash.ok()) return nullptr;
  const Token* found = nullptr;
  for (const Token& token : tokens_) {
    if (EqualInConstantTime(token.sha256, *hash)) found = &token;
  }
  return found;
}

bool MayUsePolicy(const Token& token, absl::string_view policy) {
  if (token.policies.empty()) return true;
  return std::any_of(token.policies.begin(), token.policies.end(), [&](const std::string& name) { return absl::string_view(name) == policy; });
}

Policy WithLimitsOf(const Token& token, Policy policy) {
  if (token.wall_max.has_value()) policy.limits.wall = std::min(policy.limits.wall, *token.wall_max);
  if (token.memory_bytes_max.has_value() && policy.limits.memory_bytes > *token.memory_bytes_max) {
    const int64_t bytes = *token.memory_bytes_max;  // files lie in memory: they get a part of less
    policy.limits.memory_bytes = bytes;
    policy.limits.workspace_bytes = std::min(policy.limits.workspace_bytes, bytes / 2);
    policy.limits.tmp_bytes = std::min(policy.limits.tmp_bytes, bytes / 4);
    policy.limits.shm_bytes = std::min(policy.limits.shm_bytes, bytes / 4);
  }
  return policy;
}

std::string NewSecret() {
  std::array<char, 32> bytes;
  CELLBLOCK_CHECK(getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  return absl::StrCat("cb_", absl::WebSafeBase64Escape(absl::string_view(bytes.data(), bytes.size())));
}

absl::StatusOr<std::string> HashOfSecret(absl::string_view secret) {
  sys::Sha256 hash;
  hash.Update(secret);
  return hash.Hex();
}

}  // namespace cellblock::service
