// Text helpers: UTF-8, quoting, near names.
#include "policy/text.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cellblock::policy {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(NextCharacterTest, ReadsEachLength) {
  EXPECT_EQ(NextCharacter("a").code, U'a');
  EXPECT_EQ(NextCharacter("é").code, U'é');
  EXPECT_EQ(NextCharacter("€").code, U'€');
  EXPECT_EQ(NextCharacter("𝄞").code, U'𝄞');
  EXPECT_EQ(NextCharacter("𝄞x").bytes, 4);
  EXPECT_EQ(NextCharacter("").bytes, 0);
}

TEST(NextCharacterTest, RefusesWhatIsNotUtf8) {
  for (const char* bytes :
       {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC3", "\xC3(", "\xE0\x80\x80", "\xE0\x9F\xBF", "\xE2\x82", "\xED\xA0\x80", "\xED\xBF\xBF",
        "\xF0\x80\x80\x80", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\xFE"}) {
    EXPECT_EQ(NextCharacter(bytes).bytes, -1) << testing::PrintToString(std::string(bytes));
  }
  EXPECT_EQ(NextCharacter("\xED\x9F\xBF").code, char32_t{0xD7FF});  // last before the surrogates
  EXPECT_EQ(NextCharacter("\xF4\x8F\xBF\xBF").code, char32_t{0x10FFFF});
}

TEST(TextProblemTest, AllowsTextAndNamesWhatItIsNot) {
  EXPECT_EQ(TextProblem("a\tb\nü 数据 📈"), "");
  EXPECT_EQ(TextProblem("a\xFF"), "is not UTF-8");
  EXPECT_EQ(TextProblem(absl::string_view("a\0b", 3)), "holds the control character U+0000");
  EXPECT_EQ(TextProblem("\x1b[0m"), "holds the control character U+001B");
  EXPECT_EQ(TextProblem("\r"), "holds the control character U+000D");
  EXPECT_EQ(TextProblem("\xC2\x85"), "holds the control character U+0085");
}

TEST(ShownTest, EscapesAndCuts) {
  EXPECT_EQ(Shown("a\"\\\n\x1b"), R"("a\"\\\n\u001B")");
  EXPECT_EQ(Shown("\xFF"), R"("\uFFFD")");
  EXPECT_EQ(Shown(std::string(64, 'a')), absl::StrCat("\"", std::string(64, 'a'), "\""));
  EXPECT_EQ(Shown(std::string(65, 'a')), absl::StrCat("\"", std::string(64, 'a'), "\"…"));
  EXPECT_EQ(Shown(absl::StrCat(std::string(63, 'a'), "é")), absl::StrCat("\"", std::string(63, 'a'), "\"…"));  // never within a character
}

TEST(YamlTextTest, QuotesWhateverAReaderCouldMistake) {
  for (const char* plain : {"abc", "a.b_c-d", "/srv/data", "numpy", "UTC", "Europe/Berlin", "C.UTF-8"}) EXPECT_EQ(YamlText(plain), plain);
  for (const char* odd : {"",   "true", "No", "OFF", "null", "none", "123", "1.5", "-", "- a", "a: b", "a #b", "*x", "&x", "!x",
                          "%x", "@x",   "`x", "{a}", "[a]",  "a,b",  "'",   "~",   "?", "|",   ">",    " a",   "a ", "<<", "é"}) {
    EXPECT_EQ(YamlText(odd), absl::StrCat("\"", odd, "\""));
  }
  EXPECT_EQ(YamlText("a\"b\\c\nd\te"), R"("a\"b\\c\nd\te")");
  EXPECT_EQ(YamlText("\u202e\u2028\ufeff\u0085"), R"("\u202E\u2028\uFEFF\u0085")");
  EXPECT_EQ(YamlText("\U0001FFFE"), R"("\U0001FFFE")");
}

TEST(NearWordsTest, FindsSlipsBestFirst) {
  std::vector<std::string> known = {"memory", "processes", "open_files", "wall", "wall_grace", "cpu", "cpus"};
  EXPECT_THAT(NearWords("memroy", known), ElementsAre("memory"));
  EXPECT_THAT(NearWords("Open-Files", known), ElementsAre("open_files"));
  EXPECT_THAT(NearWords("memory_bytes", known), ElementsAre("memory"));
  EXPECT_THAT(NearWords("proc", known), ElementsAre("processes"));
  EXPECT_THAT(NearWords("cpsu", known), ElementsAre("cpu", "cpus"));
  EXPECT_THAT(NearWords("xyzzy", known), IsEmpty());
  EXPECT_THAT(NearWords("", known), IsEmpty());
}

TEST(NearWordsTest, IgnoresWordsOver64BytesAndListsThree) {
  EXPECT_THAT(NearWords(std::string(64, 'a'), {std::string(63, 'a') + "b"}), ElementsAre(std::string(63, 'a') + "b"));
  EXPECT_THAT(NearWords(std::string(65, 'a'), {std::string(64, 'a')}), IsEmpty());
  EXPECT_THAT(NearWords("a", {std::string(65, 'a')}), IsEmpty());
  EXPECT_THAT(NearWords("name", {"name1", "name2", "name3", "name4"}), ElementsAre("name1", "name2", "name3"));
}

}  // namespace
}  // namespace cellblock::policy
