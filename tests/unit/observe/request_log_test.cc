// The log of requests: one bounded JSON object a line.
#include "observe/request_log.h"

#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cellblock::observe {
namespace {

using ::testing::MatchesRegex;

TEST(RequestLogTest, WritesOneBoundedObjectALine) {
  std::string path = testing::TempDir() + "/requests-XXXXXX";
  const int fd = mkstemp(path.data());
  ASSERT_GE(fd, 0);
  close(fd);
  auto lines = JsonLines::Open(path, 1 << 20);
  ASSERT_TRUE(lines.ok());
  const std::string method(30'000, 'X');
  AnsweredRequest request;
  request.id = "r-1";
  request.method = method;
  request.route = "/v1/sessions/{id}/execute";
  request.session = "s-\"1";
  request.token = "alice";
  request.status = 200;
  request.took = absl::Milliseconds(2);
  request.bytes_in = 5;
  RequestLog(**lines).RequestAnswered(request);
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  unlink(path.c_str());
  EXPECT_LT(line.size(), 1000u);
  EXPECT_THAT(line, MatchesRegex(R"(\{"time":"[^"]+","request_id":"r-1","method":"X{32}","route":"/v1/sessions/\{id\}/execute","session_id":"s-\\"1","token":"alice","status":200,.*"bytes_in":5,"bytes_out":0\})"));
}

}  // namespace
}  // namespace cellblock::observe
