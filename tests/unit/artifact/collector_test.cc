// What a call's artifacts are, and every limit at its edge and one above.
#include "artifact/collector.h"

#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "tests/unit/artifact/workspace_fixture.h"

namespace cellblock::artifact {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CollectorTest : public WorkspaceTest {};

auto LimitDetail(const std::string& text) { return AllOf(Field(&LimitHit::name, "artifacts"), Field(&LimitHit::detail, HasSubstr(text))); }

TEST_F(CollectorTest, CollectsCreatedAndModifiedFilesOnly) {
  Write("kept.csv", "a\n1\n");
  Write("changed.csv", "a\n1\n");
  Collection collection = CollectAfter([&] {
    Write("changed.csv", "a\n2\n");
    mkdir(In("out").c_str(), 0755);
    Write("out/new.txt", "hello");
  });
  ASSERT_THAT(Paths(collection), ElementsAre("changed.csv", "out/new.txt"));
  EXPECT_FALSE(collection.artifacts[0].created);
  const Artifact& artifact = collection.artifacts[1];
  EXPECT_TRUE(artifact.created);
  EXPECT_EQ(artifact.size_bytes, 5);
  EXPECT_EQ(artifact.mime, "text/plain");
  EXPECT_EQ(artifact.sha256, "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
  EXPECT_EQ(artifact.call, 1);
  EXPECT_EQ(Read(artifact.stored_at), "hello");
  EXPECT_EQ(artifact.image_size, std::nullopt);
  EXPECT_THAT(collection.limits_hit, IsEmpty());
  EXPECT_THAT(collection.notes, IsEmpty());
}

TEST_F(CollectorTest, IncludingOneFileLeavesTheOthersToBeFound) {
  mkdir(In("in").c_str(), 0755);
  Collector collector = MakeCollector();
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(Snapshot before, collector.TakeSnapshot());
  Write("in/upload.csv", "a");
  Write("in/other.csv", "a");
  Write("in.csv", "a");
  ASSERT_THAT(collector.Include("in/upload.csv", before), IsOk());
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(Collection collection, collector.Collect(before, 1));
  EXPECT_THAT(Paths(collection), ElementsAre("in.csv", "in/other.csv"));
}

TEST_F(CollectorTest, SeesRenamesReplacementsAndRestoredTimes) {
  Write("a", "same");
  Write("b", "12345");
  Write("c", "replaced");
  Collection collection = CollectAfter([&] {
    rename(In("a").c_str(), In("z").c_str());
    struct stat info;
    stat(In("b").c_str(), &info);
    Write("b", "54321");
    struct timespec times[2] = {info.st_atim, info.st_mtim};
    utimensat(AT_FDCWD, In("b").c_str(), times, 0);
    Write("tmp", "replaced");
    rename(In("tmp").c_str(), In("c").c_str());
  });
  ASSERT_THAT(Paths(collection), ElementsAre("b", "c", "z"));
  EXPECT_FALSE(collection.artifacts[0].created);
  EXPECT_FALSE(collection.artifacts[1].created);
  EXPECT_TRUE(collection.artifacts[2].created);
}

TEST_F(CollectorTest, SnapshotAfterOneCallServesTheNext) {
  Collector collector = MakeCollector();
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(Snapshot before, collector.TakeSnapshot());
  Write("one", "1");
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(Collection first, collector.Collect(before, 1));
  EXPECT_THAT(Paths(first), ElementsAre("one"));
  Write("two", "2");
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(Collection second, collector.Collect(first.after, 2));
  EXPECT_THAT(Paths(second), ElementsAre("two"));
  EXPECT_EQ(second.artifacts[0].call, 2);
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(Collection third, collector.Collect(second.after, 3));
  EXPECT_THAT(Paths(third), IsEmpty());
}

TEST_F(CollectorTest, LeavesHiddenAndCacheFilesOutByDefault) {
  Collection collection = CollectAfter([&] {
    for (const char* folder : {".config", "__pycache__", "lib", "lib/__pycache__"}) mkdir(In(folder).c_str(), 0755);
    for (const char* file : {".bashrc", ".config/x", "__pycache__/m.pyc", "lib/__pycache__/m.pyc", "lib/.x", "lib/m.py"}) Write(file, "x");
  });
  EXPECT_THAT(Paths(collection), ElementsAre("lib/m.py"));
  EXPECT_EQ(collection.after.size(), 2u);  // lib and lib/m.py: what is excluded costs nothing
}

TEST_F(CollectorTest, GlobsNarrowTheChoice) {
  ArtifactLimits limits;
  limits.include = {"*.csv", "out/**"};
  limits.exclude = {"out/tmp/**"};
  Collection collection = CollectAfter(
      [&] {
        mkdir(In("out").c_str(), 0755);
        mkdir(In("out/tmp").c_str(), 0755);
        for (const char* file : {"a.csv", "a.txt", "out/b.txt", "out/tmp/c.csv", ".hidden.csv"}) Write(file, "x");
      },
      limits);
  EXPECT_THAT(Paths(collection), ElementsAre(".hidden.csv", "a.csv", "out/b.txt"));
}

TEST_F(CollectorTest, ReportsImageSize) {
  Collection collection = CollectAfter([&] { Write("p.svg", "<svg width=\"20\" height=\"10\"></svg>"); });
  ASSERT_EQ(collection.artifacts.size(), 1u);
  EXPECT_EQ(collection.artifacts[0].mime, "image/svg+xml");
  EXPECT_EQ(collection.artifacts[0].image_size, std::make_pair(int64_t{20}, int64_t{10}));
}

TEST_F(CollectorTest, FileCountAtTheLimitAndOneAbove) {
  ArtifactLimits limits;
  limits.files = 5;
  Collection at = CollectAfter([&] { for (int i = 0; i < 5; ++i) Write(absl::StrCat("a", i), "x"); }, limits);
  EXPECT_EQ(at.artifacts.size(), 5u);
  EXPECT_THAT(at.limits_hit, IsEmpty());
  Collection above = CollectAfter([&] { for (int i = 5; i >= 0; --i) Write(absl::StrCat("b", i), "x"); }, limits);
  EXPECT_THAT(Paths(above), ElementsAre("b0", "b1", "b2", "b3", "b4"));
  EXPECT_THAT(above.limits_hit, ElementsAre(LimitDetail("artifacts.files is 5: the call created or changed 6 files, and 1 of them")));
  EXPECT_EQ(StoredFiles(), 10u);
}

TEST_F(CollectorTest, NoFileIsCollectedWhenNoneIsAllowed) {
  ArtifactLimits limits;
  limits.files = 0;
  Collection collection = CollectAfter([&] { Write("a", "x"); }, limits);
  EXPECT_THAT(collection.artifacts, IsEmpty());
  EXPECT_THAT(collection.limits_hit, ElementsAre(LimitDetail("artifacts.files is 0")));
}

TEST_F(CollectorTest, FileSizeAtTheLimitAndOneAbove) {
  ArtifactLimits limits;
  limits.file_bytes = 1000;
  Collection collection = CollectAfter(
      [&] {
        Write("at", std::string(1000, 'x'));
        Write("above", std::string(1001, 'x'));
      },
      limits);
  EXPECT_THAT(Paths(collection), ElementsAre("at"));
  EXPECT_THAT(collection.limits_hit, ElementsAre(LimitDetail("artifacts.file_size is 1000: 1 larger file(s) were left out, such as above")));
  ASSERT_EQ(collection.notes.size(), 1u);
  EXPECT_EQ(collection.notes[0].path, "above");
  EXPECT_THAT(collection.notes[0].text, HasSubstr("it has 1001 bytes; artifacts.file_size is 1000"));
  EXPECT_FALSE(collection.notes[0].collected);
}

TEST_F(CollectorTest, TotalSizeAtTheLimitAndOneAbove) {
  ArtifactLimits limits;
  limits.bytes = 1000;
  auto write = [&](int last) {
    Write("a", std::string(600, 'x'));
    Write("b", std::string(static_cast<size_t>(last), 'x'));
    Write("c", "");
  };
  EXPECT_THAT(Paths(CollectAfter([&] { write(400); }, limits)), ElementsAre("a", "b", "c"));
  Collection above = CollectAfter([&] { write(401); }, limits);
  EXPECT_THAT(Paths(above), ElementsAre("a", "c"));
  EXPECT_THAT(above.limits_hit, ElementsAre(LimitDetail("artifacts.size is 1000 a call: 1 file(s)")));
}

TEST_F(CollectorTest, DepthAtTheLimitAndOneAbove) {
  ArtifactLimits limits;
  limits.depth = 2;
  Collector collector = MakeCollector(limits);
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(Snapshot before, collector.TakeSnapshot());
  for (const char* folder : {"a", "a/b", "a/b/c"}) mkdir(In(folder).c_str(), 0755);
  Write("a/b/at", "x");
  Write("a/b/c/above", "x");
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(Collection collection, collector.Collect(before, 1));
  EXPECT_THAT(Paths(collection), ElementsAre("a/b/at"));
  EXPECT_THAT(collection.limits_hit, ElementsAre(LimitDetail("artifacts.depth is 2: 1 deeper folder(s) were not looked into, such as a/b/c")));
  // A folder that has been there is no news.
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(Collection next, collector.Collect(collection.after, 2));
  EXPECT_THAT(next.limits_hit, IsEmpty());
}

TEST_F(CollectorTest, DepthBeyondOurOwnMaximumIsHeld) {
  ArtifactLimits limits;
  limits.depth = 1000;
  Collection collection = CollectAfter(
      [&] {
        std::string path = "d";
        for (int i = 0; i < kDepthMax + 1; ++i) {
          mkdir(In(path).c_str(), 0755);
          if (i == kDepthMax - 1) Write(path + "/at", "x");
          if (i == kDepthMax) Write(path + "/above", "x");
          path += "/d";
        }
      },
      limits);
  EXPECT_EQ(collection.artifacts.size(), 1u);
  EXPECT_THAT(collection.limits_hit, ElementsAre(LimitDetail("artifacts.depth is 64")));
}

TEST_F(CollectorTest, WorkspaceFilesAtTheLimitAndOneAbove) {
  auto write = [&](int count) { for (int i = 0; i < count; ++i) Write(absl::StrCat("f", i), "x"); };
  Collection at = CollectAfter([&] { write(20); }, {}, 20);
  EXPECT_EQ(at.artifacts.size(), 20u);
  EXPECT_THAT(at.limits_hit, IsEmpty());
  Collection above = CollectAfter([&] { write(21); }, {}, 20);
  EXPECT_EQ(above.after.size(), 20u);
  EXPECT_THAT(above.limits_hit, ElementsAre(LimitDetail("more than 20 files and folders")));
}

// With an incomplete snapshot a file counts as changed only if the kernel's change time says so.
TEST_F(CollectorTest, TimesDecideWhereTheSnapshotIsIncomplete) {
  for (int i = 0; i < 30; ++i) Write(absl::StrCat("old", i), "x");
  usleep(20'000);  // one tick of the kernel's file clock and more
  Collector collector = MakeCollector({}, 10);
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(Snapshot before, collector.TakeSnapshot());
  EXPECT_EQ(before.size(), 10u);
  for (int i = 0; i < 25; ++i) unlink(In(absl::StrCat("old", i)).c_str());
  Write("new", "x");
  Write("old29", "xy");
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(Collection collection, collector.Collect(before, 1));
  EXPECT_THAT(Paths(collection), ElementsAre("new", "old29"));
}

TEST_F(CollectorTest, HundredThousandFilesTakeBoundedTimeAndMemory) {
  Collector collector = MakeCollector({}, 200'000);
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(Snapshot before, collector.TakeSnapshot());
  const int folder = open(In("").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  for (int i = 0; i < 100'000; ++i) close(openat(folder, absl::StrCat("file-", i).c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
  close(folder);
  absl::Time start = absl::Now();
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(Collection collection, collector.Collect(before, 1));
  EXPECT_LT(absl::Now() - start, absl::Seconds(20));  // about 0.3 s on an idle machine
  EXPECT_EQ(collection.artifacts.size(), 100u);
  EXPECT_EQ(collection.artifacts[0].path, "file-0");
  EXPECT_EQ(collection.after.size(), 100'000u);
  EXPECT_THAT(collection.limits_hit, ElementsAre(LimitDetail("created or changed 100000 files, and 99900 of them")));
  EXPECT_LE(collection.notes.size(), kNotesMax);
}

TEST_F(CollectorTest, FullStoreIsANoteNotAFailure) {
  Collector collector = MakeCollector();
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(Snapshot before, collector.TakeSnapshot());
  Write("a", "x");
  ASSERT_EQ(rmdir(StorePath().c_str()), 0);
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(Collection collection, collector.Collect(before, 1));
  EXPECT_THAT(collection.artifacts, IsEmpty());
  ASSERT_EQ(collection.notes.size(), 1u);
  EXPECT_THAT(collection.notes[0].text, HasSubstr("the host could not store it"));
}

TEST_F(CollectorTest, NeedsAFolder) {
  UniqueFd none(open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_FALSE(Collector::Create(std::move(none), {}, &*store_, &sniffer_).ok());
}

}  // namespace
}  // namespace cellblock::artifact
