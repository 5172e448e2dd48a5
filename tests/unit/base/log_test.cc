// Lines of the log: for people and as JSON, each within its bound whatever stands in it.
#include "base/log.h"

#include <algorithm>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cellblock {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

TEST(LogTest, ALineOfTextIsOneLineAndNothingThatATerminalObeys) {
  const std::string line = LogLine(LogFormat::kText, LogLevel::kError, "a\ncellblock[1] E forged\x1b[31m\x7f é", {});
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
  EXPECT_EQ(line.find('\x1b'), std::string::npos);
  EXPECT_NE(line.find("é"), std::string::npos);
}

TEST(LogLineTest, ShowsWhatALineIsAbout) {
  EXPECT_THAT(LogLine(LogFormat::kText, LogLevel::kWarning, "disk full", {"s-1", "r-2"}), MatchesRegex(R"(cellblock\[[0-9]+\] W disk full session=s-1 request=r-2
)"));
  EXPECT_THAT(LogLine(LogFormat::kText, LogLevel::kInfo, "ready", {}), EndsWith("I ready\n"));
  EXPECT_THAT(LogLine(LogFormat::kJson, LogLevel::kError, "disk full", {"s-1", "r-2"}),
              MatchesRegex(R"(\{"time":"20[0-9]+-[0-9]+-[0-9]+T[0-9:]+\.[0-9]+Z","level":"error","pid":[0-9]+,"session_id":"s-1","request_id":"r-2","message":"disk full"\}
)"));
}

TEST(LogLineTest, EscapesForJson) {
  const std::string line = LogLine(LogFormat::kJson, LogLevel::kInfo, std::string("a\"b\\c\nd\x01") + "é\xff\xed\xa0\x80 \xf0\x9f\x98\x80", {});
  EXPECT_THAT(line, HasSubstr("\"message\":\"a\\\"b\\\\c\\nd\\u0001é\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd \xf0\x9f\x98\x80\"}\n"));
}

TEST(LogLineTest, CutsLongLinesAndStaysJson) {
  for (const std::string& piece : {std::string("x"), std::string("\""), std::string("\x01"), std::string("é"), std::string("\xff"), std::string("\xf0\x9f\x98\x80")}) {
    std::string text;
    while (text.size() < 20'000) text += piece;
    for (size_t skip = 0; skip < 4; ++skip) {
      const std::string line = LogLine(LogFormat::kJson, LogLevel::kInfo, std::string(skip, 'a') + text, {text, text});
      EXPECT_LE(line.size(), 4096u);
      EXPECT_GE(line.size(), 4000u);
      EXPECT_THAT(line, EndsWith("\"}\n"));
      EXPECT_EQ(line.find("\\\"}\n") == std::string::npos || piece == "\"", true) << "an escape was cut in two";
    }
    EXPECT_LE(LogLine(LogFormat::kText, LogLevel::kInfo, text, {text, text}).size(), 4096u);
  }
}

}  // namespace
}  // namespace cellblock
