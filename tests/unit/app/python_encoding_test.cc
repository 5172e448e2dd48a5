// Source files as editors and systems save them.
#include "app/python_encoding.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace cellblock::app {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string Decoded(absl::string_view bytes) {
  absl::StatusOr<std::string> text = DecodePythonSource(bytes, "x.py");
  EXPECT_THAT(text, IsOk());
  return text.value_or("");
}

TEST(DecodePythonSourceTest, TakesUtf8AsItIs) {
  EXPECT_EQ(Decoded(""), "");
  EXPECT_EQ(Decoded("print('數據 é')\n"), "print('數據 é')\n");
}

TEST(DecodePythonSourceTest, DropsTheByteOrderMark) { EXPECT_EQ(Decoded("\xEF\xBB\xBFx = 1\n"), "x = 1\n"); }

TEST(DecodePythonSourceTest, MakesEveryLineEndALineFeed) { EXPECT_EQ(Decoded("a\r\nb\rc\n\r\n"), "a\nb\nc\n\n"); }

TEST(DecodePythonSourceTest, ReadsTheDeclaredEncoding) {
  EXPECT_EQ(Decoded("# -*- coding: latin-1 -*-\ns = '\xE9'\n"), "# -*- coding: latin-1 -*-\ns = 'é'\n");
  EXPECT_EQ(Decoded("#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\ns = '\x80'\n"),
            "#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\ns = '€'\n");
  EXPECT_EQ(Decoded("# coding=iso_8859_15\n'\xA4'"), "# coding=iso_8859_15\n'€'");
  EXPECT_EQ(Decoded("#coding:shift_jis\n'\x93\xFA\x96\x7B'"), "#coding:shift_jis\n'日本'");
  EXPECT_EQ(Decoded("# coding: koi8-r\n'\xC4\xC1'"), "# coding: koi8-r\n'да'");
}

TEST(DecodePythonSourceTest, TakesEverySpellingOfUtf8) {
  for (const char* name : {"utf-8", "UTF8", "utf_8", "utf-8-sig", "U8"}) {
    EXPECT_THAT(DecodePythonSource(absl::StrCat("# coding: ", name, "\n'é'"), "x.py"), IsOk()) << name;
  }
}

TEST(DecodePythonSourceTest, SaysWhichByteOfWhichLineIsNotUtf8) {
  EXPECT_THAT(
      DecodePythonSource("a = 1\nb = 'caf\xE9'\n", "x.py"),
      StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr("x.py:2: byte 0xe9 is not UTF-8"), HasSubstr("coding: latin-1"))));
  EXPECT_THAT(DecodePythonSource("# coding: utf-8\n\n'\xC3'", "x.py"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("x.py:3:")));
}

TEST(DecodePythonSourceTest, RefusesWhatItCannotKnow) {
  EXPECT_THAT(DecodePythonSource("# coding: klingon\n", "x.py"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("unknown encoding 'klingon'")));
  EXPECT_THAT(DecodePythonSource("# coding: ascii\nx = 1\n'\xE9'", "x.py"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("x.py:3: a byte that is not ascii")));
  EXPECT_THAT(DecodePythonSource("\xEF\xBB\xBF# coding: latin-1\n", "x.py"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("byte-order mark but declares latin-1")));
  EXPECT_THAT(DecodePythonSource(absl::string_view("\xFF\xFEp\0", 4), "x.py"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("UTF-16")));
}

TEST(DecodePythonSourceTest, RefusesNulBytes) {
  EXPECT_THAT(DecodePythonSource(absl::string_view("x\n\0y", 4), "x.py"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("x.py:2: a NUL byte")));
}

TEST(DecodePythonSourceTest, DecodesALargeFileWhole) {
  std::string bytes = "# coding: latin-1\n";
  std::string text = bytes;
  for (int i = 0; i < 200'000; ++i) {
    bytes += "\xE9\n";
    text += "é\n";
  }
  EXPECT_EQ(Decoded(bytes), text);
}

TEST(DeclaredEncodingTest, LooksAtTheFirstTwoLinesAsPythonDoes) {
  EXPECT_EQ(DeclaredEncoding("# coding: latin-1"), "latin-1");
  EXPECT_EQ(DeclaredEncoding("\n# coding: latin-1"), "latin-1");
  EXPECT_EQ(DeclaredEncoding("  \f# encoding = x, coding:latin-1"), "latin-1");
  EXPECT_EQ(DeclaredEncoding("\n\n# coding: latin-1"), "");
  EXPECT_EQ(DeclaredEncoding("x = 1\n# coding: latin-1"), "");
  EXPECT_EQ(DeclaredEncoding("x = 1  # coding: latin-1"), "");
  EXPECT_EQ(DeclaredEncoding("# coding latin-1"), "");
  EXPECT_EQ(DeclaredEncoding("# nothing\r\n# coding: latin-1\r\n"), "latin-1");
}

TEST(DecodeUtf8SourceTest, IgnoresDeclarations) {
  EXPECT_THAT(DecodeUtf8Source("# coding: latin-1\n\xE9", "x.sh"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("x.sh:2:")));
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::string text, DecodeUtf8Source("\xEF\xBB\xBFls\r\n", "x.sh"));
  EXPECT_EQ(text, "ls\n");
}

}  // namespace
}  // namespace cellblock::app
