// See uploads.h.
#include "app/uploads.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
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
  if (is_folder && (name == "." || name == "/workspace" || name == "/workspace/")) return std::string();
  if (!is_folder && absl::EndsWith(name, "/")) return WorkspacePath(absl::StrCat(name, BaseName(argument.source)));
  return WorkspacePath(name);
}

absl::Status AddFolder(const std::string& source, const std::string& target, UploadPlan* plan) {
  std::error_code error;
  std::filesystem::recursive_directory_iterator walk(source, error);
  if (error) return absl::InvalidArgumentError(absl::StrCat("--file ", NeutralizeLine(source), ": ", error.message()));
  for (; walk != std::filesystem::recursive_directory_iterator(); walk.increment(error)) {
    const std::filesystem::file_status status = walk->symlink_status(error);
    if (error) return absl::InvalidArgumentError(absl::StrCat("--file ", NeutralizeLine(walk->path().string()), ": ", error.message()));
    if (status.type() == std::filesystem::file_type::directory) {
      if (walk.depth() + 1 >= kUploadDepthMax) {
        return absl::ResourceExhaustedError(
            absl::StrCat("--file ", NeutralizeLine(source), ": more than ", kUploadDepthMax, " folders deep"));
      }
    } else if (status.type() == std::filesystem::file_type::symlink) {
      ++plan->skipped_links;
    } else if (status.type() != std::filesystem::file_type::regular) {
      ++plan->skipped_special;
    } else {
      if (plan->uploads.size() == kUploadFilesMax) {
        return absl::ResourceExhaustedError(absl::StrCat("--file ", NeutralizeLine(source), ": more than ", kUploadFilesMax,
                                                         " files; put them into an archive and unpack it inside"));
      }
      const std::string relative = walk->path().lexically_relative(source).string();
      plan->uploads.push_back(
          {walk->path().string(), target.empty() ? relative : absl::StrCat(target, "/", relative), /*from_folder=*/true});
    }
  }
  if (error) return absl::InvalidArgumentError(absl::StrCat("--file ", NeutralizeLine(source), ": ", error.message()));
  return absl::OkStatus();
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
    std::error_code error;
    const bool is_folder = std::filesystem::is_directory(argument.source, error);
    CELLBLOCK_ASSIGN_OR_RETURN(const std::string target, TargetOf(argument, is_folder));
    if (is_folder) {
      CELLBLOCK_RETURN_IF_ERROR(AddFolder(argument.source, target, &plan));
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

absl::Status PutUpload(const Upload& upload, Session& session) {
  absl::StatusOr<UniqueFd> source = sys::Open(upload.source, O_RDONLY | (upload.from_folder ? O_NOFOLLOW | O_NONBLOCK : 0));
  if (!source.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("--file ", NeutralizeLine(upload.source), ": ", source.status().message()));
  }
  absl::Status put = session.PutFile(source->get(), upload.target);
  if (put.ok()) return put;
  return absl::Status(put.code(), absl::StrCat("--file ", NeutralizeLine(upload.source), " → /workspace/", NeutralizeLine(upload.target),
                                               ": ", put.message()));
}

}  // namespace cellblock::app
