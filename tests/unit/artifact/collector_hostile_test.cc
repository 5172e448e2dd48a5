// Trees made to hurt the collector: nothing outside the workspace is read, nothing blocks, every refusal says why.
#include <fcntl.h>
#include <grp.h>
#include <sys/socket.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "artifact/collector.h"
#include "tests/unit/artifact/workspace_fixture.h"

namespace cellblock::artifact {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class HostileWorkspaceTest : public WorkspaceTest {
 protected:
  static std::string NoteOn(const Collection& collection, const std::string& path) {
    for (const FileNote& note : collection.notes) {
      if (note.path == path) return note.text;
    }
    return "";
  }
};

TEST_F(HostileWorkspaceTest, LinksAreNeverFollowed) {
  ASSERT_EQ(mkdir((top_ + "/outside").c_str(), 0755), 0);
  std::ofstream(top_ + "/outside/secret.txt") << "secret";
  Collection collection = CollectAfter([&] {
    EXPECT_EQ(symlink("/etc/passwd", In("passwd").c_str()), 0);
    EXPECT_EQ(symlink("../outside", In("folder").c_str()), 0);
    EXPECT_EQ(symlink("..", In("up").c_str()), 0);
    EXPECT_EQ(symlink("/proc/self/root", In("magic").c_str()), 0);
    EXPECT_EQ(symlink("loop", In("loop").c_str()), 0);
    Write("real", "x");
    EXPECT_EQ(symlink("real", In("inside").c_str()), 0);
  });
  EXPECT_THAT(Paths(collection), ElementsAre("real"));
  for (const char* path : {"passwd", "folder", "up", "magic", "loop", "inside"}) EXPECT_THAT(NoteOn(collection, path), HasSubstr("symbolic link")) << path;
  EXPECT_EQ(StoredFiles(), 1u);
}

TEST_F(HostileWorkspaceTest, OpenBeneathStaysBeneath) {
  ASSERT_EQ(mkdir(In("d").c_str(), 0755), 0);
  ASSERT_EQ(symlink("d", In("l").c_str()), 0);
  Write("d/f", "x");
  UniqueFd workspace(open(In("").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  EXPECT_TRUE(UniqueFd(OpenBeneath(workspace.get(), "d/f", O_RDONLY)).valid());
  for (const char* path : {"..", "../store", "d/../..", "/etc/passwd", "l/f", "l"}) EXPECT_FALSE(UniqueFd(OpenBeneath(workspace.get(), path, O_RDONLY)).valid()) << path;
}

TEST_F(HostileWorkspaceTest, PipesSocketsAndDevicesAreRefusedWithoutBlocking) {
  absl::Time start = absl::Now();
  Collection collection = CollectAfter([&] {
    EXPECT_EQ(mkfifo(In("pipe").c_str(), 0666), 0);
    UniqueFd socket_fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    ASSERT_LT(In("socket").size(), sizeof(address.sun_path));
    std::strcpy(address.sun_path, In("socket").c_str());
    EXPECT_EQ(bind(socket_fd.get(), reinterpret_cast<struct sockaddr*>(&address), sizeof(address)), 0);
  });
  EXPECT_LT(absl::Now() - start, absl::Seconds(5));
  EXPECT_THAT(collection.artifacts, IsEmpty());
  EXPECT_THAT(NoteOn(collection, "pipe"), HasSubstr("named pipe"));
  EXPECT_THAT(NoteOn(collection, "socket"), HasSubstr("socket"));
}

TEST_F(HostileWorkspaceTest, DeviceNodesAreRefused) {
  if (mknod(In("probe").c_str(), S_IFCHR | 0666, makedev(1, 5)) != 0) GTEST_SKIP() << "making a device node needs CAP_MKNOD";
  Collection collection = CollectAfter([&] { EXPECT_EQ(mknod(In("zero").c_str(), S_IFCHR | 0666, makedev(1, 5)), 0); });
  EXPECT_THAT(collection.artifacts, IsEmpty());
  EXPECT_THAT(NoteOn(collection, "zero"), HasSubstr("a device"));
}

TEST_F(HostileWorkspaceTest, HugeHoleIsRefusedByItsSize) {
  absl::Time start = absl::Now();
  Collection collection = CollectAfter([&] {
    Write("hole", "x");
    EXPECT_EQ(truncate(In("hole").c_str(), off_t{1} << 40), 0);
  });
  EXPECT_LT(absl::Now() - start, absl::Seconds(5));
  EXPECT_THAT(collection.artifacts, IsEmpty());
  EXPECT_THAT(NoteOn(collection, "hole"), HasSubstr("1099511627776 bytes; artifacts.file_size is 104857600"));
  EXPECT_THAT(collection.limits_hit, SizeIs(1));
}

TEST_F(HostileWorkspaceTest, HardLinkFarmCountsOnce) {
  ArtifactLimits limits;
  limits.files = 10;
  Collection collection = CollectAfter(
      [&] {
        Write("a", std::string(1000, 'x'));
        for (int i = 0; i < 2000; ++i) ASSERT_EQ(link(In("a").c_str(), In(absl::StrCat("link", i)).c_str()), 0);
      },
      limits);
  EXPECT_THAT(Paths(collection), ElementsAre("a"));
  EXPECT_EQ(StoredFiles(), 1u);
  EXPECT_THAT(NoteOn(collection, "link0"), HasSubstr("hard link"));
  EXPECT_EQ(collection.notes.size(), kNotesMax);
  EXPECT_GT(collection.notes_dropped, 0);
}

TEST_F(HostileWorkspaceTest, OddNamesBecomeHarmlessLabels) {
  const std::string longest(255, 'n');
  Collection collection = CollectAfter([&] {
    for (const std::string& name : {std::string("new\nline"), std::string("bad\xFF"), longest, std::string("..x"), std::string("a\\b"), std::string("rtl\xE2\x80\xAEgnp"),
                                    std::string("$(id)"), std::string("-rf"), std::string(" ")}) {
      Write(name, "x");
    }
  }, [] { ArtifactLimits limits; limits.exclude = {}; return limits; }());
  EXPECT_THAT(Paths(collection),
              ElementsAre(" ", "$(id)", "-rf", "..x", "a\\\\b", "bad\\xff", "new\\u000aline", longest, "rtl\\u202egnp"));
  for (const Artifact& artifact : collection.artifacts) {
    EXPECT_EQ(artifact.id.size(), 32u);
    EXPECT_EQ(artifact.stored_at, StorePath() + "/" + artifact.id);  // no name on the host's disk
  }
}

TEST_F(HostileWorkspaceTest, PathsUpToTheKernelsMaximumAndNotBeyond) {
  // 15 folders of 255 bytes and slashes are 3,840 bytes; a last name of 255 gives exactly 4,095.
  ArtifactLimits limits;
  limits.depth = 20;
  const std::string name(255, 'd');
  Collection collection = CollectAfter(
      [&] {
        int folder = open(In("").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        for (int i = 0; i < 15; ++i) {
          ASSERT_EQ(mkdirat(folder, name.c_str(), 0755), 0);
          int below = openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
          close(folder);
          folder = below;
        }
        close(openat(folder, std::string(255, 'f').c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
        ASSERT_EQ(mkdirat(folder, "e", 0755), 0);  // 3,841 bytes
        int below = openat(folder, "e", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        close(openat(below, std::string(254, 'g').c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644));  // 4,096
        close(below);
        close(folder);
      },
      limits);
  ASSERT_EQ(collection.artifacts.size(), 1u);
  EXPECT_EQ(collection.artifacts[0].path.size(), kPathBytesMax);
  ASSERT_EQ(collection.limits_hit.size(), 1u);
  EXPECT_THAT(collection.limits_hit[0].detail, HasSubstr("1 file(s) whose path has more than 4095 bytes"));
  EXPECT_LT(collection.limits_hit[0].detail.size(), 500u);
  EXPECT_THAT(collection.notes, SizeIs(1));
  // Such a tree cannot be removed by path either.
  std::string command = absl::StrCat("rm -rf '", In(name.substr(0, 1)), "'*");
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST_F(HostileWorkspaceTest, ForbiddenFilesAreReadAsRootAndNotedAsAnOrdinaryUser) {
  auto change = [&] {
    Write("closed", "x");
    chmod(In("closed").c_str(), 0);
    mkdir(In("folder").c_str(), 0755);
    Write("folder/f", "x");
    chmod(In("folder").c_str(), 0);
  };
  if (geteuid() == 0) {
    Collection collection = CollectAfter([&] {
      change();
      EXPECT_EQ(chown(In("closed").c_str(), 100'123, 100'123), 0);
    });
    EXPECT_THAT(Paths(collection), ElementsAre("closed", "folder/f"));
  } else {
    Collection collection = CollectAfter(change);
    EXPECT_THAT(collection.artifacts, IsEmpty());
    EXPECT_THAT(NoteOn(collection, "closed"), HasSubstr("does not let the supervisor read it"));
    EXPECT_THAT(NoteOn(collection, "folder"), HasSubstr("does not let the supervisor read it"));
    chmod(In("folder").c_str(), 0755);
  }
}

// The same as an ordinary user sees it, also where the tests run as root.
TEST_F(HostileWorkspaceTest, OrdinaryUserGetsAReasonForAForbiddenFile) {
  if (geteuid() != 0) GTEST_SKIP() << "covered by the test above when not root";
  ASSERT_EQ(chmod(top_.c_str(), 0755), 0);
  ASSERT_EQ(chown(StorePath().c_str(), 65534, 65534), 0);
  Write("closed", "x");
  ASSERT_EQ(chmod(In("closed").c_str(), 0600), 0);
  Write("open", "x");
  pid_t child = fork();
  if (child == 0) {
    bool good = setgroups(0, nullptr) == 0 && setgid(65534) == 0 && setuid(65534) == 0;
    Collector collector = MakeCollector();
    auto collection = collector.Collect(Snapshot(), 1);
    good = good && collection.ok() && Paths(*collection) == std::vector<std::string>{"open"} &&
           absl::StrContains(NoteOn(*collection, "closed"), "does not let the supervisor read it");
    _exit(good ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// A write lease makes an ordinary open wait up to 45 seconds for its holder.
TEST_F(HostileWorkspaceTest, LeasesDoNotDelayUs) {
  Write("leased", "x");
  UniqueFd holder(open(In("leased").c_str(), O_RDWR | O_CLOEXEC));
  signal(SIGIO, SIG_IGN);
  absl::Time start = absl::Now();
  Collection collection = CollectAfter([&] {
    Write("leased", "xy");
    ASSERT_EQ(fcntl(holder.get(), F_SETLEASE, F_WRLCK), 0);
  });
  EXPECT_LT(absl::Now() - start, absl::Seconds(5));
  EXPECT_THAT(NoteOn(collection, "leased"), HasSubstr("lease"));
  signal(SIGIO, SIG_DFL);
}

// Runs `spoil` over and over in another thread while collecting again and again.
template <typename Spoil, typename Check>
void Race(Collector& collector, absl::Duration how_long, Spoil spoil, Check check) {
  std::atomic<bool> stop = false;
  std::thread spoiler([&] {
    while (!stop) spoil();
  });
  absl::Time end = absl::Now() + how_long;
  while (absl::Now() < end) {
    absl::Time start = absl::Now();
    auto collection = collector.Collect(Snapshot(), 1);
    EXPECT_THAT(collection, IsOk());
    if (collection.ok()) check(*collection);
    EXPECT_LT(absl::Now() - start, absl::Seconds(5));
  }
  stop = true;
  spoiler.join();
}

TEST_F(HostileWorkspaceTest, FolderSwappedForALinkNeverLeadsOutside) {
  ASSERT_EQ(mkdir((top_ + "/outside").c_str(), 0755), 0);
  std::ofstream(top_ + "/outside/file") << "secret";
  ASSERT_EQ(mkdir(In("folder").c_str(), 0755), 0);
  Write("folder/file", "guest");
  ASSERT_EQ(symlink((top_ + "/outside").c_str(), In("link").c_str()), 0);
  Collector collector = MakeCollector();
  int collected = 0, refused = 0;
  Race(
      collector, absl::Seconds(1),
      [&] { renameat2(AT_FDCWD, In("folder").c_str(), AT_FDCWD, In("link").c_str(), RENAME_EXCHANGE); },
      [&](const Collection& collection) {
        refused += collection.notes.empty() ? 0 : 1;
        for (const Artifact& artifact : collection.artifacts) {
          ++collected;
          EXPECT_EQ(Read(artifact.stored_at), "guest");
          unlink(artifact.stored_at.c_str());
        }
      });
  EXPECT_GT(collected, 0);
  EXPECT_GT(refused, 0);
}

TEST_F(HostileWorkspaceTest, FileSwappedForAPipeNeverBlocks) {
  Write("file", "guest");
  ASSERT_EQ(mkfifo(In("pipe").c_str(), 0666), 0);
  Collector collector = MakeCollector();
  int collected = 0;
  Race(
      collector, absl::Seconds(1), [&] { renameat2(AT_FDCWD, In("file").c_str(), AT_FDCWD, In("pipe").c_str(), RENAME_EXCHANGE); },
      [&](const Collection& collection) {
        for (const Artifact& artifact : collection.artifacts) {
          ++collected;
          EXPECT_EQ(Read(artifact.stored_at), "guest");
          unlink(artifact.stored_at.c_str());
        }
      });
  EXPECT_GT(collected, 0);
}

TEST_F(HostileWorkspaceTest, FileThatGrowsAndShrinksIsCountedNotTrusted) {
  ArtifactLimits limits;
  limits.file_bytes = 4 << 20;
  Write("file", std::string(1 << 20, 'x'));
  Collector collector = MakeCollector(limits);
  std::atomic<uint64_t> turns = 0;
  int noted = 0, collected = 0;
  Race(
      collector, absl::Seconds(1),
      [&] { EXPECT_EQ(truncate(In("file").c_str(), static_cast<off_t>(++turns % 5) << 20), 0); },
      [&](const Collection& collection) {
        noted += collection.notes.empty() ? 0 : 1;
        for (const Artifact& artifact : collection.artifacts) {
          ++collected;
          struct stat info;
          ASSERT_EQ(stat(artifact.stored_at.c_str(), &info), 0);
          EXPECT_EQ(info.st_size, artifact.size_bytes);
          EXPECT_LE(artifact.size_bytes, limits.file_bytes);
          unlink(artifact.stored_at.c_str());
        }
      });
  EXPECT_GT(collected, 0);
  EXPECT_GT(noted, 0);
}

TEST_F(HostileWorkspaceTest, WorkspaceThatWasRemovedGivesNothing) {
  Collector collector = MakeCollector();
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(Snapshot before, collector.TakeSnapshot());
  ASSERT_EQ(rmdir(In("").c_str()), 0);
  ASSERT_EQ(symlink("/etc", In("").c_str()), 0);
  auto collection = collector.Collect(before, 1);
  if (collection.ok()) {
    EXPECT_THAT(collection->artifacts, IsEmpty());
  }
  EXPECT_EQ(StoredFiles(), 0u);
}

TEST_F(HostileWorkspaceTest, EndlessListingStops) {
  Collector collector = MakeCollector({}, 1000);
  std::atomic<int> made = 0;
  Race(
      collector, absl::Milliseconds(500),
      [&] {
        int n = made++ % 5000;
        if (int fd = open(In(absl::StrCat("f", n)).c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644); fd >= 0) close(fd);
        unlink(In(absl::StrCat("f", n - 2000)).c_str());
      },
      [&](const Collection& collection) {
        EXPECT_LE(collection.after.size(), 1000u);
        for (const Artifact& artifact : collection.artifacts) unlink(artifact.stored_at.c_str());
      });
}

}  // namespace
}  // namespace cellblock::artifact
