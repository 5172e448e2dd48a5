// What the include and exclude globs match, byte by byte, and that no name makes matching slow.
#include "artifact/glob.h"

#include <string>

#include "gtest/gtest.h"

namespace cellblock::artifact {
namespace {

bool Matches(absl::string_view pattern, absl::string_view path) { return Glob(pattern).Matches(path); }

TEST(GlobTest, StarStaysWithinAName) {
  EXPECT_TRUE(Matches("*.csv", "a.csv"));
  EXPECT_TRUE(Matches("*.csv", ".csv"));
  EXPECT_FALSE(Matches("*.csv", "out/a.csv"));
  EXPECT_FALSE(Matches("*.csv", "a.csv.gz"));
  EXPECT_TRUE(Matches("out/*", "out/a"));
  EXPECT_FALSE(Matches("out/*", "out/a/b"));
  EXPECT_TRUE(Matches("a*b*c", "axxbxxbc"));
  EXPECT_FALSE(Matches("a*b*c", "axxbxx"));
}

TEST(GlobTest, QuestionMarkIsOneCharacter) {
  EXPECT_TRUE(Matches("?.png", "a.png"));
  EXPECT_TRUE(Matches("?.png", "é.png"));
  EXPECT_TRUE(Matches("?.png", "😀.png"));
  EXPECT_TRUE(Matches("?.png", "\xFF.png"));
  EXPECT_FALSE(Matches("?.png", "ab.png"));
  EXPECT_FALSE(Matches("?", ""));
}

TEST(GlobTest, TwoStarsAreAnyFoldersOrNone) {
  EXPECT_TRUE(Matches("**", "a"));
  EXPECT_TRUE(Matches("**", "a/b/c"));
  EXPECT_TRUE(Matches("**/*.csv", "a.csv"));
  EXPECT_TRUE(Matches("**/*.csv", "x/y/a.csv"));
  EXPECT_FALSE(Matches("**/*.csv", "x/y/a.txt"));
  EXPECT_TRUE(Matches("out/**", "out/a/b"));
  EXPECT_TRUE(Matches("out/**", "out"));
  EXPECT_FALSE(Matches("out/**", "other/a"));
  EXPECT_TRUE(Matches("a/**/z", "a/z"));
  EXPECT_TRUE(Matches("a/**/z", "a/b/c/z"));
  EXPECT_FALSE(Matches("a/**/z", "a/b/c"));
  EXPECT_TRUE(Matches("**/a/**/b", "x/a/y/a/b"));
}

TEST(GlobTest, OtherCharactersStandForThemselves) {
  EXPECT_TRUE(Matches("[a].txt", "[a].txt"));
  EXPECT_FALSE(Matches("[a].txt", "a.txt"));
  EXPECT_TRUE(Matches("a**b", "axyzb"));
  EXPECT_FALSE(Matches("a**b", "a/b"));
}

TEST(GlobTest, HostileNamesTakeBoundedTime) {
  const std::string name(255, 'a');
  std::string path = name;
  for (int i = 0; i < 15; ++i) path += "/" + name;
  EXPECT_FALSE(Matches("**/*a*a*a*a*a*a*a*a*a*a*b/**/*a*a*a*a*a*b/**/c", path));
}

TEST(PathFilterTest, ExcludeWinsOverInclude) {
  PathFilter filter({"**/*.csv", "keep/**"}, {"**/secret*", "keep/cache/**"});
  EXPECT_TRUE(filter.Includes("a.csv"));
  EXPECT_TRUE(filter.Includes("keep/x/y"));
  EXPECT_FALSE(filter.Includes("a.txt"));
  EXPECT_FALSE(filter.Includes("x/secret.csv"));
  EXPECT_TRUE(filter.SkipsFolder("keep/cache"));
  EXPECT_FALSE(filter.SkipsFolder("keep"));
}

TEST(PathFilterTest, DefaultsLeaveHiddenAndCacheFilesOut) {
  PathFilter filter({"**"}, {".*", "**/.*", "**/__pycache__/**"});
  EXPECT_TRUE(filter.Includes("a/b.png"));
  EXPECT_FALSE(filter.Includes(".hidden"));
  EXPECT_FALSE(filter.Includes("a/.hidden"));
  EXPECT_FALSE(filter.Includes("..."));
  EXPECT_FALSE(filter.Includes("a/__pycache__/m.pyc"));
  EXPECT_TRUE(filter.SkipsFolder(".cache"));
  EXPECT_TRUE(filter.SkipsFolder("a/.git"));
  EXPECT_TRUE(filter.SkipsFolder("__pycache__"));
}

TEST(PathFilterTest, NothingIsIncludedByAnEmptyList) {
  PathFilter filter({}, {});
  EXPECT_FALSE(filter.Includes("a"));
}

}  // namespace
}  // namespace cellblock::artifact
