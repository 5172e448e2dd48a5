// A place in a policy file, and errors that start with it. Supervisor; trusts nothing.
#ifndef CELLBLOCK_POLICY_LOAD_POSITION_H_
#define CELLBLOCK_POLICY_LOAD_POSITION_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace cellblock::policy {

// Both count from 1, columns in characters.
struct Position {
  int line = 1;
  int column = 1;
};

inline std::string TextAt(absl::string_view file, Position position, absl::string_view message) {
  return absl::StrCat(file, ":", position.line, ":", position.column, ": ", message);
}
inline absl::Status ErrorAt(absl::string_view file, Position position, absl::string_view message) {
  return absl::InvalidArgumentError(TextAt(file, position, message));
}

}  // namespace cellblock::policy

#endif  // CELLBLOCK_POLICY_LOAD_POSITION_H_
