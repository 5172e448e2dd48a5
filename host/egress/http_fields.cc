// See http_fields.h.
#include "egress/http_fields.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace cellblock::egress {
namespace {

constexpr size_t kShownBytesMax = 80;

bool IsTokenByte(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || absl::StrContains("!#$%&'*+-.^_`|~", c); }

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

}  // namespace

bool IsToken(absl::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), IsTokenByte); }

bool IsFieldValue(absl::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) { return absl::ascii_iscntrl(static_cast<unsigned char>(c)) && c != '\t'; });
}

absl::string_view TrimBlanks(absl::string_view text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  return text;
}

absl::StatusOr<Field> ParseFieldLine(absl::string_view line) {
  if (!line.empty() && IsBlank(line.front())) return absl::InvalidArgumentError("a field goes on in a second line (obs-fold), or white space precedes its name");
  const size_t colon = line.find(':');
  if (colon == absl::string_view::npos) return absl::InvalidArgumentError(absl::StrCat("a field without a colon: ", Shown(line)));
  const absl::string_view name = line.substr(0, colon);
  if (!name.empty() && IsBlank(name.back())) return absl::InvalidArgumentError(absl::StrCat("white space before the colon of the field ", Shown(TrimBlanks(name))));
  if (!IsToken(name)) return absl::InvalidArgumentError(absl::StrCat(Shown(name), " is no name of a field"));
  const absl::string_view value = TrimBlanks(line.substr(colon + 1));
  if (!IsFieldValue(value)) return absl::InvalidArgumentError(absl::StrCat("a control byte in the field ", Shown(name)));
  return Field{std::string(name), std::string(value)};
}

std::string FormatFields(const std::vector<Field>& fields) {
  std::string text;
  for (const Field& field : fields) absl::StrAppend(&text, field.name, ": ", field.value, "\r\n");
  return text;
}

bool HasField(const std::vector<Field>& fields, absl::string_view name) {
  return std::any_of(fields.begin(), fields.end(), [name](const Field& field) { return absl::EqualsIgnoreCase(field.name, name); });
}

void RemoveField(std::vector<Field>& fields, absl::string_view name) {
  std::erase_if(fields, [name](const Field& field) { return absl::EqualsIgnoreCase(field.name, name); });
}

std::string Shown(absl::string_view text) {
  return absl::StrCat("\"", absl::CHexEscape(text.substr(0, kShownBytesMax)), text.size() > kShownBytesMax ? "…\"" : "\"");
}

}  // namespace cellblock::egress
