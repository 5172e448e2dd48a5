// See key_advice.h.
#include "policy/load/key_advice.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "policy/schema.h"
#include "policy/text.h"

namespace cellblock::policy {
namespace {

// What other systems call a key of ours, in lower case.
struct Synonym {
  absl::string_view word;
  absl::string_view path;
};
constexpr Synonym kSynonyms[] = {
    {"timeout", "limits.wall"},
    {"time", "limits.wall"},
    {"time_limit", "limits.wall"},
    {"grace", "limits.wall_grace"},
    {"cpu_time", "limits.cpu"},
    {"cores", "limits.cpus"},
    {"ram", "limits.memory"},
    {"mem", "limits.memory"},
    {"pids", "limits.processes"},
    {"threads", "limits.processes"},
    {"nofile", "limits.open_files"},
    {"fds", "limits.open_files"},
    {"disk", "limits.workspace"},
    {"inodes", "limits.workspace_files"},
    {"stdout", "limits.output"},
    {"max_life", "session.life"},
    {"ttl", "session.life"},
    {"idle_timeout", "session.idle"},
    {"volumes", "files.mounts"},
    {"binds", "files.mounts"},
    {"imports", "python.preload"},
    {"modules", "python.preload"},
    {"dpi", "python.figure_dpi"},
    {"svg", "python.figure_svg"},
    {"timezone", "determinism.time_zone"},
    {"tz", "determinism.time_zone"},
    {"syscalls", "isolation.extra_syscalls"},
    {"env", "environment"},
    {"mask", "redact"},
    {"hide", "redact"},
    {"internet", "network"},
    {"egress", "network"},
    {"proxy", "network"},
    {"domain", "network.allow"},
    {"domains", "network.allow"},
    {"host", "network.allow"},
    {"hosts", "network.allow"},
    {"urls", "network.allow"},
    {"allowed_hosts", "network.allow"},
    {"allowed_domains", "network.allow"},
    {"allowlist", "network.allow"},
    {"allow_list", "network.allow"},
    {"whitelist", "network.allow"},
    {"rules", "network.allow"},
    {"key", "network.secrets"},
    {"keys", "network.secrets"},
    {"api_keys", "network.secrets"},
    {"tokens", "network.secrets"},
    {"credentials", "network.secrets"},
    {"pip", "network.packages"},
    {"pypi", "network.packages"},
    {"index", "network.packages"},
    {"index_url", "network.packages"},
    {"traffic", "network.call_bytes"},
    {"bytes", "network.call_bytes"},
    {"bandwidth", "network.rate"},
    {"speed", "network.rate"},
    {"base", "extends"},
    {"inherits", "extends"},
    {"include", "extends"},
};

// The same for the keys of items, in the form of the names that an item may have.
constexpr Synonym kItemSynonyms[] = {
    {"domain", "host"},       {"url", "host"},          {"index", "url"},        {"index_url", "url"},       {"ip", "addresses"},
    {"ips", "addresses"},     {"cidr", "addresses"},    {"ca", "authorities"},   {"ca_file", "authorities"}, {"cert", "authorities"},
    {"scheme", "protocol"},   {"verbs", "methods"},     {"env", "name"},         {"variable", "name"},       {"key", "source"},
    {"value", "source"},      {"secret", "source"},     {"file", "source"},      {"param", "query"},         {"parameter", "query"},
    {"template", "format"},   {"prefix", "format"},     {"prefix", "paths"},     {"links", "hosts"},
};

// Full paths of the keys whose own name is `name`, wherever they stand.
std::vector<std::string> PathsOf(absl::string_view name) {
  std::vector<std::string> paths;
  for (const Key& key : Schema()) {
    if (LastPartOf(key.path) == name) paths.emplace_back(key.path);
  }
  return paths;
}

}  // namespace

std::string JoinPath(absl::string_view group, absl::string_view name) {
  return group.empty() ? std::string(name) : absl::StrCat(group, ".", name);
}

std::vector<std::string> NamesIn(absl::string_view group) {
  std::vector<std::string> names;
  for (const Key& key : Schema()) {
    absl::string_view own = GroupOf(key.path);
    absl::string_view name = !group.empty() ? LastPartOf(key.path) : own.empty() ? key.path : own;
    if (!group.empty() && own != group) continue;
    if (names.empty() || names.back() != name) names.emplace_back(name);
  }
  return names;
}

std::string UnknownKeyAdvice(absl::string_view group, absl::string_view word) {
  std::string normal = absl::AsciiStrToLower(word.substr(0, 64));
  std::replace(normal.begin(), normal.end(), '-', '_');
  if (std::vector<std::string> same = PathsOf(normal); !same.empty()) return DidYouMean(same);
  if (word.size() <= 64 && FindKey(normal) != nullptr) return absl::StrCat("; write ", GroupOf(normal), ": {", LastPartOf(normal), ": …}");
  std::vector<std::string> names = NamesIn(group);
  std::vector<std::string> near = NearWords(word, names);
  for (std::string& name : near) name = JoinPath(group, name);
  if (!near.empty()) return DidYouMean(near);
  for (const Synonym& synonym : kSynonyms) {
    if (synonym.word == normal) return DidYouMean({std::string(synonym.path)});
  }
  std::vector<std::string> all;
  for (const Key& key : Schema()) all.emplace_back(LastPartOf(key.path));
  near = NearWords(word, all);
  if (!near.empty()) return DidYouMean(PathsOf(near.front()));
  return absl::StrCat("; the keys ", group.empty() ? "at the top" : "here", " are: ", absl::StrJoin(names, ", "));
}

std::string ItemKeyAdvice(absl::string_view word, const std::vector<std::string>& names) {
  std::vector<std::string> near = NearWords(word, names);
  if (!near.empty()) return DidYouMean(near);
  for (const Synonym& synonym : kItemSynonyms) {
    bool is_known = std::find(names.begin(), names.end(), synonym.path) != names.end();
    if (is_known && synonym.word == absl::AsciiStrToLower(word.substr(0, 64))) return DidYouMean({std::string(synonym.path)});
  }
  return "";
}

}  // namespace cellblock::policy
