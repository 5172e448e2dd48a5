// The operator's file of tokens: what it may say, and where it is wrong.
#include "service/token_file.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace cellblock::service {
namespace {

using ::testing::HasSubstr;

const std::string kHash = std::string(64, 'a');

std::string Problem(const std::string& yaml) { return std::string(ParseTokens(yaml, "tokens.yaml").status().message()); }

TEST(TokenFileTest, SaysEverythingOfAToken) {
  const absl::StatusOr<Tokens> tokens =
      ParseTokens(absl::StrCat("tokens:\n- name: anna\n  sha256: ", kHash, "\n  policies: [default, charts]\n  sessions: 4\n  calls: 16\n  wall: 30s\n  memory: 512MiB\n  shared_bytes: 2GiB\n"), "tokens.yaml");
  ASSERT_THAT(tokens, IsOk());
  ASSERT_EQ(tokens->all().size(), 1u);
  const Token& token = tokens->all().front();
  EXPECT_EQ(token.name, "anna");
  EXPECT_EQ(token.policies, (std::vector<std::string>{"default", "charts"}));
  EXPECT_EQ(token.sessions_max, 4);
  EXPECT_EQ(token.calls_max, 16);
  EXPECT_EQ(token.wall_max, absl::Seconds(30));
  EXPECT_EQ(token.memory_bytes_max, int64_t{512} << 20);
  EXPECT_EQ(token.shared_bytes_max, int64_t{2} << 30);
}

TEST(TokenFileTest, NeedsNoMoreThanNameAndHash) {
  const absl::StatusOr<Tokens> tokens = ParseTokens(absl::StrCat("tokens: [{name: a, sha256: ", kHash, "}]"), "tokens.yaml");
  ASSERT_THAT(tokens, IsOk());
  EXPECT_TRUE(MayUsePolicy(tokens->all().front(), "any"));
}

TEST(TokenFileTest, WhatIsWrongIsToldWithFileLineAndColumn) {
  const std::string good = absl::StrCat("tokens:\n- name: a\n  sha256: ", kHash, "\n");
  ASSERT_EQ(Problem(good), "");
  EXPECT_THAT(Problem(good + "  sesions: 4\n"), testing::AllOf(HasSubstr("tokens.yaml:4:3"), HasSubstr("sesions"), HasSubstr("sessions")));
  EXPECT_THAT(Problem(good + "  sessions: many\n"), testing::AllOf(HasSubstr("tokens.yaml:4"), HasSubstr("whole number")));
  EXPECT_THAT(Problem(good + "  sessions: -1\n"), HasSubstr("whole number"));
  EXPECT_THAT(Problem(good + "  wall: soon\n"), HasSubstr("tokens.yaml:4"));
  EXPECT_THAT(Problem(good + "  memory: much\n"), HasSubstr("tokens.yaml:4"));
  EXPECT_THAT(Problem(good + "  memory: [1GiB]\n"), HasSubstr("one value"));
  EXPECT_THAT(Problem(good + "  shared_bytes: all\n"), HasSubstr("tokens.yaml:4"));
  EXPECT_EQ(Problem(good + "  shared_bytes: 0\n"), "") << "none at all";
  EXPECT_THAT(Problem(good + "  policies: default\n"), HasSubstr("a list of names"));
  EXPECT_THAT(Problem(good + "  policies: [[default]]\n"), HasSubstr("a name is wanted"));
  EXPECT_THAT(Problem(good + "other: 1\n"), HasSubstr("one key, tokens"));
  EXPECT_THAT(Problem(good + "  name: b\n"), HasSubstr("tokens.yaml:4")) << "a key that comes twice";
  EXPECT_THAT(Problem(good + "- 1\n"), HasSubstr("a token is a map"));
  EXPECT_THAT(Problem("tokens: {}\n"), HasSubstr("one key, tokens"));
  EXPECT_THAT(Problem(""), HasSubstr("tokens.yaml"));
  EXPECT_THAT(Problem("tokens: [\n"), HasSubstr("tokens.yaml"));
}

TEST(TokenFileTest, WhatNobodySeesOrIsNoTextIsRefused) {
  EXPECT_THAT(Problem("tokens:\n- name: \xff\n"), HasSubstr("not UTF-8"));
  EXPECT_THAT(Problem("tokens:\n- name: a\u202eb\n"), HasSubstr("invisible"));
  EXPECT_THAT(Problem(absl::StrCat("tokens: [{name: \"a\\e[31m\", sha256: ", kHash, "}]")), HasSubstr("it stands in logs"));
  EXPECT_EQ(Problem(absl::StrCat("\xef\xbb\xbftokens:\r\n- name: Zoë\r\n  sha256: ", kHash, "\r\n")), "") << "as an editor of another system writes it";
}

TEST(TokenFileTest, AnEmptyListOfPoliciesIsRefusedForItReadsAsNone) {
  EXPECT_THAT(Problem(absl::StrCat("tokens: [{name: a, sha256: ", kHash, ", policies: []}]")), HasSubstr("leave the key out to allow every policy"));
}

TEST(TokenFileTest, AFileWithoutTokensTwoOfOneNameAndTooManyAreRefused) {
  EXPECT_THAT(Problem("tokens: []\n"), HasSubstr("the list is empty"));
  EXPECT_THAT(Problem(absl::StrCat("tokens: [{name: a, sha256: ", kHash, "}, {name: a, sha256: ", std::string(64, 'b'), "}]")), HasSubstr("two tokens are called"));
  EXPECT_THAT(Problem(absl::StrCat("tokens: [{name: a, sha256: ", kHash, "}, {name: b, sha256: ", kHash, "}]")), HasSubstr("the secret of another"));
  std::string many = "tokens:\n";
  for (size_t i = 0; i <= kTokensMax; ++i) absl::StrAppend(&many, "- {name: t", i, ", sha256: \"", absl::Hex(i, absl::kZeroPad16), std::string(48, 'a'), "\"}\n");
  EXPECT_THAT(Problem(many), HasSubstr("at most 1000"));
}

}  // namespace
}  // namespace cellblock::service
