// Text of a guest made harmless for a terminal.
#include "app/terminal_text.h"

#include "gtest/gtest.h"

namespace cellblock::app {
namespace {

TEST(NeutralizeTest, KeepsOrdinaryText) {
  EXPECT_EQ(Neutralize("a\tb\r\nПривет 数据 🙂\n"), "a\tb\r\nПривет 数据 🙂\n");
}

TEST(NeutralizeTest, ShowsControlSequencesInsteadOfObeyingThem) {
  EXPECT_EQ(Neutralize("\x1b]0;title\x07\x1b[2J"), "^[]0;title^G^[[2J");
  EXPECT_EQ(Neutralize(absl::string_view("\0\b\x7f", 3)), "^@^H^?");
}

TEST(NeutralizeTest, ShowsC1ControlsInBothOfTheirForms) {
  EXPECT_EQ(Neutralize("\xC2\x9B"
                       "31m"),
            "\\x9b31m");  // U+009B, CSI
  EXPECT_EQ(Neutralize("\x9B"
                       "31m"),
            "\\x9b31m");  // the bare byte, which some terminals obey
}

TEST(NeutralizeTest, EscapesBytesThatAreNoUtf8) {
  EXPECT_EQ(Neutralize("a\xFF\xC3"), "a\\xff\\xc3");
  EXPECT_EQ(Neutralize("\xC0\x9B"), "\\xc0\\x9b");           // overlong
  EXPECT_EQ(Neutralize("\xED\xA0\x80"), "\\xed\\xa0\\x80");  // surrogate
}

TEST(NeutralizeLineTest, EscapesWhatWouldBreakOrReorderALine) {
  EXPECT_EQ(NeutralizeLine("a\nb\tc\rd"), "a^Jb^Ic^Md");
  EXPECT_EQ(NeutralizeLine("x\xE2\x80\xAEgpj.exe"), "x\\xe2\\x80\\xaegpj.exe");  // U+202E
  EXPECT_EQ(Neutralize("x\xE2\x80\xAEy"), "x\xE2\x80\xAEy");
}

TEST(ReadableBytesTest, PicksTheUnit) {
  EXPECT_EQ(ReadableBytes(0), "0 bytes");
  EXPECT_EQ(ReadableBytes(1), "1 byte");
  EXPECT_EQ(ReadableBytes(1023), "1023 bytes");
  EXPECT_EQ(ReadableBytes(1024), "1 KiB");
  EXPECT_EQ(ReadableBytes(1536), "1.5 KiB");
  EXPECT_EQ(ReadableBytes(int64_t{5} << 40), "5 TiB");
  EXPECT_EQ(ReadableBytes(int64_t{5000} << 40), "5000 TiB");
}

TEST(CountedTest, TellsOneFromSeveral) {
  EXPECT_EQ(Counted(1, "file", "files"), "1 file");
  EXPECT_EQ(Counted(0, "file", "files"), "0 files");
}

}  // namespace
}  // namespace cellblock::app
