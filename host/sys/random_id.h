// Ids that nobody guesses: a prefix and 128 random bits as hex. Supervisor. Thread-safe.
#ifndef CELLBLOCK_SYS_RANDOM_ID_H_
#define CELLBLOCK_SYS_RANDOM_ID_H_

#include <string>

#include "absl/strings/string_view.h"

namespace cellblock::sys {

std::string RandomId(absl::string_view prefix);

}  // namespace cellblock::sys

#endif  // CELLBLOCK_SYS_RANDOM_ID_H_
