// See yaml_tree.h. Uses the library's events instead of its own tree: they come one by one, so a limit stops the parser at once,
// and an alias is never expanded. The parser recurses once per level, so the depth limit bounds its stack too.
#include "policy/load/yaml_tree.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <exception>
#include <map>
#include <sstream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "policy/text.h"

namespace cellblock::policy {
namespace {

constexpr absl::string_view kNoAlias =
    "aliases and anchors (*name, &name) are refused, since few bytes can stand for gigabytes; repeat the value, or quote a text that "
    "starts with * or &";
constexpr absl::string_view kNoTag = "tags (!name) are refused; remove it, or put a text that starts with ! in quotes";

// Leaves the parser from within an event; the reason stands in the builder.
struct Stopped {};

class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(absl::string_view text, absl::string_view file) : text_(text), file_(file) {}

  const absl::Status& status() const { return status_; }
  Node& root() { return root_; }
  // Where the innermost list or map that is still open starts.
  Position open_position() const { return frames_.empty() ? Position{} : frames_.back().node.position; }

  // Of the last key or value that came.
  Position last_position() const { return last_position_; }

  Position At(const YAML::Mark& mark) const {
    if (mark.is_null() || mark.pos < mark.column || static_cast<size_t>(mark.pos) > text_.size()) return {};
    absl::string_view before = text_.substr(static_cast<size_t>(mark.pos - mark.column), static_cast<size_t>(mark.column));
    return {mark.line + 1, CountCharacters(before) + 1};
  }
  // For single positions that no mark gives: counts lines from the start of the text.
  Position AtOffset(size_t offset) const {
    absl::string_view before = text_.substr(0, offset);
    size_t line_end = before.rfind('\n');
    absl::string_view line = line_end == absl::string_view::npos ? before : before.substr(line_end + 1);
    return {static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1, CountCharacters(line) + 1};
  }
  // Of the last backslash before the mark of an escape, which the library sets behind it.
  Position AtBackslash(const YAML::Mark& mark) const {
    size_t at = mark.is_null() ? absl::string_view::npos : text_.substr(0, static_cast<size_t>(mark.pos)).rfind('\\');
    return at == absl::string_view::npos ? At(mark) : AtOffset(at);
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) Stop(At(mark), "a second YAML document starts here; a policy file holds one");
  }
  void OnDocumentEnd() override {}
  void OnAnchor(const YAML::Mark& mark, const std::string&) override { Stop(At(mark), kNoAlias); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { Stop(At(mark), kNoAlias); }

  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
    Node node = NewNode(Node::Kind::kNull, mark);
    if (!frames_.empty() && frames_.back().has_key) {
      node.position = frames_.back().key_position;
    } else if (!frames_.empty() && frames_.back().node.kind == Node::Kind::kList) {
      node.position = MarkerBefore(mark);
    }
    Attach(std::move(node));
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t, const std::string& value) override {
    Node node = NewNode(Node::Kind::kScalar, mark);
    if (tag != "?" && tag != "!") Stop(node.position, kNoTag);
    node.text = value;
    node.is_quoted = tag == "!";  // so the library marks quoted and block scalars
    if (node.is_quoted && !IsQuoteClosed(static_cast<size_t>(mark.pos)))
      Stop(node.position, "this quote is never closed; write another at the end of the text");
    Attach(std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t, YAML::EmitterStyle::value) override {
    Open(Node::Kind::kList, mark, tag);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t, YAML::EmitterStyle::value) override {
    Open(Node::Kind::kMap, mark, tag);
  }
  void OnMapEnd() override { Close(); }

 private:
  static int CountCharacters(absl::string_view text) {
    return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
  }

  struct Frame {
    Node node;
    bool has_key = false;  // of a map: a key waits for its value
    std::string key;
    Position key_position;
    std::map<std::string, int> key_lines;
  };

  [[noreturn]] void Stop(Position position, absl::string_view message) {
    status_ = ErrorAt(file_, position, message);
    throw Stopped{};
  }
  [[noreturn]] void StopAtLimit(Position position, absl::string_view message) {
    status_ = absl::ResourceExhaustedError(TextAt(file_, position, message));
    throw Stopped{};
  }

  Node NewNode(Node::Kind kind, const YAML::Mark& mark) {
    Node node;
    node.kind = kind;
    node.position = last_position_ = At(mark);
    if (++nodes_ > kYamlNodesMax)
      StopAtLimit(node.position, absl::StrCat("more than ", kYamlNodesMax, " keys and values; is it a policy?"));
    // The library drops the tag of a null and hides "!" alone behind the mark of a quoted scalar: look at the text itself.
    if (!mark.is_null() && static_cast<size_t>(mark.pos) < text_.size() && text_[static_cast<size_t>(mark.pos)] == '!')
      Stop(node.position, kNoTag);
    return node;
  }

  // The library takes the end of the file for a closing quote when a newline stands before it. `start` is at a quote, or at the
  // sign of a block.
  bool IsQuoteClosed(size_t start) const {
    char quote = start < text_.size() ? text_[start] : '|';
    if (quote != '"' && quote != '\'') return true;
    for (size_t at = start + 1; at < text_.size(); ++at) {
      if (text_[at] == '\\' && quote == '"') {
        ++at;
      } else if (text_[at] == quote) {
        if (quote == '"' || at + 1 == text_.size() || text_[at + 1] != quote) return true;
        ++at;  // two single quotes stand for one
      }
    }
    return false;
  }

  // A missing list item gets the mark of what follows it: go back to its dash, comma or bracket, when only spaces lie between.
  Position MarkerBefore(const YAML::Mark& mark) const {
    absl::string_view before = text_.substr(0, static_cast<size_t>(std::max(mark.pos, 0)));
    size_t at = before.find_last_not_of(" \n");
    if (at == absl::string_view::npos || !absl::StrContains("-,[", before[at])) return At(mark);
    return AtOffset(at);
  }

  void Open(Node::Kind kind, const YAML::Mark& mark, const std::string& tag) {
    Frame frame;
    frame.node = NewNode(kind, mark);
    if (tag != "?" && tag != "") Stop(frame.node.position, kNoTag);
    if (frames_.size() == kYamlDepthMax) {
      StopAtLimit(frame.node.position,
                  absl::StrCat("lists and maps more than ", kYamlDepthMax, " deep; no policy key needs more than three"));
    }
    if (frames_.empty() && kind != Node::Kind::kMap)
      Stop(frame.node.position, "a policy file holds keys, such as `name: analysis`, not a list");
    if (IsKeyNext()) Stop(frame.node.position, "a list or map cannot be a key; write `key: value`, or close the bracket that opens here");
    frames_.push_back(std::move(frame));
  }

  void Close() {
    Node node = std::move(frames_.back().node);
    frames_.pop_back();
    Attach(std::move(node));
  }

  bool IsKeyNext() const { return !frames_.empty() && frames_.back().node.kind == Node::Kind::kMap && !frames_.back().has_key; }

  void Attach(Node node) {
    if (frames_.empty()) {
      AttachRoot(std::move(node));
    } else if (IsKeyNext()) {
      AttachKey(node);
    } else {
      Frame& frame = frames_.back();
      node.key = std::move(frame.key);
      node.key_position = frame.key_position;
      frame.has_key = false;
      frame.node.children.push_back(std::move(node));
    }
  }

  void AttachRoot(Node node) {
    if (node.kind == Node::Kind::kNull) Stop(node.position, "the file has no keys; write at least `extends: default`");
    if (node.kind == Node::Kind::kScalar) {
      bool no_space = !node.is_quoted && absl::StrContains(node.text, ':');
      Stop(node.position, absl::StrCat("a policy file holds keys, not one text",
                                       no_space ? "; write a space after the colon: `key: value`" : "; write `key: value`"));
    }
    root_ = std::move(node);
  }

  void AttachKey(const Node& node) {
    Frame& frame = frames_.back();
    if (node.kind != Node::Kind::kScalar) Stop(node.position, "a key is missing before the colon, or is null; write `key: value`");
    if (node.text == "<<" && !node.is_quoted)
      Stop(node.position, "merge keys (<<) are refused; use `extends:` for a whole file, or repeat the keys");
    auto [known, is_new] = frame.key_lines.emplace(node.text, node.position.line);
    if (!is_new) {
      Stop(node.position, absl::StrCat("the key ", Shown(node.text), " stands here twice, first in line ", known->second, "; remove one"));
    }
    frame.has_key = true;
    frame.key = node.text;
    frame.key_position = node.position;
  }

  absl::string_view text_;
  absl::string_view file_;
  absl::Status status_;
  std::vector<Frame> frames_;
  Node root_;
  Position last_position_;
  size_t nodes_ = 0;
  int documents_ = 0;
};

// The library's words, with what to do about it.
absl::Status SyntaxError(const YAML::Exception& error, const TreeBuilder& builder, absl::string_view file) {
  struct Advice {
    absl::string_view start;  // of the library's message
    absl::string_view text;
    bool is_at_open;  // the library points at the end of the file; the start of the open list or map tells more
  };
  static constexpr Advice kAdvice[] = {
      {"illegal map value", "a colon where no key can stand; check the indentation, or put a text with a colon in quotes", false},
      {"illegal map key", "a key where none can stand; check the indentation", false},
      {"illegal block entry", "a list item where none can stand; check the indentation", false},
      {"illegal flow end", "a closing bracket that nothing opened; remove it", false},
      {"end of map flow not found", "this { is never closed; write } after its last key", true},
      {"end of sequence flow not found", "this [ is never closed; write ] after its last item", true},
      {"end of map not found", "this line fits to no key before it; check the indentation", false},
      {"end of sequence not found", "this line fits to no list item before it; check the indentation", false},
      {"illegal document indicator in scalar", "a document marker within a quoted text; close the quote before it", false},
      {"unknown token", "no value can start with this character; put the text in quotes", false},
      {"the referenced anchor is not defined", kNoAlias, false},
      {"alias", kNoAlias, false},
      {"anchor", kNoAlias, false},
      {"cannot assign multiple anchors", kNoAlias, false},
      {"tag", kNoTag, false},
      {"cannot assign multiple tags", kNoTag, false},
  };
  for (const Advice& advice : kAdvice) {
    if (absl::StartsWith(error.msg, advice.start)) {
      return ErrorAt(file, advice.is_at_open ? builder.open_position() : builder.At(error.mark), advice.text);
    }
  }
  if (error.msg == YAML::ErrorMsg::EOF_IN_SCALAR) {
    Position before = builder.last_position();
    return ErrorAt(file, builder.At(error.mark),
                   absl::StrCat("the file ends within a quoted text, which starts after line ", before.line, ", column ", before.column,
                                "; close its quote"));
  }
  absl::string_view escape = error.msg;
  if (absl::ConsumePrefix(&escape, "unknown escape character: ")) {
    // The library names one byte, which may be a part of a character.
    absl::string_view shown = TextProblem(escape).empty() ? escape : absl::string_view("…");
    return ErrorAt(file, builder.AtBackslash(error.mark),
                   absl::StrCat("no such escape: \\", shown, "; write \\\\ for a backslash, or use single quotes"));
  }
  return ErrorAt(file, builder.At(error.mark),
                 absl::StrCat("not valid YAML: ", TextProblem(error.msg).empty() ? error.msg : "a character that has no place here"));
}

}  // namespace

absl::StatusOr<Node> ParseYaml(absl::string_view text, absl::string_view file) {
  TreeBuilder builder(text, file);
  try {
    std::istringstream in{std::string(text.data(), text.size())};
    YAML::Parser parser(in);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Stopped&) {
    return builder.status();
  } catch (const YAML::Exception& error) {
    return SyntaxError(error, builder, file);
  } catch (const std::exception& error) {
    return absl::InternalError(TextAt(file, {}, absl::StrCat("the YAML library failed: ", error.what())));
  }
  if (builder.root().kind != Node::Kind::kMap) return ErrorAt(file, {}, "the file has no keys; write at least `extends: default`");
  return std::move(builder.root());
}

}  // namespace cellblock::policy
