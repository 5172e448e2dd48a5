// See json_members.h.
#include "render/json_members.h"

#include <limits>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "render/json_reader.h"

namespace cellblock::render {
namespace {

constexpr size_t kMicroDigits = 6;

bool IsDigits(absl::string_view text) { return !text.empty() && text.find_first_not_of("0123456789") == absl::string_view::npos; }

// Seconds as JsonWriter spells them, exact to the microsecond; a floating-point number would not bring back the large ones.
std::optional<absl::Duration> ParseSeconds(absl::string_view text) {
  const bool negative = absl::ConsumePrefix(&text, "-");
  const size_t point = text.find('.');
  absl::string_view whole = text.substr(0, point), fraction;
  if (point != absl::string_view::npos) {
    fraction = text.substr(point + 1);
    if (!IsDigits(fraction) || fraction.size() > kMicroDigits) return std::nullopt;
  }
  uint64_t seconds = 0, micros = 0;
  if (!IsDigits(whole) || !absl::SimpleAtoi(whole, &seconds)) return std::nullopt;
  for (size_t i = 0; i < kMicroDigits; ++i) micros = micros * 10 + (i < fraction.size() ? static_cast<uint64_t>(fraction[i] - '0') : 0);
  constexpr uint64_t kMax = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (seconds > kMax / 1'000'000) return std::nullopt;
  micros += seconds * 1'000'000;
  if (micros > kMax + (negative ? 1 : 0)) return std::nullopt;
  return absl::Microseconds(static_cast<int64_t>(negative ? 0 - micros : micros));
}

}  // namespace

JsonMembers::JsonMembers(absl::string_view object, JsonPlace place, size_t members_max, Problem* problem) : place_(place), problem_(problem) {
  const bool whole = ForEachMember(object, [&](absl::string_view key, absl::string_view value) {
    if (Has(key)) problem_->Note(absl::StrCat(Where(), "a member comes twice"));
    if (members_.size() == members_max) problem_->Note(absl::StrCat(Where(), "more than ", members_max, " members"));
    if (problem_->found()) return false;
    members_.emplace_back(key, value);
    return true;
  });
  if (!whole) problem_->Note(absl::StrCat(Where(), "not an object"));
}

std::string JsonMembers::Where() const {
  if (place_.name.empty()) return "";
  return place_.index.has_value() ? absl::StrCat(place_.name, "[", *place_.index, "]: ") : absl::StrCat(place_.name, ": ");
}

absl::string_view JsonMembers::Find(absl::string_view name) const {
  for (const auto& [key, value] : members_) {
    if (key == name) return value;
  }
  return {};
}

void JsonMembers::Wrong(absl::string_view name, absl::string_view expected) { problem_->Note(absl::StrCat(Where(), "\"", name, "\" is not ", expected)); }

absl::string_view JsonMembers::Get(absl::string_view name) {
  const absl::string_view value = Find(name);
  if (value.empty()) problem_->Note(absl::StrCat(Where(), "there is no \"", name, "\""));
  return value;
}

void JsonMembers::Text(absl::string_view name, std::string* text) {
  const absl::string_view value = Get(name);
  if (!IsJsonString(value)) return Wrong(name, "a string");
  *text = Unescaped(value.substr(1, value.size() - 2));
}

void JsonMembers::TextOrNull(absl::string_view name, std::string* text) {
  if (!IsNull(name)) Text(name, text);
}

void JsonMembers::Int(absl::string_view name, int64_t* value) {
  int64_t number = 0;  // SimpleAtoi writes into its target also when it fails
  if (!absl::SimpleAtoi(Get(name), &number)) return Wrong(name, "a whole number of 64 bits");
  *value = number;
}

void JsonMembers::IntOrNull(absl::string_view name, std::optional<int64_t>* value) {
  if (IsNull(name)) return;
  int64_t number = 0;
  Int(name, &number);
  *value = number;
}

void JsonMembers::Bool(absl::string_view name, bool* value) {
  const absl::string_view word = Get(name);
  if (word != "true" && word != "false") return Wrong(name, "true or false");
  *value = word == "true";
}

void JsonMembers::Seconds(absl::string_view name, absl::Duration* value) {
  const absl::string_view text = Get(name);
  const std::optional<absl::Duration> seconds = text == "null" ? absl::InfiniteDuration() : ParseSeconds(text);
  if (!seconds.has_value()) return Wrong(name, "a number of seconds to the microsecond");
  *value = *seconds;
}

void JsonMembers::Time(absl::string_view name, absl::Time* value) {
  if (IsNull(name)) {
    *value = absl::InfiniteFuture();
    return;
  }
  std::string text, error;
  Text(name, &text);
  absl::Time time;
  // ParseTime also takes "infinite-past" and years of any length, which Time never writes as text.
  if (!absl::ParseTime("%Y-%m-%dT%H:%M:%E*SZ", text, &time, &error) || time == absl::InfiniteFuture() || time == absl::InfinitePast()) {
    return Wrong(name, "a time by RFC 3339 in UTC");
  }
  *value = time;
}

void JsonMembers::Items(absl::string_view name, size_t items_max, absl::FunctionRef<void(absl::string_view item, size_t index)> read) {
  size_t count = 0;
  const bool whole = ForEachItem(Get(name), [&](absl::string_view item) {
    if (count == items_max) problem_->Note(absl::StrCat(Where(), "\"", name, "\" has more than ", items_max, " items"));
    if (problem_->found()) return false;
    read(item, count++);
    return true;
  });
  if (!whole) Wrong(name, "a list");
}

}  // namespace cellblock::render
