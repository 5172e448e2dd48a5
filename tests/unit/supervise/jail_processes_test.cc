// Processes of a jail, and of others who have their numbers.
#include "supervise/jail_processes.h"

#include <linux/sched.h>
#include <sys/syscall.h>

#include <vector>

#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/supervise/jail_of_child.h"

namespace cellblock::supervise {
namespace {

void ForkSleepers(int count) {
  for (int i = 0; i < count; ++i) {
    if (fork() == 0) {
      while (true) pause();
    }
  }
}

std::vector<pid_t> Found(Jail& jail, sys::ProcReader* worker) {
  std::vector<pid_t> pids;
  VisitJail(jail, worker, [&](sys::ProcReader& process) { pids.push_back(process.pid()); });
  return pids;
}

void WaitFor(Jail& jail, sys::ProcReader* worker, size_t count) {
  for (int i = 0; i < 1000 && Found(jail, worker).size() != count; ++i) usleep(10'000);
}

// A child with that number; nothing where this user may not choose it (clone(2), set_tid).
pid_t ChildWithNumber(pid_t pid) {
  clone_args arguments = {};
  arguments.exit_signal = SIGCHLD;
  arguments.set_tid = reinterpret_cast<uint64_t>(&pid);
  arguments.set_tid_size = 1;
  return static_cast<pid_t>(syscall(SYS_clone3, &arguments, sizeof(arguments)));
}

TEST(JailProcessesTest, FindsChildrenAndTheirs) {
  JailOfChild held([] {
    if (fork() == 0) ForkSleepers(2);
  });
  WaitFor(held.jail, nullptr, 3);
  EXPECT_EQ(Found(held.jail, nullptr).size(), 3u);
  for (pid_t pid : Found(held.jail, nullptr)) EXPECT_TRUE(VisitInJail(held.jail, pid, [](sys::ProcReader&) {}));
}

TEST(JailProcessesTest, KillsAllButTheInit) {
  JailOfChild held([] {
    signal(SIGCHLD, SIG_IGN);  // reaps
    ForkSleepers(5);
  });
  WaitFor(held.jail, nullptr, 5);
  ASSERT_EQ(Found(held.jail, nullptr).size(), 5u);
  KillAllInJail(held.jail, nullptr);
  WaitFor(held.jail, nullptr, 0);
  EXPECT_TRUE(Found(held.jail, nullptr).empty());
  EXPECT_FALSE(sys::WaitForExit(held.jail.pidfd.get(), 0).ok());
}

TEST(JailProcessesTest, SparesWhatIsOutsideTheJail) {
  JailOfChild held;
  sys::Cloned stranger = Child(0);
  EXPECT_THAT(KillInJail(held.jail, stranger.pid), IsOk());
  EXPECT_FALSE(VisitInJail(held.jail, stranger.pid, [](sys::ProcReader&) {}));
  EXPECT_FALSE(Ends(stranger, 100));
  JailOfChild other;
  EXPECT_THAT(KillInJail(held.jail, other.jail.host_pid), IsOk());
  EXPECT_FALSE(sys::WaitForExit(other.jail.pidfd.get(), 100).ok());
  EXPECT_THAT(KillInJail(held.jail, held.jail.host_pid), IsOk());
  EXPECT_TRUE(sys::WaitForExit(held.jail.pidfd.get(), 10'000).ok()) << "its own";
  EndChild(stranger);
}

TEST(JailProcessesTest, AStrangersChildUnderAWorkerIsNotTheJails) {
  JailOfChild held;
  sys::Cloned stranger = Child(0, [] { ForkSleepers(1); });
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(sys::ProcReader worker, sys::ProcReader::Create(stranger.pid));
  for (int i = 0; i < 1000 && worker.Children(1).empty(); ++i) usleep(10'000);
  std::vector<pid_t> children = worker.Children(1);
  ASSERT_EQ(children.size(), 1u);
  EXPECT_TRUE(Found(held.jail, &worker).empty());
  KillAllInJail(held.jail, &worker);
  EXPECT_TRUE(sys::ProcReader::Glance(children[0])->OpenPidFd().ok());
  EXPECT_FALSE(Ends(stranger, 100));
  kill(children[0], SIGKILL);
  EndChild(stranger);
}

TEST(JailProcessesTest, WhoHasTheNumberOfAnEndedWorkerOrInitIsNotTakenForIt) {
  JailOfChild held;
  sys::Cloned ended = Child(0);
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(sys::ProcReader worker, sys::ProcReader::Create(ended.pid));
  pid_t worker_number = ended.pid, init_number = held.jail.host_pid;
  EndChild(ended);
  held.End();
  for (pid_t number : {worker_number, init_number}) {
    pid_t reused = ChildWithNumber(number);
    if (reused < 0) GTEST_SKIP() << "missing: the right to choose a process's number";
    if (reused == 0) {
      ForkSleepers(1);
      while (true) pause();
    }
    ASSERT_EQ(reused, number);
    absl::StatusOr<sys::ProcReader> theirs = sys::ProcReader::Create(number);
    for (int i = 0; i < 1000 && theirs->Children(1).empty(); ++i) usleep(10'000);
    pid_t child = theirs->Children(1).at(0);
    EXPECT_TRUE(Found(held.jail, &worker).empty());
    KillAllInJail(held.jail, &worker);
    EXPECT_TRUE(sys::ProcReader::Glance(child)->OpenPidFd().ok());
    EXPECT_EQ(theirs->ReadUsage().threads, 1);
    EXPECT_FALSE(worker.ReadCpuUse().ok());
    kill(child, SIGKILL);
    kill(number, SIGKILL);
    waitpid(number, nullptr, 0);
  }
}

TEST(JailProcessesTest, WhereNamespacesAreClosedTheWholeJailIsEnded) {
  JailOfChild held([] { ForkSleepers(1); });
  WaitFor(held.jail, nullptr, 1);
  held.jail.pid_namespace = 0;
  EXPECT_EQ(Found(held.jail, nullptr).size(), 1u) << "it counts";
  sys::Cloned stranger = Child(0);
  EXPECT_THAT(KillInJail(held.jail, stranger.pid), StatusIs(absl::StatusCode::kPermissionDenied, testing::_));
  EXPECT_FALSE(Ends(stranger, 100));
  KillAllInJail(held.jail, nullptr);
  EXPECT_TRUE(sys::WaitForExit(held.jail.pidfd.get(), 10'000).ok());
  EndChild(stranger);
}

}  // namespace
}  // namespace cellblock::supervise
