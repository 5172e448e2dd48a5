// Processes seen from outside.
#include "sys/process.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sys/files.h"
#include "sys/proc_reader.h"
#include "tests/support/sanitizers.h"
#include "tests/support/signal_child.h"
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

TEST(ProcReaderTest, TellsSharedMemoryFromFilesThatAreCountedElsewhere) {
  constexpr int64_t kBytes = 8 << 20;
  UniqueFd memory(memfd_create("test", MFD_CLOEXEC));
  ASSERT_EQ(ftruncate(memory.get(), kBytes), 0);
  auto* block = static_cast<char*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0));
  ASSERT_NE(block, MAP_FAILED);
  for (int64_t i = 0; i < kBytes; i += 4096) block[i] = 1;
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(ProcReader self, ProcReader::Create(getpid()));
  ProcReader::Shares shares;
  ASSERT_TRUE(self.ReadShares(&shares));
  EXPECT_GE(shares.shared_memory, kBytes);
  auto always = [] { return true; };
  EXPECT_GE(self.SharedMemoryOutside({}, shares.shared_memory, always), kBytes);
  struct stat info;
  ASSERT_EQ(fstat(memory.get(), &info), 0);
  EXPECT_LT(self.SharedMemoryOutside({info.st_dev}, shares.shared_memory, always), kBytes / 2);
  EXPECT_EQ(self.SharedMemoryOutside({info.st_dev}, shares.shared_memory, [] { return false; }), shares.shared_memory) << "all of it when there is no time";
  munmap(block, kBytes);
}

TEST(ProcReaderTest, IsNotFooledByTheNameOfTheProcess) {
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(ProcReader self, ProcReader::Create(getpid()));
  std::array<char, 16> name;
  ASSERT_EQ(prctl(PR_GET_NAME, name.data()), 0);
  for (const char* forged : {"RssAnon:\t0 kB", "VmHWM:\t0 kB", "VmPTE:\t0 kB", ") R 1 1 1 1 1"}) {
    ASSERT_EQ(prctl(PR_SET_NAME, forged), 0);
    EXPECT_GT(self.ReadUsage().anonymous, 10'000);
    EXPECT_GT(self.ReadUsage().page_tables, 4'000);
    EXPECT_GT(self.ReadUsage().resident_peak, 100'000);
    CELLBLOCK_ASSERT_OK_AND_ASSIGN(ProcReader::Stat stat, self.ReadStat());
    EXPECT_GE(stat.threads, 1);
  }
  prctl(PR_SET_NAME, name.data());
}

TEST(ProcReaderTest, SeesMemoryTimeThreadsAndChildren) {
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(ProcReader self, ProcReader::Create(getpid()));
  ProcReader::Usage usage = self.ReadUsage();
  EXPECT_GT(usage.anonymous, 10'000);
  EXPECT_GT(usage.resident, 100'000);
  EXPECT_GE(usage.resident_peak, usage.resident / 2);
  EXPECT_GE(usage.threads, 1);
  ProcReader::Shares shares;
  ASSERT_TRUE(self.ReadShares(&shares));
  EXPECT_GT(shares.anonymous, 10'000);
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(CpuUse cpu, self.ReadCpuUse());
  EXPECT_GT(cpu.own, absl::ZeroDuration());
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

TEST(ProcReaderTest, SeesTheMemoryOfAProcessWhoseFirstThreadHasEnded) {
  CELLBLOCK_SKIP_UNDER_THREAD_SANITIZER();
  constexpr size_t kBytes = size_t{64} << 20;
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(PipePair ready, MakePipe());
  const pid_t child = fork();
  if (child == 0) {
    static volatile char* block = static_cast<volatile char*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    for (size_t i = 0; i < kBytes; i += 4096) block[i] = 1;
    std::thread([fd = ready.write.get()] {
      (void)!write(fd, "r", 1);
      pause();
    }).detach();
    syscall(SYS_exit, 0);  // of this thread alone
  }
  char byte;
  ASSERT_EQ(read(ready.read.get(), &byte, 1), 1);
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(ProcReader reader, ProcReader::Create(child));
  for (int i = 0; i < 500 && !reader.ReadStat()->ended; ++i) usleep(10'000);
  ASSERT_TRUE(reader.ReadStat()->ended) << "as proc shows it";
  EXPECT_GE(reader.ReadUsage().resident, static_cast<int64_t>(kBytes));
  ProcReader::Shares shares;
  ASSERT_TRUE(reader.ReadShares(&shares));
  EXPECT_GE(shares.shared_memory, static_cast<int64_t>(kBytes));
  EXPECT_GE(reader.SharedMemoryOutside({}, int64_t{1} << 40, [] { return true; }), static_cast<int64_t>(kBytes));
  SignalChild(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST(ProcReaderTest, SeesPageTablesThatNoResidentSizeHolds) {
  CELLBLOCK_SKIP_UNDER_THREAD_SANITIZER();
  constexpr size_t kBytes = size_t{4} << 30, kStep = 2 << 20;  // one page table for each step
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(ProcReader self, ProcReader::Create(getpid()));
  ProcReader::Usage before = self.ReadUsage();
  auto* block = static_cast<volatile char*>(mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  ASSERT_NE(block, MAP_FAILED);
  madvise(const_cast<char*>(block), kBytes, MADV_NOHUGEPAGE);
  for (size_t i = 0; i < kBytes; i += kStep) (void)block[i];
  ProcReader::Usage after = self.ReadUsage();
  EXPECT_GE(after.page_tables - before.page_tables, static_cast<int64_t>(kBytes / kStep) * 4000);
  EXPECT_LT(after.resident - before.resident, 4 << 20);
  munmap(const_cast<char*>(block), kBytes);
}

TEST(ProcReaderTest, SeesEveryOneOfManyChildren) {
  constexpr size_t kChildren = 1200;  // their numbers fill more than one page
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(Cloned parent, CloneProcess(0));
  if (parent.pid == 0) {
    for (size_t i = 0; i < kChildren; ++i) {
      if (fork() == 0) _exit(0);  // stays, as nobody waits for it
    }
    pause();
  }
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(ProcReader reader, ProcReader::Create(parent.pid));
  for (int i = 0; i < 1000 && reader.Children(1).size() < kChildren; ++i) usleep(10'000);
  EXPECT_EQ(reader.Children(1).size(), kChildren);
  for (pid_t pid : reader.Children(1)) EXPECT_TRUE(ProcReader::Glance(pid).ok()) << "no number is cut in two";
  SignalChild(parent.pid, SIGKILL);
  waitpid(parent.pid, nullptr, 0);
}

TEST(ProcReaderTest, OpensThisVeryProcessOrNone) {
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(Cloned child, CloneProcess(0));
  if (child.pid == 0) pause();
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(ProcReader reader, ProcReader::Glance(child.pid));
  EXPECT_EQ(reader.ReadStat()->threads, 1);
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(ProcReader self, ProcReader::Glance(getpid()));
  EXPECT_EQ(*reader.PidNamespace(), *self.PidNamespace());
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(UniqueFd process, reader.OpenPidFd());
  ASSERT_THAT(SendSignal(process.get(), SIGKILL), IsOk());
  waitpid(child.pid, nullptr, 0);
  EXPECT_THAT(reader.OpenPidFd().status(), StatusIs(absl::StatusCode::kNotFound, ::testing::_));
  EXPECT_THAT(reader.PidNamespace().status(), StatusIs(absl::StatusCode::kNotFound, ::testing::_));
}

TEST(ProcReaderTest, FindsReadsAndKillsProcessesByNumberAndStart) {
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(Cloned child, CloneProcess(0));
  if (child.pid == 0) {
    pid_t grandchild = fork();
    if (grandchild == 0) pause();
    pause();
  }
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(ProcReader self, ProcReader::Create(getpid()));
  for (int i = 0; i < 500 && ProcessesBelow({&self}).size() < 2; ++i) usleep(10'000);
  std::vector<ProcessId> all = ProcessesBelow({&self});
  ASSERT_EQ(all.size(), 2u) << "the child and its child";
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(ProcReader reader, ProcReader::Create(child.pid));
  EXPECT_EQ(ProcessesBelow({&reader}).size(), 1u);
  ProcessId another = all[0];
  another.start_ticks += 1;
  EXPECT_THAT(ReadCpuUse(all[0]), IsOk());
  EXPECT_THAT(ReadCpuUse(another), StatusIs(absl::StatusCode::kNotFound, ::testing::_)) << "a process that had the number before";
  EXPECT_FALSE(KillProcess(another));
  EXPECT_FALSE(WaitForExit(child.pidfd.get(), 50).ok());
  for (const ProcessId& process : all) EXPECT_TRUE(KillProcess(process));
  ASSERT_THAT(WaitForExit(child.pidfd.get(), 10'000), IsOk());
  ProcessId ended = all[0].pid == child.pid ? all[0] : all[1];
  EXPECT_FALSE(KillProcess(ended)) << "it has ended, though nobody has waited for it";
  EXPECT_THAT(ReadCpuUse(ended), IsOk());
  waitpid(child.pid, nullptr, 0);
  EXPECT_THAT(ReadCpuUse(ended), StatusIs(absl::StatusCode::kNotFound, ::testing::_));
  EXPECT_TRUE(ProcessesBelow({&reader}).empty());
}

TEST(ProcReaderTest, AnEndedProcessGivesErrorsNotAnothersFigures) {
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(Cloned child, CloneProcess(0));
  if (child.pid == 0) pause();
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(ProcReader reader, ProcReader::Create(child.pid));
  SignalChild(child.pid, SIGKILL);
  waitpid(child.pid, nullptr, 0);
  EXPECT_FALSE(reader.ReadStat().ok());
  EXPECT_EQ(reader.ReadUsage().resident, 0);
  EXPECT_TRUE(reader.Children(1).empty());
  EXPECT_TRUE(reader.Children(2).empty());
  EXPECT_FALSE(reader.ReadCpuUse().ok());
}

}  // namespace
}  // namespace cellblock::sys
