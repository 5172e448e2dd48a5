// See server_state.h.
#include "app/server_state.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "policy/load/files.h"
#include "service/token_file.h"
#include "sys/files.h"

namespace cellblock::app {

absl::StatusOr<std::string> StateFolder(const Surroundings& surroundings, const std::string& option) {
  if (!option.empty()) {
    std::error_code error;
    const std::filesystem::path absolute = std::filesystem::absolute(option, error);
    return error ? option : absolute.lexically_normal().string();
  }
  if (geteuid() == 0) return "/var/lib/cellblock";
  const std::optional<std::string> state = surroundings.environment("XDG_STATE_HOME");
  if (state.has_value() && state->starts_with("/")) return absl::StrCat(*state, "/cellblock/server");
  const std::optional<std::string> home = surroundings.environment("HOME");
  if (!home.has_value() || !home->starts_with("/")) return absl::FailedPreconditionError("there is no home folder to keep the server's state in; name one with --state");
  return absl::StrCat(*home, "/.local/state/cellblock/server");
}

absl::Status PrepareStateFolder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(folder).parent_path(), error);
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return sys::ErrnoStatus(absl::StrCat("make the state folder ", folder));
  struct stat found = {};
  if (stat(folder.c_str(), &found) != 0) return sys::ErrnoStatus(absl::StrCat("look at the state folder ", folder));
  if (!S_ISDIR(found.st_mode)) return absl::FailedPreconditionError(absl::StrCat(folder, " is no folder"));
  if (found.st_uid != geteuid() || (found.st_mode & 077) != 0) {
    return absl::FailedPreconditionError(absl::StrCat("the state folder ", folder, " must be this user's alone: chown it, and chmod 700 ", folder));
  }
  return absl::OkStatus();
}

absl::StatusOr<service::Tokens> ReadTokens(const std::string& path) {
  CELLBLOCK_ASSIGN_OR_RETURN(const policy::PolicyFile file, policy::ReadPolicyFile(path));
  return service::ParseTokens(file.text, path);
}

absl::StatusOr<OwnToken> FindOrMakeToken(const std::string& folder) {
  OwnToken token;
  token.path = absl::StrCat(folder, "/token");
  absl::StatusOr<UniqueFd> made = sys::Open(token.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  if (made.ok()) {
    token.secret = service::NewSecret();
    CELLBLOCK_RETURN_IF_ERROR(sys::WriteAll(made->get(), absl::StrCat(token.secret, "\n")));
    return token;
  }
  CELLBLOCK_ASSIGN_OR_RETURN(const std::string text, sys::ReadFile(token.path, service::kTokenBytesMax + 1));
  token.secret = std::string(absl::StripAsciiWhitespace(text));
  if (token.secret.size() < service::kTokenBytesMin) return absl::FailedPreconditionError(absl::StrCat(token.path, " holds no token of at least ", service::kTokenBytesMin, " characters; remove it for a new one"));
  return token;
}

}  // namespace cellblock::app
