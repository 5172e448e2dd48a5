// Carriage returns as a terminal shows them, with a bounded row.
#include "capture/line_folder.h"

#include <random>
#include <string>
#include <vector>

#include "capture/utf8.h"
#include "gtest/gtest.h"

namespace cellblock::capture {
namespace {

std::string Fold(absl::string_view text, size_t piece = ~size_t{0}) {
  LineFolder folder;
  std::string folded;
  auto commit = [&folded](absl::string_view part) { folded.append(part.data(), part.size()); };
  while (!text.empty()) {
    size_t end = std::max<size_t>(FloorToCharacter(text, std::min(piece, text.size())), 1);
    while (FloorToCharacter(text, end) != end) ++end;
    folder.Append(text.substr(0, end), commit);
    text.remove_prefix(end);
  }
  folder.Finish(commit);
  return folded;
}

TEST(LineFolderTest, LastStateOfProgressStays) {
  EXPECT_EQ(Fold("10%\r20%\r100%\n"), "100%\n");
  EXPECT_EQ(Fold("\r 10%\r 20%\r100%"), "100%");
  EXPECT_EQ(Fold("before\na\rb\nafter"), "before\nb\nafter");
}

TEST(LineFolderTest, ShorterTextLeavesTheRestAsATerminalDoes) {
  EXPECT_EQ(Fold("abc\rX\n"), "Xbc\n");
  EXPECT_EQ(Fold("Step 10\rStep 9 \n"), "Step 9 \n");
}

TEST(LineFolderTest, ReturnBeforeNewlineIsANewline) {
  EXPECT_EQ(Fold("a\r\nb\r\n"), "a\nb\n");
  EXPECT_EQ(Fold("a\r\r\nb"), "a\nb");
  EXPECT_EQ(Fold("ab\rc\r\nd"), "cb\nd");
}

TEST(LineFolderTest, ReturnAtTheEndChangesNothing) {
  EXPECT_EQ(Fold("abc\r"), "abc");
  EXPECT_EQ(Fold("\r\r\r"), "");
}

TEST(LineFolderTest, OverwritesCharactersNotBytes) {
  EXPECT_EQ(Fold("é€😀\rabc"), "abc");
  EXPECT_EQ(Fold("abc\r😀€"), "😀€c");
}

TEST(LineFolderTest, LeavesBackspacesAndEscapesAlone) { EXPECT_EQ(Fold("a\bb\x1B[31mc\n"), "a\bb\x1B[31mc\n"); }

TEST(LineFolderTest, ReturnReachesAFullRowButNoneAbove) {
  const std::string row(LineFolder::kRowColumnsMax, 'a');
  EXPECT_EQ(Fold(row + "\rX"), "X" + row.substr(1));
  EXPECT_EQ(Fold(row + "b\rX"), row + "X");
  EXPECT_EQ(Fold(row + row + "\rX"), row + "X" + row.substr(1));
  // The overwriting text wraps at the same column.
  EXPECT_EQ(Fold("z\r" + row + "bc\rX"), row + "Xc");
}

TEST(LineFolderTest, RowNeverHoldsMoreThanItsMaximum) {
  LineFolder folder;
  size_t committed = 0;
  auto commit = [&committed](absl::string_view part) { committed += part.size(); };
  const std::string piece(100'003, 'x');
  for (int i = 0; i < 200; ++i) {
    folder.Append(piece, commit);
    EXPECT_LE(folder.RowText().size(), LineFolder::kRowColumnsMax);
  }
  folder.Finish(commit);
  EXPECT_EQ(committed, piece.size() * 200);
}

// The same rule written as plainly as possible: a screen of lines.
std::string Terminal(absl::string_view text) {
  std::u32string line;
  size_t cursor = 0;
  std::string out;
  auto flush = [&] {
    for (char32_t c : line) AppendCharacter(c, &out);
    line.clear();
    cursor = 0;
  };
  for (size_t at = 0; at < text.size();) {
    char32_t c = NextCharacter(text, &at);
    if (c == U'\n') {
      flush();
      out.push_back('\n');
    } else if (c == U'\r') {
      cursor = 0;
    } else if (cursor < line.size()) {
      line[cursor++] = c;
    } else {
      line.push_back(c);
      ++cursor;
    }
  }
  flush();
  return out;
}

TEST(LineFolderTest, AgreesWithAPlainTerminalForEveryPieceSize) {
  std::mt19937 random(3);
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    size_t characters = random() % 30;
    for (size_t i = 0; i < characters; ++i) AppendCharacter(U"ab é€\r\r\r\n\n"[random() % 10], &text);
    const std::string expected = Terminal(text);
    for (size_t piece : {size_t{1}, size_t{2}, size_t{3}, size_t{7}, text.size() + 1}) EXPECT_EQ(Fold(text, piece), expected);
  }
}

}  // namespace
}  // namespace cellblock::capture
