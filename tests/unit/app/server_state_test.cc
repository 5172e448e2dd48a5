// The file of tokens: what it may say, and what is said about a wrong one.
#include "app/server_state.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/policy/temp_directory.h"

namespace cellblock::app {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using service::MetricsAccess;

std::string Hash(char digit) { return std::string(64, digit); }

TEST(ReadTokensTest, ReadsWhatATokenMay) {
  policy::TempDirectory folder;
  const std::string path = folder.Write("tokens.yaml", absl::StrCat("tokens:\n  - {name: alice, sha256: ", Hash('a'), ", policies: [default], sessions: 3, calls: 5, wall: 30s, memory: 1GiB}\n",
                                                                    "  - {name: operator, sha256: ", Hash('b'), ", metrics: yes}\n  - {name: scraper, sha256: ", Hash('c'), ", metrics: only}\n"));
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(const service::Tokens tokens, ReadTokens(path));
  ASSERT_EQ(tokens.all().size(), 3u);
  const service::Token& alice = tokens.all()[0];
  EXPECT_EQ(alice.sessions_max, 3);
  EXPECT_EQ(alice.calls_max, 5);
  EXPECT_EQ(alice.wall_max, absl::Seconds(30));
  EXPECT_EQ(alice.memory_bytes_max, int64_t{1} << 30);
  EXPECT_EQ(alice.metrics, MetricsAccess::kNo) << "metrics tell of everybody's sessions";
  EXPECT_EQ(tokens.all()[1].metrics, MetricsAccess::kYes);
  EXPECT_EQ(tokens.all()[2].metrics, MetricsAccess::kOnly);
}

TEST(ReadTokensTest, SaysWhereAWrongOneStands) {
  policy::TempDirectory folder;
  auto problem = [&](const std::string& rest) {
    return std::string(ReadTokens(folder.Write("tokens.yaml", absl::StrCat("tokens:\n  - name: alice\n    sha256: ", Hash('a'), "\n    ", rest, "\n"))).status().message());
  };
  EXPECT_THAT(problem("metrics: all"), AllOf(HasSubstr("tokens.yaml:4"), HasSubstr("metrics: no, yes or only is wanted here")));
  EXPECT_THAT(problem("metric: yes"), AllOf(HasSubstr("tokens.yaml:4:5"), HasSubstr("metrics")));
  EXPECT_THAT(problem("sessions: many"), HasSubstr("sessions: a whole number is wanted here"));
}

}  // namespace
}  // namespace cellblock::app
