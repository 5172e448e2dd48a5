// The checker of a guest's JSON, against the grammar and against Boost.JSON.
#include "capture/json_text.h"

#include <random>
#include <string>

#include "gtest/gtest.h"
#include "tests/unit/render/boost_json.h"

namespace cellblock::capture {
namespace {

using render::ParseStrictly;

std::string Compact(absl::string_view text) {
  std::string out = "before ";
  if (!AppendCompactJson(text, &out)) {
    EXPECT_EQ(out, "before ");
    return "refused";
  }
  return out.substr(7);
}

TEST(JsonTextTest, KeepsValuesAndDropsWhiteSpace) {
  EXPECT_EQ(Compact(" { \"a b\" : [ 1 , -2.5e+3 ,\ttrue,\nfalse , null , { } , [ ] ] } \r\n"), R"({"a b":[1,-2.5e+3,true,false,null,{},[]]})");
  EXPECT_EQ(Compact("\"  spaces stay \\n \\u00e9 \\ud83d\\ude00 é 😀 \""), "\"  spaces stay \\n \\u00e9 \\ud83d\\ude00 é 😀 \"");
  EXPECT_EQ(Compact("0"), "0");
}

TEST(JsonTextTest, RefusesWhatIsNotJson) {
  for (const char* text : {"", " ", "NaN", "[NaN]", "Infinity", "-Infinity", "[1,]", "{\"a\":1,}", "{a:1}", "{'a':1}", "[1 2]", "01", "1.", ".5", "+1", "-", "1e", "tru", "nulll",
                           "\"", "\"\\x\"", "\"\\u12\"", "\"\n\"", "\"\x01\"", "[", "]", "{\"a\"}", "{\"a\":}", "{1:2}", "[1]]", "1 2", "// c\n1", "\"\\ud800\"", "\"\\udc00\"",
                           "\"\\ud800\\u0041\"", "\"\xFF\"", "\"\xED\xA0\x80\"", "[}", "{]", "{\"a\":1]", ",", "[,1]"}) {
    EXPECT_EQ(Compact(text), "refused") << text;
  }
}

TEST(JsonTextTest, DepthAtTheMaximumAndOneAbove) {
  std::string at = std::string(kJsonDepthMax, '[') + std::string(kJsonDepthMax, ']');
  EXPECT_EQ(Compact(at), at);
  EXPECT_EQ(Compact("[" + at + "]"), "refused");
  EXPECT_TRUE(IsStrictJson("[" + at + "]", kJsonDepthMax + 1));
  EXPECT_TRUE(IsStrictJson(" [[1], {}] ", 2));
  EXPECT_FALSE(IsStrictJson("[[1], {}]", 1));
  EXPECT_FALSE(IsStrictJson("[NaN]", 2));
}

TEST(JsonTextTest, AgreesWithBoostOnDamagedJson) {
  std::mt19937 random(9);
  const std::string seed = R"( {"a\n\u00e9\ud83d\ude00": [1, -0.5e-7, true, false, null, {}, [], "é😀"], "b": {"c": ""}} )";
  const std::string alphabet = "{}[]:,\"\\0123456789.-+eEtrufalsn \n\tu\xC3\xA9\x01";
  int good = 0, bad = 0;
  for (int round = 0; round < 60'000; ++round) {
    std::string text = seed;
    for (size_t i = 1 + random() % 3; i > 0; --i) {
      size_t at = random() % text.size();
      switch (random() % 3) {
        case 0: text[at] = alphabet[random() % alphabet.size()]; break;
        case 1: text.erase(at, 1); break;
        default: text.insert(at, 1, alphabet[random() % alphabet.size()]);
      }
    }
    std::string compact = Compact(text);
    auto expected = ParseStrictly(text);
    ASSERT_EQ(compact != "refused", expected.has_value()) << text;
    if (!expected.has_value()) {
      ++bad;
      continue;
    }
    ++good;
    EXPECT_EQ(ParseStrictly(compact), expected) << text;
    EXPECT_EQ(compact.find('\n'), std::string::npos);
  }
  EXPECT_GT(good, 1000);
  EXPECT_GT(bad, 1000);
}

}  // namespace
}  // namespace cellblock::capture
