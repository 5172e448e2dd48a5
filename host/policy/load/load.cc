// See load.h. A chain of files is read from the named one to its last base, then applied in the other direction.
#include "policy/load/load.h"

#include <sys/stat.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "policy/load/files.h"
#include "policy/load/position.h"
#include "policy/load/yaml_tree.h"
#include "policy/rules.h"
#include "policy/text.h"
#include "policy/validate.h"

namespace cellblock {
namespace policy {
namespace {

constexpr absl::string_view kZoneDirectory = "/usr/share/zoneinfo";

struct ParsedFile {
  PolicyFile file;
  Node root;
};

// `base: … → …`, from the file that is extended again to the one that does so.
std::string CycleText(const std::vector<ParsedFile>& chain, size_t first) {
  std::string text;
  for (size_t i = first; i < chain.size(); ++i) absl::StrAppend(&text, chain[i].file.path, " → ");
  return absl::StrCat(text, chain[first].file.path);
}

// Adds the files that the last one of `chain` extends. `is_text`: the first one has no folder, so it extends by name only.
absl::Status ReadBases(std::vector<ParsedFile>& chain, absl::string_view policy_directory, bool is_text) {
  while (true) {
    const ParsedFile& last = chain.back();
    const Node* extends = FindNode(last.root, "extends");
    if (extends == nullptr) return absl::OkStatus();
    auto refuse = [&](absl::string_view why) { return ErrorAt(last.file.path, extends->position, absl::StrCat("extends: ", why)); };
    if (extends->kind != Node::Kind::kScalar) {
      return refuse(
          absl::StrCat("takes the name or path of one policy, not ", KindText(*extends), "; write extends: default, or remove the line"));
    }
    if (extends->text == "none") return absl::OkStatus();
    if (is_text && chain.size() == 1 && IsPath(extends->text))
      return refuse("a policy that is in no file extends others by name only; write their name");
    if (chain.size() == kExtendsFilesMax) {
      return refuse(absl::StrCat("the chain of files is more than ", kExtendsFilesMax, " long; extend a file nearer to the base"));
    }
    absl::StatusOr<std::string> path = FindPolicy(extends->text, DirectoryOf(last.file.path), policy_directory);
    if (!path.ok()) return refuse(path.status().message());
    absl::StatusOr<PolicyFile> file = ReadPolicyFile(*path);
    if (!file.ok() && absl::IsNotFound(file.status())) return refuse(absl::StrCat("there is no file ", *path));
    if (!file.ok()) return file.status();
    for (size_t i = is_text ? 1 : 0; i < chain.size(); ++i) {
      if (chain[i].file.device != file->device || chain[i].file.inode != file->inode) continue;
      return refuse(absl::StrCat("files extend each other in a cycle, ", CycleText(chain, i), "; remove one of these extends"));
    }
    CELLBLOCK_ASSIGN_OR_RETURN(Node root, ParseYaml(file->text, file->path));
    chain.push_back({*std::move(file), std::move(root)});
  }
}

// A file without `name:` is called after itself; a base's name is not inherited.
void ApplyName(const ParsedFile& parsed, LoadedPolicy& loaded, Problems& problems) {
  if (FindNode(parsed.root, "name") != nullptr) return;
  absl::string_view stem = StemOf(parsed.file.path);
  std::string problem = NameProblem(stem);
  if (!problem.empty()) {
    problems.Add(
        TextAt(parsed.file.path, {}, absl::StrCat("name: the file's own name, ", Shown(stem), ", ", problem, "; write a line name: …")));
    return;
  }
  loaded.policy.name = std::string(stem);
  loaded.origins.erase("name");
}

// The place to blame for values that don't go together: the one set in the file nearest to the user.
void ReportConflict(const Conflict& conflict, const LoadedPolicy& loaded, Problems& problems) {
  const Origin* blamed = nullptr;
  for (const std::string& key : conflict.keys) {
    auto origin = loaded.origins.find(key);
    if (origin == loaded.origins.end()) continue;
    if (blamed == nullptr || origin->second.file_index > blamed->file_index) blamed = &origin->second;
  }
  Position position = blamed == nullptr ? Position{} : blamed->position;
  problems.Add(TextAt(blamed == nullptr ? loaded.files.back() : blamed->file, position, conflict.message));
}

// A mistyped zone would silently be UTC. Only where the session gets its zones from this machine's database.
void CheckTimeZone(const LoadedPolicy& loaded, Problems& problems) {
  auto origin = loaded.origins.find("determinism.time_zone");
  struct stat info;
  if (origin == loaded.origins.end() || !loaded.policy.files.directory.empty() || stat(std::string(kZoneDirectory).c_str(), &info) != 0)
    return;
  const std::string& zone = loaded.policy.determinism.time_zone;
  if (stat(absl::StrCat(kZoneDirectory, "/", zone).c_str(), &info) == 0 && S_ISREG(info.st_mode)) return;
  problems.Add(TextAt(origin->second.file, origin->second.position,
                      absl::StrCat("determinism.time_zone: there is no time zone ", Shown(zone), " in ", kZoneDirectory,
                                   "; write a name such as Europe/Berlin")));
}

absl::StatusOr<LoadedPolicy> ApplyChain(const std::vector<ParsedFile>& chain, size_t lines_max) {
  LoadedPolicy loaded;
  Problems problems(lines_max);
  for (auto parsed = chain.rbegin(); parsed != chain.rend() && problems.empty(); ++parsed) {
    ApplyFile(parsed->root, parsed->file.path, loaded, problems);
  }
  ApplyName(chain.front(), loaded, problems);
  if (problems.empty()) {
    std::optional<Conflict> conflict = FindConflict(loaded.policy);
    if (conflict.has_value()) ReportConflict(*conflict, loaded, problems);
    CheckTimeZone(loaded, problems);
  }
  if (!problems.empty()) return absl::InvalidArgumentError(problems.Text());
  // What was found above is all there is: this only fails when a check of the single keys was forgotten.
  CELLBLOCK_RETURN_IF_ERROR(ValidatePolicy(loaded.policy));
  return loaded;
}

absl::StatusOr<LoadedPolicy> Load(absl::string_view name_or_path, absl::string_view policy_directory, size_t lines_max) {
  CELLBLOCK_ASSIGN_OR_RETURN(std::string path, FindPolicy(name_or_path, "", policy_directory));
  std::vector<ParsedFile> chain(1);
  CELLBLOCK_ASSIGN_OR_RETURN(chain[0].file, ReadPolicyFile(path));
  CELLBLOCK_ASSIGN_OR_RETURN(chain[0].root, ParseYaml(chain[0].file.text, path));
  CELLBLOCK_RETURN_IF_ERROR(ReadBases(chain, policy_directory, false));
  return ApplyChain(chain, lines_max);
}

}  // namespace

absl::StatusOr<LoadedPolicy> LoadPolicyWithOrigins(absl::string_view name_or_path, absl::string_view policy_directory) {
  return Load(name_or_path, policy_directory, 1);
}

absl::StatusOr<LoadedPolicy> LoadPolicyText(absl::string_view text, absl::string_view file_name, absl::string_view policy_directory) {
  if (text.size() > kPolicyFileBytesMax) {
    return absl::ResourceExhaustedError(
        TextAt(file_name, {}, absl::StrCat("the policy has ", text.size(), " bytes, more than ", kPolicyFileBytesMax)));
  }
  std::vector<ParsedFile> chain(1);
  chain[0].file.path = std::string(file_name);
  CELLBLOCK_ASSIGN_OR_RETURN(chain[0].file.text, NormalText(text, file_name));
  CELLBLOCK_ASSIGN_OR_RETURN(chain[0].root, ParseYaml(chain[0].file.text, file_name));
  CELLBLOCK_RETURN_IF_ERROR(ReadBases(chain, policy_directory, true));
  return ApplyChain(chain, 1);
}

absl::Status CheckPolicyFile(absl::string_view name_or_path, absl::string_view policy_directory) {
  return Load(name_or_path, policy_directory, kListedProblemsMax).status();
}

}  // namespace policy

absl::StatusOr<Policy> LoadPolicy(absl::string_view name_or_path, absl::string_view policy_directory) {
  CELLBLOCK_ASSIGN_OR_RETURN(policy::LoadedPolicy loaded, policy::LoadPolicyWithOrigins(name_or_path, policy_directory));
  return std::move(loaded.policy);
}

}  // namespace cellblock
