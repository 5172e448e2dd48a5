// --file SRC[:NAME]: what goes into the workspace before the first cell. Supervisor; the user's own files and folders. Inside a folder
// no symbolic link is followed: the folder may come from somebody else, and a link in it could name any file of the user's.
#ifndef CELLBLOCK_APP_UPLOADS_H_
#define CELLBLOCK_APP_UPLOADS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cellblock/host.h"

namespace cellblock::app {

inline constexpr size_t kUploadFilesMax = 10'000;
inline constexpr int kUploadDepthMax = 32;

struct Upload {
  std::string source;        // host path
  std::string target;        // relative to /workspace
  bool from_folder = false;  // opened without following a link
};

struct UploadPlan {
  std::vector<Upload> uploads;
  int64_t skipped_links = 0;
  int64_t skipped_special = 0;  // sockets, pipes and devices inside a folder
};

// Reads the arguments of --file and lists the folders. The longest existing SRC wins, so that a file's name may hold colons: of
// "a:b.csv:c.csv" first the whole is looked for, then "a:b.csv", then "a". NAME may start with /workspace/, and may end in "/" to say
// "into that folder". kInvalidArgument: nothing there, a name that leaves the workspace, two files of one name. kResourceExhausted: more
// than kUploadFilesMax files or kUploadDepthMax folders deep.
absl::StatusOr<UploadPlan> PlanUploads(const std::vector<std::string>& arguments);

// Copies one file into the session.
absl::Status PutUpload(const Upload& upload, Session& session);

// The path below /workspace that a person's NAME means: "/workspace/a.csv", "./a.csv" and "a.csv" are one. kInvalidArgument for others.
absl::StatusOr<std::string> WorkspacePath(absl::string_view name);

}  // namespace cellblock::app

#endif  // CELLBLOCK_APP_UPLOADS_H_
