// See uploads.h.
#include "app/uploads.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "app/terminal_text.h"
#include "base/status_macros.h"
#include "base/unique_fd.h"
#include "sys/files.h"

namespace cellblock::app {
namespace {

struct Argument {
  std::string source;
  std::optional<std::string> name;
};

bool Exists(const std::string& path) {
  struct stat found;
  return stat(path.c_str(), &found) == 0;
}

absl::StatusOr<Argument> SplitArgument(const std::string& argument) {
  if (argument.empty()) return absl::InvalidArgumentError("--file needs a file or folder: --file SRC or --file SRC:NAME");
  if (Exists(argument)) return Argument{argument, std::nullopt};
  const int why = errno;
  for (size_t colon = argument.rfind(':'); colon != std::string::npos && colon > 0; colon = argument.rfind(':', colon - 1)) {
    if (Exists(argument.substr(0, colon))) return Argument{argument.substr(0, colon), argument.substr(colon + 1)};
  }
  const std::string shown = NeutralizeLine(argument);
  // Without a colon there is one thing it can mean, and the system's own reason is the best.
  if (argument.find(':') == std::string::npos) {
    return absl::InvalidArgumentError(absl::StrCat("--file ", shown, ": ", std::generic_category().message(why)));
  }
  return absl::InvalidArgumentError(absl::StrCat("--file ", shown,
                                                 ": there is no such file, nor one that is named by the part before a colon "
                                                 "(--file SRC:NAME copies SRC to /workspace/NAME)"));
}

// Its own last component; for "." and ".." and "/" that of the folder they stand for.
std::string BaseName(const std::string& source) {
  std::error_code error;
  std::filesystem::path path = std::filesystem::path(source).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();  // "data/"
  if (path.filename() == "." || path.filename() == ".." || path.filename().empty()) path = std::filesystem::canonical(source, error);
  return path.filename().string();
}

absl::StatusOr<std::string> TargetOf(const Argument& argument, bool is_folder) {
  if (!argument.name.has_value()) return WorkspacePath(BaseName(argument.source));
  const std::string& name = *argument.name;
  if (name.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("--file ", NeutralizeLine(argument.source), ":: the name after the colon is missing"));
  }
  if (is_folder && (name == "." || name == "./" || name == "/workspace" || name == "/workspace/")) return std::string();
  if (!is_folder && absl::EndsWith(name, "/")) return WorkspacePath(absl::StrCat(name, BaseName(argument.source)));
  return WorkspacePath(name);
}

std::string Reason(int error_number) { return std::generic_category().message(error_number); }

struct CloseListing {
  void operator()(DIR* listing) const { closedir(listing); }
};

// Lists one folder of the user's, by descriptors: a folder that is swapped for a link meanwhile is not followed either.
class FolderWalk {
 public:
  FolderWalk(const std::string& top, UploadPlan* plan) : top_(top), plan_(*plan) {}

  absl::Status Run(const std::string& target) {
    UniqueFd folder(open(top_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder.valid()) return absl::InvalidArgumentError(absl::StrCat("--file ", NeutralizeLine(top_), ": ", Reason(errno)));
    return AddFolder(std::move(folder), top_, target, /*depth=*/0);
  }

 private:
  absl::Status AddFolder(UniqueFd folder, const std::string& source, const std::string& target, int depth) {
    std::unique_ptr<DIR, CloseListing> listing(fdopendir(folder.get()));
    if (listing == nullptr) return LeaveOut(source, errno);
    folder.Release();  // the listing closes it
    const size_t files = plan_.uploads.size();
    bool has_folders = false;
    while (true) {
      errno = 0;
      const dirent* const entry = readdir(listing.get());
      if (entry == nullptr && errno != 0) return LeaveOut(source, errno);
      if (entry == nullptr) break;
      const std::string name = entry->d_name;
      if (name == "." || name == "..") continue;
      CELLBLOCK_RETURN_IF_ERROR(AddEntry(dirfd(listing.get()), name, absl::StrCat(source, absl::EndsWith(source, "/") ? "" : "/", name),
                                         target.empty() ? name : absl::StrCat(target, "/", name), depth, &has_folders));
    }
    if (plan_.uploads.size() > files || has_folders || target.empty()) return absl::OkStatus();
    return AddUpload({source, target, /*from_folder=*/true, /*is_folder=*/true});
  }

  absl::Status AddEntry(int parent, const std::string& name, const std::string& source, const std::string& target, int depth,
                        bool* has_folders) {
    struct stat found;
    if (fstatat(parent, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) return LeaveOut(source, errno);
    if (S_ISDIR(found.st_mode)) {
      *has_folders = true;
      if (depth + 1 >= kUploadDepthMax) {
        return absl::ResourceExhaustedError(absl::StrCat("--file ", NeutralizeLine(top_), ": more than ", kUploadDepthMax, " folders deep"));
      }
      UniqueFd folder(openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      return folder.valid() ? AddFolder(std::move(folder), source, target, depth + 1) : LeaveOut(source, errno);
    }
    if (S_ISLNK(found.st_mode)) {
      ++plan_.left_out.links;
    } else if (!S_ISREG(found.st_mode)) {
      ++plan_.left_out.special;
    } else {
      return AddUpload({source, target, /*from_folder=*/true});
    }
    return absl::OkStatus();
  }

  absl::Status AddUpload(Upload upload) {
    if (plan_.uploads.size() == kUploadFilesMax) {
      return absl::ResourceExhaustedError(absl::StrCat("--file ", NeutralizeLine(top_), ": more than ", kUploadFilesMax,
                                                       " files; put them into an archive and unpack it inside"));
    }
    plan_.uploads.push_back(std::move(upload));
    return absl::OkStatus();
  }

  absl::Status LeaveOut(const std::string& source, int error_number) {
    plan_.left_out.Add(source, Reason(error_number));
    return absl::OkStatus();
  }

  const std::string& top_;
  UploadPlan& plan_;
};

// Open already, so that reading it is what the user asks for: a pipe's other end is the shell's or a program's.
bool IsOwnDescriptor(absl::string_view path) {
  return path == "/dev/stdin" || absl::StartsWith(path, "/dev/fd/") || absl::StartsWith(path, "/proc/self/fd/");
}

absl::Status CheckKind(const std::string& source, mode_t mode) {
  if (S_ISREG(mode) || S_ISDIR(mode) || IsOwnDescriptor(source)) return absl::OkStatus();
  const std::string shown = NeutralizeLine(source);
  return absl::InvalidArgumentError(absl::StrCat("--file ", shown, ": a ", S_ISFIFO(mode) ? "pipe" : S_ISSOCK(mode) ? "socket" : "device",
                                                 " is neither a file nor a folder",
                                                 S_ISFIFO(mode) ? absl::StrCat("; hand in what is written to it with --file /dev/stdin:NAME < ", shown)
                                                                : ""));
}

// Without waiting for a pipe's writer, or for anything else that a name may turn out to be.
absl::StatusOr<UniqueFd> OpenUpload(const Upload& upload) {
  UniqueFd file(open(upload.source.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | (upload.from_folder ? O_NOFOLLOW : 0)));
  if (!file.valid()) return absl::InvalidArgumentError(Reason(errno));
  struct stat found;
  if (fstat(file.get(), &found) != 0) return sys::ErrnoStatus("look at it");
  if (S_ISREG(found.st_mode)) return file;
  if (upload.from_folder) return absl::InvalidArgumentError("no regular file any more");
  CELLBLOCK_RETURN_IF_ERROR(CheckKind(upload.source, found.st_mode));
  if (fcntl(file.get(), F_SETFL, 0) != 0) return sys::ErrnoStatus("wait for it");
  return file;
}

// Two files of one name, or a file where another one needs a folder.
absl::Status CheckClashes(const std::vector<Upload>& uploads) {
  std::map<std::string, const Upload*> by_target;
  for (const Upload& upload : uploads) {
    const auto [other, fresh] = by_target.emplace(upload.target, &upload);
    if (!fresh) {
      return absl::InvalidArgumentError(absl::StrCat("--file: both ", NeutralizeLine(other->second->source), " and ",
                                                     NeutralizeLine(upload.source), " would be /workspace/", NeutralizeLine(upload.target),
                                                     "; give one another name with --file SRC:NAME"));
    }
  }
  for (const Upload& upload : uploads) {
    for (size_t slash = upload.target.find('/'); slash != std::string::npos; slash = upload.target.find('/', slash + 1)) {
      const auto file = by_target.find(upload.target.substr(0, slash));
      if (file != by_target.end()) {
        return absl::InvalidArgumentError(absl::StrCat("--file: /workspace/", NeutralizeLine(file->first), " would be both the file ",
                                                       NeutralizeLine(file->second->source), " and a folder"));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> WorkspacePath(absl::string_view name) {
  const std::string shown = NeutralizeLine(name);
  absl::string_view rest = name;
  if (absl::StartsWith(rest, "/") && !absl::ConsumePrefix(&rest, "/workspace/")) {
    return absl::InvalidArgumentError(absl::StrCat("'", shown, "' is outside of /workspace; name it relative to the working directory"));
  }
  std::vector<absl::string_view> components;
  for (absl::string_view component : absl::StrSplit(rest, '/', absl::SkipEmpty())) {
    if (component == ".") continue;
    if (component == "..") return absl::InvalidArgumentError(absl::StrCat("'", shown, "': '..' cannot stand in a name inside /workspace"));
    if (component.size() > 255)
      return absl::InvalidArgumentError(absl::StrCat("'", shown.substr(0, 60), "…': a name has at most 255 bytes"));
    components.push_back(component);
  }
  if (components.empty()) return absl::InvalidArgumentError(absl::StrCat("'", shown, "' is no name for a file"));
  return absl::StrJoin(components, "/");
}

absl::StatusOr<UploadPlan> PlanUploads(const std::vector<std::string>& arguments) {
  UploadPlan plan;
  for (const std::string& text : arguments) {
    CELLBLOCK_ASSIGN_OR_RETURN(const Argument argument, SplitArgument(text));
    struct stat found = {};
    if (stat(argument.source.c_str(), &found) != 0) {  // it was there when the argument was split
      return absl::InvalidArgumentError(absl::StrCat("--file ", NeutralizeLine(argument.source), ": ", Reason(errno)));
    }
    CELLBLOCK_RETURN_IF_ERROR(CheckKind(argument.source, found.st_mode));
    const bool is_folder = S_ISDIR(found.st_mode);
    CELLBLOCK_ASSIGN_OR_RETURN(const std::string target, TargetOf(argument, is_folder));
    if (is_folder) {
      CELLBLOCK_RETURN_IF_ERROR(FolderWalk(argument.source, &plan).Run(target));
    } else {
      plan.uploads.push_back({argument.source, target, /*from_folder=*/false});
    }
  }
  if (plan.uploads.size() > kUploadFilesMax) {
    return absl::ResourceExhaustedError(absl::StrCat("--file: more than ", kUploadFilesMax, " files"));
  }
  // A folder is listed in no order of its own; the same command should do the same each time.
  std::stable_sort(plan.uploads.begin(), plan.uploads.end(), [](const Upload& a, const Upload& b) { return a.target < b.target; });
  CELLBLOCK_RETURN_IF_ERROR(CheckClashes(plan.uploads));
  return plan;
}

absl::StatusOr<bool> PutUpload(const Upload& upload, Session& session, LeftOut* left_out) {
  const std::string shown = NeutralizeLine(upload.source);
  absl::StatusOr<UniqueFd> source = upload.is_folder ? UniqueFd() : OpenUpload(upload);
  if (!source.ok() && upload.from_folder) {
    left_out->Add(upload.source, source.status().message());
    return false;
  }
  if (!source.ok()) return absl::InvalidArgumentError(absl::StrCat("--file ", shown, ": ", source.status().message()));
  const absl::Status put = upload.is_folder ? session.MakeFolder(upload.target) : session.PutFile(source->get(), upload.target);
  if (put.ok()) return true;
  if (upload.from_folder && absl::IsInvalidArgument(put)) {  // its name; whatever else is wrong would be so with the next file, too
    left_out->Add(upload.source, put.message());
    return false;
  }
  return absl::Status(put.code(), absl::StrCat("--file ", shown, " → /workspace/", NeutralizeLine(upload.target), ": ", put.message()));
}

void LeftOut::Add(absl::string_view source, absl::string_view why) {
  ++others;
  if (reasons.size() < kLeftOutToldMax) reasons.push_back(absl::StrCat(NeutralizeLine(source), ": ", NeutralizeLine(why)));
}

std::vector<std::string> LeftOutLines(const LeftOut& left_out) {
  std::vector<std::string> lines;
  const auto add = [&lines](const std::string& what, absl::string_view why) { lines.push_back(absl::StrCat("--file: ", what, " left out", why)); };
  if (left_out.links > 0) add(Counted(left_out.links, "symbolic link", "symbolic links"), " (links in a folder are not followed)");
  if (left_out.special > 0) add(Counted(left_out.special, "special file", "special files"), "");
  for (const std::string& reason : left_out.reasons) lines.push_back(absl::StrCat("--file: left out ", reason));
  const int64_t untold = left_out.others - static_cast<int64_t>(left_out.reasons.size());
  if (untold > 0) add(Counted(untold, "more", "more"), "");
  return lines;
}

}  // namespace cellblock::app
