// See server_state.h.
#include "app/server_state.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "policy/load/apply.h"
#include "policy/load/files.h"
#include "policy/load/yaml_tree.h"
#include "policy/text.h"
#include "policy/units.h"
#include "sys/files.h"

namespace cellblock::app {
namespace {

using policy::ErrorAt;
using policy::Node;

const std::vector<std::string>& TokenKeys() {
  static const auto* const keys = new std::vector<std::string>{"name", "sha256", "policies", "sessions", "calls", "wall", "memory", "metrics"};
  return *keys;
}

absl::Status ReadPolicies(const Node& node, absl::string_view file, service::Token* token) {
  if (node.kind != Node::Kind::kList) return ErrorAt(file, node.position, "policies: a list of names is wanted, such as [default, charts]");
  for (const Node& item : node.children) {
    if (item.kind != Node::Kind::kScalar) return ErrorAt(file, item.position, "policies: a name is wanted here");
    token->policies.push_back(item.text);
  }
  return absl::OkStatus();
}

absl::Status ReadTokenKey(const Node& node, absl::string_view file, service::Token* token) {
  if (node.key == "policies") return ReadPolicies(node, file, token);
  auto wrong = [&](absl::string_view what) { return ErrorAt(file, node.position, absl::StrCat(node.key, ": ", what)); };
  if (node.kind != Node::Kind::kScalar) return wrong("one value is wanted here");
  if (node.key == "name" || node.key == "sha256") {
    (node.key == "name" ? token->name : token->sha256) = node.text;
  } else if (node.key == "wall") {
    absl::StatusOr<absl::Duration> wall = policy::ParseDuration(node.text);
    if (!wall.ok()) return wrong(wall.status().message());
    token->wall_max = *wall;
  } else if (node.key == "memory") {
    absl::StatusOr<int64_t> bytes = policy::ParseSize(node.text);
    if (!bytes.ok()) return wrong(bytes.status().message());
    token->memory_bytes_max = *bytes;
  } else if (node.key == "metrics") {
    if (node.text != "no" && node.text != "yes" && node.text != "only") return wrong("no, yes or only is wanted here");
    token->metrics = node.text == "yes" ? service::MetricsAccess::kYes : node.text == "only" ? service::MetricsAccess::kOnly : service::MetricsAccess::kNo;
  } else if (node.key == "sessions" || node.key == "calls") {
    absl::StatusOr<uint64_t> count = policy::ParseCount(node.text);
    if (!count.ok() || *count > 1'000'000) return wrong("a whole number is wanted here");
    (node.key == "sessions" ? token->sessions_max : token->calls_max) = static_cast<int64_t>(*count);
  } else {
    return ErrorAt(file, node.key_position, absl::StrCat("no key \"", node.key, "\" here", policy::DidYouMean(policy::NearWords(node.key, TokenKeys()))));
  }
  return absl::OkStatus();
}

}  // namespace

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
  CELLBLOCK_ASSIGN_OR_RETURN(const Node root, policy::ParseYaml(file.text, path));
  const Node* list = policy::FindNode(root, "tokens");
  if (list == nullptr || list->kind != Node::Kind::kList || root.children.size() != 1) {
    return ErrorAt(path, root.position, "a file of tokens has one key, tokens, with a list: tokens: [{name: …, sha256: …}]");
  }
  std::vector<service::Token> tokens;
  for (const Node& entry : list->children) {
    if (entry.kind != Node::Kind::kMap) return ErrorAt(path, entry.position, "a token is a map: {name: …, sha256: …}");
    service::Token token;
    for (const Node& key : entry.children) CELLBLOCK_RETURN_IF_ERROR(ReadTokenKey(key, path, &token));
    tokens.push_back(std::move(token));
  }
  if (tokens.empty()) return ErrorAt(path, list->position, "tokens: the list is empty");
  absl::StatusOr<service::Tokens> made = service::Tokens::Create(std::move(tokens));
  if (!made.ok()) return absl::InvalidArgumentError(absl::StrCat(path, ": ", made.status().message()));
  return made;
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
