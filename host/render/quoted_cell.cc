// See quoted_cell.h.
#include "render/quoted_cell.h"

#include <cstdint>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "capture/utf8.h"

namespace cellblock::render {
namespace {

constexpr absl::string_view kHead = "get_ipython().run_cell((\n";
constexpr absl::string_view kTail = "));\n";  // the semicolon: IPython would show what run_cell returns
constexpr absl::string_view kIndent = "    ";

void AppendEscaped(absl::string_view line, std::string* out) {
  for (char c : line) {
    const auto byte = static_cast<uint8_t>(c);
    switch (c) {
      case '\n': out->append("\\n"); break;
      case '\r': out->append("\\r"); break;
      case '\t': out->append("\\t"); break;
      case '"': out->append("\\\""); break;
      case '\\': out->append("\\\\"); break;
      default:
        if (byte < 0x20 || byte == 0x7F) {
          absl::StrAppend(out, "\\x", absl::Hex(byte, absl::kZeroPad2));
        } else {
          out->push_back(c);
        }
    }
  }
}

// Appends the text of one line of QuoteCell; false where it is none. More than QuoteCell writes may pass: UnquoteCell compares.
bool AppendUnescaped(absl::string_view line, std::string* code) {
  if (!absl::ConsumePrefix(&line, kIndent) || !absl::ConsumePrefix(&line, "\"") || !absl::ConsumeSuffix(&line, "\"")) return false;
  for (size_t at = 0; at < line.size(); ++at) {
    if (line[at] != '\\') {
      code->push_back(line[at]);
      continue;
    }
    if (++at == line.size()) return false;
    switch (line[at]) {
      case 'n': code->push_back('\n'); break;
      case 'r': code->push_back('\r'); break;
      case 't': code->push_back('\t'); break;
      case '"':
      case '\\': code->push_back(line[at]); break;
      case 'x': {
        uint32_t byte = 0;
        if (line.size() - at < 3 || !absl::SimpleHexAtoi(line.substr(at + 1, 2), &byte)) return false;
        code->push_back(static_cast<char>(byte));
        at += 2;
        break;
      }
      default: return false;
    }
  }
  return true;
}

}  // namespace

std::string QuoteCell(absl::string_view code) {
  const std::string valid = capture::ToValidUtf8(code);
  absl::string_view rest = valid;
  std::string out(kHead);
  do {
    const size_t newline = rest.find('\n');
    const absl::string_view line = rest.substr(0, newline == absl::string_view::npos ? newline : newline + 1);
    rest.remove_prefix(line.size());
    absl::StrAppend(&out, kIndent, "\"");
    AppendEscaped(line, &out);
    out.append("\"\n");
  } while (!rest.empty());
  absl::StrAppend(&out, kTail);
  return out;
}

std::optional<std::string> UnquoteCell(absl::string_view text) {
  absl::string_view lines = text;
  if (!absl::ConsumePrefix(&lines, kHead) || !absl::ConsumeSuffix(&lines, absl::StripSuffix(kTail, "\n"))) return std::nullopt;
  std::string code;
  while (!lines.empty()) {
    const size_t newline = lines.find('\n');
    if (newline == absl::string_view::npos || !AppendUnescaped(lines.substr(0, newline), &code)) return std::nullopt;
    lines.remove_prefix(newline + 1);
  }
  if (QuoteCell(code) != absl::StrCat(text, "\n")) return std::nullopt;
  return code;
}

}  // namespace cellblock::render
