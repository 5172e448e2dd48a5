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

std::string InPieces(const std::shared_ptr<const RedactionSet>& set, absl::string_view text, size_t piece = ~size_t{0}) {
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
  EXPECT_EQ(InPieces(set, "key sk-1234, again sk-1234sk-1234 and hunter2!"), "key ***, again ****** and ***");
  EXPECT_EQ(InPieces(set, "sk-123 is not it"), "sk-123 is not it");
  EXPECT_EQ(InPieces(set, ""), "");
}

TEST(RedactTest, FindsAnOccurrenceAcrossEverySplit) {
  auto set = Set({"secret"});
  const std::string text = "a secsecret b secre";
  for (size_t piece = 1; piece <= text.size(); ++piece) EXPECT_EQ(InPieces(set, text, piece), "a sec*** b secre") << piece;
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
  EXPECT_EQ(InPieces(Set({"abcd", "cdef"}), "xabcdefx"), "x***x");
  EXPECT_EQ(InPieces(Set({"abcdefgh", "cdef"}), "xabcdefghx"), "x***x");
  EXPECT_EQ(InPieces(Set({"abcdefgh", "cdef"}), "xabcdefx"), "xab***x");
  EXPECT_EQ(InPieces(Set({"aaaa"}), "baaaaaaab"), "b***b");
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

TEST(RedactTest, NothingIsRedactedWithoutASet) { EXPECT_EQ(InPieces(nullptr, "anything"), "anything"); }

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
  EXPECT_EQ(InPieces(set, text), std::string(906, 'a') + "***!");
  EXPECT_EQ(InPieces(set, text, 1), std::string(906, 'a') + "***!");
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
    const std::string whole = InPieces(set, text);
    std::string without_marks;
    for (char c : whole) {
      if (c != '*') without_marks.push_back(c);
    }
    EXPECT_EQ(without_marks, kept) << text;
    for (size_t piece : {1u, 2u, 3u, 5u}) EXPECT_EQ(InPieces(set, text, piece), whole) << text;
  }
}

// The text, the same text in every split, and what is left of it.
void ExpectRedacted(const std::shared_ptr<const RedactionSet>& set, absl::string_view text, absl::string_view clean) {
  for (size_t piece : {size_t{1}, size_t{2}, size_t{3}, size_t{7}, text.size() + 1}) EXPECT_EQ(InPieces(set, text, piece), clean) << text << " in pieces of " << piece;
}

TEST(RedactTest, CoversWhatLiesBetweenLiteralsWithinALiteral) {
  ExpectRedacted(Set({"ABabcdEFefghIJ", "abcd", "efgh"}), "xABabcdEFefghIJx", "x***x");
  ExpectRedacted(Set({"ABabcdEFefghIJ", "abcd", "efgh"}), "xABabcdEFefghIx", "xAB***EF***Ix");
}

TEST(RedactTest, FindsPythonsAndJsonsSpellings) {
  auto set = Set({"pa\"ss\\word", "it's \"so\"", "line1\nline2", "S3CRET-päss", "key🔑key"});
  ExpectRedacted(set, R"(['pa"ss\\word', 'it\'s "so"', "pa\"ss\\word"])", R"(['***', '***', "***"])");
  ExpectRedacted(set, R"('line1\nline2' "line1\u000aline2" line1\x0aline2)", R"('***' "***" ***)");
  ExpectRedacted(set, R"('S3CRET-p\xe4ss' "S3CRET-p\u00E4ss" b'S3CRET-p\xc3\xa4ss')", R"('***' "***" b'***')");
  ExpectRedacted(set, R"("key\ud83d\udd11key" 'key\U0001f511key')", R"("***" '***')");
  ExpectRedacted(set, "pa\"ss\\word line1\nline2", "*** ***");
}

TEST(RedactTest, FindsHtmlsSpellings) {
  auto set = Set({"a&b<c>\"d'", "päss&amp;word"});
  ExpectRedacted(set, "<td>a&amp;b&lt;c&gt;&quot;d&#x27;</td><td>a&#38;b&#x3C;c&#62;&#34;d&#39;</td><td>a&amp;b<c>\"d'</td>", "<td>***</td><td>***</td><td>***</td>");
  ExpectRedacted(set, "päss&amp;word p&#228;ss&amp;amp;word p&#xe4;ss&amp;word", "*** *** p&#xe4;ss&amp;word");
}

TEST(RedactTest, FindsHtmlAroundAndWithinOtherSpellings) {
  auto set = Set({"a\"b\\c<d"});
  ExpectRedacted(set, R"(<td>['a"b\\c&lt;d']</td>)", "<td>['***']</td>");
  ExpectRedacted(set, R"(<td>{&quot;k&quot;: &quot;a\&quot;b\\c&lt;d&quot;}</td>)", "<td>{&quot;k&quot;: &quot;***&quot;}</td>");
  ExpectRedacted(set, R"({"html": "<b>a&quot;b\\c\u0026lt;d</b>"})", R"({"html": "<b>***</b>"})");
}

TEST(RedactTest, EscapesBesideALiteralStay) {
  auto set = Set({"secret"});
  ExpectRedacted(set, R"(C:\temp\secret\new &amp;secret&lt; \)", R"(C:\temp\***\new &amp;***&lt; \)");
  ExpectRedacted(set, R"(\\secret &am&secret &)", R"(\\*** &am&*** &)");
  ExpectRedacted(set, "s&s&se\\cret sec&#114;et", "s&s&se\\cret ***");
}

TEST(RedactTest, AnEscapeIsHeldNoLongerThanItMayGoOn) {
  Redactor redactor(Set({"secret"}));
  std::string out;
  redactor.Append("a &", &out);
  EXPECT_EQ(out, "a ");
  redactor.Append(" b &a", &out);
  EXPECT_EQ(out, "a & b ");
  redactor.Append("nd \\", &out);
  EXPECT_EQ(out, "a & b &and ");
  redactor.Append("ud83d\\u", &out);
  redactor.Append("n", &out);
  EXPECT_EQ(out, "a & b &and \\ud83d\\un");
}

TEST(RedactTest, TheLongestSpellingsOfTheLongestLiteralsAreFound) {
  std::string literal, units, references;
  for (int i = 0; i < 1024; ++i) {
    literal += "🔑";
    units += "\\ud83d\\udd11";
    references += "&#x1F511;";
  }
  ExpectRedacted(Set({literal}), "x" + units + "y" + references + "z" + literal, "x***y***z***");
}

// Each escape sets the other readings on; a literal that repeats must not make that cost more than the text.
TEST(RedactTest, EscapesInPeriodicTextCostNoMoreThanTheText) {
  auto set = Set({std::string(4000, 'a') + "b"});
  std::string text;
  while (text.size() < 1'000'000) text += std::string(3990, 'a') + "&\\";
  EXPECT_EQ(InPieces(set, text), text);
  std::string dense;
  while (dense.size() < 400'000) dense += "a&\\&a;\\u";
  EXPECT_EQ(InPieces(set, dense), dense);
  EXPECT_EQ(InPieces(set, dense.substr(0, 100'000), 1), dense.substr(0, 100'000));
}

TEST(RedactTest, RandomEscapesGiveTheSameInEverySplitAndNeverALiteral) {
  std::mt19937 random(7);
  const std::vector<std::string> pieces = {"a", "b", "&", "\\", "&amp;", "\\\\", "\\&", "&#97;", "\\x61", "\\u0062", "&#92;", ";", "\\ud83d", "x"};
  for (int round = 0; round < 4000; ++round) {
    std::vector<std::string> literals;
    for (size_t i = 0; i < 1 + random() % 3; ++i) {
      std::string literal;
      while (literal.size() < 4 + random() % 3) literal.push_back("ab&\\"[random() % 4]);
      literals.push_back(literal);
    }
    std::string text;
    for (size_t i = 0; i < random() % 30; ++i) text += pieces[random() % pieces.size()];
    auto set = Set(literals);
    const std::string whole = InPieces(set, text);
    for (const std::string& literal : literals) EXPECT_EQ(whole.find(literal), std::string::npos) << literal << " in " << text;
    for (size_t piece : {1u, 2u, 3u, 5u}) EXPECT_EQ(InPieces(set, text, piece), whole) << text;
  }
}

}  // namespace
}  // namespace cellblock::capture
