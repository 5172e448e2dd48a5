// CPU time summed up from outside: of processes that live, that were waited for, and that nobody waited for.
#include "supervise/cpu_meter.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <functional>

#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "sys/process.h"
#include "tests/support/signal_child.h"
#include "tests/support/status_matchers.h"

namespace cellblock::supervise {
namespace {

constexpr absl::Duration kEach = absl::Milliseconds(150);
constexpr absl::Duration kLook = absl::Milliseconds(10);

void Burn(absl::Duration duration) {
  timespec now;
  do {
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  } while (absl::DurationFromTimespec(now) < duration);
}

// A process for a root, which starts once the meter stands; killed with the test.
class CpuMeterTest : public ::testing::Test {
 protected:
  void Start(const std::function<void()>& body) {
    CELLBLOCK_ASSERT_OK_AND_ASSIGN(child_, sys::CloneProcess(0));
    if (child_.pid == 0) {
      raise(SIGSTOP);
      body();
      _exit(0);
    }
    int status;
    ASSERT_EQ(waitpid(child_.pid, &status, WUNTRACED), child_.pid);
    CELLBLOCK_ASSERT_OK_AND_ASSIGN(root_, sys::ProcReader::Create(child_.pid));
  }
  void Continue() { SignalChild(child_.pid, SIGCONT); }
  // Looks until the root has ended, without waiting for it.
  absl::Duration ReadToTheEnd(CpuMeter& meter) {
    absl::Duration last;
    while (!sys::WaitForExit(child_.pidfd.get(), 0).ok()) {
      absl::Duration now = meter.Read();
      EXPECT_GE(now, last) << "never falls";
      last = now;
      absl::SleepFor(kLook);
    }
    return meter.Read();
  }
  absl::Duration Reap() {
    int status;
    rusage usage = {};
    wait4(child_.pid, &status, 0, &usage);
    return absl::DurationFromTimeval(usage.ru_utime) + absl::DurationFromTimeval(usage.ru_stime);
  }
  void TearDown() override {
    SignalChild(child_.pid, SIGKILL);
    Reap();
  }
  sys::Cloned child_;
  absl::StatusOr<sys::ProcReader> root_;
};

TEST_F(CpuMeterTest, CountsChildrenThatNobodyWaitsFor) {
  Start([] {
    signal(SIGCHLD, SIG_IGN);  // the kernel reaps them, and adds their time to nobody's
    for (int i = 0; i < 4; ++i) {
      if (fork() == 0) Burn(kEach), _exit(0);
      while (waitpid(-1, nullptr, 0) > 0) {
      }
    }
  });
  CpuMeter meter({&*root_}, nullptr);
  Continue();
  absl::Duration total = ReadToTheEnd(meter);
  EXPECT_GE(total, 4 * (kEach - 10 * kLook)) << "each lacks what it used after the last look at it";
  EXPECT_LE(total, 4 * kEach + absl::Milliseconds(100));
}

TEST_F(CpuMeterTest, CountsChildrenThatWereWaitedForOnce) {
  Start([] {
    for (int i = 0; i < 4; ++i) {
      if (fork() == 0) {
        if (fork() == 0) Burn(kEach), _exit(0);
        wait(nullptr);
        _exit(0);
      }
      wait(nullptr);
    }
  });
  CpuMeter meter({&*root_}, nullptr);
  Continue();
  absl::Duration total = ReadToTheEnd(meter);
  EXPECT_GE(total, 4 * kEach - absl::Milliseconds(100));
  EXPECT_LE(total, 4 * kEach + absl::Milliseconds(150)) << "not as themselves and as their parent's children";
}

TEST_F(CpuMeterTest, LeavesOutWhatWasUsedBefore) {
  Start([] {
    if (fork() == 0) Burn(kEach), _exit(0);
    wait(nullptr);
    raise(SIGSTOP);
  });
  Continue();
  int status;
  ASSERT_EQ(waitpid(child_.pid, &status, WUNTRACED), child_.pid);
  CpuMeter meter({&*root_}, nullptr);
  Continue();
  ReadToTheEnd(meter);
  absl::Duration all = Reap();
  EXPECT_GE(all, kEach);
  meter.RootEnded(*root_, all);
  EXPECT_LT(meter.Read(), kEach - absl::Milliseconds(50));
}

TEST_F(CpuMeterTest, BelievesTheEndOfARootRatherThanTheLastLook) {
  Start([] { Burn(kEach); });
  CpuMeter meter({&*root_}, nullptr);
  Continue();
  ASSERT_TRUE(sys::WaitForExit(child_.pidfd.get(), 10'000).ok());
  absl::Duration all = Reap();
  meter.RootEnded(*root_, all);
  EXPECT_GE(meter.Read(), kEach - absl::Milliseconds(30));
  EXPECT_LE(meter.Read(), all);
}

}  // namespace
}  // namespace cellblock::supervise
