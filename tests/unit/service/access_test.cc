// Tokens: found by their secret alone, checked when they are made, and what they lower in a policy.
#include "service/access.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace cellblock::service {
namespace {

using ::testing::HasSubstr;

Token TokenOf(const std::string& name, const std::string& secret) {
  Token token;
  token.name = name;
  token.sha256 = *HashOfSecret(secret);
  return token;
}

TEST(TokensTest, AreFoundByTheirWholeSecretAlone) {
  const Tokens tokens = *Tokens::Create({TokenOf("a", "the secret of a"), TokenOf("b", "the secret of b")});
  EXPECT_EQ(tokens.Find("the secret of b"), &tokens.all()[1]);
  for (const std::string& wrong : {std::string(), std::string("the secret of "), std::string("the secret of b "), tokens.all()[1].sha256, std::string("the secret of b\0", 16)}) {
    EXPECT_EQ(tokens.Find(wrong), nullptr) << wrong;
  }
}

TEST(TokensTest, ASecretBeyondTheBoundIsNotEvenHashed) {
  const std::string longest(kTokenBytesMax, 'x');
  const Tokens tokens = *Tokens::Create({TokenOf("a", longest), TokenOf("b", longest + "x")});
  EXPECT_EQ(tokens.Find(longest), &tokens.all()[0]);
  EXPECT_EQ(tokens.Find(longest + "x"), nullptr);
}

TEST(TokensTest, WhatIsNoTokenIsRefusedAndWhatIsJustOneIsNot) {
  const Token good = TokenOf("a", "secret");
  EXPECT_THAT(Tokens::Create({good}), IsOk());
  auto refused = [&](void (*spoil)(Token&)) {
    Token token = good;
    spoil(token);
    return !Tokens::Create({token}).ok();
  };
  EXPECT_TRUE(refused([](Token& token) { token.name = ""; }));
  EXPECT_TRUE(refused([](Token& token) { token.name = std::string(65, 'x'); }));
  EXPECT_FALSE(refused([](Token& token) { token.name = std::string(64, 'x'); }));
  for (const char* name : {"a\nb", "a\tb", "\x1b[31m", "\xff", "\u202e"}) {
    Token token = good;
    token.name = name;
    EXPECT_THAT(Tokens::Create({token}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("it stands in logs"))) << name;
  }
  EXPECT_FALSE(refused([](Token& token) { token.name = "Zoë's laptop"; }));
  EXPECT_TRUE(refused([](Token& token) { token.sha256 = std::string(63, 'a'); }));
  EXPECT_TRUE(refused([](Token& token) { token.sha256 = std::string(64, 'A'); }));
  EXPECT_TRUE(refused([](Token& token) { token.sessions_max = 0; }));
  EXPECT_TRUE(refused([](Token& token) { token.calls_max = 100'001; }));
  EXPECT_FALSE(refused([](Token& token) { token.calls_max = 100'000; }));
  EXPECT_TRUE(refused([](Token& token) { token.wall_max = absl::Milliseconds(99); }));
  EXPECT_TRUE(refused([](Token& token) { token.memory_bytes_max = 1 << 20; }));
}

TEST(TokensTest, TwoOfOneNameOrOneSecretAndTooManyAreRefused) {
  EXPECT_THAT(Tokens::Create({TokenOf("a", "1"), TokenOf("a", "2")}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("two tokens are called \"a\"")));
  EXPECT_THAT(Tokens::Create({TokenOf("a", "1"), TokenOf("b", "1")}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("has the secret of another")));
  std::vector<Token> many;
  for (size_t i = 0; i < kTokensMax; ++i) many.push_back(TokenOf(absl::StrCat("t", i), absl::StrCat(i)));
  EXPECT_THAT(Tokens::Create(many), IsOk());
  many.push_back(TokenOf("one more", "one more"));
  EXPECT_THAT(Tokens::Create(many), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("at most 1000")));
}

TEST(TokensTest, LimitsLowerWhatThePolicyGivesAndNeverRaiseIt) {
  Policy policy;
  policy.limits.wall = absl::Seconds(30);
  policy.limits.memory_bytes = int64_t{1} << 30;
  policy.limits.workspace_bytes = int64_t{1} << 30;
  Token token;
  EXPECT_EQ(WithLimitsOf(token, policy).limits.wall, absl::Seconds(30));
  token.wall_max = absl::Seconds(60);
  token.memory_bytes_max = int64_t{4} << 30;
  EXPECT_EQ(WithLimitsOf(token, policy).limits.wall, absl::Seconds(30));
  EXPECT_EQ(WithLimitsOf(token, policy).limits.memory_bytes, int64_t{1} << 30);
  token.wall_max = absl::Seconds(5);
  token.memory_bytes_max = int64_t{128} << 20;
  EXPECT_EQ(WithLimitsOf(token, policy).limits.wall, absl::Seconds(5));
  EXPECT_EQ(WithLimitsOf(token, policy).limits.memory_bytes, int64_t{128} << 20);
  EXPECT_LE(WithLimitsOf(token, policy).limits.workspace_bytes, int64_t{64} << 20) << "files lie in memory";
}

TEST(TokensTest, NewSecretsDifferAndNeedNoQuoting) {
  const std::string secret = NewSecret();
  EXPECT_NE(secret, NewSecret());
  EXPECT_GE(secret.size(), kTokenBytesMin);
  EXPECT_EQ(secret.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_="), std::string::npos) << secret;
}

}  // namespace
}  // namespace cellblock::service
