// See root.h.
#include "jail/root.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "confine/test_layer_switches.h"
#include "sys/files.h"
#include "sys/mounts.h"

namespace cellblock::jail {
namespace {

// Mounted over while the root is built. Nothing inside the jail needs the host's /sys, so no source of a bind is hidden by it.
constexpr char kStage[] = "/sys";
constexpr uint64_t kReadOnlyTree = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
constexpr uint64_t kReadOnlyDevice = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC;
constexpr unsigned long kNoSuidNoDevNoExec = 2 | 4 | 8;  // MS_NOSUID | MS_NODEV | MS_NOEXEC

// Of the host's root only these are shown. Of a folder that the policy names, everything but kOwnEntries.
constexpr std::array<absl::string_view, 8> kHostEntries = {"usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "libo32"};
constexpr std::array<absl::string_view, 13> kOwnEntries = {"proc", "sys", "dev", "tmp", "run", "workspace", "mnt", "home", "root", "opt", "boot", "media", "etc"};
constexpr size_t kEntriesMax = 256;

// Taken from the host's (or the folder's) /etc where they exist; the rest of it is ours. Key stores and host names stay outside.
constexpr std::array<absl::string_view, 9> kEtcEntries = {"ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "ssl/certs", "ssl/openssl.cnf", "mime.types", "protocols", "services"};

// A bind is taken before the stage is mounted, and attached after.
struct Bind {
  UniqueFd tree;
  std::string target;
  bool is_directory = false;
};

absl::Status MakeFolders(const std::string& path) {
  for (size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    if (mkdir(path.substr(0, slash).c_str(), 0755) != 0 && errno != EEXIST) return sys::ErrnoStatus(absl::StrCat("make folder ", path));
  }
  if (mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) return sys::ErrnoStatus(absl::StrCat("make folder ", path));
  return absl::OkStatus();
}

absl::Status MakeFile(const std::string& path, absl::string_view content) {
  CELLBLOCK_ASSIGN_OR_RETURN(UniqueFd fd, sys::Open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644));
  return sys::WriteAll(fd.get(), content);
}

absl::Status MakeLink(const std::string& target, const std::string& path) {
  if (symlink(target.c_str(), path.c_str()) != 0) return sys::ErrnoStatus(absl::StrCat("make link ", path));
  return absl::OkStatus();
}

absl::Status TakeBind(const std::string& source, const std::string& target, uint64_t attributes, std::vector<Bind>& binds) {
  struct stat info;
  if (stat(source.c_str(), &info) != 0) return sys::ErrnoStatus(absl::StrCat("look at ", source));
  Bind bind;
  CELLBLOCK_ASSIGN_OR_RETURN(bind.tree, sys::CloneTree(source, attributes));
  bind.target = target;
  bind.is_directory = S_ISDIR(info.st_mode);
  binds.push_back(std::move(bind));
  return absl::OkStatus();
}

absl::Status AttachBind(const Bind& bind) {
  std::string target = absl::StrCat(kStage, bind.target);
  CELLBLOCK_RETURN_IF_ERROR(MakeFolders(target.substr(0, target.rfind('/'))));
  if (bind.is_directory) {
    CELLBLOCK_RETURN_IF_ERROR(MakeFolders(target));
  } else {
    CELLBLOCK_RETURN_IF_ERROR(MakeFile(target, ""));
  }
  return sys::AttachTree(bind.tree, target);
}

absl::StatusOr<std::vector<std::string>> TopLevelEntries(const std::string& directory) {
  std::unique_ptr<DIR, int (*)(DIR*)> listing(opendir(directory.c_str()), closedir);
  if (listing == nullptr) return sys::ErrnoStatus(absl::StrCat("list ", directory));
  std::vector<std::string> names;
  while (dirent* entry = readdir(listing.get())) {
    std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (names.size() >= kEntriesMax) return absl::ResourceExhaustedError(absl::StrCat(directory, " has more than ", kEntriesMax, " entries"));
    names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Binds of the base system; links (merged /usr) are copied as links.
absl::Status TakeBase(const std::string& base, bool is_host, std::vector<Bind>& binds, std::vector<std::pair<std::string, std::string>>& links) {
  CELLBLOCK_ASSIGN_OR_RETURN(std::vector<std::string> names, TopLevelEntries(base.empty() ? "/" : base));
  for (const std::string& name : names) {
    bool shown = is_host ? std::find(kHostEntries.begin(), kHostEntries.end(), name) != kHostEntries.end()
                         : std::find(kOwnEntries.begin(), kOwnEntries.end(), name) == kOwnEntries.end();
    if (!shown) continue;
    std::string path = absl::StrCat(base, "/", name);
    std::array<char, 4096> target;
    ssize_t length = readlink(path.c_str(), target.data(), target.size());
    if (length > 0) {
      links.emplace_back(std::string(target.data(), static_cast<size_t>(length)), absl::StrCat("/", name));
    } else {
      CELLBLOCK_RETURN_IF_ERROR(TakeBind(path, absl::StrCat("/", name), kReadOnlyTree, binds));
    }
  }
  for (absl::string_view name : kEtcEntries) {
    std::string path = absl::StrCat(base, "/etc/", name);
    if (access(path.c_str(), F_OK) == 0) CELLBLOCK_RETURN_IF_ERROR(TakeBind(path, absl::StrCat("/etc/", name), kReadOnlyTree, binds));
  }
  return absl::OkStatus();
}

absl::Status MakeEtc() {
  std::string etc = absl::StrCat(kStage, "/etc");
  CELLBLOCK_RETURN_IF_ERROR(MakeFolders(etc));
  const std::pair<const char*, const char*> files[] = {
      {"/passwd", "root:x:0:0:root:/root:/usr/sbin/nologin\nuser:x:1000:1000:user:/workspace:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"},
      {"/group", "root:x:0:\nuser:x:1000:\nnogroup:x:65534:\n"},
      {"/hosts", "127.0.0.1 localhost cellblock\n::1 localhost\n"},
      {"/hostname", "cellblock\n"},
      {"/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n"},
      {"/resolv.conf", "# no resolver: the network is off\n"},
      {"/timezone", "Etc/UTC\n"},
      {"/shells", "/bin/sh\n/bin/bash\n"},
  };
  for (const auto& [name, content] : files) CELLBLOCK_RETURN_IF_ERROR(MakeFile(absl::StrCat(etc, name), content));
  CELLBLOCK_RETURN_IF_ERROR(MakeLink("/usr/share/zoneinfo/Etc/UTC", absl::StrCat(etc, "/localtime")));
  CELLBLOCK_RETURN_IF_ERROR(MakeLink("../usr/lib/os-release", absl::StrCat(etc, "/os-release")));
  return MakeLink("../proc/self/mounts", absl::StrCat(etc, "/mtab"));
}

absl::Status MakeFoldersAndLinks() {
  for (const char* folder : {"/proc", "/dev/shm", "/tmp", "/workspace", "/home", "/mnt", "/var/lib", "/var/cache", "/run", "/root", "/opt/cellblock"}) {
    CELLBLOCK_RETURN_IF_ERROR(MakeFolders(absl::StrCat(kStage, folder)));
  }
  const std::pair<const char*, const char*> links[] = {
      {"/workspace", "/home/user"},        // where SDKs put files
      {"/workspace", "/mnt/data"},         // where models put files
      {"/tmp", "/var/tmp"},
      {"/proc/self/fd", "/dev/fd"},
      {"/proc/self/fd/0", "/dev/stdin"},
      {"/proc/self/fd/1", "/dev/stdout"},
      {"/proc/self/fd/2", "/dev/stderr"},
  };
  for (const auto& [target, path] : links) CELLBLOCK_RETURN_IF_ERROR(MakeLink(target, absl::StrCat(kStage, path)));
  return absl::OkStatus();
}

}  // namespace

absl::Status EnterPreparedRoot(const wire::PrepareRoot& request) {
  CELLBLOCK_RETURN_IF_ERROR(sys::MakePropagationPrivate());
  std::vector<Bind> binds;
  std::vector<std::pair<std::string, std::string>> links;
  bool is_host = request.root_directory.empty();
  CELLBLOCK_RETURN_IF_ERROR(TakeBase(request.root_directory, is_host, binds, links));
  for (const char* device : {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}) {
    CELLBLOCK_RETURN_IF_ERROR(TakeBind(device, device, kReadOnlyDevice, binds));
  }
  CELLBLOCK_RETURN_IF_ERROR(TakeBind(request.environment, kEnvironmentPath, kReadOnlyTree, binds));
  CELLBLOCK_RETURN_IF_ERROR(TakeBind(request.guest, kGuestPath, kReadOnlyTree, binds));
  CELLBLOCK_RETURN_IF_ERROR(TakeBind(request.guest_binary, kGuestBinaryPath, kReadOnlyTree, binds));
  if (request.mounts.size() % 2 != 0) return absl::InvalidArgumentError("mounts come in pairs of source and target");
  for (size_t i = 0; i < request.mounts.size(); i += 2) {
    CELLBLOCK_RETURN_IF_ERROR(TakeBind(request.mounts[i], request.mounts[i + 1], kReadOnlyTree, binds));
  }
  if (confine::IsLayerSwitchedOff("old_root")) CELLBLOCK_RETURN_IF_ERROR(TakeBind("/", "/mnt/old", kReadOnlyTree, binds));

  CELLBLOCK_RETURN_IF_ERROR(sys::Mount("tmpfs", kStage, kNoSuidNoDevNoExec & ~8UL, "size=4m,nr_inodes=4096,mode=0755"));
  for (const auto& [target, path] : links) CELLBLOCK_RETURN_IF_ERROR(MakeLink(target, absl::StrCat(kStage, path)));
  CELLBLOCK_RETURN_IF_ERROR(MakeFoldersAndLinks());
  CELLBLOCK_RETURN_IF_ERROR(MakeEtc());
  for (const Bind& bind : binds) CELLBLOCK_RETURN_IF_ERROR(AttachBind(bind));
  CELLBLOCK_RETURN_IF_ERROR(sys::Mount("proc", absl::StrCat(kStage, "/proc"), kNoSuidNoDevNoExec, ""));
  CELLBLOCK_RETURN_IF_ERROR(sys::PivotRoot(kStage));
  return confine::IsLayerSwitchedOff("read_only_root") ? absl::OkStatus() : sys::MakeReadOnly("/");
}

}  // namespace cellblock::jail
