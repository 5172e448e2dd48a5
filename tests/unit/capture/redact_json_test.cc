// Literals vanish from JSON however its strings spell them, and JSON stays JSON.
#include "capture/redact_json.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "capture/json_text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace cellblock::capture {
namespace {

std::string Clean(absl::string_view json, const std::vector<std::string>& literals = {"S3CRET-päss", "pa\"ss\\word", "line1\nline2", "key🔑key", "a/b/c/d", "a&b<c>", "12345678"}) {
  auto set = RedactionSet::Create(literals);
  EXPECT_THAT(set, IsOk());
  const std::string clean = RedactJson(*set, json);
  EXPECT_EQ(IsStrictJson(clean, kJsonDepthMax), IsStrictJson(json, kJsonDepthMax)) << clean;
  return clean;
}

TEST(RedactJsonTest, FindsEverySpellingOfAString) {
  for (const char* spelled : {R"(S3CRET-päss)", R"(S3CRET-p\u00e4ss)", R"(S3CRET-p\u00E4ss)", R"(\u00533CRET\u002dp\u00e4s\u0073)", R"(pa\"ss\\word)", R"(pa\u0022ss\u005cword)",
                              R"(line1\nline2)", R"(line1\u000aline2)", R"(key🔑key)", R"(key\ud83d\udd11key)", R"(key\uD83D\uDD11key)", R"(a/b\/c\u002fd)"}) {
    EXPECT_EQ(Clean(absl::StrCat("\"", spelled, "\"")), "\"***\"") << spelled;
    EXPECT_EQ(Clean(absl::StrCat("{\"k\": [1, \"a ", spelled, " z\"]}")), "{\"k\": [1, \"a *** z\"]}") << spelled;
    EXPECT_EQ(Clean(absl::StrCat("{\"", spelled, "\":{}}")), "{\"***\":{}}") << "keys too: " << spelled;
  }
}

TEST(RedactJsonTest, FindsWhatIsEncodedWithinAString) {
  EXPECT_EQ(Clean(R"({"repr": "'pa\"ss\\\\word'", "html": "<b>a&amp;b&lt;c&gt;</b>", "json": "{\"k\": \"S3CRET-p\\u00e4ss\"}"})"),
            R"({"repr": "'***'", "html": "<b>***</b>", "json": "{\"k\": \"***\"}"})");
}

TEST(RedactJsonTest, CopiesWhatHoldsNone) {
  for (const char* json : {R"( {"a" : [ 1.50e+3 , true,null , "\u00e4\/\"" ] ,"a":{}} )", R"("")", "[]", "0", "-1", R"(["S3CRET-","p\u00e4ss"])"}) EXPECT_EQ(Clean(json), json);
}

TEST(RedactJsonTest, ANumberThatHoldsOneBecomesAString) {
  EXPECT_EQ(Clean(R"({"pin":12345678,"n":[-12345678.5,1234567]})"), R"({"pin":"***","n":["-***.5",1234567]})");
}

TEST(RedactJsonTest, NoPieceOfAStringHelpsTheNext) {
  EXPECT_EQ(Clean(R"(["secr","et","sec\u0072","secret\\"])", {"secret"}), R"(["secr","et","sec\u0072","***\\"])");
}

TEST(RedactJsonTest, SpellsControlCharactersBesideOneAnew) {
  EXPECT_EQ(Clean(R"("\n\u0001secret\"\\\t\ud83d\udd11")", {"secret"}), R"("\u000a\u0001***\"\\\u0009🔑")");
}

TEST(RedactJsonTest, WhatIsNoJsonIsRedactedAsText) {
  EXPECT_EQ(Clean(R"({"k":"S3CRET-p\u00e4ss","n":NaN} pa"ss\word)"), R"({"k":"***","n":NaN} ***)");
  EXPECT_EQ(Clean(R"("pa\"ss\\word)"), R"("***)");
  EXPECT_EQ(Clean(""), "");
}

TEST(RedactJsonTest, NothingIsRedactedWithoutASet) { EXPECT_EQ(RedactJson(nullptr, "[1, 2]"), "[1, 2]"); }

}  // namespace
}  // namespace cellblock::capture
