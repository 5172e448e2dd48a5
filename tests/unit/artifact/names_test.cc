// Hostile names as harmless, reversible text.
#include "artifact/names.h"

#include <random>
#include <string>

#include "absl/strings/string_view.h"
#include "capture/utf8.h"
#include "gtest/gtest.h"

namespace cellblock::artifact {
namespace {

using namespace std::string_literals;

TEST(EscapeNameTest, KeepsWhatPeopleWrite) {
  for (const char* name : {"report.csv", "Données – été (1).csv", "数据/表.csv", "a'b.csv", "👩‍🔬.png", "a b", "%2e%2e", "..."}) {
    EXPECT_EQ(EscapeName(name), name);
  }
}

TEST(EscapeNameTest, EscapesBytesControlsAndDirectionTricks) {
  EXPECT_EQ(EscapeName("a\nb\t\x7F"), "a\\u000ab\\u0009\\u007f");
  EXPECT_EQ(EscapeName("\x1B[2J"), "\\u001b[2J");
  EXPECT_EQ(EscapeName("bad\xFF\xC3.txt"), "bad\\xff\\xc3.txt");
  EXPECT_EQ(EscapeName("\xE2\x82"), "\\xe2\\x82");
  EXPECT_EQ(EscapeName("photo\xE2\x80\xAEgnp.exe"), "photo\\u202egnp.exe");
  EXPECT_EQ(EscapeName("\xC2\x85|\xE2\x80\xA8|\xE2\x81\xA6|\xEF\xBB\xBF"), "\\u0085|\\u2028|\\u2066|\\ufeff");
  EXPECT_EQ(EscapeName("\xF3\xA0\x81\x81"), "\\U000e0041");
  EXPECT_EQ(EscapeName("a\\xff"), "a\\\\xff");
  EXPECT_EQ(EscapeName("\0"s), "\\u0000");
}

// Undoes the escaping, as a reader of the documented rule would.
std::string Unescape(absl::string_view text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      bytes.push_back(text[i]);
      continue;
    }
    char kind = text[++i];
    if (kind == '\\') {
      bytes.push_back('\\');
      continue;
    }
    size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : 8;
    uint32_t value = static_cast<uint32_t>(std::stoul(std::string(text.substr(i + 1, digits)), nullptr, 16));
    if (kind == 'x') {
      bytes.push_back(static_cast<char>(value));
    } else {
      capture::AppendCharacter(value, &bytes);
    }
    i += digits;
  }
  return bytes;
}

TEST(EscapeNameTest, RandomBytesGiveValidBoundedReversibleText) {
  std::mt19937 random(1);
  for (int round = 0; round < 5000; ++round) {
    std::string bytes;
    for (size_t i = random() % 24; i > 0; --i) bytes.push_back(static_cast<char>(random() % 3 == 0 ? random() % 128 : random() % 256));
    std::string text = EscapeName(bytes);
    EXPECT_TRUE(capture::IsValidUtf8(text));
    EXPECT_LE(text.size(), 6 * bytes.size());
    EXPECT_EQ(Unescape(text), bytes);
    for (char c : text) EXPECT_GE(static_cast<uint8_t>(c), 0x20);
  }
}

}  // namespace
}  // namespace cellblock::artifact
