// Replaces a secret wherever it stands in a stream of bytes, also across the pieces in which they come. Egress proxy: between a server
// and the session. Trusts the values and not the stream. Not thread-safe.
#ifndef CELLBLOCK_EGRESS_BYTE_REDACTOR_H_
#define CELLBLOCK_EGRESS_BYTE_REDACTOR_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace cellblock::egress {

inline constexpr absl::string_view kRedacted = "***";
inline constexpr size_t kNeedleBytesMin = 4;   // shorter ones would replace what is no secret

// The spellings of a value that are replaced, each once, the value itself first:
// - percent-encoded: every byte; all but what RFC 3986 leaves alone; that with "/", with what JavaScript leaves, or with what Go leaves in a path; a form's "+"; hex digits
//   of either case;
// - within a JSON text: the escapes that must be; with "\/"; with \u00XX for what HTML makes special; within a JSON text in a JSON text;
// - within an HTML or XML text, as Python (with and without quotes), Go, PHP, Mustache and XML's own writers do it; by numbers;
// - base64, standard and URL-safe, at each of the three offsets within a longer text, without the characters that depend on neighbours.
// Each is found also where lines break within it, as MIME's base64 does. A server that echoes the value otherwise (reversed, compressed)
// or in part tells it.
std::vector<std::string> SpellingsOf(absl::string_view value);

// Occurrences that overlap become one "***". What comes out does not depend on how the bytes were cut, and how much of it is held back
// not on what they are: else code whose own bytes a server repeats could find a value out piece by piece, by what is late.
class ByteRedactor {
 public:
  // Needles of fewer than kNeedleBytesMin bytes are left out.
  explicit ByteRedactor(std::vector<std::string> needles);
  // What can be given on after these bytes: all but the last held_back(). After Finish() it begins anew.
  std::string Feed(absl::string_view bytes);
  std::string Finish();
  uint64_t replaced() const { return replaced_; }
  size_t held_back() const { return longest_ == 0 ? 0 : longest_ - 1; }

 private:
  std::string Take(bool is_last);
  size_t MatchAt(size_t at) const;   // bytes of the longest occurrence there, its line breaks too; 0: none

  std::array<std::vector<std::string>, 256> needles_;   // by first byte
  size_t longest_ = 0;                                  // bytes that an occurrence can have
  std::string held_;
  size_t covered_ = 0;                // of held_, from its beginning: within an occurrence that is already replaced
  uint64_t replaced_ = 0;
};

}  // namespace cellblock::egress

#endif  // CELLBLOCK_EGRESS_BYTE_REDACTOR_H_
