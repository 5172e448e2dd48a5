// Sizes, times and counts: what is read, what is refused with which advice, and that the printed form reads back.
#include "policy/units.h"

#include <cstdint>
#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace cellblock::policy {
namespace {

using ::testing::HasSubstr;

TEST(ParseSizeTest, ReadsBinaryUnitsAndPlainBytes) {
  EXPECT_EQ(*ParseSize("0"), 0);
  EXPECT_EQ(*ParseSize("4096"), 4096);
  EXPECT_EQ(*ParseSize("7B"), 7);
  EXPECT_EQ(*ParseSize("64KiB"), 65536);
  EXPECT_EQ(*ParseSize("512MiB"), int64_t{512} << 20);
  EXPECT_EQ(*ParseSize("2 GiB"), int64_t{2} << 30);
  EXPECT_EQ(*ParseSize("1.5GiB"), int64_t{1536} << 20);
  EXPECT_EQ(*ParseSize("16TiB"), int64_t{16} << 40);
  EXPECT_EQ(*ParseSize("9223372036854775807"), std::numeric_limits<int64_t>::max());
}

TEST(ParseSizeTest, RefusesWithAdvice) {
  struct Case {
    const char* text;
    const char* message;
  };
  for (const Case& c : {
           Case{"2GB", "write 2GiB"},
           Case{"2kb", "write 2KiB"},
           Case{"1.5gb", "write 1.5GiB"},
           Case{"2gib", "write 2GiB"},
           Case{"2G", "write 2GiB"},
           Case{"3 Mo", "write 3MiB"},
           Case{"10 bytes", "write 10B"},
           Case{"5s", "is a time, not a size"},
           Case{"5x", "unknown unit \"x\""},
           Case{"5  MiB", "unknown unit \" MiB\""},
           Case{"5 ", "unknown unit \"\""},
           Case{"-1", "is negative"},
           Case{"", "does not start with a number"},
           Case{"MiB", "does not start with a number"},
           Case{".5GiB", "does not start with a number"},
           Case{"1.GiB", "unknown unit \".GiB\""},
           Case{"1.2.3GiB", "unknown unit \".3GiB\""},
           Case{"0x10", "unknown unit \"x10\""},
           Case{"1e3", "unknown unit \"e3\""},
           Case{"0.3B", "is not a whole number of bytes; write 0"},
           Case{"0.0001KiB", "is not a whole number of bytes"},
           Case{"9223372036854775808", "more bytes than 64 bits"},
           Case{"8388608TiB", "more bytes than 64 bits"},
           Case{"99999999999999999999", "more than 19 digits"},
       }) {
    EXPECT_THAT(ParseSize(c.text), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(c.message))) << c.text;
  }
}

TEST(SizeTextTest, IsShortestExactFormAndReadsBack) {
  EXPECT_EQ(SizeText(0), "0");
  EXPECT_EQ(SizeText(1000), "1000");
  EXPECT_EQ(SizeText(1024), "1KiB");
  EXPECT_EQ(SizeText(int64_t{1536} << 20), "1536MiB");
  EXPECT_EQ(SizeText(int64_t{2} << 30), "2GiB");
  EXPECT_EQ(SizeText(-5), "-5");
  for (int64_t bytes : {int64_t{1}, int64_t{1023}, int64_t{1025}, int64_t{3} << 20, (int64_t{3} << 20) + 1, int64_t{1} << 62,
                        std::numeric_limits<int64_t>::max()}) {
    EXPECT_EQ(*ParseSize(SizeText(bytes)), bytes);
  }
}

TEST(ParseDurationTest, ReadsUnitsAndSums) {
  EXPECT_EQ(*ParseDuration("0s"), absl::ZeroDuration());
  EXPECT_EQ(*ParseDuration("500ms"), absl::Milliseconds(500));
  EXPECT_EQ(*ParseDuration("120s"), absl::Seconds(120));
  EXPECT_EQ(*ParseDuration("2m"), absl::Minutes(2));
  EXPECT_EQ(*ParseDuration("20min"), absl::Minutes(20));
  EXPECT_EQ(*ParseDuration("1.5h"), absl::Minutes(90));
  EXPECT_EQ(*ParseDuration("1h30min"), absl::Minutes(90));
  EXPECT_EQ(*ParseDuration("1d2h3m4s5ms"), absl::Hours(26) + absl::Minutes(3) + absl::Seconds(4) + absl::Milliseconds(5));
  EXPECT_EQ(*ParseDuration("3 s"), absl::Seconds(3));
  EXPECT_EQ(*ParseDuration("10000d"), absl::Hours(240'000));
}

TEST(ParseDurationTest, RefusesWithAdvice) {
  struct Case {
    const char* text;
    const char* message;
  };
  for (const Case& c : {
           Case{"120", "has no unit; write 120s"},
           Case{"1h30", "has no unit at its end"},
           Case{"5sec", "write 5s"},
           Case{"5 Minutes", "write 5min"},
           Case{"2hrs", "write 2h"},
           Case{"2days", "write 2d"},
           Case{"5MS", "write 5ms"},
           Case{"5us", "smallest unit is ms"},
           Case{"5ns", "smallest unit is ms"},
           Case{"5MiB", "is a size, not a time"},
           Case{"5x", "unknown unit \"x\""},
           Case{"-5s", "is negative"},
           Case{"inf", "does not start with a number"},
           Case{"", "does not start with a number"},
           Case{"1m1h", "units out of order"},
           Case{"1m1min", "units out of order"},
           Case{"0.5ms", "whole number of milliseconds"},
           Case{"10000d1ms", "more than 10000 days"},
           Case{"9999999999999999999d", "more than 10000 days"},
       }) {
    EXPECT_THAT(ParseDuration(c.text), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(c.message))) << c.text;
  }
}

TEST(DurationTextTest, IsShortestExactFormAndReadsBack) {
  EXPECT_EQ(DurationText(absl::ZeroDuration()), "0s");
  EXPECT_EQ(DurationText(absl::Seconds(120)), "2min");
  EXPECT_EQ(DurationText(absl::Seconds(90)), "90s");
  EXPECT_EQ(DurationText(absl::Hours(24)), "24h");
  EXPECT_EQ(DurationText(absl::Milliseconds(1500)), "1500ms");
  for (int64_t ms : {int64_t{1}, int64_t{999}, int64_t{1000}, int64_t{61'000}, int64_t{3'600'001}, int64_t{864'000'000'000}}) {
    EXPECT_EQ(*ParseDuration(DurationText(absl::Milliseconds(ms))), absl::Milliseconds(ms));
  }
}

TEST(DurationTextTest, ShowsValuesThatNoFileCanHold) {
  EXPECT_EQ(DurationText(absl::InfiniteDuration()), "inf");
  EXPECT_EQ(DurationText(-absl::InfiniteDuration()), "-inf");
  EXPECT_EQ(DurationText(absl::Seconds(-1)), "-1s");
  EXPECT_EQ(DurationText(absl::Microseconds(1500)), "1.5ms");
}

TEST(ParseCountTest, ReadsWholeNumbers) {
  EXPECT_EQ(*ParseCount("0"), 0u);
  EXPECT_EQ(*ParseCount("128"), 128u);
  EXPECT_EQ(*ParseCount("18446744073709551615"), std::numeric_limits<uint64_t>::max());
}

TEST(ParseCountTest, RefusesWithAdvice) {
  struct Case {
    const char* text;
    const char* message;
  };
  for (const Case& c : {
           Case{"", "is not a whole number"},
           Case{"-1", "is negative"},
           Case{"1_000", "write 1000"},
           Case{"50,000", "write 50000"},
           Case{"1.5", "is not a whole number"},
           Case{"1e3", "is not a whole number"},
           Case{"0x10", "is not a whole number"},
           Case{"+5", "is not a whole number"},
           Case{"many", "is not a whole number"},
           Case{"007", "write 7"},
           Case{"00", "write 0"},
           Case{"18446744073709551616", "more than 64 bits"},
       }) {
    EXPECT_THAT(ParseCount(c.text), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(c.message))) << c.text;
  }
}

TEST(UnitsTest, RefusalsStayShortWhateverTheText) {
  std::string long_text(200'000, '7');
  for (const absl::Status& status : {ParseSize(long_text).status(), ParseDuration(long_text).status(), ParseCount(long_text).status()}) {
    EXPECT_FALSE(status.ok());
    EXPECT_LT(status.message().size(), 300u) << status;
  }
}

}  // namespace
}  // namespace cellblock::policy
