// See proof.h.
#include "confine/proof.h"

#include <linux/seccomp.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

namespace cellblock::confine {
namespace {

// What getdents64(2) writes; glibc names it for readdir only, which allocates.
struct DirectoryEntry {
  uint64_t inode;
  int64_t offset;
  uint16_t length;
  uint8_t type;
  char name[1];
};

// The number that a name in /proc/self/fd is; -1 for "." and "..".
int ParseDescriptor(const char* name) {
  int value = 0;
  for (; *name != '\0'; ++name) {
    if (*name < '0' || *name > '9') return -1;
    value = value * 10 + (*name - '0');
  }
  return value;
}

}  // namespace

int ProveSingleThread(int32_t* threads) {
  struct stat task;
  if (stat("/proc/self/task", &task) != 0) return errno;
  *threads = static_cast<int32_t>(task.st_nlink) - 2;  // one link a thread besides "." and ".."
  return *threads == 1 ? 0 : kNotProven;
}

int ProveIds(uint32_t uid, uint32_t gid) {
  uid_t real_uid, effective_uid, saved_uid;
  gid_t real_gid, effective_gid, saved_gid;
  if (getresuid(&real_uid, &effective_uid, &saved_uid) != 0) return errno;
  if (getresgid(&real_gid, &effective_gid, &saved_gid) != 0) return errno;
  // setfsuid answers the value before the call, and -1 changes nothing.
  const uid_t file_uid = static_cast<uid_t>(setfsuid(static_cast<uid_t>(-1)));
  const gid_t file_gid = static_cast<gid_t>(setfsgid(static_cast<gid_t>(-1)));
  bool ok = real_uid == uid && effective_uid == uid && saved_uid == uid && file_uid == uid && real_gid == gid &&
            effective_gid == gid && saved_gid == gid && file_gid == gid;
  return ok ? 0 : kNotProven;
}

int ProveNoNewPrivileges() { return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? 0 : kNotProven; }

int ProveDescriptors(int proc_fd, int highest, int32_t* found) {
  if (lseek(proc_fd, 0, SEEK_SET) != 0) return errno;
  alignas(DirectoryEntry) char buffer[1024];
  for (;;) {
    long bytes = syscall(SYS_getdents64, proc_fd, buffer, sizeof(buffer));
    if (bytes < 0) return errno;
    if (bytes == 0) return 0;
    for (long at = 0; at < bytes;) {
      const auto* entry = reinterpret_cast<const DirectoryEntry*>(buffer + at);
      const int fd = ParseDescriptor(entry->name);
      if (fd > highest && fd != proc_fd) {
        *found = fd;
        return kNotProven;
      }
      at += entry->length;
    }
  }
}

int ProveSeccomp() {
  if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != SECCOMP_MODE_FILTER) return kNotProven;
  // Unsharing nothing works for everybody; the filter denies the call on purpose.
  if (syscall(SYS_unshare, 0) != -1 || errno != EPERM) return kNotProven;
  // A null pointer answers EFAULT wherever the kernel has io_uring, were the filter not before it.
  if (syscall(SYS_io_uring_setup, 0, nullptr) != -1 || errno != ENOSYS) return kNotProven;
  return 0;
}

}  // namespace cellblock::confine
