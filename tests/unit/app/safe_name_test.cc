// Names that a guest chose, on the host.
#include "app/safe_name.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace cellblock::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SafeComponentTest, KeepsOrdinaryNames) {
  for (const char* name :
       {"summary.csv", "Données – été (1).csv", "数据.csv", "a'b \"c\".csv", "emoji 🙂.png", "100%.txt", "a.b.c", "~x", "a\\b"}) {
    EXPECT_EQ(SafeComponent(name), name);
  }
}

TEST(SafeComponentTest, NothingHidesOrLeavesTheFolder) {
  EXPECT_EQ(SafeComponent(".bashrc"), "%2Ebashrc");
  EXPECT_EQ(SafeComponent("."), "%2E");
  EXPECT_EQ(SafeComponent(".."), "%2E.");
  EXPECT_EQ(SafeComponent("-rf"), "%2Drf");
  EXPECT_EQ(SafeComponent("a/b"), "a%2Fb");
}

TEST(SafeComponentTest, EscapesControlsMarksAndBytesThatAreNoText) {
  EXPECT_EQ(SafeComponent("a\nb\x1b[0m"), "a%0Ab%1B[0m");
  EXPECT_EQ(SafeComponent("x\xE2\x80\xAEgpj.exe"), "x%E2%80%AEgpj.exe");
  EXPECT_EQ(SafeComponent("caf\xE9"), "caf%E9");
  EXPECT_EQ(SafeComponent("\xC2\x9B"), "%C2%9B");
  EXPECT_EQ(SafeComponent(absl::string_view("a\0b", 3)), "a%00b");
}

TEST(SafeComponentTest, ShortensAtTheEdge) {
  EXPECT_EQ(SafeComponent(std::string(255, 'a')), std::string(255, 'a'));
  const std::string long_name = SafeComponent(std::string(252, 'a') + ".csv");  // 256 bytes
  EXPECT_EQ(long_name.size(), 255u);
  EXPECT_THAT(long_name, ::testing::EndsWith(".csv"));
  EXPECT_NE(long_name, SafeComponent(std::string(253, 'a') + ".csv"));
}

TEST(SafeComponentTest, ShortensBetweenCharacters) {
  std::string name;
  for (int i = 0; i < 100; ++i) name += "数";
  const std::string shortened = SafeComponent(name);
  EXPECT_LE(shortened.size(), 255u);
  EXPECT_EQ(SafeComponent(shortened), shortened);  // still UTF-8: nothing to escape
}

TEST(SafePathTest, MakesEveryPathRelativeAndSafe) {
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::vector<std::string> path, SafePath("/charts//../.ssh/key"));
  EXPECT_THAT(path, ElementsAre("charts", "%2E.", "%2Essh", "key"));
}

TEST(SafePathTest, RefusesNothingAndTooMuch) {
  EXPECT_THAT(SafePath(""), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("empty")));
  EXPECT_THAT(SafePath("///"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("empty")));
  std::string deep = "x";
  for (size_t i = 1; i < kPathComponentsMax; ++i) deep += "/x";
  EXPECT_THAT(SafePath(deep), IsOk());
  EXPECT_THAT(SafePath(deep + "/x"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("deeper than 32")));
}

TEST(Sha256HexTest, IsTheKnownDigest) { EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"); }

}  // namespace
}  // namespace cellblock::app
