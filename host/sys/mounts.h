// Mount calls as StatusOr. Runs in cellblock-init, inside a mount namespace of its own; paths come from our own configuration.
// Uses the fd-based mount interface (open_tree, move_mount, mount_setattr; Linux ≥ 5.12), called by number: glibc 2.36 has no
// wrappers for all of it.
#ifndef CELLBLOCK_SYS_MOUNTS_H_
#define CELLBLOCK_SYS_MOUNTS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/unique_fd.h"

namespace cellblock::sys {

// A detached copy of the tree at `path` (with its submounts: in a user namespace a locked subtree can only be taken whole), all of
// it with `attributes` (MOUNT_ATTR_*) added: a plain read-only bind would not reach submounts.
absl::StatusOr<UniqueFd> CloneTree(const std::string& path, uint64_t attributes);
absl::Status AttachTree(const UniqueFd& tree, const std::string& target);

absl::Status Mount(const std::string& type, const std::string& target, unsigned long flags, const std::string& options);
absl::Status MakeReadOnly(const std::string& mount_point);  // this mount alone
absl::Status MakePropagationPrivate();                      // of every mount in the namespace
// Makes the mount at `new_root` the root and lets go of the old one.
absl::Status PivotRoot(const std::string& new_root);

}  // namespace cellblock::sys

#endif  // CELLBLOCK_SYS_MOUNTS_H_
