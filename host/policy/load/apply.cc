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
#include "policy/load/apply_network.h"
#include "policy/load/key_advice.h"
#include "policy/rules.h"
#include "policy/schema.h"
#include "policy/text.h"
#include "policy/value.h"

namespace cellblock::policy {
namespace {

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

  // One text where keys could stand: the group's word, or a slip.
  bool ApplyWord(const GroupWord& word, const Node& node) {
    if (node.text == word.word) {
      word.set(loaded_.policy);
      ForgetOrigins(word.group, loaded_);
      return true;
    }
    if (SwitchWord(node.text) == Switch::kYes) {
      Report(node.position, absl::StrCat(word.group, ": ", Shown(node.text), " does not say what for; write ", word.group, ": ", word.instead));
    } else if (SwitchWord(node.text) == Switch::kNo || node.text == kNone) {
      Report(node.position, absl::StrCat(word.group, ": ", Shown(node.text), " is another word for it; write ", word.word));
    } else {
      return false;
    }
    return true;
  }

  void ApplyGroup(const Node& group) {
    const GroupWord* word = FindGroupWord(group.key);
    if (word != nullptr && group.kind == Node::Kind::kScalar && ApplyWord(*word, group)) return;
    if (group.kind != Node::Kind::kMap) {
      bool no_space = group.kind == Node::Kind::kScalar && !group.is_quoted && absl::StrContains(group.text, ':');
      Report(group.position,
             absl::StrCat(group.key, ": takes keys below it (", absl::StrJoin(NamesIn(group.key), ", "), ")",
                          word == nullptr ? "" : absl::StrCat(" or is ", word->word), ", not ", KindText(group),
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
      case Shape::kNetworkRules:
        is_set = node.kind != Node::Kind::kList ? RefuseKind(key, node) : ApplyNetworkRules(key, node, file_, loaded_, problems_);
        break;
      case Shape::kNetworkSecrets:
        is_set = node.kind != Node::Kind::kList ? RefuseKind(key, node) : ApplyNetworkSecrets(key, node, file_, loaded_, problems_);
        break;
      case Shape::kPackageIndex:
        is_set = node.kind != Node::Kind::kMap && node.kind != Node::Kind::kScalar ? RefuseKind(key, node)
                                                                                   : ApplyPackageIndex(key, node, file_, loaded_, problems_);
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
