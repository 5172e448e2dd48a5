// Sweeps up after a supervisor that was killed: removes the cgroups and temporary folders that it had registered. Runs in
// cellblock-init outside the nest, as the supervisor's user, and ends when the supervisor has.
#ifndef CELLBLOCK_JAIL_BROOM_H_
#define CELLBLOCK_JAIL_BROOM_H_

#include "base/unique_fd.h"

namespace cellblock::jail {

// Never returns. `control`: messages "+path" register a folder, "-path" forget it; at end of file what is still registered is
// removed: a cgroup (a folder under /sys/fs/cgroup) with its sub-folders by rmdir, any other folder with its content.
[[noreturn]] void RunBroom(UniqueFd control);

}  // namespace cellblock::jail

#endif  // CELLBLOCK_JAIL_BROOM_H_
