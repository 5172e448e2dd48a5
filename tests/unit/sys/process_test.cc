// Processes seen from outside.
#include "sys/process.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sys/proc_reader.h"
#include "tests/support/status_matchers.h"

namespace cellblock::sys {
namespace {

TEST(ProcessTest, ClonesSignalsAndReaps) {
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(Cloned child, CloneProcess(0));
  if (child.pid == 0) {
    pause();
    _exit(0);
  }
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(pid_t pid, PidOf(child.pidfd.get()));
  EXPECT_EQ(pid, child.pid);
  EXPECT_FALSE(WaitForExit(child.pidfd.get(), 0).ok());
  ASSERT_THAT(SendSignal(child.pidfd.get(), SIGKILL), IsOk());
  ASSERT_THAT(WaitForExit(child.pidfd.get(), 10'000), IsOk());
  int status;
  ASSERT_EQ(waitpid(child.pid, &status, 0), child.pid);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_THAT(SendSignal(child.pidfd.get(), SIGTERM), StatusIs(absl::StatusCode::kNotFound, ::testing::_));
  EXPECT_FALSE(PidOf(child.pidfd.get()).ok());
}

TEST(ProcReaderTest, SeesMemoryTimeThreadsAndChildren) {
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(ProcReader self, ProcReader::Create(getpid()));
  EXPECT_GT(self.ResidentBytes(), 100'000);
  EXPECT_GE(self.ResidentPeakBytes(), self.ResidentBytes() / 2);
  EXPECT_GT(self.ProportionalBytes(), 10'000);
  EXPECT_GT(self.CpuTime(), absl::ZeroDuration());
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(ProcReader::Stat stat, self.ReadStat());
  EXPECT_GE(stat.threads, 1);
  EXPECT_TRUE(self.Children(1).empty());
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(Cloned child, CloneProcess(0));
  if (child.pid == 0) {
    pid_t grandchild = fork();
    if (grandchild == 0) pause();
    pause();
  }
  EXPECT_THAT(self.Children(1), ::testing::ElementsAre(child.pid));
  for (int i = 0; i < 500 && Descendants({getpid()}).size() < 2; ++i) usleep(10'000);
  std::vector<pid_t> all = Descendants({getpid()});
  EXPECT_EQ(all.size(), 2u) << "the child and its child";
  for (pid_t pid : all) kill(pid, SIGKILL);
  waitpid(child.pid, nullptr, 0);
}

TEST(ProcReaderTest, AnEndedProcessGivesErrorsNotAnothersFigures) {
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(Cloned child, CloneProcess(0));
  if (child.pid == 0) pause();
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(ProcReader reader, ProcReader::Create(child.pid));
  kill(child.pid, SIGKILL);
  waitpid(child.pid, nullptr, 0);
  EXPECT_FALSE(reader.ReadStat().ok());
  EXPECT_EQ(reader.ResidentBytes(), 0);
  EXPECT_EQ(reader.CpuTime(), absl::ZeroDuration());
}

}  // namespace
}  // namespace cellblock::sys
