// The small parsers of the HTTP front: ranges, targets, hosts, bodies, events, admission.
#include <string>

#include "front/http/admission.h"
#include "front/http/api.h"
#include "front/http/event_stream.h"
#include "front/http/json_body.h"
#include "front/http/range.h"
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
  for (const char* bad : {R"({"code":"1","timeout_seconds":0})", R"({"code":"1","timeout_seconds":1e9})", R"({"code":"1","timeout_seconds":"1"})", "[]", "{", "{}x", "nul", "\xff"}) {
    EXPECT_NE(problem(bad), "") << bad;
  }
  EXPECT_NE(problem((std::string(10'000, '[') + "1").c_str()), "");
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
