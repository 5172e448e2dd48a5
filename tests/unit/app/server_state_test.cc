// The server's state folder and the tokens it asks for: whose they are, that they stay, and what is said about wrong ones.
#include "app/server_state.h"

#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sys/files.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/policy/temp_directory.h"

namespace cellblock::app {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using service::MetricsAccess;

class ServerStateTest : public ::testing::Test {
 protected:
  policy::TempDirectory folder_;
};

mode_t ModeOf(const std::string& path) {
  struct stat found = {};
  return stat(path.c_str(), &found) == 0 ? found.st_mode & 07777 : 0;
}

TEST_F(ServerStateTest, AFolderThatIsMissingIsMadeItsUsersAlone) {
  const std::string path = folder_.PathOf("a/b/state");
  ASSERT_THAT(PrepareStateFolder(path), IsOk());
  EXPECT_EQ(ModeOf(path), 0700u);
  EXPECT_THAT(PrepareStateFolder(path), IsOk()) << "and found again";
}

TEST_F(ServerStateTest, AFolderThatOthersCanLookIntoIsRefused) {
  const std::string path = folder_.PathOf("state");
  ASSERT_THAT(PrepareStateFolder(path), IsOk());
  for (mode_t mode : {0750, 0705, 0710, 0701, 0777}) {
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    EXPECT_THAT(PrepareStateFolder(path), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("chmod 700"))) << mode;
  }
  ASSERT_EQ(chmod(path.c_str(), 0700), 0);
  EXPECT_THAT(PrepareStateFolder(path), IsOk());
}

TEST_F(ServerStateTest, AFileIsNoFolder) {
  EXPECT_FALSE(PrepareStateFolder(folder_.Write("file", "")).ok());
  EXPECT_FALSE(PrepareStateFolder(folder_.PathOf("file/below")).ok());
}

TEST_F(ServerStateTest, AnOptionNamesTheFolderWhereverItIs) {
  Surroundings surroundings;
  surroundings.environment = [](const char*) { return std::optional<std::string>(); };
  EXPECT_EQ(*StateFolder(surroundings, "/a/../b"), "/b");
  EXPECT_EQ(*StateFolder(surroundings, "c"), (std::filesystem::current_path() / "c").string());
}

TEST_F(ServerStateTest, ItsTokenIsMadeOnceAndIsItsUsersAlone) {
  const absl::StatusOr<OwnToken> made = FindOrMakeToken(folder_.path()), found = FindOrMakeToken(folder_.path());
  ASSERT_TRUE(made.ok() && found.ok());
  EXPECT_EQ(made->secret, found->secret);
  EXPECT_GE(made->secret.size(), service::kTokenBytesMin);
  EXPECT_EQ(ModeOf(made->path), 0600u);
}

TEST_F(ServerStateTest, ATokenFileThatHoldsNoneIsRefused) {
  folder_.Write("token", "short\n");
  EXPECT_THAT(FindOrMakeToken(folder_.path()), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("remove it for a new one")));
  folder_.Write("token", "an operator's own choice\n");
  EXPECT_EQ(FindOrMakeToken(folder_.path())->secret, "an operator's own choice");
}

TEST_F(ServerStateTest, AFileOfTokensIsReadAndOneThatIsMissingIsNamed) {
  const std::string hash(64, 'a');
  EXPECT_THAT(ReadTokens(folder_.Write("tokens.yaml", "tokens: [{name: a, sha256: " + hash + "}]")), IsOk());
  EXPECT_THAT(ReadTokens(folder_.Write("wrong.yaml", "tokens: [{nam: a}]")), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("wrong.yaml:1")));
  EXPECT_THAT(std::string(ReadTokens(folder_.PathOf("none.yaml")).status().message()), HasSubstr("none.yaml"));
}

std::string Hash(char digit) { return std::string(64, digit); }

TEST(ReadTokensTest, ReadsWhatATokenMay) {
  policy::TempDirectory folder;
  const std::string path = folder.Write("tokens.yaml", absl::StrCat("tokens:\n  - {name: alice, sha256: ", Hash('a'), ", policies: [default], sessions: 3, calls: 5, wall: 30s, memory: 1GiB}\n",
                                                                    "  - {name: operator, sha256: ", Hash('b'), ", metrics: yes}\n  - {name: scraper, sha256: ", Hash('c'), ", metrics: only}\n"));
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(const service::Tokens tokens, ReadTokens(path));
  ASSERT_EQ(tokens.all().size(), 3u);
  const service::Token& alice = tokens.all()[0];
  EXPECT_EQ(alice.sessions_max, 3);
  EXPECT_EQ(alice.calls_max, 5);
  EXPECT_EQ(alice.wall_max, absl::Seconds(30));
  EXPECT_EQ(alice.memory_bytes_max, int64_t{1} << 30);
  EXPECT_EQ(alice.metrics, MetricsAccess::kNo) << "metrics tell of everybody's sessions";
  EXPECT_EQ(tokens.all()[1].metrics, MetricsAccess::kYes);
  EXPECT_EQ(tokens.all()[2].metrics, MetricsAccess::kOnly);
}

TEST(ReadTokensTest, SaysWhereAWrongOneStands) {
  policy::TempDirectory folder;
  auto problem = [&](const std::string& rest) {
    return std::string(ReadTokens(folder.Write("tokens.yaml", absl::StrCat("tokens:\n  - name: alice\n    sha256: ", Hash('a'), "\n    ", rest, "\n"))).status().message());
  };
  EXPECT_THAT(problem("metrics: all"), AllOf(HasSubstr("tokens.yaml:4"), HasSubstr("metrics: no, yes or only is wanted here")));
  EXPECT_THAT(problem("metric: yes"), AllOf(HasSubstr("tokens.yaml:4:5"), HasSubstr("metrics")));
  EXPECT_THAT(problem("sessions: many"), HasSubstr("sessions: a whole number is wanted here"));
}

}  // namespace
}  // namespace cellblock::app
