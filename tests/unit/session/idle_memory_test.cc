// What becomes of the memory of a session that waits, as time goes by.
#include "session/idle_memory.h"

#include <gtest/gtest.h>

namespace cellblock::session {
namespace {

class IdleMemoryTest : public ::testing::Test {
 protected:
  absl::Time At(absl::Duration since_start) const { return start_ + since_start; }

  const absl::Time start_ = absl::FromUnixSeconds(1'000'000);
  IdleMemory memory_{start_};
};

TEST_F(IdleMemoryTest, IsGivenBackAMomentAfterTheLastCall) {
  EXPECT_EQ(memory_.Level(At(absl::Seconds(1))), MemoryLevel::kInUse);
  EXPECT_EQ(memory_.Level(At(kGivenBackAfter)), MemoryLevel::kGivenBack);
  memory_.BeginUse();
  EXPECT_TRUE(memory_.is_busy());
  EXPECT_EQ(memory_.Level(At(absl::Hours(1))), MemoryLevel::kInUse);
  memory_.EndUse(At(absl::Hours(1)));
  EXPECT_FALSE(memory_.is_busy());
  EXPECT_EQ(memory_.Level(At(absl::Hours(1) + absl::Seconds(1))), MemoryLevel::kInUse);
  EXPECT_EQ(memory_.Level(At(absl::Hours(1) + kGivenBackAfter)), MemoryLevel::kGivenBack);
}

}  // namespace
}  // namespace cellblock::session
