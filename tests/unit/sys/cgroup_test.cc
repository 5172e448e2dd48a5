// Control groups where this machine and user have them; the reason where not.
#include "sys/cgroup.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sys/files.h"
#include "tests/support/sanitizers.h"
#include "tests/support/signal_child.h"
#include "tests/support/status_matchers.h"

namespace cellblock::sys {
namespace {

class CgroupTest : public ::testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<std::unique_ptr<CgroupParent>> parent = CgroupParent::Create(absl::StrCat("cellblock-test-", getpid()), [this](const std::string& folder) { told_.push_back(folder); });
    if (!parent.ok()) GTEST_SKIP() << "missing kernel feature: a cgroup this user may write (" << parent.status().message() << ")";
    parent_ = *std::move(parent);
  }
  std::vector<std::string> told_;
  std::unique_ptr<CgroupParent> parent_;
};

TEST_F(CgroupTest, LimitsProcessesAndRemovesItsFolders) {
  CELLBLOCK_SKIP_UNDER_THREAD_SANITIZER();
  std::vector<std::string> folders;
  {
    CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Cgroup> group, Cgroup::Create(*parent_, "one", {256 << 20, 3, 1}));
    for (const std::string& folder : parent_->folders()) folders.push_back(folder + "/one");
    pid_t child = fork();
    if (child == 0) {
      raise(SIGSTOP);
      int forked = 0;
      for (int i = 0; i < 10; ++i) {
        pid_t pid = fork();
        if (pid == 0) pause();
        forked += pid > 0;
      }
      _exit(forked);
    }
    int status;
    waitpid(child, &status, WUNTRACED);
    ASSERT_THAT(group->Attach({child}), IsOk());
    EXPECT_EQ(group->Processes(), 1);
    SignalChild(child, SIGCONT);
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), 2) << "itself and two more make three";
    EXPECT_GE(group->ProcessesRefused(), 1);
    EXPECT_EQ(group->OutOfMemoryKills(), 0);
  }
  for (const std::string& folder : folders) EXPECT_NE(access(folder.c_str(), F_OK), 0) << folder;
}

TEST_F(CgroupTest, AProcessEntersByItself) {
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Cgroup> group, Cgroup::Create(*parent_, "three", {64 << 20, 10, 1}));
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::vector<UniqueFd> entrances, group->Entrances());
  if (parent_->version() == 2) GTEST_SKIP() << "missing kernel feature: cgroup v1; v2 lets nobody in without a wait";
  EXPECT_EQ(entrances.size(), parent_->folders().size());
  pid_t child = fork();
  if (child == 0) {
    for (const UniqueFd& entrance : entrances) {
      if (write(entrance.get(), "0", 1) != 1) _exit(1);
    }
    raise(SIGSTOP);
    _exit(0);
  }
  int status;
  ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
  ASSERT_TRUE(WIFSTOPPED(status));
  EXPECT_EQ(group->Processes(), 1);
  EXPECT_THAT(group->Attach({child}), IsOk()) << "nothing is left to do";
  SignalChild(child, SIGKILL);
  ASSERT_EQ(waitpid(child, &status, 0), child);
}

TEST_F(CgroupTest, KillsForMemoryAndCountsIt) {
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Cgroup> group, Cgroup::Create(*parent_, "two", {64 << 20, 10, 1}));
  pid_t child = fork();
  if (child == 0) {
    raise(SIGSTOP);
    std::string big(size_t{200} << 20, 'x');
    _exit(big[100] == 'x' ? 0 : 1);
  }
  int status;
  waitpid(child, &status, WUNTRACED);
  ASSERT_THAT(group->Attach({child}), IsOk());
  SignalChild(child, SIGCONT);
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  EXPECT_GE(group->OutOfMemoryKills(), 1);
  EXPECT_GE(group->MemoryPeakBytes(), 60 << 20);
}

TEST_F(CgroupTest, CountsTheCpuOfProcessesThatNobodyWaitsFor) {
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Cgroup> group, Cgroup::Create(*parent_, "four", {64 << 20, 10, 1}));
  if (!group->CountsCpu()) GTEST_SKIP() << "missing kernel feature: cgroup v2 or cpuacct";
  pid_t child = fork();
  if (child == 0) {
    raise(SIGSTOP);
    signal(SIGCHLD, SIG_IGN);
    for (int i = 0; i < 2; ++i) {
      if (fork() == 0) {
        timespec now = {};
        while (now.tv_nsec < 200'000'000 && now.tv_sec == 0) clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
        _exit(0);
      }
    }
    while (wait(nullptr) > 0) {
    }
    _exit(0);
  }
  int status;
  waitpid(child, &status, WUNTRACED);
  ASSERT_THAT(group->Attach({child}), IsOk());
  absl::Duration before = group->CpuTime();
  SignalChild(child, SIGCONT);
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_GE(group->CpuTime() - before, absl::Milliseconds(390));
  EXPECT_LE(group->CpuTime() - before, absl::Seconds(2));
}

TEST_F(CgroupTest, TellsWhatToSweepBeforeItIsMade) { EXPECT_GE(told_.size(), parent_->folders().size()); }

// A group of this test's on v2, which needs no controllers for this; empty where none can be made.
std::string MakeV2Group() {
  for (const char* mount : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
    const std::string group = absl::StrCat(mount, "/cellblock-test-way-", getpid());
    if (access(absl::StrCat(mount, "/cgroup.controllers").c_str(), F_OK) == 0 && mkdir(group.c_str(), 0755) == 0) return group;
  }
  return "";
}

bool Join(const std::string& group) { return WriteFile(group + "/cgroup.procs", absl::StrCat(getpid())).ok(); }

// 0: it made way and stands below; 1: it was refused and stands where it stood.
int MakeWayInChild(const std::string& group) {
  if (!Join(group)) return 10;
  const pid_t helper = fork();
  if (helper == 0) {
    pause();
    _exit(0);
  }
  const absl::Status made = MakeWayIn(group);
  const std::string own = ReadFile("/proc/self/cgroup", 65536).value_or("");
  const std::string helpers = ReadFile(absl::StrCat("/proc/", helper, "/cgroup"), 65536).value_or("");
  const bool below = own.find("/cellblock-supervisor\n") != std::string::npos && helpers.find("/cellblock-supervisor\n") != std::string::npos;
  kill(helper, SIGKILL);
  waitpid(helper, nullptr, 0);
  return made.ok() && below ? 0 : absl::IsFailedPrecondition(made) && !below ? 1 : 2;
}

TEST(MakeWayTest, MovesThisProcessAndItsOwnAndNobodyElse) {
  CELLBLOCK_SKIP_UNDER_THREAD_SANITIZER();
  const std::string group = MakeV2Group();
  if (group.empty()) GTEST_SKIP() << "missing kernel feature: a v2 cgroup this user may write";
  int status = 0;
  pid_t child = fork();
  if (child == 0) _exit(MakeWayInChild(group));
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  // With somebody else in it.
  const pid_t stranger = fork();
  if (stranger == 0) {
    pause();
    _exit(0);
  }
  ASSERT_THAT(WriteFile(group + "/cgroup.procs", absl::StrCat(stranger)), IsOk());
  child = fork();
  if (child == 0) _exit(MakeWayInChild(group));
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 1);
  kill(stranger, SIGKILL);
  waitpid(stranger, nullptr, 0);
  for (int i = 0; i < 100 && (rmdir((group + "/cellblock-supervisor").c_str()), rmdir(group.c_str())) != 0; ++i) usleep(10'000);
}

}  // namespace
}  // namespace cellblock::sys
