// Errors: codes that programs act on, and whose fault it was.
#include "service/errors.h"

#include "gtest/gtest.h"

namespace cellblock::service {
namespace {

TEST(ErrorsTest, AJournalWithoutRoomIsNoLimitOfTheCallers) {
  EXPECT_TRUE(StoreStatus(absl::OkStatus()).ok());
  EXPECT_EQ(CodeOf(StoreStatus(absl::InternalError("x"))), "internal_error");
  const absl::Status full = StoreStatus(absl::ResourceExhaustedError("the journal: run: database or disk is full"));
  EXPECT_EQ(CodeOf(full), "store_full");
  EXPECT_TRUE(RetryAfterOf(full).has_value());
}

}  // namespace
}  // namespace cellblock::service
