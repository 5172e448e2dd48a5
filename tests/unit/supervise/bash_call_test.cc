// A bash call against an init that the test plays: what is answered in which order.
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "gtest/gtest.h"
#include "supervise/call.h"
#include "sys/process.h"
#include "tests/support/signal_child.h"
#include "tests/support/status_matchers.h"

namespace cellblock::supervise {
namespace {

constexpr uint64_t kBash = 7;

class BashCallTest : public ::testing::Test {
 protected:
  void SetUp() override {
    CELLBLOCK_ASSERT_OK_AND_ASSIGN(auto pair, sys::MakeSocketPair(SOCK_SEQPACKET));
    jail_.init = std::make_unique<HelperSocket>(std::move(pair.first));
    init_ = std::move(pair.second);
    CELLBLOCK_ASSERT_OK_AND_ASSIGN(sys::Cloned child, sys::CloneProcess(0));
    if (child.pid == 0) {
      pause();
      _exit(0);
    }
    jail_.host_pid = child.pid;
    jail_.pidfd = std::move(child.pidfd);
    CELLBLOCK_ASSERT_OK_AND_ASSIGN(jail_.process, sys::ProcReader::Create(child.pid));
  }
  void TearDown() override {
    SignalChild(jail_.host_pid, SIGKILL);
    waitpid(jail_.host_pid, nullptr, 0);
  }
  void Send(const std::string& message) { EXPECT_THAT(sys::SendMessage(init_.get(), message), IsOk()); }
  std::string Receive(std::vector<UniqueFd>& descriptors) {
    absl::StatusOr<sys::Message> message = sys::ReceiveMessage(init_.get());
    EXPECT_THAT(message, IsOk());
    if (message.ok()) descriptors = std::move(message->descriptors);
    return message.ok() ? message->bytes : "";
  }
  Jail jail_;
  UniqueFd init_;
  Policy policy_;
  MemorySignals memory_;
  confine::Spec spec_;
};

TEST_F(BashCallTest, EndsThoughBashEndedBeforeTheAnswerToItsInterrupt) {
  std::thread init([this] {
    std::vector<UniqueFd> program, none;
    Receive(program);
    Send(wire::EncodeMessage(wire::ReplyFor(absl::OkStatus(), kBash)));
    EXPECT_EQ(wire::MessageType(Receive(none)), wire::SignalGroup::kType);
    wire::ProcessExited exited;
    exited.id = kBash;
    Send(wire::EncodeMessage(exited));
    Send(wire::EncodeMessage(wire::ReplyFor(absl::OkStatus())));
  });
  CallOptions options;
  options.timeout = absl::Milliseconds(200);
  Record record;
  UniqueFd filter(open("/dev/null", O_RDONLY));
  CpuMeter cpu({&*jail_.process}, nullptr);
  CallParties parties = {policy_, jail_, nullptr, nullptr, memory_, cpu};
  EXPECT_THAT(RunBashCall(parties, "true", spec_, filter.get(), {}, std::move(options), record), IsOk());
  EXPECT_EQ(record.status, CallStatus::kTimeout);
  EXPECT_LT(record.receipt.wall, absl::Seconds(10));
  jail_.init.reset();
  init.join();
}

}  // namespace
}  // namespace cellblock::supervise
