// See mounts.h.
#include "sys/mounts.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "sys/files.h"

// <sys/mount.h> and <linux/mount.h> clash in glibc 2.36: the few names needed of the former.
extern "C" int mount(const char*, const char*, const char*, unsigned long, const void*) noexcept;
extern "C" int umount2(const char*, int) noexcept;

namespace cellblock::sys {
namespace {

constexpr int kMntDetach = 2;  // MNT_DETACH

}  // namespace

absl::StatusOr<UniqueFd> CloneTree(const std::string& path, uint64_t attributes) {
  UniqueFd tree(static_cast<int>(syscall(SYS_open_tree, AT_FDCWD, path.c_str(), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE)));
  if (!tree.valid()) return ErrnoStatus(absl::StrCat("bind ", path));
  mount_attr attr = {};
  attr.attr_set = attributes;
  if (syscall(SYS_mount_setattr, tree.get(), "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof(attr)) != 0) {
    return ErrnoStatus(absl::StrCat("make ", path, " read-only"));
  }
  return tree;
}

absl::Status AttachTree(const UniqueFd& tree, const std::string& target) {
  if (syscall(SYS_move_mount, tree.get(), "", AT_FDCWD, target.c_str(), MOVE_MOUNT_F_EMPTY_PATH) != 0) {
    return ErrnoStatus(absl::StrCat("mount on ", target));
  }
  return absl::OkStatus();
}

absl::Status Mount(const std::string& type, const std::string& target, unsigned long flags, const std::string& options) {
  if (mount(type.c_str(), target.c_str(), type.c_str(), flags, options.c_str()) != 0) {
    return ErrnoStatus(absl::StrCat("mount ", type, " on ", target));
  }
  return absl::OkStatus();
}

absl::Status MakeReadOnly(const std::string& mount_point) {
  mount_attr attr = {};
  attr.attr_set = MOUNT_ATTR_RDONLY;
  if (syscall(SYS_mount_setattr, AT_FDCWD, mount_point.c_str(), 0, &attr, sizeof(attr)) != 0) {
    return ErrnoStatus(absl::StrCat("make ", mount_point, " read-only"));
  }
  return absl::OkStatus();
}

absl::Status MakePropagationPrivate() {
  constexpr unsigned long kRecPrivate = (1UL << 14) | (1UL << 18);  // MS_REC | MS_PRIVATE
  if (mount(nullptr, "/", nullptr, kRecPrivate, nullptr) != 0) return ErrnoStatus("make mounts private");
  return absl::OkStatus();
}

absl::Status PivotRoot(const std::string& new_root) {
  if (chdir(new_root.c_str()) != 0) return ErrnoStatus("enter the new root");
  // pivot_root(".", ".") stacks the old root on top of the new one (pivot_root(2), NOTES), so no folder for it is needed.
  if (syscall(SYS_pivot_root, ".", ".") != 0) return ErrnoStatus("pivot_root");
  if (umount2(".", kMntDetach) != 0) return ErrnoStatus("let go of the old root");
  if (chdir("/") != 0) return ErrnoStatus("enter the new root");
  return absl::OkStatus();
}

}  // namespace cellblock::sys
