// Which refusals are the server's own failures.
#include "observe/failure_log.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "service/errors.h"

namespace cellblock::observe {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(FailureLogTest, TellsWhatTheHostCouldNotDoAndNothingElse) {
  EXPECT_TRUE(IsFailure(absl::InternalError("x")));
  EXPECT_TRUE(IsFailure(absl::UnavailableError("make /x: No space left on device")));
  EXPECT_TRUE(IsFailure(absl::DataLossError("x")));
  EXPECT_FALSE(IsFailure(absl::InvalidArgumentError("x")));
  EXPECT_FALSE(IsFailure(absl::NotFoundError("x")));
  EXPECT_FALSE(IsFailure(service::Error(absl::StatusCode::kUnavailable, "stopping", "x", absl::Seconds(1))));
  EXPECT_FALSE(IsFailure(service::Error(absl::StatusCode::kResourceExhausted, "queue_full", "x", absl::Seconds(1))));
}

TEST(FailureLogTest, NamesTheRequestAndTheSession) {
  FailureLog log;
  testing::internal::CaptureStderr();
  log.Refused("execute", "s-1\n\"", {"alice", "r-7"}, absl::InternalError("the worker has ended"));
  log.Refused("execute", "s-1", {"alice", "r-8"}, absl::InvalidArgumentError("timeout_seconds"));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), AllOf(HasSubstr("E execute failed (internal_error): the worker has ended session=s-1\\n\\\" request=r-7\n"), Not(HasSubstr("r-8"))));
}

}  // namespace
}  // namespace cellblock::observe
