// The audit log: who ran what under which policy, what was refused and why; user code by its hash alone, unless the operator wants it.
#include "observe/audit_log.h"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "service/errors.h"
#include "tests/unit/policy/temp_directory.h"

namespace cellblock::observe {
namespace {

class AuditLogTest : public ::testing::Test {
 protected:
  std::unique_ptr<JsonLines> Open() { return *JsonLines::Open(folder_.PathOf("audit"), 1 << 30); }
  std::string Text() {
    std::ifstream in(folder_.PathOf("audit"));
    return {std::istreambuf_iterator<char>(in), {}};
  }
  // Each line is an object of its own.
  std::vector<boost::json::object> Events() {
    std::ifstream in(folder_.PathOf("audit"));
    std::vector<boost::json::object> events;
    for (std::string line; std::getline(in, line);) events.push_back(boost::json::parse(line).as_object());
    return events;
  }
  service::CallFacts Call(absl::string_view code) { return {facts_, "r-1", "x-1", "python", code, absl::Seconds(1)}; }

  policy::TempDirectory folder_;
  const service::SessionFacts facts_ = {"s-1", "anna", "strict"};
};

TEST_F(AuditLogTest, NamesWhoRanWhatUnderWhichPolicyWithoutTheCode) {
  const std::unique_ptr<JsonLines> lines = Open();
  AuditLog audit(*lines, false);
  const std::string code = "password = 'the secret of somebody'";
  audit.SessionCreated(facts_, {"anna", "r-0"}, absl::Seconds(1), {});
  audit.CallStarted(Call(code));
  Record record;
  record.status = CallStatus::kTimeout;
  record.stdout_text = "the output of somebody";
  record.receipt.limits_hit.push_back({"wall", "took long"});
  record.denials.push_back({"syscall", "ptrace", "seccomp", 2});
  audit.CallEnded(Call(code), record);
  audit.SessionEnded(facts_, "closed", service::EndCause::kClosed, "its owner closed it");
  const std::vector<boost::json::object> events = Events();
  ASSERT_EQ(events.size(), 4u);
  for (const boost::json::object& event : events) {
    EXPECT_EQ(event.at("token"), "anna");
    EXPECT_EQ(event.at("session_id"), "s-1");
    EXPECT_EQ(event.at("policy"), "strict");
    EXPECT_TRUE(event.contains("time"));
  }
  EXPECT_EQ(events[1].at("event"), "call_started");
  EXPECT_EQ(events[1].at("execution_id"), "x-1");
  EXPECT_EQ(events[1].at("code_sha256"), "24f01b4b6d68cd70cf70612d162a06cbd84cb47633d0fa8f4c73d4ca0bd916bc");
  EXPECT_EQ(events[1].at("code_bytes").to_number<size_t>(), code.size());
  EXPECT_EQ(events[2].at("status"), "timeout");
  EXPECT_EQ(events[2].at("denials").as_array().at(0).at("subject"), "ptrace");
  EXPECT_EQ(events[3].at("reason"), "its owner closed it");
  EXPECT_FALSE(absl::StrContains(Text(), "of somebody")) << "neither code nor output";
}

TEST_F(AuditLogTest, HoldsTheCodeUpToItsBoundWhenTheOperatorWantsIt) {
  const std::unique_ptr<JsonLines> lines = Open();
  AuditLog audit(*lines, true);
  audit.CallStarted(Call("1 + 1"));
  audit.CallStarted(Call(std::string(kAuditCodeBytesMax + 1, '#')));
  const std::vector<boost::json::object> events = Events();
  EXPECT_EQ(events[0].at("code"), "1 + 1");
  EXPECT_EQ(events[1].at("code").as_string().size(), kAuditCodeBytesMax);
  EXPECT_EQ(events[1].at("code_bytes").to_number<size_t>(), kAuditCodeBytesMax + 1) << "its hash and its length are of the whole";
}

TEST_F(AuditLogTest, CodeCutInTheMiddleOfACharacterStaysText) {
  const std::unique_ptr<JsonLines> lines = Open();
  AuditLog audit(*lines, true);
  audit.CallStarted(Call(std::string(kAuditCodeBytesMax - 1, '#') + "é"));
  EXPECT_EQ(Events().size(), 1u);
}

TEST_F(AuditLogTest, ARefusalHasItsCodeItsReasonAndNoLinesOfItsOwn) {
  const std::unique_ptr<JsonLines> lines = Open();
  AuditLog audit(*lines, false);
  audit.Refused("execute", "s-1\n{\"event\":\"forged\"}", {"anna", "r-1"}, service::Error(absl::StatusCode::kResourceExhausted, "queue_full", "a\nb\x01\xff"));
  audit.Refused("create_session", "", {"anna", "r-2"}, absl::InvalidArgumentError("no"));
  audit.Refused("execute", std::string(1000, 's'), {"anna", "r-3"}, absl::InvalidArgumentError("no"));
  const std::vector<boost::json::object> events = Events();
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].at("event"), "refused");
  EXPECT_EQ(events[0].at("verb"), "execute");
  EXPECT_EQ(events[0].at("code"), "queue_full");
  EXPECT_EQ(events[1].at("code"), "invalid_request");
  EXPECT_FALSE(events[1].contains("session_id"));
  EXPECT_LE(events[2].at("session_id").as_string().size(), 100u);
}

TEST_F(AuditLogTest, FilesAreNamedWithTheirSize) {
  const std::unique_ptr<JsonLines> lines = Open();
  AuditLog audit(*lines, false);
  audit.FileMoved("put_file", facts_, {"anna", "r-1"}, "Données\n.csv", 5);
  const std::vector<boost::json::object> events = Events();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].at("event"), "put_file");
  EXPECT_EQ(events[0].at("path"), "Données\n.csv");
  EXPECT_EQ(events[0].at("size_bytes").to_number<int64_t>(), 5);
}

}  // namespace
}  // namespace cellblock::observe
