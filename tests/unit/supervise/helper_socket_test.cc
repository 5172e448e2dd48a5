// Requests and answers with exit reports in between.
#include <sys/socket.h>

#include <thread>

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "supervise/helpers.h"
#include "tests/support/status_matchers.h"

namespace cellblock::supervise {
namespace {

class HelperSocketTest : public ::testing::Test {
 protected:
  void SetUp() override {
    CELLBLOCK_ASSERT_OK_AND_ASSIGN(auto pair, sys::MakeSocketPair(SOCK_SEQPACKET));
    mine_ = std::make_unique<HelperSocket>(std::move(pair.first));
    helper_ = std::move(pair.second);
  }
  void Exit(uint64_t id) {
    wire::ProcessExited exited;
    exited.id = id;
    ASSERT_THAT(sys::SendMessage(helper_.get(), wire::EncodeMessage(exited)), IsOk());
  }
  void Reply(const absl::Status& status, uint64_t value = 0) { ASSERT_THAT(sys::SendMessage(helper_.get(), wire::EncodeMessage(wire::ReplyFor(status, value))), IsOk()); }
  std::unique_ptr<HelperSocket> mine_;
  UniqueFd helper_;
};

TEST_F(HelperSocketTest, KeepsExitsThatComeBeforeTheAnswer) {
  Exit(7);
  Reply(absl::OkStatus(), 42);
  Exit(8);
  uint64_t value = 0;
  ASSERT_THAT(mine_->Ask("request", {}, absl::Seconds(5), &value), IsOk());
  EXPECT_EQ(value, 42u);
  EXPECT_THAT(mine_->WaitForExit(8, absl::Seconds(5)), IsOk());
  EXPECT_THAT(mine_->WaitForExit(7, absl::Seconds(5)), IsOk());
}

TEST_F(HelperSocketTest, GivesEachExitOnceAndForgetsWhatNobodyWants) {
  Exit(7);
  ASSERT_THAT(mine_->WaitForExit(7, absl::Seconds(5)), IsOk());
  EXPECT_THAT(mine_->WaitForExit(7, absl::ZeroDuration()), StatusIs(absl::StatusCode::kDeadlineExceeded, ::testing::_));
  mine_->Forget(9);
  Exit(9);
  EXPECT_FALSE(mine_->PollForExit(9).has_value());
}

TEST_F(HelperSocketTest, CarriesTheHelpersError) {
  Reply(absl::FailedPreconditionError("mount proc: Operation not permitted"));
  EXPECT_THAT(mine_->Ask("request", {}, absl::Seconds(5)), StatusIs(absl::StatusCode::kFailedPrecondition, ::testing::HasSubstr("mount proc")));
}

TEST_F(HelperSocketTest, TakesNoLateAnswerForAnother) {
  EXPECT_THAT(mine_->Ask("first", {}, absl::Milliseconds(20)), StatusIs(absl::StatusCode::kDeadlineExceeded, ::testing::_));
  (void)sys::SendMessage(helper_.get(), wire::EncodeMessage(wire::ReplyFor(absl::OkStatus(), 1)));
  EXPECT_THAT(mine_->Ask("second", {}, absl::Seconds(5)), StatusIs(absl::StatusCode::kUnavailable, ::testing::_));
  char byte;
  while (recv(helper_.get(), &byte, 1, MSG_DONTWAIT) > 0) {
  }
  EXPECT_EQ(recv(helper_.get(), &byte, 1, MSG_DONTWAIT), 0) << "the helper sees the end, and ends";
}

TEST_F(HelperSocketTest, WaitingForAnEndKeepsNobodyFromAsking) {
  std::thread waiting([this] { EXPECT_THAT(mine_->WaitForExit(7, absl::Seconds(20)), IsOk()); });
  absl::SleepFor(absl::Milliseconds(50));
  std::thread helper([this] {
    EXPECT_THAT(sys::ReceiveMessage(helper_.get()), IsOk());
    Reply(absl::OkStatus(), 42);
  });
  uint64_t value = 0;
  EXPECT_THAT(mine_->Ask("request", {}, absl::Seconds(5), &value), IsOk());
  EXPECT_EQ(value, 42u);
  helper.join();
  Exit(7);
  waiting.join();
}

TEST_F(HelperSocketTest, SaysWhenTheHelperIsSilentOrGone) {
  EXPECT_THAT(mine_->Ask("request", {}, absl::Milliseconds(20)), StatusIs(absl::StatusCode::kDeadlineExceeded, ::testing::_));
  helper_.Reset();
  EXPECT_THAT(mine_->Ask("request", {}, absl::Seconds(5)), StatusIs(absl::StatusCode::kUnavailable, ::testing::_));
}

}  // namespace
}  // namespace cellblock::supervise
