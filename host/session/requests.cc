// See requests.h.
#include "session/requests.h"

#include <algorithm>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "artifact/given_path.h"
#include "base/status_macros.h"
#include "capture/utf8.h"

namespace cellblock::session {
namespace {

constexpr size_t kArgumentsMax = 1000;
constexpr size_t kArgumentBytesMax = 128 * 1024;
constexpr size_t kFileNameBytesMax = 4096;
constexpr size_t kIdBytesMax = 64;

}  // namespace

absl::Status CheckId(absl::string_view id) {
  const bool plain = std::all_of(id.begin(), id.end(), [](char c) { return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '-' || c == '_'; });
  if (id.size() > kIdBytesMax || !plain) return absl::InvalidArgumentError(absl::StrCat("an id has at most ", kIdBytesMax, " of a-z, 0-9, '-' and '_'"));
  return absl::OkStatus();
}

absl::Status CheckAttached(const std::vector<AttachedFile>& files) {
  if (files.size() > kAttachedMax) return absl::InvalidArgumentError(absl::StrCat("at most ", kAttachedMax, " files can be attached to a session"));
  std::set<std::string> paths;
  for (const AttachedFile& file : files) {
    CELLBLOCK_RETURN_IF_ERROR(artifact::CheckGivenPath(file.path));
    if (file.host_path.empty() || file.host_path[0] != '/') return absl::InvalidArgumentError(absl::StrCat("attached file \"", file.path, "\": host_path must be absolute"));
    if (!paths.insert(file.path).second) return absl::InvalidArgumentError(absl::StrCat("two files are attached as \"", file.path, "\""));
  }
  for (const std::string& path : paths) {
    for (size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
      if (paths.count(path.substr(0, slash)) > 0) return absl::InvalidArgumentError(absl::StrCat("\"", path, "\" cannot be attached below \"", path.substr(0, slash), "\", which is a file"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckVariables(const Policy& policy, const std::vector<std::pair<std::string, std::string>>& variables) {
  if (variables.empty()) return absl::OkStatus();
  Policy with_variables = policy;
  with_variables.environment = variables;
  return ValidatePolicy(with_variables);
}

absl::Status CheckCall(const Policy& policy, absl::string_view code, const ExecuteOptions& options) {
  if (static_cast<int64_t>(code.size()) > policy.limits.code_bytes) {
    return absl::InvalidArgumentError(absl::StrCat("the code has ", code.size(), " bytes; limits.code_size allows ", policy.limits.code_bytes));
  }
  if (code.find('\0') != absl::string_view::npos) return absl::InvalidArgumentError("the code holds a NUL byte; source code cannot");
  bool is_python = options.language == Language::kPython;  // bash takes any bytes
  if (is_python && !capture::IsValidUtf8(code)) return absl::InvalidArgumentError("the code is not UTF-8; convert it first");
  if (is_python && !capture::IsValidUtf8(options.file_name)) return absl::InvalidArgumentError("file_name is not UTF-8");
  size_t bytes = 0;
  for (const std::string& argument : options.arguments) {
    bytes += argument.size() + 1;
    if (argument.find('\0') != std::string::npos) return absl::InvalidArgumentError("an argument holds a NUL byte");
    if (is_python && !capture::IsValidUtf8(argument)) return absl::InvalidArgumentError("an argument is not UTF-8");
  }
  if (options.arguments.size() > kArgumentsMax || bytes > kArgumentBytesMax) {
    return absl::InvalidArgumentError(absl::StrCat("at most ", kArgumentsMax, " arguments of ", kArgumentBytesMax, " bytes together"));
  }
  if (options.file_name.size() > kFileNameBytesMax) return absl::InvalidArgumentError(absl::StrCat("file_name is longer than ", kFileNameBytesMax, " bytes"));
  CELLBLOCK_RETURN_IF_ERROR(CheckId(options.id));
  CELLBLOCK_RETURN_IF_ERROR(CheckVariables(policy, options.environment));
  if (options.timeout.has_value() && *options.timeout <= absl::ZeroDuration()) return absl::InvalidArgumentError("timeout must be above zero");
  return absl::OkStatus();
}

}  // namespace cellblock::session
