// Writes what a session made into a folder of the host, named by --out: files under their own relative path, pictures as chart-1.png, ….
// Supervisor. Names and bytes are the guest's: no symbolic link is followed or replaced, no name leaves the folder or hides in it, nothing
// becomes executable. The folder itself is the user's word.
#ifndef CELLBLOCK_APP_OUTPUT_FOLDER_H_
#define CELLBLOCK_APP_OUTPUT_FOLDER_H_

#include <sys/types.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "app/charts.h"
#include "base/unique_fd.h"
#include "cellblock/record.h"

namespace cellblock::app {

struct Saved {
  std::string path;    // as the user would open it: the folder's name and the path in it
  std::string detail;  // "900×600", "1.2 KiB", …
  bool is_chart = false;
};

// What was saved, and what could not be: one sentence each.
struct SaveReport {
  std::vector<Saved> saved;
  std::vector<std::string> problems;
};

class OutputFolder {
 public:
  // Makes the folder (and its parents) if it is missing. kInvalidArgument when the name is something else, or it cannot be written to.
  static absl::StatusOr<OutputFolder> Create(const std::string& path);

  // A file of the user's that went into the run: whatever the code makes, it is not written over.
  void Protect(const std::string& path);

  // Saves the artifacts and visible pictures of a finished call. A picture whose bytes were saved already as an artifact is not
  // saved twice. Goes on after a problem with one file.
  SaveReport Save(const Record& record);

 private:
  OutputFolder(std::string path, UniqueFd directory) : path_(std::move(path)), directory_(std::move(directory)) {}

  absl::Status SaveArtifact(const Artifact& artifact, SaveReport* report);
  absl::Status SaveCharts(const std::vector<Picture>& pictures, SaveReport* report);
  // The name for a guest's path, free of what this run has written for other paths.
  absl::StatusOr<std::vector<std::string>> NameFor(const Artifact& artifact, SaveReport* report);
  bool IsProtected(const std::string& name) const;
  absl::Status MoveChartAway(const std::string& name, SaveReport* report);
  std::string Shown(const std::string& name) const;

  std::string path_;
  UniqueFd directory_;
  std::map<std::string, std::string> owners_;  // name written by this run → the guest's path behind it; "" for a chart
  std::set<std::pair<dev_t, ino_t>> protected_;
  std::set<std::string> digests_;              // SHA-256 of the artifacts
  int last_chart_ = 0;
};

}  // namespace cellblock::app

#endif  // CELLBLOCK_APP_OUTPUT_FOLDER_H_
