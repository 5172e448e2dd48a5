// The folder in which a server keeps what outlives it, and the tokens that it asks for. Supervisor; the folder is its own (mode 0700),
// the file of tokens its operator's.
#ifndef CELLBLOCK_APP_SERVER_STATE_H_
#define CELLBLOCK_APP_SERVER_STATE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "app/locations.h"
#include "service/access.h"

namespace cellblock::app {

// --state, else /var/lib/cellblock for root and $XDG_STATE_HOME/cellblock/server (~/.local/state/…) for others.
absl::StatusOr<std::string> StateFolder(const Surroundings& surroundings, const std::string& option);

// Makes it and those above it when missing. kFailedPrecondition: it is another user's, or open to others.
absl::Status PrepareStateFolder(const std::string& folder);

// Reads a YAML file of tokens: tokens: [{name, sha256, policies, sessions, calls, wall, memory, metrics}]. kInvalidArgument with line and column.
absl::StatusOr<service::Tokens> ReadTokens(const std::string& path);

// The one token of a server that was told of none: made at its first start and kept in the state folder (mode 0600).
struct OwnToken {
  std::string secret;
  std::string path;
};
absl::StatusOr<OwnToken> FindOrMakeToken(const std::string& folder);

}  // namespace cellblock::app

#endif  // CELLBLOCK_APP_SERVER_STATE_H_
