// See locations.h.
#include "app/locations.h"

#include <stdlib.h>

#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#ifndef CELLBLOCK_SOURCE_DIRECTORY
#define CELLBLOCK_SOURCE_DIRECTORY ""
#endif

namespace cellblock::app {
namespace {

constexpr const char* kEnvironmentVariable = "CELLBLOCK_PYTHON_ENV";
constexpr const char* kManifest = "manifest.json";  // the builder writes it last: a folder without it is no finished environment

bool Exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

std::string Normal(const std::string& path) { return std::filesystem::path(path).lexically_normal().string(); }

std::string FirstThatExists(const std::vector<std::string>& candidates) {
  for (const std::string& candidate : candidates) {
    if (const std::string path = Normal(candidate); Exists(path)) return path;
  }
  return Normal(candidates.front());
}

std::string BuildAdvice(const Surroundings& surroundings, absl::string_view name, const std::string& folder) {
  const std::string source = surroundings.source_directory.empty() ? "" : absl::StrCat(surroundings.source_directory, "/");
  // A build with another destination is the installed program's: its clone can be anywhere.
  const bool in_clone = !source.empty() && Exists(absl::StrCat(source, "tools/setup/build-python-env"));
  if (in_clone && Normal(folder) == Normal(absl::StrCat(source, "build/python_env/", name))) {
    return absl::StrCat("build it with: ", source, "tools/setup/build-python-env --set ", name);
  }
  return absl::StrCat("build it with: ", in_clone ? source : "", "tools/setup/build-python-env --set ", name, " --dest ", folder,
                      in_clone ? "" : "   (from a clone of Cellblock)");
}

}  // namespace

Surroundings CurrentSurroundings() {
  Surroundings surroundings;
  std::error_code error;
  const std::filesystem::path executable = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) surroundings.executable_directory = executable.parent_path().string();
  surroundings.source_directory = CELLBLOCK_SOURCE_DIRECTORY;
  surroundings.environment = [](const char* name) -> std::optional<std::string> {
    const char* value = getenv(name);
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
  return surroundings;
}

Locations FindLocations(const Surroundings& surroundings) {
  const std::string& bin = surroundings.executable_directory;
  // Installed: <prefix>/bin. Built: <clone>/build/<preset>/bin, or a build folder elsewhere, which knows its clone.
  std::vector<std::string> policies = {absl::StrCat(bin, "/../share/cellblock/policies"), absl::StrCat(bin, "/../../../policies")};
  std::vector<std::string> environments = {absl::StrCat(bin, "/../share/cellblock/python_env"), absl::StrCat(bin, "/../../python_env")};
  if (!surroundings.source_directory.empty()) {
    policies.push_back(absl::StrCat(surroundings.source_directory, "/policies"));
    environments.push_back(absl::StrCat(surroundings.source_directory, "/build/python_env"));
  }
  Locations locations{FirstThatExists(policies), FirstThatExists(environments)};
  // A clone whose environment is still to be built: name the place where its builder puts it.
  const bool built_from_clone = locations.policy_directory != Normal(policies.front());
  if (!Exists(locations.python_environments) && built_from_clone) locations.python_environments = Normal(environments.back());
  return locations;
}

absl::StatusOr<std::string> FindPythonEnvironment(const Surroundings& surroundings, const std::string& option, absl::string_view name) {
  const std::optional<std::string> variable = surroundings.environment(kEnvironmentVariable);
  const bool by_variable = option.empty() && variable.has_value() && !variable->empty();
  const std::string folder = !option.empty() ? option
                             : by_variable   ? *variable
                                             : absl::StrCat(FindLocations(surroundings).python_environments, "/", name);
  if (Exists(absl::StrCat(folder, "/", kManifest))) {
    std::error_code error;
    const std::filesystem::path absolute = std::filesystem::absolute(folder, error);
    return error ? folder : absolute.lexically_normal().string();
  }
  const std::string origin = !option.empty() ? " (--python-env)" : by_variable ? absl::StrCat(" (", kEnvironmentVariable, ")") : "";
  const std::string what = Exists(folder) ? absl::StrCat(folder, origin, " is no finished Python environment: it has no ", kManifest)
                                          : absl::StrCat("the Python environment ", folder, origin, " does not exist");
  return absl::NotFoundError(absl::StrCat(what, "; ", BuildAdvice(surroundings, name, folder)));
}

}  // namespace cellblock::app
