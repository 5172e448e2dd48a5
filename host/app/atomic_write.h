// Writes a file below a folder without following a symbolic link, and so that a reader sees the old content or the new, never a part.
// Supervisor. The names are ours or made safe (safe_name.h); what lies in the folder may be hostile.
#ifndef CELLBLOCK_APP_ATOMIC_WRITE_H_
#define CELLBLOCK_APP_ATOMIC_WRITE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace cellblock::app {

enum class IfExists { kReplace, kRefuse };

// Makes the folders of `path` that are missing and writes the last component: `fill` gets the descriptor of a new file in the same folder,
// which then takes the name. Mode 0666 less the umask, so never executable. kFailedPrecondition when a component is a symbolic link or
// something else that is in the way; kAlreadyExists under IfExists::kRefuse. On any error the target is as it was.
absl::Status WriteBeneath(int directory_fd, const std::vector<std::string>& path, IfExists if_exists,
                          absl::FunctionRef<absl::Status(int fd)> fill);

}  // namespace cellblock::app

#endif  // CELLBLOCK_APP_ATOMIC_WRITE_H_
