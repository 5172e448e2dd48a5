// The arguments of --file.
#include "app/uploads.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

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
  EXPECT_EQ(plan.left_out.links, 2);
  EXPECT_EQ(plan.left_out.special, 1);
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
  LeftOut left_out;
  EXPECT_THAT(PutUpload({folder_.Write("x", content), "in/x", false}, session, &left_out), IsOk());
  EXPECT_EQ(world.files["in/x"], content);
}

TEST_F(UploadsTest, SaysWhatCannotBeCopied) {
  FakeWorld world;
  FakeSession session(world, Policy());
  LeftOut left_out;
  EXPECT_THAT(PutUpload({folder_ / "gone", "x", false}, session, &left_out),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("No such file")));
  const std::string target = folder_.Write("target", "");
  world.put_status = absl::ResourceExhaustedError("the workspace is full (limits.workspace)");
  for (const bool from_folder : {false, true}) {
    EXPECT_THAT(PutUpload({target, "x", from_folder}, session, &left_out),
                StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("/workspace/x: the workspace is full")));
  }
  world.put_status = absl::InvalidArgumentError("a control character");
  EXPECT_THAT(PutUpload({target, "x", false}, session, &left_out),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("/workspace/x: a control character")));
  EXPECT_EQ(left_out.others, 0);
}

TEST_F(UploadsTest, LeavesOutOfAFolderWhatCannotBeCopied) {
  FakeWorld world;
  FakeSession session(world, Policy());
  LeftOut left_out;
  const auto put = [&](const std::string& name) {
    absl::StatusOr<bool> copied = PutUpload({folder_ / name, "x", true}, session, &left_out);
    EXPECT_THAT(copied, IsOk());
    return copied.value_or(true);
  };
  EXPECT_FALSE(put("gone"));
  std::filesystem::create_symlink(folder_.Write("target", ""), folder_ / "link");  // became a link after it was listed
  EXPECT_FALSE(put("link"));
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);  // or a pipe
  EXPECT_FALSE(put("pipe"));
  world.put_status = absl::InvalidArgumentError("it holds a control character");
  folder_.Write("a\nb", "");
  EXPECT_FALSE(put("a\nb"));
  EXPECT_EQ(left_out.others, 4);
  EXPECT_THAT(left_out.reasons, ElementsAre(HasSubstr("gone: "), HasSubstr("link: "), HasSubstr("pipe: no regular file"),
                                            AllOf(HasSubstr("control character"), Not(HasSubstr("\n")))));
}

TEST_F(UploadsTest, TellsTheFirstOfMany) {
  LeftOut left_out;
  EXPECT_THAT(LeftOutLines(left_out), ElementsAre());
  left_out.links = 1;
  left_out.special = 2;
  for (size_t i = 0; i < kLeftOutToldMax + 3; ++i) left_out.Add("data/x", "Permission denied");
  const std::vector<std::string> lines = LeftOutLines(left_out);
  ASSERT_EQ(lines.size(), kLeftOutToldMax + 3);
  EXPECT_EQ(lines[0], "--file: 1 symbolic link left out (links in a folder are not followed)");
  EXPECT_EQ(lines[1], "--file: 2 special files left out");
  EXPECT_EQ(lines[2], "--file: left out data/x: Permission denied");
  EXPECT_EQ(lines.back(), "--file: 3 more left out");
}

TEST_F(UploadsTest, LeavesOutFoldersThatCannotBeRead) {
  folder_.Write("data/a.csv", "");
  folder_.Write("data/closed/b.csv", "");
  std::filesystem::permissions(folder_ / "data/closed", std::filesystem::perms::none);
  const bool as_root = geteuid() == 0;  // who reads every folder
  if (as_root) {
    std::filesystem::permissions(folder_.path(), std::filesystem::perms(0755));
    ASSERT_EQ(seteuid(65534), 0);
  }
  absl::StatusOr<UploadPlan> plan = PlanUploads({folder_ / "data"});
  const absl::StatusOr<UploadPlan> named = PlanUploads({folder_ / "data/closed"});
  if (as_root) {
    ASSERT_EQ(seteuid(0), 0);
  }
  ASSERT_THAT(plan, IsOk());
  EXPECT_EQ(plan->uploads.size(), 1u);
  EXPECT_THAT(plan->left_out.reasons, ElementsAre(HasSubstr("closed: Permission denied")));
  EXPECT_THAT(named, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("Permission denied")));
  std::filesystem::permissions(folder_ / "data/closed", std::filesystem::perms::owner_all);
}

TEST_F(UploadsTest, AFolderWithoutFilesIsMade) {
  folder_.Write("data/a.csv", "");
  std::filesystem::create_directories(folder_ / "data/empty");
  std::filesystem::create_directories(folder_ / "data/links");
  std::filesystem::create_symlink("/etc/passwd", folder_ / "data/links/link");
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(UploadPlan plan, PlanUploads({folder_ / "data"}));
  FakeWorld world;
  FakeSession session(world, Policy());
  for (const Upload& upload : plan.uploads) EXPECT_THAT(PutUpload(upload, session, &plan.left_out), IsOk());
  EXPECT_THAT(world.folders, ElementsAre("data/empty", "data/links"));
  EXPECT_EQ(world.files.size(), 1u);
  EXPECT_EQ(plan.left_out.links, 1);
}

TEST_F(UploadsTest, RefusesWhatIsNeitherAFileNorAFolder) {
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(PlanUploads({folder_ / "pipe"}),
              StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr("pipe: a pipe is neither"), HasSubstr("/dev/stdin:NAME"))));
  EXPECT_THAT(PlanUploads({"/dev/zero:x"}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("/dev/zero: a device is neither")));
  FakeWorld world;
  FakeSession session(world, Policy());
  LeftOut left_out;  // became a pipe after it was looked at: no waiting for a writer
  EXPECT_THAT(PutUpload({folder_ / "pipe", "x", false}, session, &left_out),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("a pipe is neither")));
}

TEST_F(UploadsTest, WaitsForTheWriterOfAPipeThatIsOpen) {
  FakeWorld world;
  FakeSession session(world, Policy());
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::thread writer([&] {
    usleep(100'000);
    EXPECT_EQ(write(ends[1], "late", 4), 4);
    close(ends[1]);
  });
  LeftOut left_out;
  EXPECT_THAT(PutUpload({absl::StrCat("/dev/fd/", ends[0]), "x", false}, session, &left_out), IsOk());
  writer.join();
  close(ends[0]);
  EXPECT_EQ(world.files["x"], "late");
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
  LeftOut left_out;
  EXPECT_THAT(PutUpload(plan.uploads[0], session, &left_out), IsOk());
  close(ends[0]);
  EXPECT_EQ(world.files["data.txt"], "piped");
}

}  // namespace
}  // namespace cellblock::app
