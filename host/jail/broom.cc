// See broom.h.
#include "jail/broom.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <set>
#include <string>

#include "absl/strings/match.h"
#include "sys/sockets.h"

namespace cellblock::jail {
namespace {

constexpr size_t kFoldersMax = 64;
constexpr int kOpenFolders = 16;
constexpr int kCgroupTries = 100;  // the kernel needs a moment to end the processes inside

int RemoveEntry(const char* path, const struct stat*, int, FTW*) {
  remove(path);
  return 0;
}

int RemoveFolder(const char* path, const struct stat*, int type, FTW*) {
  if (type == FTW_DP || type == FTW_D) rmdir(path);
  return 0;
}

// Only what a supervisor makes, so that no message can have anything else removed.
bool IsOurs(const std::string& folder) {
  constexpr char kPrefix[] = "/cellblock-";
  size_t name = folder.rfind('/');
  return folder[0] == '/' && absl::StartsWith(folder.substr(name), kPrefix) && !absl::StrContains(folder, "/../");
}

void Sweep(const std::string& folder) {
  if (!absl::StartsWith(folder, "/sys/fs/cgroup/")) {
    nftw(folder.c_str(), RemoveEntry, kOpenFolders, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    return;
  }
  for (int i = 0; i < kCgroupTries && access(folder.c_str(), F_OK) == 0; ++i) {
    nftw(folder.c_str(), RemoveFolder, kOpenFolders, FTW_DEPTH | FTW_PHYS);
    timespec pause = {0, 20'000'000};
    nanosleep(&pause, nullptr);
  }
}

}  // namespace

void RunBroom(UniqueFd control) {
  setsid();  // a Ctrl-C or a kill of the supervisor's process group does not reach it
  for (int signal_number : {SIGINT, SIGTERM, SIGHUP}) signal(signal_number, SIG_IGN);
  std::set<std::string> folders;
  while (true) {
    absl::StatusOr<sys::Message> message = sys::ReceiveMessage(control.get());
    if (!message.ok()) break;
    if (message->bytes.size() < 2) continue;
    std::string folder = message->bytes.substr(1);
    if (!IsOurs(folder)) continue;
    if (message->bytes[0] == '+' && folders.size() < kFoldersMax) folders.insert(folder);
    if (message->bytes[0] == '-') folders.erase(folder);
  }
  for (const std::string& folder : folders) Sweep(folder);
  _exit(0);
}

}  // namespace cellblock::jail
