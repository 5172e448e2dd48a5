// Decoding of guest bytes: replacement per maximal subpart, and the same text for every split.
#include "capture/utf8.h"

#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace cellblock::capture {
namespace {

using namespace std::string_literals;

const std::string kBad = "\xEF\xBF\xBD";

std::string DecodeInPieces(const std::string& bytes, const std::vector<size_t>& cuts) {
  Utf8Decoder decoder;
  std::string text;
  size_t begin = 0;
  for (size_t cut : cuts) {
    decoder.Append(absl::string_view(bytes).substr(begin, cut - begin), &text);
    EXPECT_LE(decoder.held_bytes(), 3u);
    EXPECT_TRUE(IsValidUtf8(text));
    begin = cut;
  }
  decoder.Append(absl::string_view(bytes).substr(begin), &text);
  decoder.Finish(&text);
  return text;
}

TEST(Utf8Test, KeepsValidTextOfEveryLength) {
  for (const char* text : {"", "plain", "é", "€", "𝄞", "\xF4\x8F\xBF\xBF", "\xED\x9F\xBF", "\xEE\x80\x80"}) {
    EXPECT_TRUE(IsValidUtf8(text));
    EXPECT_EQ(ToValidUtf8(text), text);
  }
  EXPECT_EQ(ToValidUtf8("a\0b"s), "a\0b"s);
}

// The examples of the Unicode standard (tables 3-8 to 3-11), which browsers' decoders follow.
TEST(Utf8Test, ReplacesEachMaximalSubpart) {
  EXPECT_EQ(ToValidUtf8("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"), kBad + kBad + kBad + kBad + kBad + kBad + kBad + kBad + "A");
  EXPECT_EQ(ToValidUtf8("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41"), kBad + kBad + kBad + kBad + kBad + kBad + kBad + kBad + "A");
  EXPECT_EQ(ToValidUtf8("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42"), kBad + kBad + kBad + kBad + kBad + "A" + kBad + kBad + "B");
  EXPECT_EQ(ToValidUtf8("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"), kBad + kBad + kBad + kBad + "A");
}

TEST(Utf8Test, ReplacesTruncatedEndOnce) {
  EXPECT_EQ(ToValidUtf8("ok \xC3"), "ok " + kBad);
  EXPECT_EQ(ToValidUtf8("ok \xF0\x9F\x98"), "ok " + kBad);
  EXPECT_FALSE(IsValidUtf8("\xF0\x9F\x98"));
}

TEST(Utf8Test, HoldsAnIncompleteCharacterUntilItIsWhole) {
  Utf8Decoder decoder;
  std::string text;
  for (char byte : "\xF0\x9F\x98"s) decoder.Append(absl::string_view(&byte, 1), &text);
  EXPECT_EQ(text, "");
  EXPECT_EQ(decoder.held_bytes(), 3u);
  decoder.Append("\x80", &text);
  EXPECT_EQ(text, "😀");
  EXPECT_EQ(decoder.held_bytes(), 0u);
}

TEST(Utf8Test, EverySplitIntoThreeGivesTheSameText) {
  const std::string bytes = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xE2\x82\xFF\xF0\x9F\x41\xED\xA0\x80\xC3";
  const std::string expected = ToValidUtf8(bytes);
  for (size_t a = 0; a <= bytes.size(); ++a) {
    for (size_t b = a; b <= bytes.size(); ++b) EXPECT_EQ(DecodeInPieces(bytes, {a, b}), expected) << a << " " << b;
  }
}

TEST(Utf8Test, RandomBytesGiveValidTextWhateverTheSplit) {
  std::mt19937 random(7);
  // Bytes near the edges of the table, where mistakes live.
  const std::string alphabet = "az\n\x7F\x80\x8F\x90\x9F\xA0\xBF\xC0\xC1\xC2\xDF\xE0\xE1\xEC\xED\xEE\xEF\xF0\xF1\xF3\xF4\xF5\xFF";
  for (int round = 0; round < 3000; ++round) {
    std::string bytes;
    size_t size = random() % 24;
    for (size_t i = 0; i < size; ++i) bytes.push_back(alphabet[random() % alphabet.size()]);
    const std::string expected = ToValidUtf8(bytes);
    EXPECT_TRUE(IsValidUtf8(expected));
    EXPECT_EQ(IsValidUtf8(bytes), expected == bytes);
    std::vector<size_t> cuts;
    for (size_t i = 1; i < bytes.size(); ++i) {
      if (random() % 2 == 0) cuts.push_back(i);
    }
    EXPECT_EQ(DecodeInPieces(bytes, cuts), expected);
  }
}

TEST(Utf8Test, FloorsToCharacterBorders) {
  const std::string text = "aé€😀";
  const std::vector<size_t> expected = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10};
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(FloorToCharacter(text, i), expected[i]) << i;
  EXPECT_EQ(CountCharacters(text), 4u);
}

TEST(Utf8Test, CharactersGoThereAndBack) {
  for (char32_t character : {U'\0', U'a', U'\x7F', U'\x80', U'\x7FF', U'\x800', U'\xFFFD', U'\xFFFF', U'\x10000', U'\x10FFFF'}) {
    std::string text;
    AppendCharacter(character, &text);
    EXPECT_TRUE(IsValidUtf8(text));
    size_t at = 0;
    EXPECT_EQ(NextCharacter(text, &at), character);
    EXPECT_EQ(at, text.size());
  }
}

}  // namespace
}  // namespace cellblock::capture
