// Finding and reading policy files: names, paths, kinds of files, sizes.
#include "policy/load/files.h"

#include <sys/stat.h>

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "policy/load/load.h"
#include "policy/validate.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/policy/temp_directory.h"

namespace cellblock::policy {
namespace {

using ::testing::HasSubstr;

TEST(FindPolicyTest, TellsNamesFromPaths) {
  EXPECT_TRUE(IsPath("./a"));
  EXPECT_TRUE(IsPath("a.yaml"));
  EXPECT_FALSE(IsPath("a"));
  EXPECT_FALSE(IsPath("a.yml"));
}

TEST(FindPolicyTest, LooksUpNamesAndSuggestsNearOnes) {
  TempDirectory directory;
  directory.Write("strict.yaml", "name: strict\n");
  directory.Write("charts.yaml", "name: charts\n");
  directory.Write("notes.txt", "");
  EXPECT_EQ(*FindPolicy("strict", "", directory.path()), directory.PathOf("strict.yaml"));
  EXPECT_THAT(FindPolicy("stirct", "", directory.path()),
              StatusIs(absl::StatusCode::kNotFound, "no policy \"stirct\" in " + directory.path() + "; did you mean strict?"));
  EXPECT_THAT(FindPolicy("xyzzy", "", directory.path()),
              StatusIs(absl::StatusCode::kNotFound, "no policy \"xyzzy\" in " + directory.path() + "; there are: charts, strict"));
  EXPECT_THAT(FindPolicy("strict", "", "/nonexistent"), StatusIs(absl::StatusCode::kNotFound, "no policy \"strict\" in /nonexistent"));
}

TEST(FindPolicyTest, RefusesOddNames) {
  EXPECT_THAT(FindPolicy("", "", "/p"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("the policy name \"\" is empty")));
  EXPECT_THAT(FindPolicy("..", "", "/p"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("must start with a letter or digit")));
  EXPECT_THAT(FindPolicy("a b", "", "/p"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("may only hold letters")));
  EXPECT_THAT(FindPolicy("a.yml", "", "/p"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("write ./a.yml for a file here")));
  EXPECT_THAT(FindPolicy(absl::string_view("/a\0b", 4), "", "/p"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("U+0000")));
  EXPECT_THAT(FindPolicy("a", "", ""), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no folder of policies is set")));
}

TEST(FindPolicyTest, StartsRelativePathsAtTheGivenFolder) {
  EXPECT_EQ(*FindPolicy("b.yaml", "/etc/x", "/p"), "/etc/x/b.yaml");
  EXPECT_EQ(*FindPolicy("../b", "/etc/x", "/p"), "/etc/x/../b");
  EXPECT_EQ(*FindPolicy("b.yaml", "/", "/p"), "/b.yaml");
  EXPECT_EQ(*FindPolicy("/b.yaml", "/etc/x", "/p"), "/b.yaml");
  EXPECT_EQ(*FindPolicy("b.yaml", "", "/p"), "b.yaml");
  EXPECT_EQ(DirectoryOf("/a"), "/");
  EXPECT_EQ(DirectoryOf("a"), ".");
  EXPECT_EQ(DirectoryOf("a/b/c.yaml"), "a/b");
  EXPECT_EQ(StemOf("a/b/c.yaml"), "c");
  EXPECT_EQ(StemOf("c"), "c");
}

TEST(ReadPolicyFileTest, ReadsUpToTheLargestSize) {
  TempDirectory directory;
  std::string text = "name: a\n#";
  text.resize(kPolicyFileBytesMax, 'x');
  EXPECT_THAT(LoadPolicy(directory.Write("full.yaml", text), ""), IsOk());
  std::string path = directory.Write("over.yaml", text + "x");
  EXPECT_THAT(LoadPolicy(path, ""),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       path + ":1:1: the file has 262145 bytes, more than the 262144 of a policy file; is it a policy?"));
}

TEST(ReadPolicyFileTest, RefusesAFileOf10MB) {
  TempDirectory directory;
  std::string path = directory.Write("big.yaml", std::string(10'000'000, '#'));
  EXPECT_THAT(LoadPolicy(path, ""),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       path + ":1:1: the file has 10000000 bytes, more than the 262144 of a policy file; is it a policy?"));
}

TEST(ReadPolicyFileTest, StopsReadingWhatHasNoSize) {
  // /proc files are regular, say that they have 0 bytes, and can be long.
  EXPECT_FALSE(ReadPolicyFile("/proc/self/maps").ok() && ReadPolicyFile("/proc/self/maps")->text.size() > kPolicyFileBytesMax);
  EXPECT_THAT(ReadPolicyFile("/dev/zero"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("/dev/zero: is not a regular file")));
}

TEST(ReadPolicyFileTest, RefusesFoldersAndDoesNotWaitForFifos) {
  TempDirectory directory;
  EXPECT_THAT(LoadPolicy(directory.path(), ""),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(": is a folder; name a policy file")));
  std::string fifo = directory.PathOf("fifo.yaml");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_THAT(LoadPolicy(fifo, ""), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(": is not a regular file")));
}

TEST(ReadPolicyFileTest, SaysThatAFileIsMissing) {
  EXPECT_THAT(LoadPolicy("/nonexistent/a.yaml", ""),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("open the policy file /nonexistent/a.yaml")));
}

}  // namespace
}  // namespace cellblock::policy
