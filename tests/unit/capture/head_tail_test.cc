// The cap at its edges, and the count of what was left out.
#include "capture/head_tail.h"

#include <random>
#include <string>

#include "capture/utf8.h"
#include "gtest/gtest.h"

namespace cellblock::capture {
namespace {

TEST(HeadTailTest, KeepsTextOfExactlyTheCapWhole) {
  for (size_t cap : {1u, 2u, 3u, 7u, 10u}) {
    HeadTail store(cap);
    std::string text(cap, 'x');
    for (char c : text) store.Append(absl::string_view(&c, 1));
    HeadTail::Tail tail = store.tail();
    EXPECT_EQ(store.head() + std::string(tail.text), text);
    EXPECT_EQ(tail.dropped_bytes, 0u);
  }
}

TEST(HeadTailTest, DropsOneByteAboveTheCap) {
  HeadTail store(10);
  store.Append("0123456789A");
  HeadTail::Tail tail = store.tail();
  EXPECT_EQ(store.head(), "01234");
  EXPECT_EQ(tail.text, "6789A");
  EXPECT_EQ(tail.dropped_bytes, 1u);
}

TEST(HeadTailTest, CutsAtCharacterBordersAndKeepsCountExact) {
  HeadTail store(10);
  store.Append("ab€€€€€€");  // 2 + 6 × 3 bytes: the head takes "ab€", the tail has room for 5 and takes one character
  HeadTail::Tail tail = store.tail();
  EXPECT_EQ(store.head(), "ab€");
  EXPECT_EQ(tail.text, "€");
  EXPECT_EQ(tail.dropped_bytes, 12u);
}

TEST(HeadTailTest, KeepsWholeTextWhenACharacterStraddlesTheHalf) {
  HeadTail store(10);
  store.Append("abcd€fgh");  // exactly 10 bytes, the middle inside the character
  HeadTail::Tail tail = store.tail();
  EXPECT_EQ(store.head() + std::string(tail.text), "abcd€fgh");
  EXPECT_EQ(tail.dropped_bytes, 0u);
}

TEST(HeadTailTest, RandomPiecesGiveTheSameAsTheWhole) {
  std::mt19937 random(11);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    size_t characters = random() % 40;
    for (size_t i = 0; i < characters; ++i) AppendCharacter(U"aé€😀"[random() % 4], &text);
    size_t cap = random() % 40;
    HeadTail whole(cap), pieces(cap);
    whole.Append(text);
    for (size_t at = 0; at < text.size();) {
      size_t end = FloorToCharacter(text, at + random() % 12);
      pieces.Append(absl::string_view(text).substr(at, end - at));
      at = std::max(end, at);
    }
    HeadTail::Tail a = whole.tail(), b = pieces.tail();
    EXPECT_EQ(whole.head(), pieces.head());
    EXPECT_EQ(a.text, b.text);
    EXPECT_EQ(a.dropped_bytes, b.dropped_bytes);
    EXPECT_LE(whole.head().size() + a.text.size(), cap);
    EXPECT_EQ(whole.head().size() + a.text.size() + a.dropped_bytes, text.size());
    EXPECT_TRUE(IsValidUtf8(whole.head()) && IsValidUtf8(a.text));
    if (text.size() <= cap) { EXPECT_EQ(a.dropped_bytes, 0u); }
  }
}

TEST(HeadTailTest, MarkerGroupsDigitsAndStaysShort) {
  EXPECT_EQ(CutMarker(123456, false), "\n… [123,456 bytes left out] …\n");
  EXPECT_EQ(CutMarker(999, true), "… [999 bytes left out] …\n");
  EXPECT_EQ(CutMarker(1, true), "… [1 byte left out] …\n");
  EXPECT_EQ(CutMarker(1000, true), "… [1,000 bytes left out] …\n");
  EXPECT_LE(CutMarker(~uint64_t{0}, false).size(), kCutMarkerBytesMax);
}

}  // namespace
}  // namespace cellblock::capture
