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
inline constexpr size_t kLeftOutToldMax = 10;

struct Upload {
  std::string source;        // host path
  std::string target;        // relative to /workspace
  bool from_folder = false;  // opened without following a link
  bool is_folder = false;    // without files; the others come into being with the files in them
};

// What a folder holds and the session does not get. What the user names is never left out: it is an error.
struct LeftOut {
  int64_t links = 0;
  int64_t special = 0;               // sockets, pipes and devices
  int64_t others = 0;                // unreadable, gone since it was listed, a name that the session refuses
  std::vector<std::string> reasons;  // "data/x: Permission denied", of the first kLeftOutToldMax others

  void Add(absl::string_view source, absl::string_view why);
};

struct UploadPlan {
  std::vector<Upload> uploads;
  LeftOut left_out;
};

// Reads the arguments of --file and lists the folders. The longest existing SRC wins, so that a file's name may hold colons: of
// "a:b.csv:c.csv" first the whole is looked for, then "a:b.csv", then "a". NAME may start with /workspace/, and may end in "/" to say
// "into that folder". kInvalidArgument: nothing there, neither a file nor a folder, a name that leaves the workspace, two files of
// one name. kResourceExhausted: more than kUploadFilesMax files or kUploadDepthMax folders deep. Of pipes and devices only our own
// descriptors are taken (/dev/stdin, <(command)): a pipe in the file system may have no writer, ever.
absl::StatusOr<UploadPlan> PlanUploads(const std::vector<std::string>& arguments);

// Copies one file into the session. False: it is one of a folder's and was left out, as said in `left_out`.
absl::StatusOr<bool> PutUpload(const Upload& upload, Session& session, LeftOut* left_out);

// One line for each kind of thing that was left out.
std::vector<std::string> LeftOutLines(const LeftOut& left_out);

// The path below /workspace that a person's NAME means: "/workspace/a.csv", "./a.csv" and "a.csv" are one. kInvalidArgument for others.
absl::StatusOr<std::string> WorkspacePath(absl::string_view name);

}  // namespace cellblock::app

#endif  // CELLBLOCK_APP_UPLOADS_H_
