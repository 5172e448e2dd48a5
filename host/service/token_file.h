// The operator's file of tokens: YAML in, checked tokens out. Supervisor; pure.
#ifndef CELLBLOCK_SERVICE_TOKEN_FILE_H_
#define CELLBLOCK_SERVICE_TOKEN_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "service/access.h"

namespace cellblock::service {

// tokens: [{name, sha256, policies, sessions, calls, wall, memory, shared_bytes, metrics}]. kInvalidArgument with `file`, line and column;
// kResourceExhausted: beyond a bound of the reader's.
absl::StatusOr<Tokens> ParseTokens(absl::string_view yaml, const std::string& file);

}  // namespace cellblock::service

#endif  // CELLBLOCK_SERVICE_TOKEN_FILE_H_
