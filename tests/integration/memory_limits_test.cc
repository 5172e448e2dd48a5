// limits.memory: the soft limit that code sees as MemoryError, and the hard one behind it (a cgroup as root, else the watch). Tests
// only; where the two differ, both endings are written down.
#include <cstdlib>

#include "tests/support/helper_processes.h"
#include "tests/support/session_fixture.h"

namespace cellblock {
namespace {

constexpr int64_t kMiB = 1 << 20;

// Touches `megabytes` in a child process and then sleeps, holding them.
constexpr char kHold[] = R"(
import os, time
def hold(megabytes, seconds):
    pid = os.fork()
    if pid == 0:
        block = bytearray(megabytes * 1024 * 1024)
        block[::4096] = b'x' * len(block[::4096])
        time.sleep(seconds)
        os._exit(0)
    return pid
)";

// Maps `megabytes` that no soft limit sees, and touches them.
constexpr char kShared[] = R"(
import mmap
held = []
def share(megabytes):
    with open('/dev/shm/shared', 'wb+') as file:
        file.truncate(megabytes << 20)
        held.append(mmap.mmap(file.fileno(), megabytes << 20))
    for i in range(0, megabytes << 20, 4096): held[-1][i] = 1
)";

class MemoryLimitsTest : public SessionTest {
 protected:
  // The watch, also where there is a cgroup.
  void UseWatch(int64_t megabytes) {
    Policy policy;
    policy.limits.memory_bytes = megabytes * kMiB;
    policy.limits.shm_bytes = 4096 * kMiB;  // never full before the watch has looked
    policy.isolation.cgroup = Requirement::kOff;
    Use(policy);
    EXPECT_EQ(LayerState(session(), "memory"), "watched");
  }

  void UseLimit(int64_t megabytes) {
    Policy policy;
    policy.limits.memory_bytes = megabytes * kMiB;
    policy.limits.shm_bytes = 4096 * kMiB;  // never full before the watch has looked
    Use(policy);
    EXPECT_THAT(Run("x = 7"), EndedWell());
  }
};

TEST_F(MemoryLimitsTest, AnIdleSessionGivesBackWhatItsCodeHasFreed) {
  UseLimit(512);
  const Record record = Run("x = [bytes(2000) for _ in range(60_000)]\ny = x[-1]\ndel x");
  EXPECT_GT(record.receipt.memory_peak_bytes, 100 * kMiB);
  EXPECT_TRUE(Eventually([&] { return session().memory().bytes < 60 * kMiB; })) << session().memory().bytes;
  EXPECT_TRUE(Eventually([&] { return session().memory().level == MemoryLevel::kGivenBack; }));
  EXPECT_EQ(Value("len(y)"), "2000");
}

TEST_F(MemoryLimitsTest, MemoryFilesExistWhereACgroupCountsThem) {
  UseLimit(256);
  if (HasCgroup(session())) {
    EXPECT_THAT(Run("import os; fd = os.memfd_create('m'); os.write(fd, b'x'); os.close(fd)"), EndedWell());
  } else {
    EXPECT_THAT(Run("import os; os.memfd_create('m')"), EndedWithError("OSError"));
  }
}

TEST_F(MemoryLimitsTest, SharedMemoryWithoutAFileExistsWhereACgroupCountsIt) {
  constexpr char kMap[] = "import mmap; mmap.mmap(-1, 4096)";
  constexpr char kMapDevice[] = "import mmap; f = open('/dev/zero', 'rb+'); mmap.mmap(f.fileno(), 4096)";
  UseLimit(256);
  if (HasCgroup(session())) {
    EXPECT_THAT(Run(kMap), EndedWell());
    EXPECT_EQ(Value(std::string(kMapDevice) + "; '/dev/zero (deleted)' in open('/proc/self/maps').read()"), "True");
  }
  UseWatch(256);
  Record record = Run(kMap);
  EXPECT_THAT(record, EndedWithError("PermissionError"));
  EXPECT_THAT(ErrorOf(record).hint, testing::HasSubstr("/dev/shm"));
  EXPECT_THAT(Run(kMapDevice), EndedWithError("PermissionError"));
  EXPECT_EQ(Value("open('/dev/zero', 'rb').read(2)"), R"(b'\x00\x00')");
  // What a reader maps of the device as shared is its own; memory behind it would have the name of a file that is gone (mm/shmem.c).
  EXPECT_EQ(Value("f = open('/dev/zero', 'rb'); m = mmap.mmap(f.fileno(), 1 << 20, prot=mmap.PROT_READ); any(m.read()), '/dev/zero (deleted)' in open('/proc/self/maps').read()"), "(False, False)");
  EXPECT_THAT(Run("from multiprocessing import shared_memory as s, Array\nb = s.SharedMemory(create=True, size=1 << 20); b.buf[5] = 1; b.close(); b.unlink()\nArray('d', 100)[3] = 1.0"), EndedWell());
}

TEST_F(MemoryLimitsTest, WithinTheLimitCodeGetsItsMemory) {
  UseLimit(256);
  Record record = Run("b = bytearray(150 << 20); b[::4096] = b'x' * len(b[::4096]); len(b)");
  EXPECT_THAT(record, EndedWell());
  EXPECT_THAT(record, HitNothing());
  EXPECT_GE(record.receipt.memory_peak_bytes, 140 * kMiB);
  EXPECT_LE(record.receipt.memory_peak_bytes, 256 * kMiB);
}

TEST_F(MemoryLimitsTest, OneAllocationBeyondTheLimitIsAMemoryError) {
  UseLimit(256);
  Record record = Run("b = bytearray(300 << 20)");
  EXPECT_THAT(record, EndedWithError("MemoryError"));
  EXPECT_THAT(record, Hit("memory"));
  EXPECT_THAT(ErrorOf(record).hint, testing::HasSubstr("256 MiB"));
  EXPECT_EQ(Value("x"), "7");
}

TEST_F(MemoryLimitsTest, ManySmallAllocationsEndInAMemoryErrorToo) {
  UseLimit(192);
  Record record = Run("blocks = []\nwhile True: blocks.append(bytearray(100_000))");
  EXPECT_THAT(record, EndedWithError("MemoryError"));
  EXPECT_THAT(record, Hit("memory"));
  EXPECT_LE(record.receipt.memory_peak_bytes, 200 * kMiB);
  EXPECT_EQ(Value("x"), "7");
  EXPECT_THAT(Run("del blocks"), EndedWell());
  EXPECT_EQ(Value("len(bytearray(50 << 20))"), "52428800");
}

TEST_F(MemoryLimitsTest, NumPySaysWhatItCouldNotAllocate) {
  UseLimit(256);
  Record record = Run("import numpy as np\nnp.ones(10**8)");
  ASSERT_THAT(record, testing::Field(&Record::status, CallStatus::kError));
  EXPECT_THAT(ErrorOf(record).name, testing::HasSubstr("MemoryError"));
  EXPECT_THAT(ErrorOf(record).value, testing::HasSubstr("763"));
  EXPECT_THAT(record, Hit("memory"));
  EXPECT_EQ(Value("x"), "7");
}

TEST_F(MemoryLimitsTest, PandasSurvivesIt) {
  UseLimit(256);
  Record record = Run("import pandas as pd, numpy as np\ndf = pd.DataFrame({'a': np.arange(2_000_000)})\nwhile True: df = pd.concat([df, df])");
  EXPECT_EQ(record.status, CallStatus::kError);
  EXPECT_EQ(record.session_state, SessionState::kKept);
  EXPECT_THAT(record, Hit("memory"));
  EXPECT_EQ(Value("x"), "7");
}

TEST_F(MemoryLimitsTest, ChildrenTogetherWithinTheLimitLive) {
  UseLimit(256);
  EXPECT_THAT(Run(kHold), EndedWell());
  Record record = Run("children = [hold(60, 0.5) for i in range(2)]\n[os.waitpid(pid, 0)[1] for pid in children]");
  EXPECT_THAT(record, EndedWell());
  EXPECT_EQ(ValueText(record), "[0, 0]");
  EXPECT_THAT(record, HitNothing());
}

TEST_F(MemoryLimitsTest, ChildrenTogetherBeyondTheLimitAreKilled) {
  UseLimit(128);
  EXPECT_THAT(Run(kHold), EndedWell());
  Record record = Run("children = [hold(50, 6) for i in range(6)]\nends = [os.waitpid(pid, 0)[1] for pid in children]\n9 in ends", WithTimeout(absl::Seconds(30)));
  EXPECT_THAT(record, Hit("memory"));
  if (HasCgroup(session())) {
    // The kernel ends the largest first: children, of which the cell hears.
    EXPECT_THAT(record, EndedWell());
    EXPECT_EQ(ValueText(record), "True");
    EXPECT_EQ(Value("x"), "7");
  } else {
    EXPECT_THAT(record, Ended(CallStatus::kOutOfMemory, SessionState::kGone));
  }
  EXPECT_THAT(session().Restart(), IsOk());
  EXPECT_EQ(Value("1"), "1");
}

TEST_F(MemoryLimitsTest, FilesInTheWorkspaceCount) {
  Policy policy;
  policy.limits.memory_bytes = 128 * kMiB;
  policy.limits.workspace_bytes = 512 * kMiB;
  Use(policy);
  EXPECT_THAT(Run("open('kept.txt', 'w').write('kept')"), EndedWell());
  Record record = Run("f = open('big', 'wb')\nwhile True: f.write(b'x' * 1_000_000)");
  EXPECT_THAT(record, Ended(CallStatus::kOutOfMemory, SessionState::kGone));
  EXPECT_THAT(record, Hit("memory"));
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::string kept, Get(session(), "kept.txt"));
  EXPECT_EQ(kept, "kept");
}

TEST_F(MemoryLimitsTest, WhatFilledSharedMemoryIsGoneAfterARestart) {
  Policy policy;
  policy.limits.memory_bytes = 128 * kMiB;
  policy.limits.shm_bytes = 4096 * kMiB;  // not full before the watch has looked
  Use(policy);
  EXPECT_THAT(Run("open('kept.txt', 'w').write('kept')\nf = open('/dev/shm/a', 'wb')\nwhile True: f.write(b'x' * 1_000_000)"), Ended(CallStatus::kOutOfMemory, SessionState::kGone));
  ASSERT_THAT(session().Restart(), IsOk());
  EXPECT_EQ(Value("import os; os.listdir('/dev/shm')"), "[]");
  EXPECT_EQ(Value("open('kept.txt').read()"), "'kept'");
  EXPECT_EQ(Value("len(bytearray(50 << 20))"), "52428800");
}

TEST_F(MemoryLimitsTest, ThePeakIsTheCallsOwn) {
  UseLimit(512);
  EXPECT_GE(Run("b = bytearray(200 << 20); b[::4096] = b'x' * len(b[::4096])").receipt.memory_peak_bytes, 190 * kMiB);
  EXPECT_THAT(Run("del b"), EndedWell());
  EXPECT_LE(Run("1").receipt.memory_peak_bytes, 100 * kMiB);
  EXPECT_LE(Run("import time; time.sleep(0.3)").receipt.memory_peak_bytes, 100 * kMiB) << "the watch looks during this one";
}

TEST_F(MemoryLimitsTest, BashBeyondTheLimitIsKilled) {
  UseLimit(128);
  // For the watch, which looks now and then: it holds what it has read until the end of its input.
  constexpr char kTail[] = "(head -c 160M /dev/zero; sleep 5) | tail -c 150M > /dev/null";
  Record record = RunBash(HasCgroup(session()) ? "tail /dev/zero; echo after $?" : kTail, WithTimeout(absl::Seconds(60)));
  EXPECT_THAT(record, Hit("memory"));
  if (HasCgroup(session())) {
    EXPECT_EQ(record.session_state, SessionState::kKept);
    EXPECT_THAT(record.stdout_text, testing::HasSubstr("after 137"));
    EXPECT_EQ(Value("x"), "7");
  } else {
    EXPECT_EQ(record.status, CallStatus::kOutOfMemory);
    EXPECT_EQ(record.session_state, SessionState::kGone) << "the watch ends all of the session, the worker too";
    EXPECT_THAT(Run("x"), Ended(CallStatus::kRejected, SessionState::kGone));
  }
}

TEST_F(MemoryLimitsTest, AnIdleWorkerIsWatched) {
  CELLBLOCK_SKIP_BESIDE_A_POOL();
  UseWatch(128);
  EXPECT_THAT(Run(kShared), EndedWell());
  // A handler in C runs while the worker waits for its next call: no thread and no process shows it.
  Record record = Run(R"(
import ctypes, signal
handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(lambda number: share(1000))
libc = ctypes.CDLL(None)
libc.signal.argtypes = [ctypes.c_int, ctypes.c_void_p]
libc.signal(signal.SIGALRM, ctypes.cast(handler, ctypes.c_void_p))
libc.alarm(1)
)");
  EXPECT_THAT(record, EndedWell());
  EXPECT_EQ(record.receipt.threads_kept, 0);
  EXPECT_TRUE(Eventually([] { return WorkerProcesses().empty(); }));
  Record next = Run("1");
  EXPECT_THAT(next, Ended(CallStatus::kOutOfMemory, SessionState::kGone));
  EXPECT_THAT(next, Hit("memory"));
  EXPECT_GE(next.receipt.memory_peak_bytes, 128 * kMiB);
  EXPECT_THAT(session().Restart(), IsOk());
  EXPECT_EQ(Value("1"), "1");
}

TEST_F(MemoryLimitsTest, WhatAnIdleWorkerLeftBehindIsWatched) {
  CELLBLOCK_SKIP_BESIDE_A_POOL();
  UseWatch(128);
  EXPECT_THAT(Run(kShared), EndedWell());
  EXPECT_THAT(Run(R"(
import os, threading, time
def leave():
    time.sleep(0.5)
    if os.fork() == 0:
        open('forked', 'w').close()
        time.sleep(1)
        share(1000)
        time.sleep(60)
    os._exit(0)
threading.Thread(target=leave).start()
)"),
              EndedWell());
  EXPECT_TRUE(Eventually([&] { return Get(session(), "forked").ok() && DescendantsOf(JailInitProcesses().at(0)).size() == 1; })) << "its child is the init's now";
  EXPECT_TRUE(Eventually([&] { return DescendantsOf(JailInitProcesses().at(0)).empty(); }));
  Record next = Run("1");
  EXPECT_THAT(next, Ended(CallStatus::kExited, SessionState::kGone)) << "as the worker did";
  EXPECT_THAT(next, Hit("memory"));
}

TEST_F(MemoryLimitsTest, PageTablesCount) {
  UseWatch(128);
  Record record = Run(R"(
import mmap, time
size = 256 << 30
block = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000, prot=mmap.PROT_READ)  # MAP_NORESERVE
try: block.madvise(mmap.MADV_NOHUGEPAGE)
except OSError: pass  # a kernel without huge pages
for i in range(0, size, 2 << 20): block[i]
time.sleep(10)
)");
  EXPECT_THAT(record, Ended(CallStatus::kOutOfMemory, SessionState::kGone));
  EXPECT_THAT(record, Hit("memory"));
}

TEST_F(MemoryLimitsTest, OneSessionOutOfMemoryLeavesOthersAlone) {
  Policy policy;
  policy.limits.memory_bytes = 96 * kMiB;
  policy.limits.shm_bytes = 4096 * kMiB;  // never full before the watch has looked
  std::unique_ptr<Session> other = NewSession(policy);
  EXPECT_THAT(RunIn(*other, "y = 5"), EndedWell());
  Use(policy);
  EXPECT_THAT(Run("f = open('/dev/shm/a', 'wb')\nwhile True: f.write(b'x' * 1_000_000)"), Ended(CallStatus::kOutOfMemory, SessionState::kGone));
  EXPECT_EQ(ValueIn(*other, "y"), "5");
}

}  // namespace
}  // namespace cellblock
