// See output_folder.h.
#include "app/output_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "app/atomic_write.h"
#include "app/safe_name.h"
#include "app/terminal_text.h"
#include "base/status_macros.h"
#include "sys/files.h"

namespace cellblock::app {
namespace {

constexpr int kSameNamesMax = 1000;  // "report-2.csv" … before giving up

std::string WithNumber(const std::string& name, int number) {
  const size_t slash = name.rfind('/');
  const size_t dot = name.rfind('.');
  const size_t at = dot == std::string::npos || (slash != std::string::npos && dot < slash) ? name.size() : dot;
  return absl::StrCat(name.substr(0, at), "-", number, name.substr(at));
}

absl::Status CopyArtifact(const Artifact& artifact, int target) {
  CELLBLOCK_ASSIGN_OR_RETURN(UniqueFd source, sys::Open(artifact.stored_at, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  struct stat found;
  if (fstat(source.get(), &found) != 0) return sys::ErrnoStatus("look at the collected copy");
  if (!S_ISREG(found.st_mode)) return absl::FailedPreconditionError("the collected copy is no regular file");
  CELLBLOCK_ASSIGN_OR_RETURN(const int64_t copied, sys::CopyAll(source.get(), target, artifact.size_bytes));
  if (copied != artifact.size_bytes) return absl::DataLossError("the collected copy is shorter than the record says");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<OutputFolder> OutputFolder::Create(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  UniqueFd directory(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.valid()) {
    const int why = errno == ENOENT && error ? error.value() : errno;
    return absl::InvalidArgumentError(absl::StrCat("--out ", path, ": ", std::generic_category().message(why)));
  }
  if (faccessat(directory.get(), ".", W_OK | X_OK, AT_EACCESS) != 0) {
    return absl::InvalidArgumentError(absl::StrCat("--out ", path, ": ", std::generic_category().message(errno)));
  }
  return OutputFolder(path, std::move(directory));
}

void OutputFolder::Protect(const std::string& path) {
  struct stat found;
  if (stat(path.c_str(), &found) == 0) protected_.emplace(found.st_dev, found.st_ino);
}

bool OutputFolder::IsProtected(const std::string& name) const {
  struct stat found;
  return !protected_.empty() && fstatat(directory_.get(), name.c_str(), &found, 0) == 0 && protected_.count({found.st_dev, found.st_ino}) > 0;
}

SaveReport OutputFolder::Save(const Record& record) {
  SaveReport report;
  for (const Artifact& artifact : record.artifacts) {
    if (absl::Status saved = SaveArtifact(artifact, &report); !saved.ok()) {
      report.problems.push_back(absl::StrCat(NeutralizeLine(artifact.path), " was not saved in ", path_, ": ", saved.message()));
    }
  }
  for (const Result* result : VisibleResults(record)) {
    if (absl::Status saved = SaveCharts(PicturesOf(*result), &report); !saved.ok()) {
      report.problems.push_back(absl::StrCat("a chart was not saved in ", path_, ": ", saved.message()));
    }
  }
  return report;
}

absl::Status OutputFolder::SaveArtifact(const Artifact& artifact, SaveReport* report) {
  CELLBLOCK_ASSIGN_OR_RETURN(const std::vector<std::string> name, NameFor(artifact, report));
  CELLBLOCK_RETURN_IF_ERROR(
      WriteBeneath(directory_.get(), name, IfExists::kReplace, [&](int target) { return CopyArtifact(artifact, target); }));
  const std::string joined = absl::StrJoin(name, "/");
  owners_[joined] = artifact.path;
  digests_.insert(artifact.sha256);
  std::string detail = ReadableBytes(artifact.size_bytes);
  if (artifact.image_size.has_value()) {
    detail = absl::StrCat(artifact.image_size->first, "×", artifact.image_size->second, ", ", detail);
  }
  report->saved.push_back({Shown(joined), std::move(detail), /*is_chart=*/false});
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> OutputFolder::NameFor(const Artifact& artifact, SaveReport* report) {
  CELLBLOCK_ASSIGN_OR_RETURN(std::vector<std::string> name, SafePath(artifact.path));
  const std::string wanted = absl::StrJoin(name, "/");
  const auto taken_by_other = [&](const std::string& candidate) {
    const auto owner = owners_.find(candidate);
    return IsProtected(candidate) || (owner != owners_.end() && owner->second != artifact.path);
  };
  if (!taken_by_other(wanted)) return name;
  if (!IsProtected(wanted) && owners_[wanted].empty()) {
    CELLBLOCK_RETURN_IF_ERROR(MoveChartAway(wanted, report));
    return name;
  }
  // A file of the user's, or two names of the guest that are written alike here, since one of them had to be escaped.
  for (int number = 2; number <= kSameNamesMax; ++number) {
    const std::string candidate = WithNumber(name.back(), number);
    std::vector<std::string> numbered = name;
    numbered.back() = candidate;
    if (candidate.size() <= kNameBytesMax && !taken_by_other(absl::StrJoin(numbered, "/"))) return numbered;
  }
  return absl::ResourceExhaustedError(absl::StrCat("no free name like ", wanted));
}

absl::Status OutputFolder::SaveCharts(const std::vector<Picture>& pictures, SaveReport* report) {
  std::vector<Picture> fresh;
  for (const Picture& picture : pictures) {
    if (digests_.count(Sha256Hex(picture.data)) == 0) fresh.push_back(picture);
  }
  if (fresh.empty()) return absl::OkStatus();
  const auto name_of = [&](const Picture& picture) { return absl::StrCat("chart-", last_chart_, ".", picture.extension); };
  bool taken = true;
  while (taken) {
    ++last_chart_;
    taken = false;
    for (const Picture& picture : fresh) taken = taken || owners_.count(name_of(picture)) > 0 || IsProtected(name_of(picture));
  }
  for (const Picture& picture : fresh) {
    const std::string name = name_of(picture);
    const absl::string_view data = picture.data;
    CELLBLOCK_RETURN_IF_ERROR(
        WriteBeneath(directory_.get(), {name}, IfExists::kReplace, [&](int target) { return sys::WriteAll(target, data); }));
    owners_[name] = "";
    report->saved.push_back(
        {Shown(name), picture.size.empty() ? ReadableBytes(static_cast<int64_t>(data.size())) : picture.size, /*is_chart=*/true});
  }
  return absl::OkStatus();
}

// A later cell made a file of a chart's name: the file keeps its name, the chart gets the next free one.
absl::Status OutputFolder::MoveChartAway(const std::string& name, SaveReport* report) {
  const std::string ending = name.substr(name.rfind('.'));
  for (int attempt = 0; attempt < kSameNamesMax; ++attempt) {
    const std::string moved = absl::StrCat("chart-", ++last_chart_, ending);
    if (owners_.count(moved) > 0 || IsProtected(moved)) continue;
    if (renameat2(directory_.get(), name.c_str(), directory_.get(), moved.c_str(), RENAME_NOREPLACE) == 0) {
      owners_.erase(name);
      owners_[moved] = "";
      report->saved.push_back({Shown(moved), absl::StrCat("was ", name), /*is_chart=*/true});
      return absl::OkStatus();
    }
    if (errno != EEXIST) return sys::ErrnoStatus(absl::StrCat("rename ", name, " to ", moved));
  }
  return absl::ResourceExhaustedError(absl::StrCat("no free name for the chart ", name));
}

std::string OutputFolder::Shown(const std::string& name) const {
  return absl::EndsWith(path_, "/") ? absl::StrCat(path_, name) : absl::StrCat(path_, "/", name);
}

}  // namespace cellblock::app
