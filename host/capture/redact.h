// Replaces literal strings (policy.redact) by "***" in a text that arrives in pieces, also where an occurrence spans pieces. Runs in
// the supervisor; the literals come from the policy, the text from the guest. Time is linear in the text whatever it holds
// (Aho-Corasick); what is held back is shorter than the longest literal.
//
// A literal is found only as it was written: a guest that wants to print a secret can spell it otherwise (base64, a space between).
#ifndef CELLBLOCK_CAPTURE_REDACT_H_
#define CELLBLOCK_CAPTURE_REDACT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

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
  bool StartsLiteral(uint8_t byte) const { return root_[byte] != kRoot; }
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

// One stream's state.
class Redactor {
 public:
  // A null set lets everything through at once.
  explicit Redactor(std::shared_ptr<const RedactionSet> set) : set_(std::move(set)) {}

  // Appends to `out` what is certain not to be part of a literal, with "***" for each literal; literals that overlap become one.
  void Append(absl::string_view text, std::string* out);
  void Finish(std::string* out);
  size_t held_bytes() const { return window_.size(); }

 private:
  void Scan(std::string* out);
  void FoundMatch(size_t begin, size_t end, std::string* out);
  void Release(size_t safe, std::string* out);
  void CopyUpTo(size_t end, std::string* out);

  std::shared_ptr<const RedactionSet> set_;
  RedactionSet::State state_ = RedactionSet::kRoot;
  std::string window_;       // text not yet let out
  size_t scanned_ = 0;       // of the window, the automaton has read
  size_t done_ = 0;          // of the window, let out or swallowed
  bool has_match_ = false;   // an occurrence in the window that a later one may still extend
  bool match_written_ = false;
  size_t match_begin_ = 0;
  size_t match_end_ = 0;
};

}  // namespace cellblock::capture

#endif  // CELLBLOCK_CAPTURE_REDACT_H_
