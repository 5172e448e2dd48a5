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
// - within a JSON text: the escapes that must be; with "\/"; with \u00XX for what HTML makes special;
// - within an HTML text, as Python, Go, PHP and Mustache write it;
// - base64, standard and URL-safe, at each of the three offsets within a longer text, without the characters that depend on neighbours.
// A server that echoes the value otherwise (reversed, compressed, wrapped) tells it.
std::vector<std::string> SpellingsOf(absl::string_view value);

// Occurrences that overlap become one "***". What comes out does not depend on how the bytes were cut.
class ByteRedactor {
 public:
  // Needles of fewer than kNeedleBytesMin bytes are left out.
  explicit ByteRedactor(std::vector<std::string> needles);
  // What can be given on after these bytes; holds back only what can still become a needle. After Finish() it begins anew.
  std::string Feed(absl::string_view bytes);
  std::string Finish();
  uint64_t replaced() const { return replaced_; }

 private:
  std::string Take(bool is_last);
  size_t MatchAt(size_t at) const;   // bytes of the longest needle there; 0: none
  bool MayGrowAt(size_t at) const;   // whether the bytes from there on are the beginning of a needle

  std::array<std::vector<std::string>, 256> needles_;   // by first byte, longest first
  size_t longest_ = 0;
  std::string held_;
  size_t covered_ = 0;                // of held_, from its beginning: within an occurrence that is already replaced
  uint64_t replaced_ = 0;
};

}  // namespace cellblock::egress

#endif  // CELLBLOCK_EGRESS_BYTE_REDACTOR_H_
