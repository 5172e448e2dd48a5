// Replaces literal strings (policy.redact) by "***" in a text that arrives in pieces, also where an occurrence spans pieces. Runs in
// the supervisor; the literals come from the policy, the text from the guest. Time is linear in the text whatever it holds
// (Aho-Corasick); what is held back is shorter than the longest spelling of the longest literal.
//
// A literal is found as it was written and as JSON, Python's repr and HTML spell it (unescape.h), one of these or HTML around or within
// one of the others. A guest that wants to print a secret can spell it otherwise (base64, a space between).
#ifndef CELLBLOCK_CAPTURE_REDACT_H_
#define CELLBLOCK_CAPTURE_REDACT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "capture/unescape.h"

namespace cellblock::capture {

inline constexpr size_t kRedactLiteralsMax = 64;
inline constexpr size_t kRedactBytesMin = 4;      // shorter ones would eat ordinary text
inline constexpr size_t kRedactBytesMax = 4096;
inline constexpr absl::string_view kRedacted = "***";

// The literals of one policy, prepared once and shared by all streams. Immutable, so thread-safe.
class RedactionSet {
 public:
  // kInvalidArgument beyond the limits above, or for a literal that is not UTF-8 (captured text always is).
  static absl::StatusOr<std::shared_ptr<const RedactionSet>> Create(const std::vector<std::string>& literals);

  using State = uint32_t;
  static constexpr State kRoot = 0;
  State Next(State state, uint8_t byte) const;
  // Whether a literal, or an escape that may spell one, can begin with it.
  bool MayBegin(uint8_t byte) const { return root_[byte] != kRoot || byte == '\\' || byte == '&'; }
  // How many of the last bytes read could be the beginning of a literal.
  size_t depth(State state) const { return nodes_[state].depth; }
  // Length of the longest literal that ends here; 0 for none.
  size_t match_bytes(State state) const { return nodes_[state].match_bytes; }

 private:
  // A trie with its children in a list: literals share few beginnings, and a table of 256 for each of up to 262,145 nodes would
  // take 256 MiB. A list has at most 64 children, the number of literals.
  struct Node {
    uint32_t first_child = 0;   // 0: none, since the root is nobody's child
    uint32_t next_sibling = 0;
    uint32_t fail = 0;          // the longest proper suffix that is in the trie
    uint16_t depth = 0;
    uint16_t match_bytes = 0;
    uint8_t byte = 0;
  };

  State Child(State state, uint8_t byte) const;
  void Insert(absl::string_view literal);
  void LinkFailures();

  std::vector<Node> nodes_ = std::vector<Node>(1);
  std::array<uint32_t, 256> root_ = {};
};

// The text as one who resolves its escapes reads it. It sleeps while that is the text itself: from the first escape on it reads along,
// until it would again find the same as the plain reading. Offsets are the stream's.
class EscapedReading {
 public:
  struct Match {
    uint64_t begin = 0;
    uint64_t end = 0;
    bool written = false;  // its "***" is out
  };
  using OnMatch = absl::FunctionRef<void(const Match&)>;

  // Escapes in the order in which they are resolved: the outermost first.
  EscapedReading(const RedactionSet& set, std::vector<Unescaper> layers) : set_(set), layers_(std::move(layers)) {}

  bool awake() const { return awake_; }
  bool Begins(uint8_t byte) const;  // an escape: wakes it
  // `plain`: the state of the plain reading before this byte.
  void Append(uint8_t byte, uint64_t offset, RedactionSet::State plain, OnMatch on_match);
  // After it, with the plain reading's state behind the byte.
  void SleepIfAgreeing(RedactionSet::State plain);
  void Finish(OnMatch on_match);
  // Where the first byte stands that may still become part of a match; `otherwise` when there is none.
  uint64_t HeldFrom(uint64_t otherwise) const;

 private:
  void Read(size_t layer, const SpelledByte& byte, OnMatch on_match);
  void Step(const SpelledByte& byte, OnMatch on_match);

  const RedactionSet& set_;
  std::vector<Unescaper> layers_;
  bool awake_ = false;
  RedactionSet::State state_ = RedactionSet::kRoot;
  std::deque<uint64_t> begins_;  // of the last depth(state_) bytes
  size_t plain_bytes_ = 0;       // read since the last escape, or since it woke
};

// One stream's state.
class Redactor {
 public:
  // A null set lets everything through at once.
  explicit Redactor(std::shared_ptr<const RedactionSet> set);

  // Appends to `out` what is certain not to be part of a literal, with "***" for each literal; literals that overlap become one.
  void Append(absl::string_view text, std::string* out);
  // The text ended; another may follow.
  void Finish(std::string* out);
  size_t held_bytes() const { return window_.size() - (released_ - window_begin_); }

 private:
  using Match = EscapedReading::Match;

  void Scan();
  void AddMatch(Match match);
  void Release(uint64_t safe, std::string* out);
  void CopyUpTo(uint64_t end, std::string* out);
  uint64_t end() const { return window_begin_ + window_.size(); }

  std::shared_ptr<const RedactionSet> set_;
  RedactionSet::State state_ = RedactionSet::kRoot;  // of the plain reading
  std::vector<EscapedReading> readings_;
  std::string window_;         // the last of the text, with all that is not yet let out
  uint64_t window_begin_ = 0;  // offsets in the stream, here and below
  uint64_t scanned_ = 0;       // the automaton has read up to here
  uint64_t released_ = 0;      // let out or swallowed up to here
  std::deque<Match> matches_;  // that end behind released_; in order, none overlaps another
};

// The whole of `text` through a Redactor.
std::string Redact(const std::shared_ptr<const RedactionSet>& set, absl::string_view text);

}  // namespace cellblock::capture

#endif  // CELLBLOCK_CAPTURE_REDACT_H_
