// The arguments of --file.
#include "app/uploads.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/captured_stream.h"
#include "tests/support/fake_host.h"
#include "tests/support/status_matchers.h"

namespace cellblock::app {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class UploadsTest : public ::testing::Test {
 protected:
  // "source basename → target" of each.
  std::vector<std::string> Plan(const std::vector<std::string>& arguments) {
    absl::StatusOr<UploadPlan> plan = PlanUploads(arguments);
    EXPECT_THAT(plan, IsOk());
    std::vector<std::string> lines;
    if (!plan.ok()) return lines;
    for (const Upload& upload : plan->uploads)
      lines.push_back(absl::StrCat(std::filesystem::path(upload.source).filename().string(), " → ", upload.target));
    return lines;
  }
  TemporaryFolder folder_;
};

TEST_F(UploadsTest, TakesTheFilesOwnName) {
  EXPECT_THAT(Plan({folder_.Write("sales.csv", "")}), ElementsAre("sales.csv → sales.csv"));
  EXPECT_THAT(Plan({folder_.Write("Données – été (1).csv", "")}), ElementsAre("Données – été (1).csv → Données – été (1).csv"));
}

TEST_F(UploadsTest, TakesAnotherName) {
  const std::string file = folder_.Write("a.csv", "");
  EXPECT_THAT(Plan({file + ":b.csv"}), ElementsAre("a.csv → b.csv"));
  EXPECT_THAT(Plan({file + ":in/b.csv"}), ElementsAre("a.csv → in/b.csv"));
  EXPECT_THAT(Plan({file + ":/workspace/b.csv"}), ElementsAre("a.csv → b.csv"));
  EXPECT_THAT(Plan({file + ":in/"}), ElementsAre("a.csv → in/a.csv"));
  EXPECT_THAT(Plan({file + ":./x//y"}), ElementsAre("a.csv → x/y"));
}

TEST_F(UploadsTest, TheLongestExistingSourceWins) {
  folder_.Write("a", "");
  folder_.Write("a:b.csv", "");
  EXPECT_THAT(Plan({folder_ / "a:b.csv"}), ElementsAre("a:b.csv → a:b.csv"));
  EXPECT_THAT(Plan({folder_ / "a:b.csv:c.csv"}), ElementsAre("a:b.csv → c.csv"));
  EXPECT_THAT(Plan({folder_ / "a:c.csv"}), ElementsAre("a → c.csv"));
  EXPECT_THAT(Plan({folder_ / "a:10:30.csv"}), ElementsAre("a → 10:30.csv"));
}

TEST_F(UploadsTest, SaysWhatIsMissing) {
  EXPECT_THAT(PlanUploads({folder_ / "none.csv"}),
              StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr("none.csv: No such file"))));
  EXPECT_THAT(PlanUploads({"C:\\data\\x.csv"}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--file SRC:NAME")));
  EXPECT_THAT(PlanUploads({folder_ / "none:x"}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("before a colon")));
  EXPECT_THAT(PlanUploads({""}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--file SRC")));
  EXPECT_THAT(PlanUploads({folder_.Write("a", "") + ":"}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("name after the colon is missing")));
}

TEST_F(UploadsTest, RefusesNamesOutsideTheWorkspace) {
  const std::string file = folder_.Write("a", "");
  for (const char* name : {"/etc/passwd", "../x", "x/../../y", "/workspace", "/workspacex/y", ".", "/"}) {
    EXPECT_THAT(PlanUploads({absl::StrCat(file, ":", name)}), Not(IsOk())) << name;
  }
  EXPECT_THAT(PlanUploads({absl::StrCat(file, ":", std::string(255, 'n'))}), IsOk());
  EXPECT_THAT(PlanUploads({absl::StrCat(file, ":", std::string(256, 'n'))}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("255 bytes")));
}

TEST_F(UploadsTest, TakesAFolderWithItsFolders) {
  folder_.Write("data/b.csv", "");
  folder_.Write("data/sub/a.csv", "");
  EXPECT_THAT(Plan({folder_ / "data"}), ElementsAre("b.csv → data/b.csv", "a.csv → data/sub/a.csv"));
  EXPECT_THAT(Plan({folder_ / "data/"}), ElementsAre("b.csv → data/b.csv", "a.csv → data/sub/a.csv"));
  EXPECT_THAT(Plan({folder_ / "data:in"}), ElementsAre("b.csv → in/b.csv", "a.csv → in/sub/a.csv"));
  EXPECT_THAT(Plan({folder_ / "data:."}), ElementsAre("b.csv → b.csv", "a.csv → sub/a.csv"));
  EXPECT_THAT(Plan({folder_ / "data/sub/.."}), ElementsAre("b.csv → data/b.csv", "a.csv → data/sub/a.csv"));
}

TEST_F(UploadsTest, FollowsNoLinkInsideAFolder) {
  const std::string secret = folder_.Write("secret/key", "s");
  folder_.Write("data/a.csv", "");
  std::filesystem::create_symlink(secret, folder_ / "data/link");
  std::filesystem::create_directory_symlink(folder_ / "secret", folder_ / "data/linked");
  ASSERT_EQ(mkfifo((folder_ / "data/pipe").c_str(), 0600), 0);
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(UploadPlan plan, PlanUploads({folder_ / "data"}));
  EXPECT_EQ(plan.uploads.size(), 1u);
  EXPECT_EQ(plan.skipped_links, 2);
  EXPECT_EQ(plan.skipped_special, 1);
  EXPECT_THAT(Plan({folder_ / "data/link"}), ElementsAre("link → link"));  // named by the user: followed
}

TEST_F(UploadsTest, RefusesTwoFilesOfOneName) {
  const std::string a = folder_.Write("a/x.csv", ""), b = folder_.Write("b/x.csv", "");
  EXPECT_THAT(PlanUploads({a, b}),
              StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr(a), HasSubstr(b), HasSubstr("/workspace/x.csv"))));
  EXPECT_THAT(PlanUploads({a, b + ":y.csv"}), IsOk());
  EXPECT_THAT(PlanUploads({a + ":d", b + ":d/x.csv"}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("both the file")));
}

TEST_F(UploadsTest, CountsFilesAtTheEdge) {
  for (size_t i = 0; i < kUploadFilesMax; ++i) folder_.Write(absl::StrCat("many/", i), "");
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(UploadPlan plan, PlanUploads({folder_ / "many"}));
  EXPECT_EQ(plan.uploads.size(), kUploadFilesMax);
  folder_.Write("many/one more", "");
  EXPECT_THAT(PlanUploads({folder_ / "many"}), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("more than 10000 files")));
}

TEST_F(UploadsTest, CountsFoldersAtTheEdge) {
  std::string deep = "deep";
  for (int i = 1; i < kUploadDepthMax; ++i) deep += "/d";
  folder_.Write(deep + "/f", "");
  EXPECT_THAT(PlanUploads({folder_ / "deep"}), IsOk());
  folder_.Write(deep + "/d/f", "");
  EXPECT_THAT(PlanUploads({folder_ / "deep"}), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("more than 32 folders deep")));
}

TEST_F(UploadsTest, CopiesBytes) {
  FakeWorld world;
  FakeSession session(world, Policy());
  const std::string content("a\0b\xFF\n", 5);
  EXPECT_THAT(PutUpload({folder_.Write("x", content), "in/x", false}, session), IsOk());
  EXPECT_EQ(world.files["in/x"], content);
}

TEST_F(UploadsTest, SaysWhatCannotBeCopied) {
  FakeWorld world;
  FakeSession session(world, Policy());
  EXPECT_THAT(PutUpload({folder_ / "gone", "x", true}, session), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("No such file")));
  const std::string target = folder_.Write("target", "");
  std::filesystem::create_symlink(target, folder_ / "link");
  EXPECT_THAT(PutUpload({folder_ / "link", "x", true}, session), Not(IsOk()));  // became a link after it was listed
  world.put_status = absl::ResourceExhaustedError("the workspace is full (limits.workspace)");
  EXPECT_THAT(PutUpload({target, "x", false}, session),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("/workspace/x: the workspace is full")));
}

TEST_F(UploadsTest, ReadsAPipeThatTheUserNames) {
  FakeWorld world;
  FakeSession session(world, Policy());
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(write(ends[1], "piped", 5), 5);
  close(ends[1]);
  const std::string name = absl::StrCat("/dev/fd/", ends[0]);
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(UploadPlan plan, PlanUploads({name + ":data.txt"}));
  EXPECT_THAT(PutUpload(plan.uploads[0], session), IsOk());
  close(ends[0]);
  EXPECT_EQ(world.files["data.txt"], "piped");
}

}  // namespace
}  // namespace cellblock::app
