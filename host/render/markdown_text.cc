// See markdown_text.h.
#include "render/markdown_text.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "capture/utf8.h"
#include "render/transcript_parts.h"

namespace cellblock::render {
namespace {

constexpr size_t kFenceMin = 3;

// A run of backticks that is one longer than the longest in the text.
std::string Backticks(absl::string_view text, size_t at_least) {
  size_t longest = 0, run = 0;
  for (char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return std::string(std::max(longest + 1, at_least), '`');
}

// The end of a control sequence that starts at `at` (ECMA-48: parameters, intermediates, one final byte); `at` where there is none.
size_t EndOfControlSequence(absl::string_view text, size_t at) {
  size_t end = at + 2;
  if (text.substr(at, 2) != "\x1B[") return at;
  while (end < text.size() && text[end] >= 0x20 && text[end] <= 0x3F) ++end;
  return end < text.size() && text[end] >= 0x40 && text[end] <= 0x7E ? end + 1 : at;
}

void AppendVisible(char32_t character, std::string* out) {
  constexpr char32_t kPictures = 0x2400, kPictureOfDelete = 0x2421;
  if (character == '\n' || character == '\t' || (character >= 0x20 && character < 0x7F)) {
    out->push_back(static_cast<char>(character));
  } else if (character < 0x20) {
    capture::AppendCharacter(kPictures + character, out);
  } else if (character == 0x7F) {
    capture::AppendCharacter(kPictureOfDelete, out);
  } else if (character < 0xA0) {  // C1: no pictures, and terminals obey them
    out->append(capture::kReplacementCharacter.data(), capture::kReplacementCharacter.size());
  } else {
    capture::AppendCharacter(character, out);
  }
}

}  // namespace

std::string VisibleText(absl::string_view text) {
  const std::string valid = capture::ToValidUtf8(text);
  std::string out;
  out.reserve(valid.size());
  for (size_t at = 0; at < valid.size();) {
    if (const size_t end = EndOfControlSequence(valid, at); end > at) {
      at = end;
      continue;
    }
    const char32_t character = capture::NextCharacter(valid, &at);
    if (character == '\r') {
      if (at == valid.size() || valid[at] != '\n') out.push_back('\n');
      continue;
    }
    AppendVisible(character, &out);
  }
  return out;
}

void AppendFenced(absl::string_view info, absl::string_view text, std::string* out) {
  const std::string visible = VisibleText(text);
  const std::string fence = Backticks(visible, kFenceMin);
  absl::StrAppend(out, fence, info, "\n", visible, visible.empty() || visible.back() == '\n' ? "" : "\n", fence, "\n\n");
}

std::string CodeSpan(absl::string_view text, size_t bytes_max) {
  const std::string visible = VisibleText(OneLine(text, bytes_max));
  if (visible.find_first_not_of(' ') == std::string::npos) return "(empty)";
  const std::string ticks = Backticks(visible, 1);
  return absl::StrCat(ticks, " ", visible, " ", ticks);  // one space at each end is not shown
}

}  // namespace cellblock::render
