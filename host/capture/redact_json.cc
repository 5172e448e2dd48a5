// See redact_json.h.
#include "capture/redact_json.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "capture/json_text.h"
#include "capture/unescape.h"

namespace cellblock::capture {
namespace {

// Of what stands between a string's quotes.
std::string Meant(absl::string_view inner) {
  if (inner.find('\\') == absl::string_view::npos) return std::string(inner);
  std::string text;
  auto append = [&text](const SpelledByte& spelled) { text.push_back(static_cast<char>(spelled.byte)); };
  Unescaper unescaper(Escapes::kBackslash);
  for (char c : inner) unescaper.Append({static_cast<uint8_t>(c)}, append);
  unescaper.Finish(append);
  return text;
}

void AppendString(absl::string_view text, std::string* out) {
  out->push_back('"');
  for (char c : text) {
    if (static_cast<uint8_t>(c) < 0x20) {
      absl::StrAppend(out, "\\u", absl::Hex(static_cast<unsigned>(c), absl::kZeroPad4));
      continue;
    }
    if (c == '"' || c == '\\') out->push_back('\\');
    out->push_back(c);
  }
  out->push_back('"');
}

// `token` is a string with its quotes, a number or a word.
void AppendRedacted(Redactor& redactor, absl::string_view token, std::string* out) {
  const std::string meant = token.front() == '"' ? Meant(token.substr(1, token.size() - 2)) : std::string(token);
  std::string clean;
  redactor.Append(meant, &clean);
  redactor.Finish(&clean);
  if (clean == meant) {
    out->append(token.data(), token.size());
  } else {
    AppendString(clean, out);
  }
}

// Of the token at the front of strict JSON.
size_t TokenBytes(absl::string_view json) {
  if (json.front() != '"') return std::min(json.find_first_of("{}[],: \t\r\n\""), json.size());
  size_t end = 1;
  while (json[end] != '"') end += json[end] == '\\' ? 2 : 1;
  return end + 1;
}

}  // namespace

std::string RedactJson(const std::shared_ptr<const RedactionSet>& set, absl::string_view text) {
  if (set == nullptr) return std::string(text);
  if (!IsStrictJson(text, kJsonDepthMax)) return Redact(set, text);
  Redactor redactor(set);  // one for all: there may be a million numbers
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t between = std::min(text.find_first_not_of("{}[],: \t\r\n"), text.size());
    out.append(text.data(), between);
    text.remove_prefix(between);
    if (text.empty()) break;
    const size_t bytes = TokenBytes(text);
    AppendRedacted(redactor, text.substr(0, bytes), &out);
    text.remove_prefix(bytes);
  }
  return out;
}

}  // namespace cellblock::capture
