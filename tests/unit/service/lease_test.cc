// Leases: nobody's use shortens them, a busy session is not idle, and life is the end of all.
#include "service/lease.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cellblock::service {
namespace {

using ::testing::HasSubstr;

const absl::Time kStart = absl::FromUnixSeconds(1'800'000'000);
constexpr LeaseTerms kTerms = {absl::Minutes(10), absl::Hours(1)};

TEST(LeaseTest, AnIdleSessionIsOverAfterItsIdleTimeAndNotBefore) {
  const Lease lease(kTerms, kStart);
  EXPECT_EQ(lease.WhyOver(kStart + absl::Minutes(10) - absl::Nanoseconds(1), false), "");
  EXPECT_THAT(lease.WhyOver(kStart + absl::Minutes(10), false), HasSubstr("nobody had used it for 10m (session.idle)"));
}

TEST(LeaseTest, ABusySessionIsNotIdleButItsLifeEnds) {
  const Lease lease(kTerms, kStart);
  EXPECT_EQ(lease.WhyOver(kStart + absl::Minutes(59), true), "");
  EXPECT_THAT(lease.WhyOver(kStart + absl::Minutes(59), false), HasSubstr("session.idle"));
  EXPECT_THAT(lease.WhyOver(kStart + absl::Hours(1), true), HasSubstr("its life of 1h (session.life) was over"));
  EXPECT_EQ(lease.ExpiresAt(true), kStart + absl::Hours(1));
  EXPECT_EQ(lease.ExpiresAt(false), kStart + absl::Minutes(10));
}

TEST(LeaseTest, UseMovesTheEndAwayAndNeverBeyondItsLife) {
  Lease lease(kTerms, kStart);
  lease.Use(kStart + absl::Minutes(5));
  EXPECT_EQ(lease.ExpiresAt(false), kStart + absl::Minutes(15));
  lease.Use(kStart + absl::Minutes(55));
  EXPECT_EQ(lease.ExpiresAt(false), kStart + absl::Hours(1));
}

TEST(LeaseTest, NeitherAShorterRenewalNorAnEarlierClockMovesTheEndNearer) {
  Lease lease(kTerms, kStart);
  lease.Extend(kStart + absl::Minutes(5), absl::Minutes(10));
  lease.Extend(kStart + absl::Minutes(6), absl::Seconds(1));
  EXPECT_EQ(lease.ExpiresAt(false), kStart + absl::Minutes(15));
  lease.Use(kStart);  // a thread that was late with its look at the clock
  EXPECT_EQ(lease.ExpiresAt(false), kStart + absl::Minutes(15));
  EXPECT_EQ(lease.last_used_at(), kStart + absl::Minutes(6));
  lease.Extend(kStart + absl::Minutes(6), absl::Minutes(20));
  EXPECT_EQ(lease.ExpiresAt(false), kStart + absl::Minutes(26)) << "a longer one does";
}

}  // namespace
}  // namespace cellblock::service
