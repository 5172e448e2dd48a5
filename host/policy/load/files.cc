// See files.h.
#include "policy/load/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "base/unique_fd.h"
#include "policy/load/position.h"
#include "policy/rules.h"
#include "policy/text.h"
#include "policy/validate.h"

namespace cellblock::policy {
namespace {

constexpr absl::string_view kSuffix = ".yaml";
constexpr size_t kListedPoliciesMax = 1000;

// Names of the policies in a folder, sorted; empty when it can't be read. For suggestions only.
std::vector<std::string> ListPolicies(absl::string_view directory) {
  std::vector<std::string> names;
  std::unique_ptr<DIR, int (*)(DIR*)> stream(opendir(std::string(directory).c_str()), &closedir);
  if (stream == nullptr) return names;
  while (names.size() < kListedPoliciesMax) {
    const dirent* entry = readdir(stream.get());
    if (entry == nullptr) break;
    absl::string_view name = entry->d_name;
    if (absl::ConsumeSuffix(&name, kSuffix) && !name.empty()) names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

absl::Status UnknownName(absl::string_view name, absl::string_view directory) {
  std::vector<std::string> names = ListPolicies(directory);
  std::string advice = DidYouMean(NearWords(name, names));
  if (advice.empty() && !names.empty()) {
    if (names.size() > 12) names.resize(12);
    advice = absl::StrCat("; there are: ", absl::StrJoin(names, ", "));
  }
  return absl::NotFoundError(absl::StrCat("no policy ", Shown(name), " in ", directory, advice));
}

// Why a character may not stand raw in a policy file; empty when it may.
std::string CharacterProblem(Character c, absl::string_view rest) {
  if (c.bytes < 0) return "a byte that is not UTF-8; save the file as UTF-8";
  if (c.code == 0) return "a NUL byte; is this UTF-16, or no text at all? save the file as UTF-8";
  if (c.code == '\t') return "a tab; indent with spaces, and write \\t in double quotes for a tab in a text";
  if (c.code == '\r' && !absl::StartsWith(rest, "\r\n")) return "a carriage return without newline; end lines with a newline";
  if (IsHidden(c.code)) {
    return absl::StrFormat("the invisible character U+%04X; remove it, or write it as \\u%04X in double quotes",
                           static_cast<uint32_t>(c.code), static_cast<uint32_t>(c.code));
  }
  return "";
}

}  // namespace

bool IsPath(absl::string_view name_or_path) { return absl::StrContains(name_or_path, '/') || absl::EndsWith(name_or_path, kSuffix); }

absl::string_view DirectoryOf(absl::string_view path) {
  size_t slash = path.rfind('/');
  if (slash == absl::string_view::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

absl::string_view StemOf(absl::string_view path) {
  size_t slash = path.rfind('/');
  if (slash != absl::string_view::npos) path.remove_prefix(slash + 1);
  absl::ConsumeSuffix(&path, kSuffix);
  return path;
}

absl::StatusOr<std::string> FindPolicy(absl::string_view name_or_path, absl::string_view from_directory,
                                       absl::string_view policy_directory) {
  if (IsPath(name_or_path)) {
    std::string problem = TextProblem(name_or_path);
    if (!problem.empty()) return absl::InvalidArgumentError(absl::StrCat("the path ", Shown(name_or_path), " ", problem));
    if (absl::StartsWith(name_or_path, "/") || from_directory.empty()) return std::string(name_or_path);
    return absl::StrCat(from_directory, from_directory == "/" ? "" : "/", name_or_path);
  }
  if (absl::EndsWith(name_or_path, ".yml")) {
    return absl::InvalidArgumentError(absl::StrCat(Shown(name_or_path), " is neither a name nor a path ending in .yaml; write ./",
                                                   name_or_path.size() <= 64 ? name_or_path : "file.yml", " for a file here"));
  }
  std::string problem = NameProblem(name_or_path);
  if (!problem.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the policy name ", Shown(name_or_path), " ", problem, " (a path contains a slash or ends in .yaml)"));
  }
  if (policy_directory.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("no folder of policies is set to look up the name ", Shown(name_or_path), " in; write a path"));
  }
  std::string path = absl::StrCat(policy_directory, "/", name_or_path, kSuffix);
  struct stat info;
  if (stat(path.c_str(), &info) != 0 && errno == ENOENT) return UnknownName(name_or_path, policy_directory);
  return path;
}

absl::StatusOr<PolicyFile> ReadPolicyFile(const std::string& path) {
  // Non-blocking: opening a FIFO without a writer would wait for one.
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd.valid()) return absl::ErrnoToStatus(errno, absl::StrCat("open the policy file ", path));
  struct stat info;
  if (fstat(fd.get(), &info) != 0) return absl::ErrnoToStatus(errno, absl::StrCat("stat the policy file ", path));
  if (!S_ISREG(info.st_mode)) {
    absl::string_view kind = S_ISDIR(info.st_mode) ? "a folder" : "not a regular file";
    return absl::InvalidArgumentError(absl::StrCat(path, ": is ", kind, "; name a policy file such as policies/default.yaml"));
  }
  auto too_large = [&](int64_t bytes, absl::string_view more) {
    return absl::ResourceExhaustedError(TextAt(path, {},
                                               absl::StrCat("the file has ", bytes, " bytes", more, ", more than the ", kPolicyFileBytesMax,
                                                            " of a policy file; is it a policy?")));
  };
  if (info.st_size > static_cast<off_t>(kPolicyFileBytesMax)) return too_large(info.st_size, "");
  std::string raw(kPolicyFileBytesMax + 1, '\0');  // one more, since the file may have grown meanwhile
  size_t used = 0;
  while (used < raw.size()) {
    ssize_t got = read(fd.get(), raw.data() + used, raw.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return absl::ErrnoToStatus(errno, absl::StrCat("read the policy file ", path));
    if (got == 0) break;
    used += static_cast<size_t>(got);
  }
  if (used > kPolicyFileBytesMax) return too_large(static_cast<int64_t>(used), " or more");
  raw.resize(used);
  CELLBLOCK_ASSIGN_OR_RETURN(std::string text, NormalText(raw, path));
  return PolicyFile{path, std::move(text), info.st_dev, info.st_ino};
}

absl::StatusOr<std::string> NormalText(absl::string_view raw, absl::string_view file) {
  absl::ConsumePrefix(&raw, "\xEF\xBB\xBF");
  std::string text;
  text.reserve(raw.size());
  Position position;
  while (!raw.empty()) {
    Character c = NextCharacter(raw);
    std::string problem = CharacterProblem(c, raw);
    if (!problem.empty()) return ErrorAt(file, position, problem);
    if (c.code != '\r') absl::StrAppend(&text, raw.substr(0, static_cast<size_t>(c.bytes)));
    raw.remove_prefix(static_cast<size_t>(c.bytes));
    ++position.column;
    if (c.code == '\n') position = {position.line + 1, 1};
  }
  return text;
}

}  // namespace cellblock::policy
