// What counts for a jail's memory, looked at cheaply and closely.
#include "supervise/memory_watch.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <optional>

#include "absl/algorithm/container.h"
#include "sys/files.h"
#include "tests/support/sanitizers.h"
#include "tests/support/signal_child.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/supervise/jail_of_child.h"

namespace cellblock::supervise {
namespace {

constexpr int64_t kMiB = 1 << 20;

void* Hold(int64_t bytes, bool shared = false) {
  void* block = mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE, (shared ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS, -1, 0);
  for (int64_t i = 0; i < bytes; i += 4096) static_cast<char*>(block)[i] = 1;
  return block;
}

// `size` of page tables, and next to nothing else.
void HoldPageTables(int64_t size) {
  size_t bytes = static_cast<size_t>(size) * 512;
  void* block = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  madvise(block, bytes, MADV_NOHUGEPAGE);
  for (size_t i = 0; i < bytes; i += 2 << 20) (void)static_cast<volatile char*>(block)[i];
}

class MemoryWatchTest : public ::testing::Test {
 protected:
  void SetUp() override { CELLBLOCK_SKIP_UNDER_THREAD_SANITIZER(); }
  // A worker and, in the jail, `others`; both have done what they do.
  void Start(const std::function<void()>& own, int others, const std::function<void()>& theirs) {
    int done[2];
    ASSERT_EQ(pipe2(done, O_CLOEXEC), 0);
    auto tell = [&] { (void)!write(done[1], "d", 1); };
    held_.emplace([&] {
      for (int i = 0; i < others; ++i) {
        if (fork() != 0) continue;
        theirs();
        tell();
        while (true) pause();
      }
    });
    worker_ = Child(0, [&] {
      char byte;
      (void)!read(go_.read.get(), &byte, 1);
      own();
      tell();
    });
    absl::StatusOr<sys::ProcReader> reader = sys::ProcReader::Create(worker_.pid);
    ASSERT_THAT(reader, IsOk());
    reader_ = *std::move(reader);
    baseline_ = BaselineOf(*reader_);
    (void)!write(go_.write.get(), "g", 1);
    for (int i = 0; i < others + 1; ++i) {
      char byte;
      ASSERT_EQ(read(done[0], &byte, 1), 1);
    }
    close(done[0]);
    close(done[1]);
  }
  void TearDown() override { EndChild(worker_); }
  MemorySample Sample() { return SampleMemory(held_->jail, *reader_, baseline_); }
  int64_t Closer(int64_t limit, absl::Duration cpu_max = absl::Seconds(10)) { return CloserLook(held_->jail, *reader_, baseline_, kSharers, Sample(), limit, cpu_max); }

  // Who holds the test program's own pages with the worker: it, this process, and the jail's init. Under a sanitizer they are many.
  static constexpr int64_t kSharers = 3;

  sys::PipePair go_ = *sys::MakePipe();
  std::optional<JailOfChild> held_;
  sys::Cloned worker_;
  std::optional<sys::ProcReader> reader_;
  Baseline baseline_;
};

TEST_F(MemoryWatchTest, CountsTheWorkerBeyondItsBaselineAndAllOfOthers) {
  Start([] { Hold(20 * kMiB); }, 2, [] { Hold(10 * kMiB); });
  MemorySample sample = Sample();
  EXPECT_EQ(sample.pids.size(), 2u);
  EXPECT_EQ(sample.processes, 3);
  EXPECT_GE(sample.bytes, 40 * kMiB);
  EXPECT_GE(Closer(1000 * kMiB), 39 * kMiB);
  EXPECT_LE(Closer(1000 * kMiB), 60 * kMiB);
}

TEST_F(MemoryWatchTest, SharesAreDividedUnlessThereIsNoTimeToLook) {
  Start([] {}, 1, [] {
    Hold(64 * kMiB);  // shared by the four that are forked now
    for (int i = 0; i < 3; ++i) {
      if (fork() == 0) break;
    }
  });
  for (int i = 0; i < 1000 && Sample().pids.size() < 4; ++i) usleep(10'000);
  ASSERT_GE(Sample().bytes, 256 * kMiB);
  EXPECT_LE(Closer(1000 * kMiB), 128 * kMiB);
  EXPECT_GE(Closer(1000 * kMiB, absl::ZeroDuration()), 250 * kMiB) << "too high, never too low";
}

TEST_F(MemoryWatchTest, AProgramHasNoShareOfTheZygotesPages) {
  void* zygotes = Hold(240 * kMiB);  // with the forks
  Start([] {}, 1, [] {
    if (fork() == 0) execl("/usr/bin/python3", "python3", "-c", "block = b'x' * (100 << 20); import time; time.sleep(60)", nullptr);
  });
  auto holds_its_own = [](pid_t pid) {
    absl::StatusOr<sys::ProcReader> process = sys::ProcReader::Glance(pid);
    int64_t bytes = process.ok() ? process->ReadUsage().anonymous : 0;
    return bytes >= 100 * kMiB && bytes <= 150 * kMiB;
  };
  for (int i = 0; i < 1000 && absl::c_none_of(Sample().pids, holds_its_own); ++i) usleep(10'000);
  ASSERT_EQ(Sample().pids.size(), 2u);
  EXPECT_GE(Closer(1000 * kMiB), 99 * kMiB);
  EXPECT_LE(Closer(1000 * kMiB), 120 * kMiB) << "but a fork has";
  munmap(zygotes, 240 * kMiB);
}

TEST_F(MemoryWatchTest, StopsAtTheLimit) {
  Start([] {}, 4, [] { Hold(40 * kMiB); });
  int64_t bytes = Closer(50 * kMiB);
  EXPECT_GT(bytes, 50 * kMiB);
  EXPECT_LT(bytes, 110 * kMiB) << "the rest makes no difference";
}

TEST_F(MemoryWatchTest, PageTablesCount) {
  Start([] { HoldPageTables(16 * kMiB); }, 1, [] { HoldPageTables(8 * kMiB); });
  MemorySample sample = Sample();
  EXPECT_GE(sample.page_tables, 23 * kMiB);
  EXPECT_LE(sample.page_tables, 32 * kMiB);
  EXPECT_GE(sample.bytes, sample.page_tables);
  EXPECT_GE(Closer(1000 * kMiB), 23 * kMiB);
}

TEST_F(MemoryWatchTest, AnEndedWorkerCountsForNothingItsChildrenForAll) {
  Start([] { Hold(50 * kMiB); }, 1, [] { Hold(10 * kMiB); });
  SignalChild(worker_.pid, SIGKILL);
  waitpid(worker_.pid, nullptr, 0);
  MemorySample sample = Sample();
  EXPECT_EQ(sample.pids.size(), 1u);
  EXPECT_GE(sample.bytes, 10 * kMiB);
  EXPECT_LE(sample.bytes, 30 * kMiB);
}

}  // namespace
}  // namespace cellblock::supervise
