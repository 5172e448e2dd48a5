// Fuzzes the operator's file of tokens: any text gives tokens that are distinct and within their ranges, or an error that names a place
// and is fit to be shown.
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "base/log.h"
#include "policy/text.h"
#include "service/token_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cellblock;  // NOLINT: one file
  const absl::StatusOr<service::Tokens> tokens = service::ParseTokens({reinterpret_cast<const char*>(data), size}, "tokens.yaml");
  if (!tokens.ok()) {
    CELLBLOCK_CHECK(absl::IsInvalidArgument(tokens.status()) || absl::IsResourceExhausted(tokens.status()));
    CELLBLOCK_CHECK(absl::StartsWith(tokens.status().message(), "tokens.yaml"));
    CELLBLOCK_CHECK(tokens.status().message().size() < 2000);
    CELLBLOCK_CHECK(policy::TextProblem(tokens.status().message()).empty());
    return 0;
  }
  CELLBLOCK_CHECK(!tokens->all().empty() && tokens->all().size() <= service::kTokensMax);
  std::set<std::string> names, secrets;
  for (const service::Token& token : tokens->all()) {
    CELLBLOCK_CHECK(policy::TextProblem(token.name).empty());
    CELLBLOCK_CHECK(names.insert(token.name).second && secrets.insert(token.sha256).second);
    CELLBLOCK_CHECK(token.sha256.size() == 64 && token.sessions_max >= 1 && token.calls_max >= 1);
    CELLBLOCK_CHECK(!token.wall_max.has_value() || *token.wall_max > absl::ZeroDuration());
  }
  return 0;
}
