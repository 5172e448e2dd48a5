// The way back from the record's JSON: the same bytes for every record, and an error for whatever is damaged.
#include "capture/json_text.h"
#include "render/record_parse.h"

#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "render/record_json.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/render/random_record.h"

namespace cellblock::render {
namespace {

using ::testing::HasSubstr;

constexpr auto kDamaged = absl::StatusCode::kDataLoss;

Record Back(const Record& record) {
  auto back = ParseRecordJson(RenderRecordJson(record));
  EXPECT_THAT(back, IsOk());
  return back.ok() ? *back : Record();
}

// A record's JSON with one piece of it changed.
std::string Changed(const Record& record, absl::string_view piece, absl::string_view other) {
  std::string json = RenderRecordJson(record);
  EXPECT_THAT(json, HasSubstr(std::string(piece)));
  return absl::StrReplaceAll(json, {{piece, other}});
}

Record WithFigure() {
  Record record;
  record.id = "e1";
  record.results.push_back({.mime = {{.type = "text/plain", .data = "<Figure>"}, {.type = "image/png", .data = std::string("\x89P\0G", 4), .is_text = false}}, .metadata_json = "{}"});
  record.events.push_back({.type = Event::Type::kDisplay, .time = absl::Milliseconds(3), .result = 0});
  return record;
}

TEST(ParseRecordJsonTest, EveryRecordComesBackByteForByte) {
  RandomRecords records(5);
  for (int round = 0; round < 20'000; ++round) {
    const std::string json = RenderRecordJson(records.Next());
    auto back = ParseRecordJson(json);
    ASSERT_THAT(back, IsOk()) << json;
    ASSERT_EQ(RenderRecordJson(*back), json);
  }
  EXPECT_EQ(RenderRecordJson(Back(Record())), RenderRecordJson(Record()));
}

TEST(ParseRecordJsonTest, ScalarsComeBackAsTheyWere) {
  Record record;
  record.id = "e1";
  record.session_id = "s1";
  record.call = 7;
  record.status = CallStatus::kTimeout;
  record.reason = "It ran longer than limits.wall, 120 s.";
  record.exit_code = -9;
  record.signal = 9;
  record.session_state = SessionState::kRestarted;
  record.started_at = absl::FromUnixMicros(1700000000123456);
  record.stdout_text = "é 😀 \"\\\n\t\x01";
  record.stderr_text = "warn";
  record.stdout_truncation = StreamTruncation{1, 2, 3};
  record.error = ErrorInfo{.name = "ValueError", .value = "bad", .traceback = "Traceback…", .line = 2, .column = 5, .hint = "look"};
  Record back = Back(record);
  EXPECT_EQ(back.id, "e1");
  EXPECT_EQ(back.session_id, "s1");
  EXPECT_EQ(back.call, 7);
  EXPECT_EQ(back.status, CallStatus::kTimeout);
  EXPECT_EQ(back.reason, record.reason);
  EXPECT_EQ(back.exit_code, -9);
  EXPECT_EQ(back.signal, 9);
  EXPECT_EQ(back.session_state, SessionState::kRestarted);
  EXPECT_EQ(back.started_at, record.started_at);
  EXPECT_EQ(back.stdout_text, record.stdout_text);
  EXPECT_EQ(back.stderr_text, "warn");
  EXPECT_EQ(back.stdout_truncation->dropped_bytes, 3);
  EXPECT_FALSE(back.stderr_truncation.has_value());
  EXPECT_EQ(back.error->name, "ValueError");
  EXPECT_EQ(back.error->traceback, "Traceback…");
  EXPECT_EQ(back.error->line, 2);
  EXPECT_EQ(back.error->column, 5);
  EXPECT_EQ(back.error->hint, "look");
}

TEST(ParseRecordJsonTest, ListsComeBackAsTheyWere) {
  Record record;
  record.artifacts.push_back({.id = "a1", .path = "out/p.png", .size_bytes = 10, .mime = "image/png", .sha256 = "ab", .created = false, .call = 3,
                              .image_size = std::make_pair(640, 480), .stored_at = "/somewhere/a1"});
  record.receipt.wall = absl::Microseconds(1'500'001);
  record.receipt.cpu = absl::InfiniteDuration();
  record.receipt.processes_killed = 2;
  record.receipt.limits = {{"memory", "2 GiB"}, {"wall", "120 s"}};
  record.receipt.limits_hit = {{"output", "cut"}};
  record.receipt.layers = {{"seccomp", "enforced", ""}, {"landlock", "off", "no kernel support"}};
  record.denials = {{"file", "/etc/shadow", "files", 2}};
  Record back = Back(record);
  ASSERT_EQ(back.artifacts.size(), 1u);
  EXPECT_EQ(back.artifacts[0].path, "out/p.png");
  EXPECT_FALSE(back.artifacts[0].created);
  EXPECT_EQ(back.artifacts[0].image_size, std::make_pair(int64_t{640}, int64_t{480}));
  EXPECT_EQ(back.artifacts[0].stored_at, "");  // not in the JSON
  EXPECT_EQ(back.receipt.wall, record.receipt.wall);
  EXPECT_EQ(back.receipt.cpu, absl::InfiniteDuration());
  EXPECT_EQ(back.receipt.processes_killed, 2);
  EXPECT_EQ(back.receipt.limits, record.receipt.limits);
  EXPECT_EQ(back.receipt.limits_hit[0].detail, "cut");
  EXPECT_EQ(back.receipt.layers[1].detail, "no kernel support");
  EXPECT_EQ(back.denials[0].subject, "/etc/shadow");
  EXPECT_EQ(back.denials[0].count, 2);
}

TEST(ParseRecordJsonTest, TypesTellTextFromBytesAndJson) {
  Record record;
  record.results.push_back({.mime = {{.type = "text/plain", .data = "abcd"},
                                     {.type = "image/svg+xml", .data = "<svg/>"},
                                     {.type = "image/png", .data = std::string("\x89P\0G", 4), .is_text = false},
                                     {.type = "application/vnd.own", .data = "no base64!"},
                                     {.type = "application/json", .data = "\"\\u00e9\"", .is_json = true},
                                     {.type = "application/vnd.plotly.v1+json", .data = "{ \"n\": 1.50, \"n\": 1E400 }", .is_json = true},
                                     {.type = "text/x-list", .data = "[1]", .is_json = true}},
                            .metadata_json = "{\"a\": 1}"});
  const std::vector<MimeData> mime = Back(record).results[0].mime;
  ASSERT_EQ(mime.size(), 7u);
  auto expect = [&](size_t i, absl::string_view data, bool is_text, bool is_json) {
    EXPECT_EQ(mime[i].type, record.results[0].mime[i].type);
    EXPECT_EQ(mime[i].data, data);
    EXPECT_EQ(mime[i].is_text, is_text) << mime[i].type;
    EXPECT_EQ(mime[i].is_json, is_json) << mime[i].type;
  };
  expect(0, "abcd", true, false);
  expect(1, "<svg/>", true, false);
  expect(2, absl::string_view("\x89P\0G", 4), false, false);
  expect(3, "no base64!", true, false);
  expect(4, "\"\\u00e9\"", true, true);
  expect(5, "{\"n\":1.50,\"n\":1E400}", true, true);
  expect(6, "[1]", true, true);
  EXPECT_EQ(Back(record).results[0].metadata_json, "{\"a\":1}");
}

TEST(ParseRecordJsonTest, EventsFindTheirResults) {
  auto plain = [](const char* text, bool is_value, const char* display_id) {
    return Result{.mime = {{.type = "text/plain", .data = text}}, .metadata_json = "{}", .is_value = is_value, .display_id = display_id};
  };
  Record record;
  record.results = {plain("x", false, ""), plain("alone", false, ""), plain("x", false, "d"), plain("x", true, ""), plain("y", false, "d"), plain("x", false, "")};
  record.events = {{.type = Event::Type::kDisplay, .result = 0}, {.type = Event::Type::kDisplay, .result = 2}, {.type = Event::Type::kUpdate, .result = 4},
                   {.type = Event::Type::kDisplay, .result = 5}, {.type = Event::Type::kResult, .result = 3},  {.type = Event::Type::kResult, .result = 99}};
  Record back = Back(record);
  ASSERT_EQ(back.events.size(), 6u);
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(back.events[i].result, record.events[i].result) << i;
  EXPECT_EQ(back.events[5].result, kNoResult);
}

TEST(ParseRecordJsonTest, FlagsAndTimesOfEventsComeBack) {
  Record record;
  record.events = {{.type = Event::Type::kStderr, .time = absl::Microseconds(86'400'000'001), .text = "a", .late = true}, {.type = Event::Type::kStdout, .time = -absl::Milliseconds(250)},
                   {.type = Event::Type::kClear, .wait = true}, {.type = Event::Type::kError}};
  Record back = Back(record);
  EXPECT_EQ(back.events[0].time, absl::Microseconds(86'400'000'001));
  EXPECT_TRUE(back.events[0].late);
  EXPECT_EQ(back.events[1].time, -absl::Milliseconds(250));
  EXPECT_FALSE(back.events[1].late);
  EXPECT_TRUE(back.events[2].wait);
}

TEST(ParseRecordJsonTest, GuestJsonAtTheMaximumDepthComesBack) {
  const std::string deep = std::string(capture::kJsonDepthMax, '[') + std::string(capture::kJsonDepthMax, ']');
  Record record = WithFigure();
  record.results[0].mime.push_back({.type = "application/json", .data = deep, .is_json = true});
  EXPECT_EQ(Back(record).results[0].mime[2].data, deep);
  EXPECT_EQ(RenderRecordJson(Back(record)), RenderRecordJson(record));
}

TEST(ParseRecordJsonTest, UnknownMembersArePassedOver) {
  EXPECT_THAT(ParseRecordJson(Changed(WithFigure(), "\"call\":", "\"later\":{\"id\":[1]},\"call\":")), IsOk());
}

TEST(ParseRecordJsonTest, DamageSaysWhatAndWhere) {
  EXPECT_THAT(ParseRecordJson(""), StatusIs(kDamaged, HasSubstr("not JSON")));
  EXPECT_THAT(ParseRecordJson("[]"), StatusIs(kDamaged, HasSubstr("not an object")));
  EXPECT_THAT(ParseRecordJson("{}"), StatusIs(kDamaged, HasSubstr("there is no \"id\"")));
  EXPECT_THAT(ParseRecordJson("{\"id\":[\"" + std::string(capture::kJsonDepthMax * 2, '[')), StatusIs(kDamaged, HasSubstr("not JSON")));
  const Record record = WithFigure();
  struct Case {
    const char* piece;
    const char* other;
    const char* message;
  };
  for (const Case& damage : std::initializer_list<Case>{
           {"\"call\":0", "\"call\":1.5", "record e1: \"call\" is not a whole number"},
           {"\"call\":0", "\"coll\":0", "record e1: there is no \"call\""},
           {"\"call\":0", "\"call\":0,\"call\":0", "a member comes twice"},
           {"\"status\":\"lost\"", "\"status\":\"fine\"", "\"status\" is not a word that is known there"},
           {"\"exit_code\":null", "\"exit_code\":3000000000", "\"exit_code\" is not a whole number of 32 bits"},
           {"\"started_at\":\"1970-01-01T00:00:00.000000Z\"", "\"started_at\":\"infinite-past\"", "\"started_at\" is not a time"},
           {"\"stdout\":\"\"", "\"stdout\":7", "\"stdout\" is not a string"},
           {"\"events\":[", "\"events\":[7,", "events[0]: not an object"},
           {"\"type\":\"display\"", "\"type\":\"shown\"", "events[0]: \"type\" is not a word"},
           {"\"type\":\"display\"", "\"type\":\"error\",\"name\":\"E\"", "events[0] and \"error\" contradict each other"},
           {"\"t_seconds\":0.003", "\"t_seconds\":3E-3", "events[0]: \"t_seconds\" is not a number of seconds"},
           {"\"t_seconds\":0.003", "\"t_seconds\":9223372036854.775808", "events[0]: \"t_seconds\" is not a number of seconds"},
           {"\"is_value\":false", "\"is_value\":0", "results[0]: \"is_value\" is not true or false"},
           {"\"results\":[{\"mime\":{", "\"results\":[{\"mime\":{\"text/x\":\"\",", "events[0]: \"mime\" is not that of any result"},
           {"\"metadata\":{}", "\"metadata\":[]", "results[0]: \"metadata\" is not an object"},
           {"\"artifacts\":[]", "\"artifacts\":{}", "\"artifacts\" is not a list"},
           {"\"limits\":{}", "\"limits\":{\"wall\":1}", "receipt: \"limits\" is not an object"},
           {"\"truncation\":{\"stdout\":null", "\"truncation\":{\"stdout\":{}", "stdout: there is no \"head_bytes\""}}) {
    EXPECT_THAT(ParseRecordJson(Changed(record, damage.piece, damage.other)), StatusIs(kDamaged, HasSubstr(damage.message)));
  }
}

TEST(ParseRecordJsonTest, ListsAndMembersAtTheMaximumAndOneAbove) {
  Record record;
  record.denials.resize(kRecordItemsMax);
  EXPECT_THAT(ParseRecordJson(RenderRecordJson(record)), IsOk());
  record.denials.emplace_back();
  EXPECT_THAT(ParseRecordJson(RenderRecordJson(record)), StatusIs(kDamaged, HasSubstr("\"denials\" has more than 100000 items")));
  auto with_members = [](size_t count) {
    std::string more;
    for (size_t i = 18; i < count; ++i) absl::StrAppend(&more, "\"m", i, "\":0,");  // a record has 18
    return Changed(Record(), "\"id\":", more + "\"id\":");
  };
  EXPECT_THAT(ParseRecordJson(with_members(kRecordMembersMax)), IsOk());
  EXPECT_THAT(ParseRecordJson(with_members(kRecordMembersMax + 1)), StatusIs(kDamaged, HasSubstr("more than 64 members")));
}

TEST(ParseRecordJsonTest, AnyDamagedByteGivesARecordOrAnError) {
  RandomRecords records(11);
  std::mt19937 random(12);
  int good = 0, bad = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string json = RenderRecordJson(records.Next());
    for (size_t i = 1 + random() % 3; i > 0; --i) {
      const size_t at = random() % json.size();
      switch (random() % 4) {
        case 0: json[at] = static_cast<char>(random()); break;
        case 1: json.erase(at, 1 + random() % 20); break;
        case 2: json.insert(at, json.substr(random() % json.size(), random() % 20)); break;
        default: json[at] = "{}[]:,\"\\01e-.n"[random() % 14];
      }
    }
    auto back = ParseRecordJson(json);
    if (!back.ok()) {
      ++bad;
      EXPECT_LT(back.status().message().size(), 500u);
      continue;
    }
    ++good;
    const std::string again = RenderRecordJson(*back);
    auto twice = ParseRecordJson(again);
    ASSERT_THAT(twice, IsOk()) << json;
    ASSERT_EQ(RenderRecordJson(*twice), again) << json;
  }
  EXPECT_GT(good, 1000);
  EXPECT_GT(bad, 1000);
}

}  // namespace
}  // namespace cellblock::render
