// Sizes, durations and counts as people write them in policy files and flags: 512MiB, 90s, 1h30m, 128. Every process; trusts
// nothing: any text gives a value or an error that says what to write instead. No number is guessed at: 2GB is refused (it means
// 2GiB to half its writers and 7 % less to the others), and so is a duration without a unit.
#ifndef CELLBLOCK_POLICY_UNITS_H_
#define CELLBLOCK_POLICY_UNITS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace cellblock::policy {

// "4096", "64KiB", "1.5GiB": a number, then B, KiB, MiB, GiB, TiB or nothing (bytes); one space between is allowed.
absl::StatusOr<int64_t> ParseSize(absl::string_view text);
// The shortest exact form that ParseSize reads back: 2GiB, 1536MiB, 1000.
std::string SizeText(int64_t bytes);

// "500ms", "90s", "1.5h", "1h30m": numbers with ms, s, m or min, h, d, largest first. Whole milliseconds, at most 10,000 days.
absl::StatusOr<absl::Duration> ParseDuration(absl::string_view text);
// The shortest exact form that ParseDuration reads back: 2min, 90s, 500ms. Values that it would refuse (negative, infinite, not
// whole milliseconds) are shown as Abseil shows them.
std::string DurationText(absl::Duration duration);

// A whole number without sign, leading zero, separators or exponent.
absl::StatusOr<uint64_t> ParseCount(absl::string_view text);

}  // namespace cellblock::policy

#endif  // CELLBLOCK_POLICY_UNITS_H_
