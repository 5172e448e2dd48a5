// One job of the comparison and what came of it, and both as JSON text. Runs in cellblock-differential; trusts the lines that run.py
// writes to be well meant, not to be right: a wrong one is refused by name.
#ifndef CELLBLOCK_TESTS_DIFFERENTIAL_JOB_H_
#define CELLBLOCK_TESTS_DIFFERENTIAL_JOB_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "cellblock/host.h"

namespace cellblock::differential {

struct Job {
  std::string id;
  Policy policy;
  SessionOptions session;
  std::vector<std::pair<std::string, std::string>> files;    // host path, name in the workspace
  std::vector<std::string> cells;                            // one after the other, in one session
  Language language = Language::kPython;
  std::optional<absl::Duration> timeout;                     // of each cell
  std::string file_name;
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> collect;  // name in the workspace, host path
};

struct Outcome {
  std::string id;
  absl::Status host_status;
  double seconds = 0;
  std::vector<Record> records;           // one a cell that ran
  std::vector<std::string> collected;    // names that were there
  std::vector<FileEntry> files;          // all that is in the workspace at the end
};

// kInvalidArgument names the key that is wrong.
absl::StatusOr<Job> ParseJob(absl::string_view line);

// One line, without its end.
std::string OutcomeToJson(const Outcome& outcome);

}  // namespace cellblock::differential

#endif  // CELLBLOCK_TESTS_DIFFERENTIAL_JOB_H_
