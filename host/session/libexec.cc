// See libexec.h.
#include "session/libexec.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace cellblock::session {
namespace {

std::string FolderOf(const std::string& path) { return path.substr(0, path.rfind('/')); }

std::string Resolved(const std::string& path) {
  std::array<char, PATH_MAX> resolved;
  return realpath(path.c_str(), resolved.data()) == nullptr ? path : std::string(resolved.data());
}

absl::StatusOr<std::string> FirstWith(const std::vector<std::string>& folders, const std::string& entry, const char* what) {
  for (const std::string& folder : folders) {
    if (access(absl::StrCat(folder, "/", entry).c_str(), R_OK) == 0) return Resolved(folder);
  }
  return absl::NotFoundError(absl::StrCat("cannot find ", what, "; looked in ", absl::StrJoin(folders, ", ")));
}

}  // namespace

absl::StatusOr<std::string> FindLibexec() {
  std::string program = FolderOf(Resolved("/proc/self/exe"));
  std::vector<std::string> folders = {program, program + "/../libexec/cellblock"};
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&FindLibexec), &info) != 0 && info.dli_fname != nullptr) {
    std::string library = FolderOf(Resolved(info.dli_fname));
    folders.push_back(library + "/../libexec/cellblock");
    folders.push_back(library + "/../../libexec/cellblock");  // lib/<architecture>
    folders.push_back(library + "/bin");                      // a build tree
  }
  return FirstWith(folders, "cellblock-init", "the helper programs cellblock-init and cellblock-guest");
}

absl::StatusOr<std::string> FindGuestFolder(const std::string& libexec) {
  return FirstWith({libexec + "/../guest", libexec + "/../../share/cellblock/guest"}, "cellblock_guest/zygote.py", "the guest's Python side");
}

}  // namespace cellblock::session
