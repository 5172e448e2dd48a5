// Which rights a Landlock ruleset handles on each ABI. The restriction itself is tested in tests/confine/.
#include "confine/landlock.h"

#include <gtest/gtest.h>

#include <bit>

#include "confine/landlock_abi.h"

namespace cellblock::confine {
namespace {

TEST(LandlockRightsTest, GrowWithTheAbiAsTheKernelsDo) {
  // Numbers of file rights as Documentation/userspace-api/landlock.rst gives them.
  const int expected[] = {0, 13, 14, 15, 15, 16, 16, 16};
  for (int abi = 0; abi <= landlock_abi::kAbiKnownMax; ++abi) {
    EXPECT_EQ(std::popcount(LandlockFileRights(abi)), expected[abi]) << "ABI " << abi;
    if (abi > 0) {
      EXPECT_EQ(LandlockFileRights(abi) & LandlockFileRights(abi - 1), LandlockFileRights(abi - 1)) << "ABI " << abi;
    }
  }
}

TEST(LandlockRightsTest, HandleTcpFromAbi4UnlessInetIsAllowed) {
  EXPECT_EQ(LandlockNetRights(3, false), 0U);
  EXPECT_EQ(LandlockNetRights(4, false), landlock_abi::kNetBindTcp | landlock_abi::kNetConnectTcp);
  EXPECT_EQ(LandlockNetRights(7, true), 0U);
}

TEST(LandlockRightsTest, ScopeFromAbi6) {
  EXPECT_EQ(LandlockScopes(5), 0U);
  EXPECT_EQ(LandlockScopes(6), landlock_abi::kScopeAbstractUnixSocket | landlock_abi::kScopeSignal);
}

}  // namespace
}  // namespace cellblock::confine
