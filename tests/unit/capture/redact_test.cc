// Literal strings vanish from the text, wherever it is split; limits of the list at their edges.
#include "capture/redact.h"

#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace cellblock::capture {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::shared_ptr<const RedactionSet> Set(const std::vector<std::string>& literals) {
  auto set = RedactionSet::Create(literals);
  EXPECT_THAT(set, IsOk());
  return *std::move(set);
}

std::string Redact(const std::shared_ptr<const RedactionSet>& set, absl::string_view text, size_t piece = ~size_t{0}) {
  Redactor redactor(set);
  std::string out;
  while (!text.empty()) {
    redactor.Append(text.substr(0, piece), &out);
    text.remove_prefix(std::min(piece, text.size()));
  }
  redactor.Finish(&out);
  EXPECT_EQ(redactor.held_bytes(), 0u);
  return out;
}

TEST(RedactTest, ReplacesEveryOccurrence) {
  auto set = Set({"hunter2!", "sk-1234"});
  EXPECT_EQ(Redact(set, "key sk-1234, again sk-1234sk-1234 and hunter2!"), "key ***, again ****** and ***");
  EXPECT_EQ(Redact(set, "sk-123 is not it"), "sk-123 is not it");
  EXPECT_EQ(Redact(set, ""), "");
}

TEST(RedactTest, FindsAnOccurrenceAcrossEverySplit) {
  auto set = Set({"secret"});
  const std::string text = "a secsecret b secre";
  for (size_t piece = 1; piece <= text.size(); ++piece) EXPECT_EQ(Redact(set, text, piece), "a sec*** b secre") << piece;
}

TEST(RedactTest, LetsOrdinaryTextOutAtOnce) {
  Redactor redactor(Set({"secret"}));
  std::string out;
  redactor.Append("plain text, no s", &out);
  EXPECT_EQ(out, "plain text, no ");  // an "s" could begin the literal
  redactor.Append("o", &out);
  EXPECT_EQ(out, "plain text, no so");
}

TEST(RedactTest, CoversOverlappingLiterals) {
  EXPECT_EQ(Redact(Set({"abcd", "cdef"}), "xabcdefx"), "x***x");
  EXPECT_EQ(Redact(Set({"abcdefgh", "cdef"}), "xabcdefghx"), "x***x");
  EXPECT_EQ(Redact(Set({"abcdefgh", "cdef"}), "xabcdefx"), "xab***x");
  EXPECT_EQ(Redact(Set({"aaaa"}), "baaaaaaab"), "b***b");
}

TEST(RedactTest, HoldsLittleWhileALiteralRepeatsForEver) {
  Redactor redactor(Set({"aaaa"}));
  std::string out;
  for (int i = 0; i < 1000; ++i) {
    redactor.Append(std::string(1000, 'a'), &out);
    EXPECT_LE(redactor.held_bytes(), 4u);
  }
  redactor.Finish(&out);
  EXPECT_EQ(out, "***");
}

TEST(RedactTest, NothingIsRedactedWithoutASet) { EXPECT_EQ(Redact(nullptr, "anything"), "anything"); }

TEST(RedactTest, RefusesTooManyTooShortTooLongAndNeverShowsThem) {
  EXPECT_THAT(RedactionSet::Create(std::vector<std::string>(64, "abcd")), IsOk());
  EXPECT_THAT(RedactionSet::Create(std::vector<std::string>(65, "abcd")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("65 strings; at most 64")));
  EXPECT_THAT(RedactionSet::Create({"abc"}), StatusIs(absl::StatusCode::kInvalidArgument, Not(HasSubstr("abc"))));
  EXPECT_THAT(RedactionSet::Create({std::string(4096, 'x')}), IsOk());
  EXPECT_THAT(RedactionSet::Create({"good one", std::string(4097, 'x')}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("redact[1] has 4097 bytes; 4 to 4096")));
  EXPECT_THAT(RedactionSet::Create({"abc\xFF"}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("not UTF-8")));
}

TEST(RedactTest, LargestSetWorks) {
  std::vector<std::string> literals;
  for (int i = 0; i < 64; ++i) literals.push_back(std::string(4094, 'a') + std::string(1, static_cast<char>('0' + i)) + "z");
  auto set = Set(literals);
  std::string text = std::string(5000, 'a') + "7z!";
  EXPECT_EQ(Redact(set, text), std::string(906, 'a') + "***!");
  EXPECT_EQ(Redact(set, text, 1), std::string(906, 'a') + "***!");
}

// Every byte that lies in an occurrence is covered, all others stay, and the split does not matter.
TEST(RedactTest, RandomTextsAgreeWithBruteForce) {
  std::mt19937 random(5);
  for (int round = 0; round < 4000; ++round) {
    std::vector<std::string> literals;
    for (size_t i = 0; i < 1 + random() % 4; ++i) {
      std::string literal;
      for (size_t j = 0; j < 4 + random() % 4; ++j) literal.push_back("ab"[random() % 2]);
      if (literal.size() >= 4) literals.push_back(literal);
    }
    if (literals.empty()) continue;
    auto set = Set(literals);
    std::string text;
    for (size_t i = 0; i < random() % 40; ++i) text.push_back("aabbc"[random() % 5]);
    std::vector<bool> covered(text.size(), false);
    for (const std::string& literal : literals) {
      for (size_t at = text.find(literal); at != std::string::npos; at = text.find(literal, at + 1)) {
        std::fill_n(covered.begin() + static_cast<ptrdiff_t>(at), literal.size(), true);
      }
    }
    std::string kept;
    for (size_t i = 0; i < text.size(); ++i) {
      if (!covered[i]) kept.push_back(text[i]);
    }
    const std::string whole = Redact(set, text);
    std::string without_marks;
    for (char c : whole) {
      if (c != '*') without_marks.push_back(c);
    }
    EXPECT_EQ(without_marks, kept) << text;
    for (size_t piece : {1u, 2u, 3u, 5u}) EXPECT_EQ(Redact(set, text, piece), whole) << text;
  }
}

}  // namespace
}  // namespace cellblock::capture
