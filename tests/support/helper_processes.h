// Finds the Host's helper processes from outside, by their place in the tree of processes, for tests that harm them. Tests only. A
// guest can change its own name, so only for sessions that ran nothing hostile.
#ifndef CELLBLOCK_TESTS_SUPPORT_HELPER_PROCESSES_H_
#define CELLBLOCK_TESTS_SUPPORT_HELPER_PROCESSES_H_

#include <unistd.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "sys/files.h"
#include "tests/support/session_fixture.h"

namespace cellblock {

inline std::string ProcessName(pid_t pid) {
  std::string name = sys::ReadFile(absl::StrCat("/proc/", pid, "/comm"), 4096).value_or("");
  while (!name.empty() && name.back() == '\n') name.pop_back();
  return name;
}

inline pid_t ParentOf(pid_t pid) {
  std::string stat = sys::ReadFile(absl::StrCat("/proc/", pid, "/stat"), 4096).value_or("");
  size_t after_name = stat.rfind(')');
  return after_name == std::string::npos || after_name + 4 >= stat.size() ? 0 : atoi(stat.c_str() + after_name + 4);
}

// Descendants of `root` with the name `name` whose parent has the name `parent`.
inline std::vector<pid_t> ProcessesNamed(pid_t root, const std::string& name, const std::string& parent) {
  std::vector<pid_t> found;
  for (pid_t pid : DescendantsOf(root)) {
    if (ProcessName(pid) == name && ProcessName(ParentOf(pid)) == parent) found.push_back(pid);
  }
  return found;
}

// In how many pid namespaces it is.
inline size_t NamespaceDepth(pid_t pid) {
  std::string status = sys::ReadFile(absl::StrCat("/proc/", pid, "/status"), 65536).value_or("");
  size_t at = status.find("NSpid:");
  std::string line = at == std::string::npos ? "" : status.substr(at, status.find('\n', at) - at);
  return std::vector<std::string>(absl::StrSplit(line, '\t')).size();
}

// Children of the nest in its own pid namespace. (A worker whose zygote has died becomes the nest's child, in its jail's.)
inline std::vector<pid_t> ZygoteProcesses(pid_t root = getpid()) {
  std::vector<pid_t> found;
  for (pid_t pid : ProcessesNamed(root, "cellblock-guest", "cellblock-init")) {
    if (NamespaceDepth(pid) == NamespaceDepth(ParentOf(pid))) found.push_back(pid);
  }
  return found;
}
inline std::vector<pid_t> WorkerProcesses(pid_t root = getpid()) { return ProcessesNamed(root, "cellblock-guest", "cellblock-guest"); }
inline std::vector<pid_t> JailInitProcesses(pid_t root = getpid()) { return ProcessesNamed(root, "cellblock-init", "cellblock-init"); }

}  // namespace cellblock

#endif  // CELLBLOCK_TESTS_SUPPORT_HELPER_PROCESSES_H_
