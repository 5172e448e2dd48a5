// The small parsers of the HTTP front: ranges, targets, hosts, bodies, events, admission.
#include <unistd.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "front/http/admission.h"
#include "front/http/api.h"
#include "front/http/event_stream.h"
#include "front/http/json_body.h"
#include "front/http/message.h"
#include "front/http/header_fields.h"
#include "front/http/target.h"
#include "gtest/gtest.h"

namespace cellblock::front {
namespace {

TEST(RangeTest, TakesOneRangeOfBytes) {
  const struct {
    const char* header;
    Range::Kind kind;
    int64_t first, bytes;
  } cases[] = {{"bytes=0-0", Range::Kind::kPart, 0, 1},      {"bytes=2-", Range::Kind::kPart, 2, 8},         {"bytes=-3", Range::Kind::kPart, 7, 3},
               {"bytes=-99", Range::Kind::kPart, 0, 10},     {"bytes=5-99", Range::Kind::kPart, 5, 5},       {"bytes=10-", Range::Kind::kUnsatisfiable, 0, 0},
               {"bytes=-0", Range::Kind::kUnsatisfiable, 0, 0}, {"bytes=3-2", Range::Kind::kWhole, 0, 10},   {"bytes=0-1,3-4", Range::Kind::kWhole, 0, 10},
               {"lines=0-1", Range::Kind::kWhole, 0, 10},    {"bytes=+1-2", Range::Kind::kWhole, 0, 10},     {"bytes=", Range::Kind::kWhole, 0, 10},
               {"bytes=99999999999999999999-", Range::Kind::kWhole, 0, 10}};
  for (const auto& expected : cases) {
    const Range range = ParseRange(expected.header, 10);
    EXPECT_EQ(range.kind, expected.kind) << expected.header;
    EXPECT_EQ(range.first, expected.first) << expected.header;
    EXPECT_EQ(range.bytes, expected.bytes) << expected.header;
  }
  EXPECT_EQ(ParseRange("bytes=0-", 0).kind, Range::Kind::kUnsatisfiable);
}

TEST(AcceptTest, NamesATypeByItself) {
  for (const char* header : {"text/event-stream", "TEXT/Event-Stream", "text/html, text/event-stream;q=0.5", "text/event-stream; charset=utf-8"}) EXPECT_TRUE(AcceptsType(header, "text/event-stream")) << header;
  for (const char* header : {"", "*/*", "text/*", "application/json", "text/event-stream;q=0", "text/event-stream; q=0.000", "text/event-streams", "x=text/event-stream"}) {
    EXPECT_FALSE(AcceptsType(header, "text/event-stream")) << header;
  }
}

TEST(TargetTest, DecodesPathsAndQueries) {
  std::string text;
  EXPECT_TRUE(DecodePercent("a%20%C3%A9%2f", &text));
  EXPECT_EQ(text, "a é/");
  for (const char* broken : {"%", "%2", "%zz", "a%"}) EXPECT_FALSE(DecodePercent(broken, &text)) << broken;
  Target target;
  ASSERT_TRUE(ParseTarget("/v1/x?format=py&a=b+c&&d", &target));
  EXPECT_EQ(target.path, "/v1/x");
  EXPECT_EQ(target.query["a"], "b c");
  EXPECT_EQ(target.query["d"], "");
  EXPECT_FALSE(ParseTarget("http://x/", &target));
  EXPECT_EQ(EncodePercent("é a'.csv"), "%C3%A9%20a%27.csv");
}

TEST(TargetTest, FindsTheHostOfAnAuthority) {
  EXPECT_EQ(HostOf("LocalHost:80"), "localhost");
  EXPECT_EQ(HostOf("[::1]:80"), "[::1]");
  EXPECT_EQ(HostOf("a.example"), "a.example");
  EXPECT_EQ(HostOf("a.example:80x"), "");
  EXPECT_EQ(HostOf("[::1"), "");
}

TEST(JsonBodyTest, TellsTheFirstThingThatIsWrong) {
  auto problem = [](const char* json) {
    absl::StatusOr<JsonBody> body = JsonBody::Parse(json);
    if (!body.ok()) return std::string(body.status().message());
    std::string code;
    std::optional<absl::Duration> timeout;
    body->Require("code", body->Text("code", &code));
    body->Seconds("timeout_seconds", &timeout);
    return std::string(body->Finish().message());
  };
  EXPECT_EQ(problem(R"({"code":"1","timeout_seconds":1.5})"), "");
  EXPECT_EQ(problem(R"({"code":null})"), "code: is missing");
  EXPECT_EQ(problem(R"({"code":1})"), "code: a text is wanted here");
  EXPECT_NE(problem(R"({"code":"1","tiemout_seconds":1})").find("tiemout_seconds: no such field"), std::string::npos);
  for (const char* bad : {R"({"code":"1","timeout_seconds":0})", R"({"code":"1","timeout_seconds":1e-20})", R"({"code":"1","timeout_seconds":1e9})", R"({"code":"1","timeout_seconds":"1"})", "[]", "{", "{}x", "nul", "\xff"}) {
    EXPECT_NE(problem(bad), "") << bad;
  }
  EXPECT_NE(problem((std::string(10'000, '[') + "1").c_str()), "");
}

TEST(SpoolTest, LargeBodiesGoIntoAFileAndOthersStay) {
  HttpReply small, large, nowhere;
  small.body = std::string(kSpooledFrom, 'a');
  large.body = nowhere.body = std::string(kSpooledFrom + 1, 'b');
  Spool(::testing::TempDir(), &small);
  Spool(::testing::TempDir(), &large);
  Spool("/nonexistent", &nowhere);
  EXPECT_FALSE(small.file.valid());
  EXPECT_EQ(small.body.size(), kSpooledFrom);
  ASSERT_TRUE(large.file.valid());
  EXPECT_EQ(large.body, "");
  EXPECT_EQ(large.file_bytes, static_cast<int64_t>(kSpooledFrom + 1));
  std::string content(kSpooledFrom + 2, ' ');
  EXPECT_EQ(pread(large.file.get(), content.data(), content.size(), large.file_offset), large.file_bytes);
  EXPECT_EQ(content, std::string(kSpooledFrom + 1, 'b') + " ");
  EXPECT_FALSE(nowhere.file.valid());
  EXPECT_EQ(nowhere.body.size(), kSpooledFrom + 1) << "a full disk costs memory, not the answer";
}

TEST(TargetTest, EncodedDotsSlashesAndNulsAreBytesOfOnePartAndNothingMore) {
  std::string text;
  ASSERT_TRUE(DecodePercent("%2e%2E%2f%00%ff", &text));
  EXPECT_EQ(text, std::string("../\0\xff", 5));
  ASSERT_TRUE(DecodePercent("%C0%AE%C0%AE", &text));
  EXPECT_EQ(text, "\xC0\xAE\xC0\xAE") << "an overlong form of a dot is none";
  ASSERT_TRUE(DecodePercent("%2525", &text));
  EXPECT_EQ(text, "%25") << "decoded once";
  ASSERT_TRUE(DecodePercent("a+b", &text));
  EXPECT_EQ(text, "a+b") << "a plus is a space in queries alone";
  for (const std::string& all : {std::string("\0\x01 /?#[]@!$&'()*+,;=%\x7f\xff", 23), std::string("é数📈")}) {
    ASSERT_TRUE(DecodePercent(EncodePercent(all), &text));
    EXPECT_EQ(text, all);
  }
}

TEST(TargetTest, OfANameThatComesTwiceTheLastValueCounts) {
  Target target;
  ASSERT_TRUE(ParseTarget("/x?a=1&a=2#a=3", &target));
  EXPECT_EQ(target.query["a"], "2");
  EXPECT_FALSE(ParseTarget("", &target));
  EXPECT_FALSE(ParseTarget("x", &target));
}

struct Wanted {
  std::string text = "unset";
  bool flag = false;
  std::optional<uint64_t> number;
  std::optional<absl::Duration> seconds;
  std::vector<std::pair<std::string, std::string>> texts;
  std::string object = "unset";
  std::string choice = "unset";
  std::vector<std::string> list;
};

// What is wrong; "" when nothing is.
std::string ReadAll(const std::string& json, Wanted* wanted) {
  absl::StatusOr<JsonBody> body = JsonBody::Parse(json);
  if (!body.ok()) return std::string(body.status().message());
  body->Text("text", &wanted->text);
  body->Flag("flag", &wanted->flag);
  body->Number("number", &wanted->number);
  body->Seconds("seconds", &wanted->seconds);
  body->Texts("texts", &wanted->texts);
  body->Object("object", &wanted->object);
  body->OneOf("choice", {"a", "b"}, &wanted->choice);
  body->List("list", 2, [&](JsonBody& item) { item.Require("name", item.Text("name", &wanted->list.emplace_back())); });
  return std::string(body->Finish().message());
}

TEST(JsonBodyTest, ReadsEveryKindOfField) {
  Wanted wanted;
  EXPECT_EQ(ReadAll(R"({"text":"\u0000é\ud83d\udcc8","flag":true,"number":18446744073709551615,"seconds":0.5,"texts":{"A":"1"},"object":{"b":[null]},"choice":"b","list":[{"name":"x"},{"name":"y"}]})", &wanted), "");
  EXPECT_EQ(wanted.text, std::string("\0é📈", 7));
  EXPECT_TRUE(wanted.flag);
  EXPECT_EQ(wanted.number, UINT64_MAX);
  EXPECT_EQ(wanted.seconds, absl::Milliseconds(500));
  EXPECT_EQ(wanted.texts, (std::vector<std::pair<std::string, std::string>>{{"A", "1"}}));
  EXPECT_EQ(wanted.object, R"({"b":[null]})");
  EXPECT_EQ(wanted.choice, "b");
  EXPECT_EQ(wanted.list, (std::vector<std::string>{"x", "y"}));
}

TEST(JsonBodyTest, MissingFieldsAndNullsLeaveWhatWasThere) {
  for (const char* json : {"", "{}", R"({"text":null,"flag":null,"number":null,"seconds":null,"texts":null,"object":null,"choice":null,"list":null})"}) {
    Wanted wanted;
    EXPECT_EQ(ReadAll(json, &wanted), "") << json;
    EXPECT_EQ(wanted.text, "unset");
    EXPECT_FALSE(wanted.number.has_value() || wanted.seconds.has_value());
  }
}

TEST(JsonBodyTest, WrongTypesAndRangesAreToldByTheirField) {
  const struct {
    const char* json;
    const char* told;
  } cases[] = {{R"({"text":1})", "text: a text"},           {R"({"flag":"true"})", "flag: true or false"},      {R"({"flag":1})", "flag: true or false"},
               {R"({"number":-1})", "number: a whole"},     {R"({"number":1.0})", "number: a whole"},           {R"({"number":18446744073709551616})", "number: a whole"},
               {R"({"seconds":0})", "seconds: a number"},   {R"({"seconds":-0.1})", "seconds: a number"},       {R"({"seconds":2592000.1})", "seconds: a number"},
               {R"({"seconds":1e999})", "seconds: a number"}, {R"({"seconds":"1"})", "seconds: a number"},      {R"({"texts":[]})", "texts: an object of texts"},
               {R"({"texts":{"A":1}})", "texts.A: a text"}, {R"({"object":[]})", "object: an object"},          {R"({"choice":"c"})", "it takes a or b"},
               {R"({"list":{}})", "a list of at most 2"},   {R"({"list":[{"name":"1"},{"name":"2"},{"name":"3"}]})", "a list of at most 2"},
               {R"({"list":[1]})", "list[0]: an object"},   {R"({"list":[{"name":"1"},{"nam":"2"}]})", "list[1].name: is missing"},
               {R"({"list":[{"name":"1","x":2}]})", "list[0].x: no such field"}, {R"({"other":1})", "other: no such field here; there are: choice, flag"}};
  for (const auto& expected : cases) {
    Wanted wanted;
    EXPECT_NE(ReadAll(expected.json, &wanted).find(expected.told), std::string::npos) << expected.json << " gave: " << ReadAll(expected.json, &wanted);
  }
  Wanted wanted;
  EXPECT_EQ(ReadAll(R"({"seconds":2592000})", &wanted), "") << "30 days themselves";
}

TEST(JsonBodyTest, NestsAsDeepAsItMayAndNoDeeper) {
  auto nested = [](size_t depth) {  // the body itself and "object" count
    return "{\"object\":{\"a\":" + std::string(depth - 2, '[') + std::string(depth - 2, ']') + "}}";
  };
  Wanted wanted;
  EXPECT_EQ(ReadAll(nested(kJsonNestingMax), &wanted), "");
  EXPECT_NE(ReadAll(nested(kJsonNestingMax + 1), &wanted), "");
}

TEST(EventTest, DataThatLooksLikeFieldsOrHoldsNulsStaysData) {
  EXPECT_EQ(EncodeEvent("x", "", "event: y\n\nid: 2"), "event: x\ndata: event: y\ndata: \ndata: id: 2\n\n");
  EXPECT_EQ(EncodeEvent("x", "", absl::string_view("a\0b", 3)), std::string("event: x\ndata: a\0b\n\n", 20));
  EXPECT_EQ(EncodeEvent("x", "", ""), "event: x\ndata: \n\n");
}

TEST(EventTest, AStreamWakesItsReaderAndEndsWhenAllIsTaken) {
  EventStream stream;
  int woken = 0;
  stream.OnChange([&] { ++woken; });
  stream.Push("a");
  stream.Push("b");
  EXPECT_EQ(woken, 2);
  stream.Close();
  EXPECT_EQ(woken, 3);
  EXPECT_FALSE(stream.finished());
  EXPECT_EQ(stream.Take(), "ab");
  EXPECT_TRUE(stream.finished());
  stream.Push("c");
  EXPECT_EQ(stream.Take(), "") << "nothing follows the end";
}

TEST(EventTest, CutsDataAtEveryKindOfLineEnd) { EXPECT_EQ(EncodeEvent("x", "1", "a\r\nb\rc\n"), "event: x\nid: 1\ndata: a\ndata: b\ndata: c\ndata: \n\n"); }

TEST(EventTest, AStreamThatNobodyReadsIsLostAndNotTheMemory) {
  EventStream stream;
  const std::string text(kStreamBytesMax / 4, 'x');
  for (int i = 0; i < 4; ++i) stream.Push(text);
  EXPECT_FALSE(stream.overflowed());
  stream.Push("y");
  EXPECT_TRUE(stream.overflowed());
  EXPECT_EQ(stream.Take(), "");
}

TEST(AdmissionTest, ForeignHostsOriginsAndTokensAreRefused) {
  service::Token token;
  token.name = "a";
  token.sha256 = *service::HashOfSecret("the secret of token a");
  const service::Tokens tokens = *service::Tokens::Create({token});
  const Admission admission({"localhost"}, {"https://good.example"}, &tokens, nullptr);
  auto status = [&](const char* host, const char* origin, const char* authorization, bool open) {
    HttpRequest request;
    const std::optional<HttpReply> refused = admission.Refuse(host, origin, authorization, open, &request);
    return refused.has_value() ? refused->status : request.token != nullptr ? 200 : 0;
  };
  EXPECT_EQ(status("localhost:1", "", "Bearer the secret of token a", false), 200);
  EXPECT_EQ(status("localhost:1", "https://good.example", "bearer the secret of token a", false), 200);
  EXPECT_EQ(status("localhost", "", "", true), 0);
  EXPECT_EQ(status("localhost", "", "", false), 401);
  EXPECT_EQ(status("localhost", "", "Bearer the secret of token b", false), 401);
  EXPECT_EQ(status("localhost", "", "Basic the secret of token a", false), 401);
  EXPECT_EQ(status("evil.example", "", "Bearer the secret of token a", false), 421);
  EXPECT_EQ(status("localhost", "https://evil.example", "Bearer the secret of token a", true), 403);
}

TEST(RouteTest, PathsFindTheirRoutesAndNothingElse) {
  std::vector<std::string> captured;
  std::string allowed;
  const Route* route = Api::FindRoute("PUT", "/v1/sessions/s-1/files/a%2Fb/c%20d", &captured, &allowed);
  ASSERT_NE(route, nullptr);
  EXPECT_EQ(route->operation, "putFile");
  EXPECT_EQ(captured, (std::vector<std::string>{"s-1", "a/b/c d"}));
  EXPECT_EQ(Api::FindRoute("PATCH", "/v1/sessions", &captured, &allowed), nullptr);
  EXPECT_EQ(allowed, "POST, GET, HEAD");
  for (const char* path : {"/", "/v1", "/v1/sessions/", "/v1/sessions/a/b", "/v1/sessions/%zz", "/v1/sessions//execute"}) {
    EXPECT_EQ(Api::FindRoute("GET", path, &captured, &allowed), nullptr) << path;
  }
}

}  // namespace
}  // namespace cellblock::front
