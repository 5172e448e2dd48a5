// Options of `cellblock serve`: what they mean, and combinations that are refused with a reason.
#include <string>
#include <variant>
#include <vector>

#include "app/command_line.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cellblock::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ServeOptions Parsed(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "serve");
  Invocation invocation = ParseCommandLine(arguments);
  if (ServeOptions* options = std::get_if<ServeOptions>(&invocation)) return *options;
  const Answer* answer = std::get_if<Answer>(&invocation);
  ADD_FAILURE() << (answer == nullptr ? "another command" : answer->text);
  return {};
}

std::string Refusal(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "serve");
  Invocation invocation = ParseCommandLine(arguments);
  const Answer* answer = std::get_if<Answer>(&invocation);
  return answer == nullptr || !answer->is_error ? "(accepted)" : answer->text;
}

TEST(ServeOptionsTest, ListensForThisMachineAloneUnlessTold) {
  EXPECT_EQ(Parsed({}).address, "127.0.0.1");
  EXPECT_EQ(Parsed({}).port, 8765);
  const struct {
    const char* text;
    const char* address;
    uint16_t port;
  } cases[] = {{"127.0.0.1:80", "127.0.0.1", 80}, {"[::1]:0", "::1", 0}, {":81", "127.0.0.1", 81}, {"82", "127.0.0.1", 82}, {"localhost:83", "127.0.0.1", 83}, {"0.0.0.0:65535", "0.0.0.0", 65535}};
  for (const auto& expected : cases) {
    const ServeOptions options = Parsed({"--listen", expected.text});
    EXPECT_EQ(options.address, expected.address) << expected.text;
    EXPECT_EQ(options.port, expected.port) << expected.text;
  }
  for (const char* wrong : {"127.0.0.1:65536", "127.0.0.1:", "127.0.0.1", "127.0.0.1:-1", "127.0.0.1:http"}) EXPECT_THAT(Refusal({"--listen", wrong}), HasSubstr("--listen")) << wrong;
}

TEST(ServeOptionsTest, WithoutATokenThisMachineAloneIsListenedFor) {
  for (const char* open : {"0.0.0.0:80", "[::]:80", "192.0.2.1:80", "example.org:80", "[::ffff:127.0.0.1]:80"}) {
    EXPECT_THAT(Refusal({"--no-token", "--listen", open}), HasSubstr("--no-token lets whoever reaches the server run code")) << open;
    EXPECT_EQ(Refusal({"--listen", open}), "(accepted)") << open;
  }
  for (const char* own : {"127.0.0.1:80", "127.8.9.1:80", "[::1]:80", "localhost:80", "80"}) EXPECT_EQ(Refusal({"--no-token", "--listen", own}), "(accepted)") << own;
  EXPECT_EQ(Refusal({"--no-token", "--unix", "/run/socket"}), "(accepted)");
}

TEST(ServeOptionsTest, TlsNeedsBothItsHalves) {
  EXPECT_THAT(Refusal({"--tls-cert", "c.pem"}), HasSubstr("--tls-cert and --tls-key come together"));
  EXPECT_THAT(Refusal({"--tls-key", "k.pem"}), HasSubstr("--tls-cert and --tls-key come together"));
  const ServeOptions options = Parsed({"--tls-cert", "c.pem", "--tls-key", "k.pem"});
  EXPECT_EQ(options.certificate, "c.pem");
  EXPECT_EQ(options.key, "k.pem");
}

TEST(ServeOptionsTest, TwoAnswersToOneQuestionAreRefused) {
  EXPECT_THAT(Refusal({"--listen", "80", "--unix", "/run/socket"}), HasSubstr("give one"));
  EXPECT_THAT(Refusal({"--tokens", "t.yaml", "--no-token"}), HasSubstr("give one"));
  EXPECT_EQ(Refusal({"--tokens", "t.yaml"}), "(accepted)");
}

TEST(ServeOptionsTest, NumbersTimesAndSizesAreChecked) {
  const ServeOptions options = Parsed({"--sessions", "5", "--calls", "7", "--pool", "0", "--spare-memory", "3GiB", "--keep-for", "1h", "--keep-bytes", "1GiB", "--incoming-bytes", "2GiB", "--drain", "10s", "--host", "a.example", "--host", "b.example"});
  EXPECT_EQ(options.sessions_max, 5);
  EXPECT_EQ(options.calls_max, 7);
  EXPECT_EQ(options.pool_max, 0);
  EXPECT_EQ(options.spare_memory_bytes, int64_t{3} << 30);
  EXPECT_EQ(options.kept_for, absl::Hours(1));
  EXPECT_EQ(options.kept_bytes_max, int64_t{1} << 30);
  EXPECT_EQ(options.incoming_bytes_max, int64_t{2} << 30);
  EXPECT_EQ(options.drain, absl::Seconds(10));
  EXPECT_THAT(options.hosts, ElementsAre("a.example", "b.example"));
  for (const std::vector<std::string>& wrong : std::vector<std::vector<std::string>>{{"--sessions", "0"}, {"--sessions", "100001"}, {"--calls", "many"}, {"--calls", "-1"}, {"--keep-for", "later"}, {"--keep-bytes", "1XB"}, {"--incoming-bytes", "-1"},
                                                                                   {"--drain", "-1s"}, {"--pool", "1025"}, {"--pool", "-1"}, {"--spare-memory", "-1"}}) {
    EXPECT_THAT(Refusal(wrong), HasSubstr(wrong[0])) << wrong[1];
  }
  EXPECT_THAT(Refusal({"--", "x"}), HasSubstr("no arguments"));
  EXPECT_NE(Refusal({"--tokenz", "t"}), "(accepted)");
}

}  // namespace
}  // namespace cellblock::app
