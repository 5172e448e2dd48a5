// Text helpers of the policy room: UTF-8 checks, texts quoted for messages and for YAML, near names for suggestions. Every process;
// trusts nothing.
#ifndef CELLBLOCK_POLICY_TEXT_H_
#define CELLBLOCK_POLICY_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace cellblock::policy {

// The character at the start of `text`. `bytes` is 0 at its end and -1 where it is not UTF-8 (overlong forms and surrogates too).
struct Character {
  char32_t code = 0;
  int bytes = 0;
};
Character NextCharacter(absl::string_view text);

// Characters that no policy text may hold raw: they hide or reorder what a reviewer sees, or end lines for some readers only.
// C0 (tab, newline and carriage return excepted), DEL, C1, the line and paragraph separators, bidirectional controls, the byte
// order mark and noncharacters.
bool IsHidden(char32_t code);

// Empty when `text` is UTF-8 without control characters (tab and newline excepted), else what is wrong with it.
std::string TextProblem(absl::string_view text);

// For messages: in double quotes, escaped to printable ASCII and UTF-8, cut to 64 bytes.
std::string Shown(absl::string_view text);

// As a YAML scalar that reads back to the same text: plain where no reader could take it for something else, else double-quoted.
std::string YamlText(absl::string_view text);

// Those of `known` that `word` may be a slip of, best first, at most three: few edits apart (a swap counts one), equal but for
// case and dashes, or one the start of the other. Words over 64 bytes have no near ones.
std::vector<std::string> NearWords(absl::string_view word, const std::vector<std::string>& known);

// "; did you mean a or b?", or empty when there is nothing near.
std::string DidYouMean(const std::vector<std::string>& near);

}  // namespace cellblock::policy

#endif  // CELLBLOCK_POLICY_TEXT_H_
