// See units.h.
#include "policy/units.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "policy/text.h"

namespace cellblock::policy {
namespace {

constexpr int kDigitsMax = 19;  // digits of INT64_MAX: the product with any unit fits 128 bits
constexpr int64_t kMillisecondsMax = int64_t{10'000} * 24 * 3600 * 1000;

struct Unit {
  absl::string_view name;
  int64_t factor;
};
constexpr std::array<Unit, 5> kSizeUnits = {
    {{"TiB", int64_t{1} << 40}, {"GiB", int64_t{1} << 30}, {"MiB", int64_t{1} << 20}, {"KiB", int64_t{1} << 10}, {"B", 1}}};
constexpr std::array<Unit, 6> kTimeUnits = {
    {{"d", 24 * 3600 * 1000}, {"h", 3600 * 1000}, {"min", 60 * 1000}, {"m", 60 * 1000}, {"s", 1000}, {"ms", 1}}};

// What people write for a unit, in lower case, and the unit to suggest.
struct Guess {
  absl::string_view written;
  absl::string_view meant;
};
constexpr Guess kSizeGuesses[] = {{"b", "B"},     {"byte", "B"}, {"bytes", "B"}, {"k", "KiB"},   {"kb", "KiB"},  {"ki", "KiB"},
                                  {"kib", "KiB"}, {"m", "MiB"},  {"mb", "MiB"},  {"mi", "MiB"},  {"mib", "MiB"}, {"mo", "MiB"},
                                  {"g", "GiB"},   {"gb", "GiB"}, {"gi", "GiB"},  {"gib", "GiB"}, {"go", "GiB"},  {"t", "TiB"},
                                  {"tb", "TiB"},  {"ti", "TiB"}, {"tib", "TiB"}};
constexpr Guess kTimeGuesses[] = {{"ms", "ms"},   {"msec", "ms"},  {"millisecond", "ms"}, {"milliseconds", "ms"}, {"s", "s"},
                                  {"sec", "s"},   {"secs", "s"},   {"second", "s"},       {"seconds", "s"},       {"m", "min"},
                                  {"min", "min"}, {"mins", "min"}, {"minute", "min"},     {"minutes", "min"},     {"h", "h"},
                                  {"hr", "h"},    {"hrs", "h"},    {"hour", "h"},         {"hours", "h"},         {"d", "d"},
                                  {"day", "d"},   {"days", "d"}};

struct Decimal {
  absl::uint128 digits = 0;
  absl::uint128 scale = 1;    // a power of ten: the value is digits / scale
  absl::string_view written;  // the number alone
  absl::string_view rest;     // what follows it
};

absl::Status Refuse(absl::string_view text, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(Shown(text), " ", why));
}

// The unsigned decimal number at the start of `text`; none when there is none or it has more than 19 digits.
std::optional<Decimal> ScanDecimal(absl::string_view text) {
  Decimal number;
  size_t at = 0;
  int digits = 0;
  bool after_point = false;
  for (; at < text.size(); ++at) {
    char c = text[at];
    if (absl::ascii_isdigit(c)) {
      if (++digits > kDigitsMax) return std::nullopt;
      number.digits = number.digits * 10 + (c - '0');
      if (after_point) number.scale *= 10;
    } else if (c == '.' && !after_point && digits > 0 && at + 1 < text.size() && absl::ascii_isdigit(text[at + 1])) {
      after_point = true;
    } else {
      break;
    }
  }
  if (digits == 0) return std::nullopt;
  number.written = text.substr(0, at);
  number.rest = text.substr(at);
  return number;
}

// Why a text that doesn't start with a fitting number is refused; empty when it does.
std::string NumberProblem(absl::string_view text) {
  if (absl::StartsWith(text, "-")) return "is negative";
  size_t digits = 0;
  while (digits < text.size() && absl::ascii_isdigit(text[digits])) ++digits;
  if (digits > kDigitsMax) return absl::StrCat("has more than ", kDigitsMax, " digits");
  return "does not start with a number";
}

absl::string_view GuessUnit(absl::Span<const Guess> guesses, absl::string_view written) {
  std::string lower = absl::AsciiStrToLower(written);
  for (const Guess& guess : guesses) {
    if (guess.written == lower) return guess.meant;
  }
  return {};
}

int64_t FindFactor(absl::Span<const Unit> units, absl::string_view name) {
  for (const Unit& unit : units) {
    if (unit.name == name) return unit.factor;
  }
  return 0;
}

absl::Status RefuseSizeUnit(absl::string_view text, const Decimal& number, absl::string_view unit) {
  absl::string_view meant = GuessUnit(kSizeGuesses, unit);
  if (!meant.empty()) {
    bool thousands = unit.size() == 2 && absl::ascii_tolower(unit[1]) == 'b';
    return Refuse(text, absl::StrCat(thousands ? "has a unit that some read as thousands" : "has a unit in another spelling", "; write ",
                                     number.written, meant));
  }
  if (!GuessUnit(kTimeGuesses, unit).empty()) return Refuse(text, "is a time, not a size; write a size such as 512MiB");
  return Refuse(text, absl::StrCat("has the unknown unit ", Shown(unit), "; sizes end in B, KiB, MiB, GiB or TiB, such as 512MiB"));
}

absl::Status RefuseTimeUnit(absl::string_view text, const Decimal& number, absl::string_view unit) {
  std::string lower = absl::AsciiStrToLower(unit);
  if (lower == "us" || lower == "µs" || lower == "ns") return Refuse(text, "is finer than a millisecond; the smallest unit is ms");
  absl::string_view meant = GuessUnit(kTimeGuesses, unit);
  if (!meant.empty()) return Refuse(text, absl::StrCat("has a unit in another spelling; write ", number.written, meant));
  if (!GuessUnit(kSizeGuesses, unit).empty()) return Refuse(text, "is a size, not a time; write a time such as 90s");
  return Refuse(text, absl::StrCat("has the unknown unit ", Shown(unit), "; times end in ms, s, min (or m), h or d, such as 90s"));
}

}  // namespace

absl::StatusOr<int64_t> ParseSize(absl::string_view text) {
  std::optional<Decimal> number = ScanDecimal(text);
  if (!number.has_value()) return Refuse(text, absl::StrCat(NumberProblem(text), "; write a size such as 512MiB"));
  absl::string_view unit = number->rest;
  if (absl::StartsWith(unit, " ")) unit.remove_prefix(1);
  int64_t factor = unit.empty() && number->rest.empty() ? 1 : FindFactor(kSizeUnits, unit);
  if (factor == 0) return RefuseSizeUnit(text, *number, unit);
  absl::uint128 scaled = number->digits * static_cast<uint64_t>(factor);
  absl::uint128 bytes = scaled / number->scale;
  if (bytes > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return Refuse(text, "is more bytes than 64 bits can count");
  if (bytes * number->scale != scaled) {
    return Refuse(text, absl::StrCat("is not a whole number of bytes; write ", absl::Uint128Low64(bytes)));
  }
  return static_cast<int64_t>(absl::Uint128Low64(bytes));
}

std::string SizeText(int64_t bytes) {
  for (const Unit& unit : kSizeUnits) {
    if (unit.factor > 1 && bytes > 0 && bytes % unit.factor == 0) return absl::StrCat(bytes / unit.factor, unit.name);
  }
  return absl::StrCat(bytes);
}

absl::StatusOr<absl::Duration> ParseDuration(absl::string_view text) {
  absl::uint128 total = 0;
  int64_t last_factor = std::numeric_limits<int64_t>::max();
  absl::string_view rest = text;
  do {
    std::optional<Decimal> number = ScanDecimal(rest);
    if (!number.has_value()) return Refuse(text, absl::StrCat(NumberProblem(rest), "; write a time such as 90s"));
    rest = number->rest;
    if (rest.empty() && total > 0) return Refuse(text, "has no unit at its end; write the unit of each number, such as 1h30min");
    if (rest.empty()) return Refuse(text, absl::StrCat("has no unit; write ", text, "s for seconds"));
    if (absl::StartsWith(rest, " ")) rest.remove_prefix(1);
    size_t length = 0;
    while (length < rest.size() && !absl::ascii_isdigit(rest[length])) ++length;
    absl::string_view unit = rest.substr(0, length);
    rest.remove_prefix(length);
    int64_t factor = FindFactor(kTimeUnits, unit);
    if (factor == 0) return RefuseTimeUnit(text, *number, unit);
    if (factor >= last_factor) return Refuse(text, "has its units out of order; write the largest first, such as 1h30min");
    last_factor = factor;
    absl::uint128 scaled = number->digits * static_cast<uint64_t>(factor);
    if (scaled % number->scale != 0) return Refuse(text, "is not a whole number of milliseconds; the smallest unit is ms");
    total += scaled / number->scale;
    if (total > static_cast<uint64_t>(kMillisecondsMax)) return Refuse(text, "is more than 10000 days");
  } while (!rest.empty());
  return absl::Milliseconds(static_cast<int64_t>(absl::Uint128Low64(total)));
}

std::string DurationText(absl::Duration duration) {
  int64_t milliseconds = absl::ToInt64Milliseconds(duration);
  if (duration < absl::ZeroDuration() || milliseconds > kMillisecondsMax || absl::Milliseconds(milliseconds) != duration) {
    return absl::FormatDuration(duration);
  }
  if (milliseconds == 0) return "0s";
  for (const Unit& unit : kTimeUnits) {
    if (unit.name != "d" && milliseconds % unit.factor == 0) return absl::StrCat(milliseconds / unit.factor, unit.name);
  }
  return absl::FormatDuration(duration);
}

absl::StatusOr<uint64_t> ParseCount(absl::string_view text) {
  std::string digits;
  bool plain = !text.empty();
  for (char c : text) {
    if (absl::ascii_isdigit(c)) {
      digits.push_back(c);
    } else {
      plain = false;
      if (c != '_' && c != ',' && c != ' ') digits.append(32, 'x');  // no separator: nothing to suggest
    }
    if (digits.size() > 32) break;
  }
  bool has_suggestion = !digits.empty() && digits.size() <= 20;
  if (!plain) {
    if (absl::StartsWith(text, "-")) return Refuse(text, "is negative; write a whole number such as 128");
    if (has_suggestion) return Refuse(text, absl::StrCat("has separators in it; write ", digits));
    return Refuse(text, "is not a whole number such as 128");
  }
  if (text.size() > 1 && text[0] == '0') {
    absl::string_view trimmed = text.substr(std::min(text.find_first_not_of('0'), text.size() - 1));
    return Refuse(text, absl::StrCat("starts with a zero, which some read as octal; write ", trimmed.size() <= 20 ? trimmed : "128"));
  }
  uint64_t value = 0;
  if (!absl::SimpleAtoi(text, &value))
    return Refuse(text, absl::StrCat("is more than 64 bits can count, ", std::numeric_limits<uint64_t>::max()));
  return value;
}

}  // namespace cellblock::policy
