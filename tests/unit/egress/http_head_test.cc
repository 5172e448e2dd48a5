// Heads of HTTP/1 messages: what ordinary clients and servers send is understood and built anew, and whatever two readers could take for
// different messages is refused.
#include "egress/http_head.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace cellblock::egress {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Optional;

const Field kAccept{"Accept", "*/*"};

// A head whose lines are written with "\n".
std::string Head(absl::string_view lines) { return absl::StrCat(absl::StrReplaceAll(lines, {{"\n", "\r\n"}}), "\r\n\r\n"); }

absl::StatusOr<RequestHead> Request(absl::string_view lines) { return ParseRequestHead(Head(lines)); }
absl::StatusOr<ResponseHead> Response(absl::string_view lines, absl::string_view method = "GET") { return ParseResponseHead(Head(lines), method); }

TEST(RequestHeadTest, ReadsWhatAnOrdinaryClientSends) {
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(RequestHead head, Request("POST /v1/items?q=a%20b HTTP/1.1\nHost: API.Example.com.:8080\nUser-Agent: python-requests/2.32\naccept: */*\n"
                                                           "Content-Type: application/json\nContent-Length: 12\nX-Empty:\nX-Blanks: \t a b \t\nX-Latin: caf\xc3\xa9"));
  EXPECT_EQ(head.method, "POST");
  EXPECT_EQ(head.scheme, "");
  EXPECT_EQ(head.host, "api.example.com");
  EXPECT_THAT(head.port, Optional(8080));
  EXPECT_EQ(head.target, "/v1/items?q=a%20b");
  EXPECT_FALSE(head.is_connect);
  EXPECT_TRUE(head.keeps_alive);
  EXPECT_EQ(head.body, (Framing{Framing::Kind::kLength, 12}));
  EXPECT_THAT(head.fields, ElementsAre(Field{"User-Agent", "python-requests/2.32"}, Field{"accept", "*/*"}, Field{"Content-Type", "application/json"}, Field{"X-Empty", ""},
                                       Field{"X-Blanks", "a b"}, Field{"X-Latin", "caf\xc3\xa9"}));
}

struct TargetCase {
  absl::string_view head, scheme, host, target;
  int port;   // 0: none
};

TEST(RequestHeadTest, ReadsTheFourFormsOfATarget) {
  const std::vector<TargetCase> cases = {
      {"GET / HTTP/1.1\nHost: a.example", "", "a.example", "/", 0},
      {"GET //b.example/x HTTP/1.1\nHost: a.example", "", "a.example", "//b.example/x", 0},
      {"GET /x?u=http://b.example/ HTTP/1.1\nHost: a.example", "", "a.example", "/x?u=http://b.example/", 0},
      {"GET http://a.example HTTP/1.1\nHost: a.example", "http", "a.example", "/", 0},
      {"GET HTTP://A.example./x?y HTTP/1.1\nHost: a.example", "http", "a.example", "/x?y", 0},
      {"GET http://a.example?y HTTP/1.1\nHost: a.example", "http", "a.example", "/?y", 0},
      {"GET http://a.example:80/x HTTP/1.1\nHost: a.example", "http", "a.example", "/x", 80},
      {"GET http://a.example/x HTTP/1.1\nHost: a.example:80", "http", "a.example", "/x", 0},
      {"GET http://a.example:8080/x HTTP/1.1\nHost: a.example:8080", "http", "a.example", "/x", 8080},
      {"GET http://a.example/x HTTP/1.0", "http", "a.example", "/x", 0},
      {"GET /x HTTP/1.0", "", "", "/x", 0},
      {"OPTIONS * HTTP/1.1\nHost: a.example", "", "a.example", "*", 0},
      {"OPTIONS http://a.example HTTP/1.1\nHost: a.example", "http", "a.example", "*", 0},
      {"OPTIONS http://a.example/ HTTP/1.1\nHost: a.example", "http", "a.example", "/", 0},
      {"CONNECT a.example:443 HTTP/1.1\nHost: a.example:443", "", "a.example", "", 443},
      {"CONNECT a.example:443 HTTP/1.1\nHost: a.example", "", "a.example", "", 443},
      {"CONNECT a.example:443 HTTP/1.0", "", "a.example", "", 443},
      {"CONNECT a.example:443 HTTP/1.1\nHost: a.example:443\nContent-Length: 0", "", "a.example", "", 443},
  };
  for (const TargetCase& one : cases) {
    SCOPED_TRACE(std::string(one.head));
    CELLBLOCK_ASSERT_OK_AND_ASSIGN(RequestHead head, Request(one.head));
    EXPECT_EQ(head.scheme, one.scheme);
    EXPECT_EQ(head.host, one.host);
    EXPECT_EQ(head.target, one.target);
    EXPECT_EQ(head.port.value_or(0), one.port);
    EXPECT_EQ(head.is_connect, absl::StartsWith(one.head, "CONNECT"));
    EXPECT_EQ(head.body.kind, Framing::Kind::kNone);
  }
}

struct RefusedCase {
  absl::string_view head;
  const char* why;
};

TEST(RequestHeadTest, RefusesAFirstLineThatServersReadDifferently) {
  const std::vector<RefusedCase> cases = {
      {"GET /", "first line"},                                                // HTTP/0.9
      {"GET  / HTTP/1.1\nHost: a.example", "first line"},
      {"GET / HTTP/1.1 \nHost: a.example", "first line"},
      {" GET / HTTP/1.1\nHost: a.example", "first line"},
      {"GET /a b HTTP/1.1\nHost: a.example", "first line"},
      {"GET\t/\tHTTP/1.1\nHost: a.example", "first line"},
      {"GET / HTTP/1.1\tx\nHost: a.example", "version"},
      {"GET / HTTP/1.2\nHost: a.example", "version"},
      {"GET / HTTP/01.1\nHost: a.example", "version"},
      {"GET / http/1.1\nHost: a.example", "version"},
      {"GET / HTTP/3\nHost: a.example", "version"},
      {"PRI * HTTP/2.0", "HTTP/2 is not spoken"},                             // the preface
      {"GE(T / HTTP/1.1\nHost: a.example", "no method"},
      {" / HTTP/1.1\nHost: a.example", "no method"},
      {"G\xc3\x89T / HTTP/1.1\nHost: a.example", "no method"},
      {"ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFG / HTTP/1.1\nHost: a.example", "no method"},
      {"GET /caf\xc3\xa9 HTTP/1.1\nHost: a.example", "percent-encoded"},
      {"GET /a\tb HTTP/1.1\nHost: a.example", "percent-encoded"},
      {"GET /#top HTTP/1.1\nHost: a.example", "fragment"},
      {"GET http://a.example/x#top HTTP/1.1\nHost: a.example", "fragment"},
      {"GET http://a.example#@b.example/ HTTP/1.1\nHost: a.example", "fragment"},
      {"GET * HTTP/1.1\nHost: a.example", "OPTIONS alone"},
      {"GET x HTTP/1.1\nHost: a.example", "neither a path"},
      {"GET a.example/x HTTP/1.1\nHost: a.example", "neither a path"},
      {"GET \\x HTTP/1.1\nHost: a.example", "neither a path"},
      {"GET ?x HTTP/1.1\nHost: a.example", "neither a path"},
      {"get a.example:443 HTTP/1.1\nHost: a.example", "neither a path"},
      {"connect a.example:443 HTTP/1.1\nHost: a.example", "neither a path"},  // methods are what they are written as
  };
  for (const RefusedCase& one : cases) EXPECT_THAT(Request(one.head), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(one.why))) << one.head;
}

TEST(RequestHeadTest, RefusesATargetThatLeadsElsewhereThanItSeems) {
  const std::vector<RefusedCase> cases = {
      {"GET https://a.example/ HTTP/1.1\nHost: a.example", "CONNECT"},
      {"GET ftp://a.example/ HTTP/1.1\nHost: a.example", "not http"},
      {"GET ://a.example/ HTTP/1.1\nHost: a.example", "not http"},
      {"GET http:///x HTTP/1.1\nHost: a.example", ""},
      {"GET http://a.example@b.example/ HTTP/1.1\nHost: b.example", "user information"},
      {"GET http://user:pw@a.example/ HTTP/1.1\nHost: a.example", "user information"},
      {"GET http://a.example\\@b.example/ HTTP/1.1\nHost: a.example", "user information"},
      {"GET http://a.example\\.b.example/ HTTP/1.1\nHost: a.example", ""},
      {"GET http://a%2eexample/ HTTP/1.1\nHost: a.example", ""},
      {"GET http://b.example/ HTTP/1.1\nHost: a.example", "not the target's"},
      {"GET http://a.example:8080/ HTTP/1.1\nHost: a.example", "not the target's"},
      {"GET http://a.example/ HTTP/1.1\nHost: a.example:8080", "not the target's"},
      {"GET http://a.example/ HTTP/1.0\nHost: b.example", "not the target's"},
      {"GET http://127.0.0.1/ HTTP/1.1\nHost: 127.0.0.1", ""},
      {"GET http://[::1]/ HTTP/1.1\nHost: [::1]", ""},
      {"GET http://0x7f.1/ HTTP/1.1\nHost: 0x7f.1", ""},
      {"GET http://a.example:/ HTTP/1.1\nHost: a.example", "no port"},
      {"GET http://a.example:0/ HTTP/1.1\nHost: a.example", "no port"},
      {"GET http://a.example:65536/ HTTP/1.1\nHost: a.example", "no port"},
      {"GET http://a.example:080/ HTTP/1.1\nHost: a.example", "no port"},
      {"GET http://a.example:+80/ HTTP/1.1\nHost: a.example", "no port"},
      {"GET http://a.example:80:81/ HTTP/1.1\nHost: a.example", "no port"},
      {"CONNECT a.example HTTP/1.1\nHost: a.example", "host and port"},
      {"CONNECT http://a.example:443/ HTTP/1.1\nHost: a.example", ""},
      {"CONNECT /x HTTP/1.1\nHost: a.example", ""},
      {"CONNECT u@a.example:443 HTTP/1.1\nHost: a.example", "user information"},
      {"CONNECT a.example:443 HTTP/1.1\nHost: b.example:443", "not the target's"},
      {"CONNECT a.example:443 HTTP/1.1\nHost: a.example:444", "not the target's"},
      {"CONNECT a.example:443 HTTP/1.1", "no field Host"},
      {"CONNECT a.example:443 HTTP/1.1\nHost: a.example:443\nContent-Length: 5", "CONNECT with a body"},
      {"CONNECT a.example:443 HTTP/1.1\nHost: a.example:443\nTransfer-Encoding: chunked", "CONNECT with a body"},
  };
  for (const RefusedCase& one : cases) EXPECT_THAT(Request(one.head), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(one.why))) << one.head;
}

TEST(RequestHeadTest, RefusesTheWaysToHideASecondRequestInABody) {
  const std::vector<RefusedCase> cases = {
      {"Content-Length: 4\nTransfer-Encoding: chunked", "beside"},
      {"Transfer-Encoding: chunked\nContent-Length: 4", "beside"},
      {"Content-Length: 4\nContent-Length: 5", "two fields Content-Length"},
      {"Content-Length: 4\ncontent-length: 4", "two fields Content-Length"},   // equal ones too
      {"Content-Length: 4, 4", "not a number"},
      {"Content-Length: +4", "not a number"},
      {"Content-Length: -4", "not a number"},
      {"Content-Length: 0x4", "not a number"},
      {"Content-Length: 4 ;x", "not a number"},
      {"Content-Length:", "not a number"},
      {"Content-Length: 9999999999999999999", "not a number"},
      {"Content-Length: 18446744073709551620", "not a number"},
      {"Transfer-Encoding: chunked\nTransfer-Encoding: chunked", "two fields Transfer-Encoding"},
      {"Transfer-Encoding: chunked\nTransfer-Encoding: identity", "two fields Transfer-Encoding"},
      {"Transfer-Encoding: identity\nTransfer-Encoding: chunked", "not taken"},
      {"Transfer-Encoding: chunked, chunked", "not taken"},
      {"Transfer-Encoding: gzip, chunked", "not taken"},
      {"Transfer-Encoding: xchunked", "not taken"},
      {"Transfer-Encoding: chunked;q=1", "not taken"},
      {"Transfer-Encoding: \"chunked\"", "not taken"},
      {"Transfer-Encoding:", "not taken"},
      {"Transfer-Encoding: \x0b" "chunked", "control byte"},
      {"Transfer-Encoding : chunked", "white space before the colon"},
      {"Transfer-Encoding\t: chunked", "white space before the colon"},
      {" Transfer-Encoding: chunked", "obs-fold"},
      {"X: y\n Transfer-Encoding: chunked", "obs-fold"},
      {"X: y\n\tz", "obs-fold"},
      {"X: y\n ", "obs-fold"},
      {"Transfer_Encoding: chunked", "\"_\""},
      {"Content_Length: 4", "\"_\""},
      {"content_LENGTH: 4\nContent-Length: 4", "\"_\""},
      {"Transfer-Encoding", "without a colon"},
      {": chunked", "no name of a field"},
      {"Transfer-Encoding\xc2\xa0: chunked", "no name of a field"},
      {"Transfer Encoding: chunked", "no name of a field"},
      {"[Transfer-Encoding]: chunked", "no name of a field"},
      {"\"X\": y", "no name of a field"},
      {"Host: a.example", "two fields Host"},
      {"host: b.example", "two fields Host"},
      {"Expect: 200-ok", "Expect"},
      {"Connection: close, a b", "Connection names"},
  };
  for (const RefusedCase& one : cases) {
    EXPECT_THAT(Request(absl::StrCat("POST / HTTP/1.1\nHost: a.example\n", one.head)), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(one.why))) << one.head;
  }
  EXPECT_THAT(Request("POST / HTTP/1.0\nHost: a.example\nTransfer-Encoding: chunked"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("HTTP/1.0")));
}

TEST(RequestHeadTest, RefusesBytesThatEndALineForSomeAlone) {
  const std::string good = Head("GET / HTTP/1.1\nHost: a.example\nX: y");
  ASSERT_THAT(ParseRequestHead(good), IsOk());
  const std::vector<std::string> bad = {
      "GET / HTTP/1.1\nHost: a.example\n\n",
      "GET / HTTP/1.1\r\nHost: a.example\nX: y\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a.example\r\nX: y\n\r\n",
      "GET / HTTP/1.1\r\nHost: a.example\r\nX: y\r\n\n",
      "GET / HTTP/1.1\rHost: a.example\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a.example\r\nX: y\rZ: w\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a.example\r\nX: y\r\r\n\r\n",
      std::string("GET / HTTP/1.1\r\nHost: a.example\r\nX: y\0z\r\n\r\n", 43),
      std::string("GET /\0 HTTP/1.1\r\nHost: a.example\r\n\r\n", 36),
      "GET / HTTP/1.1\r\nHost: a.example\r\nX: y\x7f\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a.example\r\nX: \x1b[2J\r\n\r\n",
      "\r\nGET / HTTP/1.1\r\nHost: a.example\r\n\r\n",
      "\r\n\r\n",
      "\r\n",
      "",
      "GET / HTTP/1.1\r\nHost: a.example\r\n",
      good + "x",
      good + good,
      good + "\r\n",
  };
  for (const std::string& one : bad) EXPECT_THAT(ParseRequestHead(one), StatusIs(absl::StatusCode::kInvalidArgument, Not(""))) << one;
}

TEST(RequestHeadTest, WantsOneHostThatIsAName) {
  for (absl::string_view host : {"", "a b", "a.example/x", "a.example, b.example", "user@a.example", "127.0.0.1", "[::1]:80", "2130706433", "a.example:", "a..example", "a_b.example:x"}) {
    EXPECT_THAT(Request(absl::StrCat("GET / HTTP/1.1\nHost: ", host)), StatusIs(absl::StatusCode::kInvalidArgument, Not(""))) << host;
  }
  EXPECT_THAT(Request("GET / HTTP/1.1\nAccept: */*"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no field Host")));
}

TEST(RequestHeadTest, LeavesOutWhatEndsAtThisHop) {
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(RequestHead head, Request("GET / HTTP/1.1\nHost: a.example\nConnection: X-One, keep-alive,, Upgrade\nconnection: x-two\nX-One: 1\nX-TWO: 2\nx-one: 3\n"
                                                           "Keep-Alive: 5\nClose: x\nProxy-Authorization: Basic x\nProxy-Connection: close\nProxy-Anything: y\nTE: trailers\nTrailer: X\n"
                                                           "Upgrade: h2c\nHTTP2-Settings: AAM\nExpect: 100-Continue\nAccept: */*"));
  EXPECT_THAT(head.fields, ElementsAre(kAccept));
  EXPECT_TRUE(head.expects_continue);
  EXPECT_TRUE(head.keeps_alive);
}

TEST(RequestHeadTest, KnowsWhetherTheConnectionStays) {
  const auto keeps = [](absl::string_view rest) { return Request(absl::StrCat("GET / HTTP/", rest))->keeps_alive; };
  EXPECT_TRUE(keeps("1.1\nHost: a.example"));
  EXPECT_FALSE(keeps("1.1\nHost: a.example\nConnection: Close"));
  EXPECT_FALSE(keeps("1.1\nHost: a.example\nConnection: keep-alive\nConnection: x, close"));
  EXPECT_FALSE(keeps("1.0"));
  EXPECT_TRUE(keeps("1.0\nConnection: Keep-Alive"));
  EXPECT_FALSE(keeps("1.0\nConnection: keep-alive, close"));
  EXPECT_FALSE(Request("PUT / HTTP/1.0\nExpect: 100-continue")->expects_continue) << "HTTP/1.0 has no interim answers";
}

TEST(RequestHeadTest, KnowsHowTheBodyEnds) {
  EXPECT_EQ(Request("GET / HTTP/1.1\nHost: a.example")->body, (Framing{Framing::Kind::kNone, 0}));
  EXPECT_EQ(Request("POST / HTTP/1.1\nHost: a.example\nContent-Length: 0")->body, (Framing{Framing::Kind::kLength, 0}));
  EXPECT_EQ(Request("POST / HTTP/1.1\nHost: a.example\nContent-Length: 007")->body, (Framing{Framing::Kind::kLength, 7}));
  EXPECT_EQ(Request("POST / HTTP/1.1\nHost: a.example\nTransfer-Encoding: CHUNKED")->body, (Framing{Framing::Kind::kChunked, 0}));
}

TEST(RequestHeadTest, TakesAsManyFieldsAndBytesAsItSaysAndNotOneMore) {
  const auto with_fields = [](size_t count) {
    std::string head = "GET / HTTP/1.1\nHost: a.example";
    for (size_t i = 1; i < count; ++i) absl::StrAppend(&head, "\nX", i, ": y");
    return Request(head);
  };
  EXPECT_THAT(with_fields(kFieldsMax), IsOk());
  EXPECT_THAT(with_fields(kFieldsMax + 1), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("128 fields")));
  const std::string around = Head("GET / HTTP/1.1\nHost: a.example\nX: ");
  const auto with_bytes = [&](size_t bytes) { return Request(absl::StrCat("GET / HTTP/1.1\nHost: a.example\nX: ", std::string(bytes - around.size(), 'x'))); };
  EXPECT_THAT(with_bytes(kHeadBytesMax), IsOk());
  EXPECT_THAT(with_bytes(kHeadBytesMax + 1), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("more than 32768 bytes")));
}

TEST(RequestHeadTest, AMessageEscapesAndCutsWhatTheClientSent) {
  const absl::Status status = Request(absl::StrCat("GET /\xff\xfe", std::string(20'000, 'x'), " HTTP/1.1\nHost: a.example")).status();
  EXPECT_LT(status.message().size(), 300u);
  EXPECT_THAT(std::string(status.message()), HasSubstr("\\xff\\xfe"));
}

TEST(RequestHeadTest, WhatIsBuiltAnewSaysTheSameAndNothingElse) {
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(RequestHead head, Request("PUT http://A.example:8080/x HTTP/1.0\nHost: a.example:8080\nProxy-Connection: x\nX-A:b\nConnection: keep-alive\nContent-Length: 3"));
  EXPECT_EQ(FormatRequestHead(head), "PUT /x HTTP/1.1\r\nHost: a.example:8080\r\nX-A: b\r\nContent-Length: 3\r\n\r\n");
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(RequestHead chunked, Request("PUT /x HTTP/1.1\nHost: a.example\nConnection: close\nExpect: 100-continue\nTransfer-Encoding: chunked"));
  EXPECT_EQ(FormatRequestHead(chunked), "PUT /x HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n");
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(RequestHead connect, Request("CONNECT A.example:443 HTTP/1.0"));
  EXPECT_EQ(FormatRequestHead(connect), "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\nConnection: close\r\n\r\n");
}

TEST(ResponseHeadTest, ReadsWhatAnOrdinaryServerSends) {
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(ResponseHead head, Response("HTTP/1.1 200 OK\nServer: nginx\nConnection: keep-alive, X-Hop\nX-Hop: 1\nKeep-Alive: timeout=5\nSet-Cookie: a=b\nSet-Cookie: c=d\n"
                                                             "Content-Length: 5\nUpgrade: h2\nProxy-Authenticate: Basic"));
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.reason, "OK");
  EXPECT_EQ(head.minor_version, 1);
  EXPECT_TRUE(head.keeps_alive);
  EXPECT_EQ(head.body, (Framing{Framing::Kind::kLength, 5}));
  EXPECT_THAT(head.content_length, Optional(5u));
  EXPECT_THAT(head.fields, ElementsAre(Field{"Server", "nginx"}, Field{"Set-Cookie", "a=b"}, Field{"Set-Cookie", "c=d"}));
}

struct FramingCase {
  absl::string_view head, method;
  Framing body;
  bool keeps_alive;
};

TEST(ResponseHeadTest, KnowsHowTheBodyEndsForTheMethodAndTheStatus) {
  using Kind = Framing::Kind;
  const std::vector<FramingCase> cases = {
      {"HTTP/1.1 200 OK\nContent-Length: 0", "GET", {Kind::kLength, 0}, true},
      {"HTTP/1.1 200 OK\nTransfer-Encoding: chunked", "GET", {Kind::kChunked, 0}, true},
      {"HTTP/1.1 200 OK", "GET", {Kind::kUntilClose, 0}, false},
      {"HTTP/1.0 200 OK\nContent-Length: 4", "GET", {Kind::kLength, 4}, false},
      {"HTTP/1.0 200 OK\nContent-Length: 4\nConnection: keep-alive", "GET", {Kind::kLength, 4}, true},
      {"HTTP/1.1 200 OK\nContent-Length: 4\nConnection: close", "GET", {Kind::kLength, 4}, false},
      {"HTTP/1.1 200 OK\nContent-Length: 4", "HEAD", {Kind::kNone, 0}, true},
      {"HTTP/1.1 200 OK\nTransfer-Encoding: chunked", "HEAD", {Kind::kNone, 0}, true},
      {"HTTP/1.1 200 OK\nContent-Length: 4", "head", {Kind::kLength, 4}, true},   // another method
      {"HTTP/1.1 304 Not Modified\nContent-Length: 4", "GET", {Kind::kNone, 0}, true},
      {"HTTP/1.1 204 No Content", "GET", {Kind::kNone, 0}, true},
      {"HTTP/1.1 204 No Content\nContent-Length: 0", "GET", {Kind::kNone, 0}, true},
      {"HTTP/1.1 204 No Content\nContent-Length: 4", "GET", {Kind::kNone, 0}, false},   // it may send them all the same
      {"HTTP/1.1 204 No Content\nTransfer-Encoding: chunked", "GET", {Kind::kNone, 0}, false},
      {"HTTP/1.1 100 Continue", "POST", {Kind::kNone, 0}, true},
      {"HTTP/1.1 103 Early Hints\nLink: </a>", "GET", {Kind::kNone, 0}, true},
  };
  for (const FramingCase& one : cases) {
    CELLBLOCK_ASSERT_OK_AND_ASSIGN(ResponseHead head, Response(one.head, one.method));
    EXPECT_EQ(head.body, one.body) << one.head << " " << one.method;
    EXPECT_EQ(head.keeps_alive, one.keeps_alive) << one.head << " " << one.method;
  }
}

TEST(ResponseHeadTest, TakesOddReasonsAndMakesThemHarmless) {
  EXPECT_EQ(Response("HTTP/1.1 404 Not Found")->reason, "Not Found");
  EXPECT_EQ(Response("HTTP/1.1 200 ")->reason, "");
  EXPECT_EQ(Response("HTTP/1.1 200")->reason, "");
  EXPECT_EQ(Response("HTTP/1.1 200  two  blanks ")->reason, " two  blanks ");
  EXPECT_EQ(Response("HTTP/1.1 200 caf\xc3\xa9\t!")->reason, "caf??" "?!");
}

TEST(ResponseHeadTest, RefusesWhatTwoReadersCouldTakeForDifferentAnswers) {
  const std::vector<RefusedCase> cases = {
      {"HTTP/1.1 99 Low", "status"},
      {"HTTP/1.1 600 High", "status"},
      {"HTTP/1.1 020 OK", "status"},
      {"HTTP/1.1 0200 OK", "status"},
      {"HTTP/1.1 2x0 OK", "status"},
      {"HTTP/1.1 +20 OK", "status"},
      {"HTTP/1.1  200 OK", "status"},
      {"HTTP/1.1", "status"},
      {"HTTP/1.1 101 Switching Protocols\nUpgrade: websocket", "101"},
      {"HTTP/2 200 OK", "version"},
      {"ICY 200 OK", "version"},
      {"<html>", "version"},
      {"HTTP/1.1 200 OK\nContent-Length: 4\nTransfer-Encoding: chunked", "beside"},
      {"HTTP/1.1 200 OK\nContent-Length: 4\nContent-Length: 4", "two fields"},
      {"HTTP/1.1 200 OK\nTransfer-Encoding: gzip, chunked", "not taken"},
      {"HTTP/1.0 200 OK\nTransfer-Encoding: chunked", "HTTP/1.0"},
      {"HTTP/1.1 200 OK\nX: y\n z", "obs-fold"},
      {"HTTP/1.1 200 OK\nX : y", "white space before the colon"},
      {"HTTP/1.1 200 OK\nno colon", "without a colon"},
      {"HTTP/1.1 204 OK\nContent-Length: x", "not a number"},
  };
  for (const RefusedCase& one : cases) EXPECT_THAT(Response(one.head), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(one.why))) << one.head;
  EXPECT_FALSE(ParseResponseHead("HTTP/1.1 200 OK\nX: y\n\n", "GET").ok());
}

TEST(ResponseHeadTest, WhatIsBuiltAnewKeepsTheLengthOfWhatHeadLeavesOut) {
  EXPECT_EQ(FormatResponseHead(*Response("HTTP/1.0 200 OK\nContent-Length: 04\nX:y", "HEAD")), "HTTP/1.1 200 OK\r\nX: y\r\nContent-Length: 4\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(FormatResponseHead(*Response("HTTP/1.1 204 No Content\nContent-Length: 0")), "HTTP/1.1 204 No Content\r\n\r\n");
  EXPECT_EQ(FormatResponseHead(*Response("HTTP/1.1 200\nTransfer-Encoding: chunked")), "HTTP/1.1 200 \r\nTransfer-Encoding: chunked\r\n\r\n");
}

TEST(FindHeadEndTest, FindsTheFirstEmptyLineHoweverTheBytesCome) {
  const std::string head = Head("GET / HTTP/1.1\nHost: a.example"), all = head + "body\r\n\r\n";
  for (size_t length = 0; length <= all.size(); ++length) {
    CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::optional<size_t> end, FindHeadEnd(all.substr(0, length)));
    EXPECT_EQ(end.has_value(), length >= head.size()) << length;
    EXPECT_EQ(end.value_or(head.size()), head.size());
  }
}

TEST(FindHeadEndTest, GivesUpAtOnceWhereNoHeadCanCome) {
  EXPECT_THAT(FindHeadEnd("GET / HTTP/1.1\n"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("LF without CR")));
  EXPECT_THAT(FindHeadEnd("\n"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("LF without CR")));
  EXPECT_THAT(FindHeadEnd("\r\nGET"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("empty line")));
  EXPECT_THAT(FindHeadEnd("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), IsOk());
  EXPECT_THAT(FindHeadEnd(std::string(kHeadBytesMax, 'x')), IsOk());
  EXPECT_THAT(FindHeadEnd(std::string(kHeadBytesMax + 1, 'x')), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("more than")));
  EXPECT_THAT(FindHeadEnd(std::string(kHeadBytesMax - 3, 'x') + "\r\n\r\n"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("more than")));
}

TEST(FieldsTest, AreFoundAndRemovedWhateverTheirCase) {
  std::vector<Field> fields = {{"X-Key", "1"}, {"Accept", "*/*"}, {"x-key", "2"}};
  EXPECT_TRUE(HasField(fields, "X-KEY"));
  RemoveField(fields, "x-Key");
  EXPECT_FALSE(HasField(fields, "X-Key"));
  EXPECT_THAT(fields, ElementsAre(kAccept));
  EXPECT_EQ(FormatFields(fields), "Accept: */*\r\n");
}

TEST(FieldsTest, AValueNeverBecomesTwoFields) {
  for (absl::string_view bad : {absl::string_view("a\r\nb"), absl::string_view("a\nb"), absl::string_view("a\rb"), absl::string_view("a\0b", 3), absl::string_view("\x7f")}) EXPECT_FALSE(IsFieldValue(bad));
  for (absl::string_view good : {"", "a\tb", "Bearer x.y-z==", "caf\xc3\xa9"}) EXPECT_TRUE(IsFieldValue(good)) << good;
}

}  // namespace
}  // namespace cellblock::egress
