// What becomes of the memory of a session that waits, as time goes by.
#include "session/idle_memory.h"

#include <gtest/gtest.h>

namespace cellblock::session {
namespace {

constexpr absl::Duration kAfter = absl::Minutes(10);

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

TEST_F(IdleMemoryTest, IsPagedOutOnceForEachWait) {
  EXPECT_FALSE(memory_.WantsPageOut(At(kAfter - absl::Milliseconds(1)), kAfter));
  EXPECT_TRUE(memory_.WantsPageOut(At(kAfter), kAfter));
  EXPECT_TRUE(memory_.TakePageOut(At(kAfter), kAfter));
  memory_.PagedOut(true);
  EXPECT_EQ(memory_.Level(At(kAfter)), MemoryLevel::kPagedOut);
  EXPECT_FALSE(memory_.WantsPageOut(At(kAfter * 2), kAfter));
  EXPECT_FALSE(memory_.TakePageOut(At(kAfter * 2), kAfter));
  memory_.BeginUse();
  EXPECT_EQ(memory_.Level(At(kAfter * 2)), MemoryLevel::kInUse);
  EXPECT_FALSE(memory_.WantsPageOut(At(kAfter * 3), kAfter)) << "busy";
  memory_.EndUse(At(kAfter * 3));
  EXPECT_TRUE(memory_.WantsPageOut(At(kAfter * 4), kAfter));
}

TEST_F(IdleMemoryTest, ACallThatBeginsMeanwhileIsSaid) {
  ASSERT_TRUE(memory_.TakePageOut(At(kAfter), kAfter));
  memory_.BeginUse();
  memory_.PagedOut(true);
  EXPECT_EQ(memory_.Level(At(kAfter)), MemoryLevel::kInUse);
}

TEST_F(IdleMemoryTest, WhereNothingCameOfItItIsNotTriedAgain) {
  ASSERT_TRUE(memory_.TakePageOut(At(kAfter), kAfter));
  memory_.PagedOut(false);
  EXPECT_EQ(memory_.Level(At(kAfter)), MemoryLevel::kGivenBack);
  EXPECT_FALSE(memory_.WantsPageOut(At(kAfter * 2), kAfter));
}

}  // namespace
}  // namespace cellblock::session
