// See jail_proof.h.
#include "confine/jail_proof.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/unique_fd.h"
#include "confine/proof.h"
#include "confine/test_layer_switches.h"

namespace cellblock::confine {
namespace {

struct Namespace {
  const char* layer;  // as policies and test switches name it
  const char* link;
};
constexpr std::array<Namespace, Outside::kNamespaces> kNamespaces = {{{"user_namespace", "/proc/self/ns/user"},
                                                                      {"pid_namespace", "/proc/self/ns/pid"},
                                                                      {"mount_namespace", "/proc/self/ns/mnt"},
                                                                      {"network_namespace", "/proc/self/ns/net"},
                                                                      {"ipc_namespace", "/proc/self/ns/ipc"},
                                                                      {"uts_namespace", "/proc/self/ns/uts"}}};

// Words of a text file one after the other, through a small buffer. A word that is longer than `word` is cut: none that matters is.
class Words {
 public:
  explicit Words(const char* path) : fd_(open(path, O_RDONLY | O_CLOEXEC)), error_(fd_.valid() ? 0 : errno) {}
  // The next word; false at the end. `ends_line`: it was the line's last.
  bool Next(char* word, size_t size, bool* ends_line) {
    size_t length = 0;
    bool any = false;
    for (char c; Read(&c);) {
      const bool separates = c == ' ' || c == '\n';
      if (separates && !any && c == ' ') continue;  // uid_map is padded
      if (separates) {
        *ends_line = c == '\n';
        break;
      }
      any = true;
      if (length + 1 < size) word[length++] = c;
    }
    word[length] = '\0';
    return any && error_ == 0;
  }
  int error() const { return error_; }

 private:
  bool Read(char* c) {
    if (at_ == end_) {
      const ssize_t bytes = error_ == 0 ? read(fd_.get(), buffer_, sizeof(buffer_)) : 0;
      if (bytes < 0) error_ = errno;
      if (bytes <= 0) return false;
      at_ = 0, end_ = static_cast<size_t>(bytes);
    }
    *c = buffer_[at_++];
    return true;
  }
  UniqueFd fd_;
  int error_;
  char buffer_[1024];
  size_t at_ = 0, end_ = 0;
};

// What matters of a line of mountinfo: "36 35 98:0 /root /point rw,nosuid shared:1 - type source options" (proc(5)).
struct MountLine {
  char device[Outside::kRootBytes];
  char root[Outside::kRootBytes];
  char point[256];
  char options[128];
  char type[16];
  bool hears_of_others;
};

bool ReadMountLine(Words& words, MountLine* line) {
  *line = MountLine{};
  char other[8];
  bool ends = false;
  if (!words.Next(other, sizeof(other), &ends) || !words.Next(other, sizeof(other), &ends)) return false;
  if (!words.Next(line->device, sizeof(line->device), &ends) || !words.Next(line->root, sizeof(line->root), &ends)) return false;
  if (!words.Next(line->point, sizeof(line->point), &ends) || !words.Next(line->options, sizeof(line->options), &ends)) return false;
  while (words.Next(other, sizeof(other), &ends) && std::strcmp(other, "-") != 0) line->hears_of_others = true;
  if (!words.Next(line->type, sizeof(line->type), &ends)) return false;
  while (!ends && words.Next(other, sizeof(other), &ends)) {
  }
  return words.error() == 0;
}

bool HasOption(const MountLine& line, const char* option) {
  const size_t length = std::strlen(option);
  for (const char* at = line.options; at != nullptr; at = std::strchr(at, ',')) {
    if (*at == ',') ++at;
    if (std::strncmp(at, option, length) == 0 && (at[length] == ',' || at[length] == '\0')) return true;
  }
  return false;
}

bool IsAt(const MountLine& line, const char* point, const char* type) { return std::strcmp(line.point, point) == 0 && std::strcmp(line.type, type) == 0; }

bool MayBeWritten(const MountLine& line) {
  return IsAt(line, "/workspace", "tmpfs") || IsAt(line, "/tmp", "tmpfs") || IsAt(line, "/dev/shm", "tmpfs") || IsAt(line, "/proc", "proc");
}

bool IsNamed(const MountLine& line, const Spec& spec) {
  for (const std::string& path : spec.read_only_paths) {
    if (path == line.point) return true;
  }
  return false;
}

bool IsGood(const MountLine& line, const Outside& outside, const Spec& spec) {
  const bool is_root = std::strcmp(line.point, "/") == 0;
  const bool shows_outside = outside.root_device[0] != '\0' && std::strcmp(line.device, outside.root_device) == 0 && std::strcmp(line.root, outside.root) == 0;
  return HasOption(line, "nosuid") && !line.hears_of_others && (HasOption(line, "ro") || MayBeWritten(line)) &&
         (!is_root || std::strcmp(line.type, "tmpfs") == 0) && (!shows_outside || IsNamed(line, spec));
}

int ProveOneId(const char* map, uint32_t id) {
  Words words(map);
  char inside[16], outside[16], count[16], more[2];
  bool ends = false;
  if (!words.Next(inside, sizeof(inside), &ends) || !words.Next(outside, sizeof(outside), &ends) || !words.Next(count, sizeof(count), &ends)) {
    return words.error() != 0 ? words.error() : kNotProven;
  }
  const bool alone = std::strtoul(inside, nullptr, 10) == id && std::strcmp(count, "1") == 0 && !words.Next(more, sizeof(more), &ends);
  return alone ? 0 : kNotProven;
}

}  // namespace

const char* NamespaceName(int32_t which) { return which >= 0 && which < Outside::kNamespaces ? kNamespaces[static_cast<size_t>(which)].layer : "?"; }

int LookOutside(Outside* outside, bool with_root) {
  *outside = Outside{};
  for (size_t i = 0; i < kNamespaces.size(); ++i) {
    struct stat info;
    if (stat(kNamespaces[i].link, &info) != 0) return errno;
    outside->namespaces[i] = info.st_ino;
  }
  if (!with_root) return 0;
  Words words("/proc/self/mountinfo");
  for (MountLine line; ReadMountLine(words, &line);) {
    if (std::strcmp(line.point, "/") != 0) continue;  // of several, one on the other, the last is seen
    std::memcpy(outside->root_device, line.device, sizeof(line.device));
    std::memcpy(outside->root, line.root, sizeof(line.root));
  }
  return words.error() != 0 ? words.error() : outside->root_device[0] == '\0' ? ENOENT : 0;
}

int ProveNamespaces(const Outside& outside, int32_t* which) {
  for (size_t i = 0; i < kNamespaces.size(); ++i) {
    if (IsLayerSwitchedOff(kNamespaces[i].layer)) continue;
    struct stat info;
    if (stat(kNamespaces[i].link, &info) != 0) return errno;
    if (info.st_ino != outside.namespaces[i]) continue;
    *which = static_cast<int32_t>(i);
    return kNotProven;
  }
  return 0;
}

int ProveRoot(const Outside& outside, const Spec& spec, int32_t* line) {
  struct stat root, above;
  if (stat("/", &root) != 0 || stat("/..", &above) != 0) return errno;
  // An old root that pivot_root(".", ".") has put on top of the new one is reached by "/..", and by no other path.
  if (root.st_dev != above.st_dev || root.st_ino != above.st_ino) return kNotProven;
  Words words("/proc/self/mountinfo");
  int roots = 0, own = 0;
  MountLine mount;
  for (*line = 1; ReadMountLine(words, &mount); ++*line) {
    if (!IsGood(mount, outside, spec)) return kNotProven;
    roots += std::strcmp(mount.point, "/") == 0;
    own += !HasOption(mount, "ro") && std::strcmp(mount.type, "tmpfs") == 0;
  }
  *line = -1;
  if (words.error() != 0) return words.error();
  return roots == 1 && own == 3 ? 0 : kNotProven;
}

int ProveOneUser(const Spec& spec) {
  const int error = ProveOneId("/proc/self/uid_map", spec.uid);
  return error != 0 ? error : ProveOneId("/proc/self/gid_map", spec.gid);
}

}  // namespace cellblock::confine
