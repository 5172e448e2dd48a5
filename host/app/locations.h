// Where the Python environment, the shipped policies and the helper programs lie: by option, by environment variable, else relative to the
// running program, in a build tree or installed. Supervisor; trusts its own environment.
#ifndef CELLBLOCK_APP_LOCATIONS_H_
#define CELLBLOCK_APP_LOCATIONS_H_

#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cellblock::app {

// What is known before any option is read.
struct Surroundings {
  std::string executable_directory;  // of the running program, symbolic links resolved
  std::string source_directory;      // of the clone this program was built from; used only while it runs inside its build tree
  std::function<std::optional<std::string>(const char* name)> environment;
};

// Of the running process.
Surroundings CurrentSurroundings();

struct Locations {
  std::string policy_directory;
  std::string python_environments;  // holds one folder for each environment ("full", "core")
};
Locations FindLocations(const Surroundings& surroundings);

// The folder of the environment `name`. `option` (--python-env) or CELLBLOCK_PYTHON_ENV name the folder itself and win. kNotFound says
// how to build it.
absl::StatusOr<std::string> FindPythonEnvironment(const Surroundings& surroundings, const std::string& option, absl::string_view name);

}  // namespace cellblock::app

#endif  // CELLBLOCK_APP_LOCATIONS_H_
