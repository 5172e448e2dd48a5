// See apply.h.
#include "policy/load/apply.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "policy/rules.h"
#include "policy/schema.h"
#include "policy/text.h"
#include "policy/value.h"

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
    {"packages", "python.environment"},
    {"imports", "python.preload"},
    {"modules", "python.preload"},
    {"dpi", "python.figure_dpi"},
    {"svg", "python.figure_svg"},
    {"timezone", "determinism.time_zone"},
    {"tz", "determinism.time_zone"},
    {"syscalls", "isolation.extra_syscalls"},
    {"env", "environment"},
    {"secrets", "redact"},
    {"internet", "network"},
    {"egress", "network"},
    {"base", "extends"},
    {"inherits", "extends"},
    {"include", "extends"},
};

std::string JoinPath(absl::string_view group, absl::string_view name) {
  return group.empty() ? std::string(name) : absl::StrCat(group, ".", name);
}

// What may stand in a group, or, with an empty group, at the top.
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

// Full paths of the keys whose own name is `name`, wherever they stand.
std::vector<std::string> PathsOf(absl::string_view name) {
  std::vector<std::string> paths;
  for (const Key& key : Schema()) {
    if (LastPartOf(key.path) == name) paths.emplace_back(key.path);
  }
  return paths;
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

class Applier {
 public:
  Applier(absl::string_view file, LoadedPolicy& loaded, Problems& problems) : file_(file), loaded_(loaded), problems_(problems) {}

  void ApplyRoot(const Node& root) {
    for (const Node& node : root.children) {
      if (const Key* key = IsGroup(node.key) ? nullptr : FindKey(node.key); key != nullptr && GroupOf(key->path).empty()) {
        ApplyKey(*key, node);
      } else if (IsGroup(node.key)) {
        ApplyGroup(node);
      } else {
        Report(node.key_position, absl::StrCat("unknown key ", Shown(node.key), UnknownKeyAdvice("", node.key)));
      }
    }
  }

 private:
  void Report(Position position, absl::string_view message) { problems_.Add(TextAt(file_, position, message)); }
  // Whether `status` is fine; reports it if not.
  bool Accept(Position position, const absl::Status& status) {
    if (!status.ok()) Report(position, status.message());
    return status.ok();
  }

  void ApplyGroup(const Node& group) {
    if (group.kind != Node::Kind::kMap) {
      bool no_space = group.kind == Node::Kind::kScalar && !group.is_quoted && absl::StrContains(group.text, ':');
      Report(group.position,
             absl::StrCat(group.key, ": takes keys below it (", absl::StrJoin(NamesIn(group.key), ", "), "), not ", KindText(group),
                          no_space                          ? "; write a space after the colon"
                          : group.kind == Node::Kind::kNull ? "; write one, or remove the line"
                                                            : ""));
      return;
    }
    for (const Node& node : group.children) {
      const Key* key = FindKey(JoinPath(group.key, node.key));
      if (key == nullptr) {
        Report(node.key_position, absl::StrCat("unknown key ", Shown(node.key), " in ", group.key, UnknownKeyAdvice(group.key, node.key)));
      } else {
        ApplyKey(*key, node);
      }
    }
  }

  void ApplyKey(const Key& key, const Node& node) {
    bool is_set = false;
    switch (ShapeOf(key)) {
      case Shape::kScalar:
        is_set = ApplyScalar(key, node);
        break;
      case Shape::kTextList:
        is_set = ApplyTexts(key, node);
        break;
      case Shape::kMounts:
        is_set = ApplyMounts(key, node);
        break;
      case Shape::kVariables:
        is_set = ApplyVariables(key, node);
        break;
    }
    if (!is_set || !Accept(node.position, CheckKey(key, loaded_.policy))) return;
    loaded_.origins.insert_or_assign(std::string(key.path), Origin{std::string(file_), loaded_.files.size() - 1, node.position});
  }

  bool RefuseKind(const Key& key, const Node& node) {
    if (node.kind == Node::Kind::kNull) {
      Report(node.position,
             absl::StrCat(key.path, ": has no value; write ", ExpectedText(key), ", or remove the line to keep the default"));
    } else {
      Report(node.position, absl::StrCat(key.path, ": takes ", ExpectedText(key), ", not ", KindText(node)));
    }
    return false;
  }

  bool ApplyScalar(const Key& key, const Node& node) {
    if (node.kind != Node::Kind::kScalar) return RefuseKind(key, node);
    return Accept(node.position, SetScalar(key, node.text, node.is_quoted, loaded_.policy));
  }

  bool ApplyTexts(const Key& key, const Node& node) {
    if (node.kind != Node::Kind::kList) return RefuseKind(key, node);
    StartList(key, loaded_.policy);
    bool is_fine = true;
    for (const Node& item : node.children) {
      if (item.kind != Node::Kind::kScalar) {
        Report(item.position, absl::StrCat(key.path, ": each item is one text, not ", KindText(item)));
        is_fine = false;
      } else {
        is_fine &= Accept(item.position, AddText(key, item.text, loaded_.policy));
      }
    }
    return is_fine;
  }

  bool ApplyMounts(const Key& key, const Node& node) {
    if (node.kind != Node::Kind::kList) return RefuseKind(key, node);
    bool is_fine = true;
    for (const Node& item : node.children) {
      ReadOnlyMount mount;
      is_fine &= ReadMount(key, item, mount) && Accept(item.position, AddMount(key, std::move(mount), loaded_.policy));
    }
    return is_fine;
  }

  bool ReadMount(const Key& key, const Node& item, ReadOnlyMount& mount) {
    if (item.kind != Node::Kind::kMap) {
      Report(item.position, absl::StrCat(key.path, ": each item is {source: /on/the/host, target: /inside}, not ", KindText(item)));
      return false;
    }
    for (const Node& part : item.children) {
      std::string* field = part.key == "source" ? &mount.source : part.key == "target" ? &mount.target : nullptr;
      if (field == nullptr) {
        std::string advice = DidYouMean(NearWords(part.key, {"source", "target"}));
        Report(part.key_position, absl::StrCat(key.path, ": unknown key ", Shown(part.key), " of a mount",
                                               advice.empty() ? "; a mount has source and target, and is always read-only" : advice));
        return false;
      }
      if (part.kind != Node::Kind::kScalar) {
        Report(part.position, absl::StrCat(key.path, ": ", part.key, " takes a path, not ", KindText(part)));
        return false;
      }
      *field = part.text;
    }
    if (mount.source.empty() || mount.target.empty()) {
      Report(item.position,
             absl::StrCat(key.path, ": a mount needs both source and target; ", mount.source.empty() ? "source" : "target", " is missing"));
      return false;
    }
    return true;
  }

  bool ApplyVariables(const Key& key, const Node& node) {
    if (node.kind != Node::Kind::kMap) return RefuseKind(key, node);
    bool is_fine = true;
    for (const Node& variable : node.children) {
      if (variable.kind != Node::Kind::kScalar) {
        Report(variable.position, absl::StrCat(key.path, ": ", Shown(variable.key), " takes one text, not ", KindText(variable),
                                               variable.kind == Node::Kind::kNull ? "; write \"\" for an empty one" : ""));
        is_fine = false;
        continue;
      }
      absl::Status status = SetVariable(key, variable.key, variable.text, loaded_.policy);
      is_fine &= Accept(VariableNameProblem(variable.key).empty() ? variable.position : variable.key_position, status);
    }
    return is_fine;
  }

  absl::string_view file_;
  LoadedPolicy& loaded_;
  Problems& problems_;
};

}  // namespace

void Problems::Add(std::string line) {
  ++count_;
  if (lines_.size() < lines_max_) lines_.push_back(std::move(line));
}

std::string Problems::Text() const {
  std::string text = absl::StrJoin(lines_, "\n");
  if (count_ > lines_.size()) {
    size_t more = count_ - lines_.size();
    absl::StrAppend(&text, lines_.size() == 1 ? " (" : "\n(", more, more == 1 ? " more problem" : " more problems",
                    lines_max_ == 1 ? "; `cellblock policy check` lists them)" : ")");
  }
  return text;
}

void ApplyFile(const Node& root, absl::string_view file, LoadedPolicy& loaded, Problems& problems) {
  loaded.files.emplace_back(file);
  Applier(file, loaded, problems).ApplyRoot(root);
}

const Node* FindNode(const Node& root, absl::string_view key) {
  auto found = std::find_if(root.children.begin(), root.children.end(), [&](const Node& node) { return node.key == key; });
  return found == root.children.end() ? nullptr : &*found;
}

absl::string_view KindText(const Node& node) {
  switch (node.kind) {
    case Node::Kind::kNull:
      return "nothing";
    case Node::Kind::kScalar:
      return "one text";
    case Node::Kind::kList:
      return "a list";
    case Node::Kind::kMap:
      return "keys of its own";
  }
  return "nothing";
}

}  // namespace cellblock::policy
