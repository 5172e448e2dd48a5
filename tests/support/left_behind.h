// What sessions could leave behind in the process that made them and on the machine: descriptors, mounts, cgroups, processes. Tests only.
#ifndef CELLBLOCK_TESTS_SUPPORT_LEFT_BEHIND_H_
#define CELLBLOCK_TESTS_SUPPORT_LEFT_BEHIND_H_

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "sys/files.h"
#include "tests/support/session_fixture.h"

namespace cellblock {

inline std::set<std::string> NamesIn(const std::string& folder) {
  std::set<std::string> names;
  std::unique_ptr<DIR, int (*)(DIR*)> listing(opendir(folder.c_str()), closedir);
  while (dirent* entry = listing == nullptr ? nullptr : readdir(listing.get())) {
    if (entry->d_name[0] != '.') names.insert(entry->d_name);
  }
  return names;
}

inline size_t OpenDescriptors() { return NamesIn("/proc/self/fd").size() - 1; }  // without the listing's own

// Folders below the cgroup mounts that belong to the supervisor `pid`, and theirs.
inline void FindCgroups(const std::string& folder, const std::string& prefix, int depth, std::vector<std::string>& found) {
  std::unique_ptr<DIR, int (*)(DIR*)> listing(opendir(folder.c_str()), closedir);
  while (dirent* entry = listing == nullptr ? nullptr : readdir(listing.get())) {
    if (entry->d_type != DT_DIR || entry->d_name[0] == '.') continue;
    std::string path = absl::StrCat(folder, "/", entry->d_name);
    if (absl::StrContains(path, prefix)) found.push_back(path);
    if (depth > 0) FindCgroups(path, prefix, depth - 1, found);
  }
}

inline std::vector<std::string> CgroupsOf(pid_t pid) {
  std::vector<std::string> found;
  FindCgroups("/sys/fs/cgroup", absl::StrCat("/cellblock-", pid, "-"), 8, found);
  return found;
}

struct LeftBehind {
  size_t descriptors, mounts, cgroups, processes;
  friend bool operator==(const LeftBehind&, const LeftBehind&) = default;
};
inline std::ostream& operator<<(std::ostream& out, const LeftBehind& now) {
  return out << now.descriptors << " descriptors, " << now.mounts << " mounts, " << now.cgroups << " cgroups, " << now.processes << " processes";
}

// Of this process, as it is now.
inline LeftBehind CountLeftBehind() {
  const std::string mounts = sys::ReadFile("/proc/self/mounts", 1 << 20).value_or("");
  return {OpenDescriptors(), static_cast<size_t>(std::count(mounts.begin(), mounts.end(), '\n')), CgroupsOf(getpid()).size(), DescendantsOf(getpid()).size()};
}

}  // namespace cellblock

#endif  // CELLBLOCK_TESTS_SUPPORT_LEFT_BEHIND_H_
