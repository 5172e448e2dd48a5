// See terminal_text.h.
#include "app/terminal_text.h"

#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "policy/text.h"

namespace cellblock::app {
namespace {

void AppendEscaped(std::string* out, char32_t code, absl::string_view bytes) {
  if (code < 0x20) {
    out->push_back('^');
    out->push_back(static_cast<char>('@' + code));
  } else if (code == 0x7f) {
    out->append("^?");
  } else if (code <= 0x9f) {
    absl::StrAppendFormat(out, "\\x%02x", static_cast<uint32_t>(code));
  } else {
    for (char byte : bytes) absl::StrAppendFormat(out, "\\x%02x", static_cast<unsigned char>(byte));
  }
}

std::string Escape(absl::string_view text, bool one_line) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const policy::Character character = policy::NextCharacter(text);
    if (character.bytes < 0) {
      absl::StrAppendFormat(&out, "\\x%02x", static_cast<unsigned char>(text[0]));
      text.remove_prefix(1);
      continue;
    }
    const char32_t code = character.code;
    const absl::string_view bytes = text.substr(0, static_cast<size_t>(character.bytes));
    const bool layout = code == '\n' || code == '\t' || code == '\r';
    const bool control = code < 0x20 || (code >= 0x7f && code <= 0x9f);
    if (layout ? one_line : control || (one_line && policy::IsHidden(code))) {
      AppendEscaped(&out, code, bytes);
    } else {
      out.append(bytes.data(), bytes.size());
    }
    text.remove_prefix(bytes.size());
  }
  return out;
}

}  // namespace

std::string Neutralize(absl::string_view text) { return Escape(text, /*one_line=*/false); }

std::string NeutralizeLine(absl::string_view text) { return Escape(text, /*one_line=*/true); }

std::string ReadableBytes(int64_t bytes) {
  if (bytes < 1024) return absl::StrCat(bytes, bytes == 1 ? " byte" : " bytes");
  static constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  if (value == static_cast<double>(static_cast<int64_t>(value))) return absl::StrFormat("%.0f %s", value, kUnits[unit]);
  return absl::StrFormat("%.1f %s", value, kUnits[unit]);
}

std::string Counted(int64_t count, absl::string_view one, absl::string_view several) {
  return absl::StrCat(count, " ", count == 1 ? one : several);
}

}  // namespace cellblock::app
