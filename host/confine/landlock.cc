// See landlock.h.
#include "confine/landlock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "base/unique_fd.h"
#include "confine/proof.h"
#include "confine/landlock_abi.h"

namespace cellblock::confine {
namespace {

using namespace landlock_abi;  // NOLINT(build/namespaces): constants only

constexpr uint64_t kReadOnlyRights = kFsReadFile | kFsReadDir | kFsExecute;
// Device nodes may never be made; ioctl on devices is given to devices that are named themselves, since a workspace holds none.
constexpr uint64_t kNeverBeneath = kFsMakeChar | kFsMakeBlock | kFsIoctlDevice;
// What a rule on anything but a folder may name; the kernel refuses the others with EINVAL.
constexpr uint64_t kFileRights = kFsExecute | kFsWriteFile | kFsReadFile | kFsTruncate | kFsIoctlDevice;

constexpr char kProbeNode[] = ".cellblock-landlock-probe";

bool IsRoot(const struct stat& file) {
  struct stat root;
  return stat("/", &root) == 0 && root.st_dev == file.st_dev && root.st_ino == file.st_ino;
}

bool ListsRoot(const Spec& spec) {
  for (const std::string& path : spec.listable_paths) {
    struct stat file;
    if (stat(path.c_str(), &file) == 0 && IsRoot(file)) return true;
  }
  return false;
}

enum class Grant { kReadOnly, kWritable, kListable };

int AddPath(int ruleset, int abi, const char* path, Grant grant) {
  UniqueFd fd(open(path, O_PATH | O_CLOEXEC));
  if (!fd.valid()) return errno;
  struct stat file;
  if (fstat(fd.get(), &file) != 0) return errno;
  const uint64_t handled = LandlockFileRights(abi);
  uint64_t rights = 0;
  switch (grant) {
    case Grant::kReadOnly:
      rights = kReadOnlyRights;
      break;
    case Grant::kWritable:
      rights = handled & ~kNeverBeneath;
      if (S_ISCHR(file.st_mode)) rights |= kFsIoctlDevice & handled;  // isatty("/dev/null") answers ENOTTY as everywhere
      break;
    case Grant::kListable:
      if (!S_ISDIR(file.st_mode)) return ENOTDIR;
      rights = kFsReadDir;
      break;
  }
  if (grant != Grant::kListable && IsRoot(file)) return EINVAL;  // also when spelled "/proc/self/root" or "//"
  if (!S_ISDIR(file.st_mode)) rights &= kFileRights;
  PathBeneathAttr rule{.allowed_access = rights, .parent_fd = fd.get()};
  return syscall(kAddRuleCall, ruleset, kRulePathBeneath, &rule, 0U) == 0 ? 0 : errno;
}

int OpenRoot() {
  UniqueFd root(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return root.valid() ? 0 : errno;
}

// The first writable path that is a folder which file modes and mounts let this process write to; nullptr: none.
const char* WritableFolder(const Spec& spec) {
  for (const std::string& path : spec.writable_paths) {
    struct stat file;
    if (stat(path.c_str(), &file) == 0 && S_ISDIR(file.st_mode) && access(path.c_str(), W_OK | X_OK) == 0) return path.c_str();
  }
  return nullptr;
}

}  // namespace

uint64_t LandlockFileRights(int abi) {
  uint64_t rights = (kFsMakeSymlink << 1) - 1;
  if (abi >= 2) rights |= kFsRefer;
  if (abi >= 3) rights |= kFsTruncate;
  if (abi >= 5) rights |= kFsIoctlDevice;
  return abi >= 1 ? rights : 0;
}

uint64_t LandlockNetRights(int abi, bool allow_inet) { return abi >= 4 && !allow_inet ? kNetBindTcp | kNetConnectTcp : 0; }

// Both scopes stop at the domain's border: a process may still signal and reach its own children, which inherit the domain.
uint64_t LandlockScopes(int abi) { return abi >= 6 ? kScopeAbstractUnixSocket | kScopeSignal : 0; }

int RestrictByLandlock(const Spec& spec, int abi, int* path_index) {
  *path_index = -1;
  RulesetAttr attr{.handled_access_fs = LandlockFileRights(abi),
                   .handled_access_net = LandlockNetRights(abi, spec.allow_inet),
                   .scoped = LandlockScopes(abi)};
  // An older kernel refuses a structure with fields that it does not know, unless they are zero; say just what it knows.
  size_t size = abi >= 6 ? sizeof(attr) : abi >= 4 ? offsetof(RulesetAttr, scoped) : offsetof(RulesetAttr, handled_access_net);
  UniqueFd ruleset(static_cast<int>(syscall(kCreateRulesetCall, &attr, size, 0U)));
  if (!ruleset.valid()) return errno;
  int index = 0;
  auto add_all = [&](const std::vector<std::string>& paths, Grant grant) {
    for (const std::string& path : paths) {
      int error = AddPath(ruleset.get(), abi, path.c_str(), grant);
      if (error != 0) return error;
      ++index;
    }
    return 0;
  };
  int error = add_all(spec.read_only_paths, Grant::kReadOnly);
  if (error == 0) error = add_all(spec.writable_paths, Grant::kWritable);
  if (error == 0) error = add_all(spec.listable_paths, Grant::kListable);
  if (error != 0) {
    *path_index = index;
    return error;
  }
  uint32_t flags = abi >= 7 ? kRestrictSelfLogSameExecOff : 0;
  return syscall(kRestrictSelfCall, ruleset.get(), flags) == 0 ? 0 : errno;
}

// The probe is to open the root for listing, which no rule allows. Where the Spec lets names be listed from the root down, it is to make
// a device node 0:0 in a writable folder instead: no rule allows that either, and the kernel lets everybody make this one (overlayfs
// calls it a whiteout).
int CheckLandlockProbe(const Spec& spec) {
  if (!ListsRoot(spec)) return OpenRoot();
  return WritableFolder(spec) != nullptr ? 0 : ENOTDIR;
}

int ProveLandlock(const Spec& spec) {
  if (!ListsRoot(spec)) {
    int error = OpenRoot();
    return error == EACCES ? 0 : error == 0 ? kNotProven : error;
  }
  const char* folder = WritableFolder(spec);
  if (folder == nullptr) return ENOTDIR;
  UniqueFd fd(open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return errno;
  if (mknodat(fd.get(), kProbeNode, S_IFCHR | 0600, makedev(0, 0)) != 0) return errno == EACCES ? 0 : errno;
  unlinkat(fd.get(), kProbeNode, 0);
  return kNotProven;
}

}  // namespace cellblock::confine
