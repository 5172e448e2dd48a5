// The head of a request: what is let through to a handler, and which of the things that are wrong with one is told.
#include "front/http/request_head.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cellblock::front {
namespace {

namespace http = boost::beast::http;
using ::testing::HasSubstr;

class RequestHeadTest : public ::testing::Test {
 protected:
  RequestHeadTest() {
    service::Token token;
    token.name = "anna";
    token.sha256 = *service::HashOfSecret("0123456789abcdef");
    tokens_.emplace(*service::Tokens::Create({token}));
    admission_.emplace(std::vector<std::string>{"localhost"}, std::vector<std::string>{"https://good.example"}, &*tokens_, nullptr);
    header_.version(11);
    header_.method(http::verb::get);
    header_.target("/v1/sessions/s-1");
    header_.set(http::field::host, "localhost:80");
    header_.set(http::field::authorization, "Bearer 0123456789abcdef");
  }
  // 0: it is let through.
  int Status() {
    head_ = {};
    reply_ = ReadHead(header_, *admission_, metrics_open_, &head_);
    return reply_.has_value() ? reply_->status : 0;
  }

  std::optional<service::Tokens> tokens_;
  std::optional<Admission> admission_;
  bool metrics_open_ = false;
  http::request_header<> header_;
  RequestHead head_;
  std::optional<HttpReply> reply_;
};

// What is taken for no body is read as the next request.
TEST_F(RequestHeadTest, CodingsThatAreNotUnderstoodAreRefused) {
  header_.method(http::verb::post);
  header_.target("/v1/sessions");
  for (const char* coding : {"chunked", "Chunked"}) {
    header_.set(http::field::transfer_encoding, coding);
    EXPECT_EQ(Status(), 0) << coding;
  }
  for (const char* coding : {"xchunked", "identity", "gzip", "gzip, chunked", "chunked, chunked", "chunked, identity", "\"chunked\"", ""}) {
    header_.set(http::field::transfer_encoding, coding);
    EXPECT_EQ(Status(), 400) << coding;
  }
  header_.set(http::field::transfer_encoding, "chunked");
  header_.insert(http::field::transfer_encoding, "chunked");
  EXPECT_EQ(Status(), 400);
  header_.erase(http::field::transfer_encoding);
  header_.set(http::field::content_encoding, "gzip");
  EXPECT_EQ(Status(), 415);
  header_.set(http::field::content_encoding, "identity");
  EXPECT_EQ(Status(), 0);
}

TEST_F(RequestHeadTest, ConditionsOfAChangeAreNotPassedOver) {
  header_.set(http::field::if_none_match, "\"a\"");
  EXPECT_EQ(Status(), 0) << "of a read it is looked at";
  header_.method(http::verb::put);
  header_.target("/v1/sessions/s-1/files/a.csv");
  EXPECT_EQ(Status(), 501);
  header_.erase(http::field::if_none_match);
  EXPECT_EQ(Status(), 0);
  header_.set(http::field::content_range, "bytes 0-1/5");
  EXPECT_EQ(Status(), 400);
}

TEST_F(RequestHeadTest, AGoodRequestHasItsRouteItsTokenAndItsFields) {
  header_.target("/v1/sessions/a%20b?limit=3&x=%C3%A9");
  header_.set(http::field::range, "bytes=0-1");
  header_.set("Idempotency-Key", "k");
  header_.set("X-Request-Id", "mine-1");
  header_.set(http::field::expect, "100-Continue");
  ASSERT_EQ(Status(), 0);
  EXPECT_EQ(head_.route->operation, "getSession");
  EXPECT_EQ(head_.request.captured, std::vector<std::string>{"a b"});
  EXPECT_EQ(head_.request.query["x"], "é");
  EXPECT_EQ(head_.request.token, &tokens_->all().front());
  EXPECT_EQ(head_.request.id, "mine-1");
  EXPECT_EQ(head_.request.range, "bytes=0-1");
  EXPECT_EQ(head_.request.idempotency_key, "k");
  EXPECT_TRUE(head_.expects_continue);
}

TEST_F(RequestHeadTest, AHeadRequestTakesTheRouteOfGet) {
  header_.method(http::verb::head);
  ASSERT_EQ(Status(), 0);
  EXPECT_EQ(head_.route->operation, "getSession");
}

TEST_F(RequestHeadTest, HostOriginAndTokenComeBeforeTheRoute) {
  header_.target("/v1/nothing");
  EXPECT_EQ(Status(), 404);
  header_.set(http::field::authorization, "Bearer another");
  EXPECT_EQ(Status(), 401) << "without a token nobody learns which paths there are";
  header_.set(http::field::origin, "https://evil.example");
  EXPECT_EQ(Status(), 403);
  header_.set(http::field::host, "evil.example");
  EXPECT_EQ(Status(), 421);
}

TEST_F(RequestHeadTest, OpenRoutesNeedNoTokenButTheRightHost) {
  header_.erase(http::field::authorization);
  EXPECT_EQ(Status(), 401);
  EXPECT_THAT(reply_->headers, testing::Contains(testing::Pair("WWW-Authenticate", HasSubstr("Bearer"))));
  header_.target("/healthz");
  EXPECT_EQ(Status(), 0);
  header_.set(http::field::host, "evil.example");
  EXPECT_EQ(Status(), 421);
}

TEST_F(RequestHeadTest, MetricsNeedATokenThatMaySeeThemUnlessTheyAreOpen) {
  header_.target("/metrics");
  EXPECT_EQ(Status(), 403);
  metrics_open_ = true;
  EXPECT_EQ(Status(), 0);
  header_.erase(http::field::authorization);
  EXPECT_EQ(Status(), 0);
  metrics_open_ = false;
  EXPECT_EQ(Status(), 401);
}

TEST_F(RequestHeadTest, TheSessionOfAPathIsKnownForLogs) {
  header_.target("/v1/sessions/s-1/files");
  EXPECT_EQ(Status(), 0);
  EXPECT_EQ(head_.session, "s-1");
  header_.target("/v1/sessions/" + std::string(100, 's'));
  EXPECT_EQ(Status(), 0);
  EXPECT_EQ(head_.session, std::string(kSessionBytesMax, 's'));
  header_.target("/v1/sessions");
  EXPECT_EQ(Status(), 0);
  EXPECT_EQ(head_.session, "");
}

TEST_F(RequestHeadTest, FormsThatTwoReadersCouldUnderstandDifferentlyAreRefused) {
  ASSERT_EQ(Status(), 0);
  header_.insert(http::field::authorization, "Bearer other");
  EXPECT_EQ(Status(), 400);
  header_.erase(http::field::authorization);
  header_.set(http::field::authorization, "Bearer 0123456789abcdef");
  header_.insert(http::field::host, "localhost");
  EXPECT_EQ(Status(), 400);
  header_.erase(http::field::host);
  EXPECT_EQ(Status(), 400);
  header_.version(10);
  EXPECT_EQ(Status(), 421) << "HTTP/1.0 may leave Host out, and is then no name that this server goes by";
  header_.set(http::field::host, "localhost");
  EXPECT_EQ(Status(), 0);
  header_.version(20);
  EXPECT_EQ(Status(), 505);
}

TEST_F(RequestHeadTest, TargetsThatAreNoPathsAndBrokenEncodingsAreRefused) {
  for (const char* target : {"*", "http://localhost/healthz", "localhost:80", "/v1/sessions?a=%zz", "/v1/sessions?%=1"}) {
    header_.target(target);
    EXPECT_EQ(Status(), 400) << target;
  }
  for (const char* target : {"/v1/sessions/%zz", "/v1/sessions/%2", "/v1//sessions", "/v1/sessions/../policies", "/V1/sessions"}) {
    header_.target(target);
    EXPECT_EQ(Status(), 404) << target;
  }
  header_.target("/v1/sessions/s/files/%2e%2e/%00");
  ASSERT_EQ(Status(), 0) << "no path of this machine: the session refuses such names";
  EXPECT_EQ(head_.request.captured[1], std::string("../\0", 4));
}

TEST_F(RequestHeadTest, AMethodThatAPathDoesNotTakeIsToldThoseThatItDoes) {
  header_.method_string("PATCH");
  EXPECT_EQ(Status(), 405);
  EXPECT_THAT(reply_->headers, testing::Contains(testing::Pair("Allow", "GET, HEAD, DELETE")));
}

TEST_F(RequestHeadTest, IdsThatNeedQuotingAndLongOnesAreReplaced) {
  for (const std::string& id : {std::string("a b"), std::string("a\"b"), std::string("a\\b"), std::string("\x01"), std::string("é"), std::string(kRequestIdBytesMax + 1, 'x')}) {
    header_.set("X-Request-Id", id);
    ASSERT_EQ(Status(), 0);
    EXPECT_THAT(head_.request.id, testing::StartsWith("r-")) << id;
  }
  header_.set("X-Request-Id", std::string(kRequestIdBytesMax, 'x'));
  ASSERT_EQ(Status(), 0);
  EXPECT_EQ(head_.request.id, std::string(kRequestIdBytesMax, 'x'));
}

TEST_F(RequestHeadTest, IdempotencyKeysAreBounded) {
  header_.set("Idempotency-Key", std::string(kIdempotencyKeyBytesMax, 'k'));
  EXPECT_EQ(Status(), 0);
  header_.set("Idempotency-Key", std::string(kIdempotencyKeyBytesMax + 1, 'k'));
  EXPECT_EQ(Status(), 400);
}

}  // namespace
}  // namespace cellblock::front
