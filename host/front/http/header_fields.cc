// See header_fields.h.
#include "front/http/header_fields.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace cellblock::front {
namespace {

// Digits alone: no sign, no space.
std::optional<int64_t> Position(absl::string_view text) {
  int64_t value = 0;
  const bool digits = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return absl::ascii_isdigit(c); });
  if (!digits || !absl::SimpleAtoi(text, &value)) return std::nullopt;
  return value;
}

}  // namespace

Range ParseRange(absl::string_view header, int64_t size_bytes) {
  const Range whole = {Range::Kind::kWhole, 0, size_bytes};
  if (!absl::ConsumePrefix(&header, "bytes=") || absl::StrContains(header, ",")) return whole;
  const size_t dash = header.find('-');
  if (dash == absl::string_view::npos) return whole;
  const absl::string_view first_text = absl::StripAsciiWhitespace(header.substr(0, dash));
  const absl::string_view last_text = absl::StripAsciiWhitespace(header.substr(dash + 1));
  const std::optional<int64_t> first = Position(first_text), last = Position(last_text);
  if (first_text.empty()) {  // the last so many
    if (!last.has_value()) return whole;
    if (*last == 0 || size_bytes == 0) return {Range::Kind::kUnsatisfiable, 0, 0};
    const int64_t bytes = std::min(*last, size_bytes);
    return {Range::Kind::kPart, size_bytes - bytes, bytes};
  }
  if (!first.has_value() || (!last_text.empty() && !last.has_value()) || last.value_or(*first) < *first) return whole;
  if (*first >= size_bytes) return {Range::Kind::kUnsatisfiable, 0, 0};
  const int64_t end = std::min(last.value_or(size_bytes - 1), size_bytes - 1);
  return {Range::Kind::kPart, *first, end - *first + 1};
}

bool AcceptsType(absl::string_view header, absl::string_view type) {
  for (absl::string_view entry : absl::StrSplit(header, ',')) {
    const std::vector<absl::string_view> parts = absl::StrSplit(entry, ';');
    if (!absl::EqualsIgnoreCase(absl::StripAsciiWhitespace(parts[0]), type)) continue;
    return std::none_of(parts.begin() + 1, parts.end(), [](absl::string_view parameter) {
      parameter = absl::StripAsciiWhitespace(parameter);
      double weight = 1;
      return absl::StartsWithIgnoreCase(parameter, "q=") && (!absl::SimpleAtod(parameter.substr(2), &weight) || weight <= 0);
    });
  }
  return false;
}

bool NamesTag(absl::string_view header, absl::string_view tag) {
  for (absl::string_view part : absl::StrSplit(header, ',')) {
    part = absl::StripAsciiWhitespace(part);
    absl::ConsumePrefix(&part, "W/");
    if (part == "*" || part == tag) return true;
  }
  return false;
}

}  // namespace cellblock::front
