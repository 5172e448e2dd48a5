// See hostile_cell.h.
#include "tests/escape/hostile_cell.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/unique_fd.h"
#include "sys/files.h"

namespace cellblock {
namespace {

constexpr size_t kCellBytesMax = 64 * 1024;
constexpr absl::Duration kDefaultTimeout = absl::Seconds(30);

const std::set<std::string>& KnownKeys() {
  static const auto* keys = new std::set<std::string>{"claim", "status", "session", "stdout", "error", "hit", "killed", "artifacts", "policy", "timeout", "next", "needs", "after_stdout", "twin", "twin_stdout", "twin_status", "twin_policy"};
  return *keys;
}

[[noreturn]] void Refuse(const std::string& path, const std::string& why) {
  fprintf(stderr, "%s: %s\n", path.c_str(), why.c_str());
  exit(1);
}

HostileCell ReadCell(const std::string& folder, const std::string& file) {
  HostileCell cell;
  cell.path = absl::StrCat(folder, "/", file);
  cell.name = file.substr(0, file.rfind('.'));
  cell.is_bash = absl::EndsWith(file, ".sh");
  absl::StatusOr<std::string> code = sys::ReadFile(cell.path, kCellBytesMax);
  if (!code.ok()) Refuse(cell.path, code.status().ToString());
  cell.code = *code;
  for (absl::string_view line : absl::StrSplit(cell.code, '\n')) {
    if (!absl::StartsWith(line, "# ")) break;
    std::pair<std::string, std::string> parts = absl::StrSplit(line.substr(2), absl::MaxSplits(": ", 1));
    if (KnownKeys().count(parts.first) == 0) Refuse(cell.path, absl::StrCat("unknown key \"", parts.first, "\""));
    cell.keys[parts.first].push_back(parts.second);
  }
  for (const char* needed : {"claim", "twin"}) {
    if (!cell.Has(needed)) Refuse(cell.path, absl::StrCat("needs the key ", needed));
  }
  return cell;
}

}  // namespace

std::string HostileCell::Get(const std::string& key, const std::string& otherwise) const {
  auto found = keys.find(key);
  return found == keys.end() ? otherwise : found->second.front();
}

std::vector<std::string> HostileCell::Alternatives(const std::string& key, const std::string& otherwise) const { return absl::StrSplit(Get(key, otherwise), '|'); }

absl::Duration HostileCell::timeout() const {
  absl::Duration timeout = kDefaultTimeout;
  if (Has("timeout") && !absl::ParseDuration(Get("timeout", ""), &timeout)) Refuse(path, "timeout is no duration");
  return timeout;
}

absl::StatusOr<Policy> HostileCell::LoadPolicyOf(const std::string& key) const {
  auto found = keys.find(key);
  if (found == keys.end()) return Policy();
  std::string text;
  for (const std::string& line : found->second) absl::StrAppend(&text, line, "\n");
  char folder[] = "/tmp/cellblock-policy-XXXXXX";
  if (mkdtemp(folder) == nullptr) return sys::ErrnoStatus("make a folder for a policy");
  std::string file = absl::StrCat(folder, "/hostile.yaml");
  absl::StatusOr<UniqueFd> fd = sys::Open(file, O_WRONLY | O_CREAT | O_EXCL, 0600);
  absl::Status written = fd.ok() ? sys::WriteAll(fd->get(), text) : fd.status();
  absl::StatusOr<Policy> policy = written.ok() ? LoadPolicy(file, folder) : absl::StatusOr<Policy>(written);
  unlink(file.c_str());
  rmdir(folder);
  return policy;
}

std::vector<HostileCell> LoadHostileCells(const std::string& folder) {
  std::vector<HostileCell> cells;
  std::unique_ptr<DIR, int (*)(DIR*)> listing(opendir(folder.c_str()), closedir);
  if (listing == nullptr) Refuse(folder, "cannot be listed");
  while (dirent* entry = readdir(listing.get())) {
    std::string file = entry->d_name;
    if (absl::EndsWith(file, ".py") || absl::EndsWith(file, ".sh")) cells.push_back(ReadCell(folder, file));
  }
  std::sort(cells.begin(), cells.end(), [](const HostileCell& a, const HostileCell& b) { return a.name < b.name; });
  return cells;
}

}  // namespace cellblock
