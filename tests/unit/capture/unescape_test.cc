// Escapes are read as Python, JSON and HTML mean them, wherever they are split, and whatever else looks like one stays.
#include "capture/unescape.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cellblock::capture {
namespace {

std::string Read(Escapes escapes, absl::string_view text) {
  Unescaper unescaper(escapes);
  std::string read;
  uint64_t at = 0, behind = 0;
  auto append = [&](const SpelledByte& spelled) {
    EXPECT_LT(spelled.begin, spelled.end);
    EXPECT_GE(spelled.end, behind) << "in order";
    behind = spelled.end;
    read.push_back(static_cast<char>(spelled.byte));
  };
  for (char c : text) {
    unescaper.Append({static_cast<uint8_t>(c), at, at + 1}, append);
    ++at;
  }
  unescaper.Finish(append);
  EXPECT_FALSE(unescaper.holds_any());
  EXPECT_EQ(behind, at);
  return read;
}
std::string Backslash(absl::string_view text) { return Read(Escapes::kBackslash, text); }
std::string Html(absl::string_view text) { return Read(Escapes::kHtml, text); }

TEST(UnescapeTest, ReadsWhatJsonAndPythonWrite) {
  EXPECT_EQ(Backslash(R"(a\"b\'c\\d\/e)"), R"(a"b'c\d/e)");
  EXPECT_EQ(Backslash(R"(\n\r\t\b\f)"), "\n\r\t\b\f");
  EXPECT_EQ(Backslash(R"(p\u00e4ss p\u00E4ss p\xe4ss)"), "päss päss päss");
  EXPECT_EQ(Backslash(R"(\ud83d\udd11 \U0001f511 \u20ac)"), "🔑 🔑 €");
  EXPECT_EQ(Backslash(R"(\_\&\$)"), "_&$");
}

TEST(UnescapeTest, WhatIsNoEscapeStays) {
  for (const char* text : {R"(\)", R"(\q)", R"(\u)", R"(\u00g4)", R"(\x4)", R"(\U00110000)", R"(\uD83D)", R"(\udd11)", R"(\ud83dx)"}) EXPECT_EQ(Backslash(text), text);
  EXPECT_EQ(Backslash(R"(\ud83d\u0041)"), R"(\ud83dA)");
  EXPECT_EQ(Backslash(R"(\ud83d\n)"), "\\ud83d\n") << "what follows a lone half is read all the same";
  EXPECT_EQ(Backslash(R"(\u0\\)"), R"(\u0\)");
  for (const char* text : {"&", "& b", "&am", "&amp", "&auml;", "&#;", "&#x;", "&#xg;", "&#12345678;", "&#x110000;", "&#xd800;", "&#"}) EXPECT_EQ(Html(text), text);
  EXPECT_EQ(Html("&&amp;&am&lt;"), "&&&am<");
}

TEST(UnescapeTest, ReadsWhatHtmlWrites) {
  EXPECT_EQ(Html("a&amp;b&lt;c&gt;d&quot;e&apos;f"), "a&b<c>d\"e'f");
  EXPECT_EQ(Html("&#38;&#x26;&#X26;&#039;&#x27;&#228;&#xe4;&#x1F511;&#10;"), "&&&''ää🔑\n");
  EXPECT_EQ(Html("&amp;amp;"), "&amp;") << "once";
}

TEST(UnescapeTest, BytesAreBytesWherePythonShowsBytes) {
  EXPECT_EQ(Read(Escapes::kBackslashBytes, R"(b'p\xc3\xa4ss\n')"), "b'päss\n'");
  EXPECT_EQ(Backslash(R"(\xc3)"), "Ã");
}

TEST(UnescapeTest, SaysWhereEachStands) {
  std::vector<uint64_t> begins, ends;
  auto note = [&](const SpelledByte& spelled) {
    begins.push_back(spelled.begin);
    ends.push_back(spelled.end);
  };
  Unescaper unescaper(Escapes::kHtml);
  uint64_t at = 100;
  for (char c : std::string("a&lt;&#228;b")) {
    unescaper.Append({static_cast<uint8_t>(c), at, at + 1}, note);
    ++at;
  }
  EXPECT_THAT(begins, testing::ElementsAre(100, 101, 105, 105, 111));
  EXPECT_THAT(ends, testing::ElementsAre(101, 105, 111, 111, 112));
}

}  // namespace
}  // namespace cellblock::capture
