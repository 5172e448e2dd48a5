// Every byte and every number comes out as strict JSON.
#include "render/json_writer.h"

#include <random>
#include <string>

#include "absl/strings/escaping.h"
#include "capture/utf8.h"
#include "gtest/gtest.h"
#include "tests/unit/render/boost_json.h"

namespace cellblock::render {
namespace {

template <typename Write>
std::string Written(Write write) {
  std::string out;
  JsonWriter json(&out);
  write(json);
  return out;
}

std::string Quoted(absl::string_view text) {
  return Written([&](JsonWriter& json) { json.String(text); });
}

TEST(JsonWriterTest, SeparatesValuesAtEveryLevel) {
  std::string out = Written([](JsonWriter& json) {
    json.BeginObject();
    json.Member("a", int64_t{1});
    json.Key("b");
    json.BeginArray();
    json.Bool(true);
    json.Null();
    json.BeginObject();
    json.EndObject();
    json.BeginArray();
    json.EndArray();
    json.String("x");
    json.EndArray();
    json.Member("c", "text");
    json.Member("d", false);
    json.EndObject();
  });
  EXPECT_EQ(out, R"({"a":1,"b":[true,null,{},[],"x"],"c":"text","d":false})");
}

TEST(JsonWriterTest, EscapesEveryByteAtEveryPlaceInAWord) {
  for (int byte = 0; byte < 128; ++byte) {
    for (size_t before = 0; before < 18; ++before) {
      std::string text = std::string(before, 'x') + static_cast<char>(byte) + std::string(9, 'y');
      auto value = ParseStrictly(Quoted(text));
      ASSERT_TRUE(value.has_value()) << byte << " " << before;
      EXPECT_EQ(Text(*value), text);
    }
  }
  EXPECT_EQ(Quoted("\"\\\n\r\t\x01\x1F\x7F/"), "\"\\\"\\\\\\n\\r\\t\\u0001\\u001f\x7F/\"");
}

TEST(JsonWriterTest, RandomBytesBecomeTheirReplacedText) {
  std::mt19937 random(6);
  for (int round = 0; round < 5000; ++round) {
    std::string bytes;
    for (size_t i = random() % 60; i > 0; --i) bytes.push_back(static_cast<char>(random() % 2 == 0 ? random() % 256 : ' ' + random() % 90));
    auto value = ParseStrictly(Quoted(bytes));
    ASSERT_TRUE(value.has_value());
    EXPECT_EQ(Text(*value), capture::ToValidUtf8(bytes));
  }
}

TEST(JsonWriterTest, WritesDurationsAsPlainNumbers) {
  auto seconds = [](absl::Duration d) { return Written([&](JsonWriter& json) { json.Seconds(d); }); };
  EXPECT_EQ(seconds(absl::ZeroDuration()), "0");
  EXPECT_EQ(seconds(absl::Microseconds(1)), "0.000001");
  EXPECT_EQ(seconds(absl::Milliseconds(1500)), "1.5");
  EXPECT_EQ(seconds(absl::Hours(24) + absl::Microseconds(120)), "86400.00012");
  EXPECT_EQ(seconds(-absl::Milliseconds(250)), "-0.25");
  EXPECT_EQ(seconds(absl::Nanoseconds(999)), "0");
  EXPECT_EQ(seconds(absl::InfiniteDuration()), "null");
  EXPECT_EQ(seconds(-absl::InfiniteDuration()), "null");
}

TEST(JsonWriterTest, WritesTimesByRfc3339) {
  auto time = [](absl::Time t) { return Written([&](JsonWriter& json) { json.Time(t); }); };
  EXPECT_EQ(time(absl::UnixEpoch()), "\"1970-01-01T00:00:00.000000Z\"");
  EXPECT_EQ(time(absl::FromUnixMicros(1700000000123456)), "\"2023-11-14T22:13:20.123456Z\"");
  EXPECT_EQ(time(absl::InfiniteFuture()), "null");
}

TEST(JsonWriterTest, WritesBytesAsBase64) {
  EXPECT_EQ(Written([](JsonWriter& json) { json.Base64("\x89PNG"); }), "\"iVBORw==\"");
  EXPECT_EQ(Written([](JsonWriter& json) { json.Base64(""); }), "\"\"");
}

TEST(JsonWriterTest, GuestJsonIsJsonOrAString) {
  auto either = [](absl::string_view text) {
    return Written([&](JsonWriter& json) {
      json.BeginArray();
      json.Int(1);
      json.JsonOrString(text);
      json.Int(2);
      json.EndArray();
    });
  };
  EXPECT_EQ(either("{ \"a\": 1 }"), R"([1,{"a":1},2])");
  EXPECT_EQ(either("[NaN]"), R"([1,"[NaN]",2])");
  EXPECT_EQ(either("1],[2"), R"([1,"1],[2",2])");
  EXPECT_EQ(either(""), R"([1,"",2])");
  auto object = [](absl::string_view text) {
    return Written([&](JsonWriter& json) {
      json.BeginArray();
      json.JsonObject(text);
      json.EndArray();
    });
  };
  EXPECT_EQ(object(" {\"w\": 3}"), R"([{"w":3}])");
  EXPECT_EQ(object("[1]"), "[{}]");
  EXPECT_EQ(object("{\"w\": NaN}"), "[{}]");
  EXPECT_EQ(object(""), "[{}]");
}

}  // namespace
}  // namespace cellblock::render
