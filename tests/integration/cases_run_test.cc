// What users of comparable systems ran into, by the number that the report has in our list: starting, isolation, time and memory. Each
// stands for a kind of failure, named beside it. Tests only.
#include <signal.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/support/helper_processes.h"
#include "tests/support/session_fixture.h"

namespace cellblock {
namespace {

class CasesRunTest : public SessionTest {};

// A system call filter that common packages do not survive.
TEST_F(CasesRunTest, Case01PandasImports) {
  Record record = Run("import pandas as pd; int(pd.DataFrame({'a': [1]}).sum().iloc[0])");
  EXPECT_THAT(record, EndedWell());
  EXPECT_EQ(ValueText(record), "1");
  // What is refused is an error of the call, and the record names it.
  record = Run("import ctypes, os\nctypes.CDLL(None, use_errno=True).unshare(0x10000000)\nraise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))");
  EXPECT_EQ(record.status, CallStatus::kError);
  EXPECT_EQ(record.session_state, SessionState::kKept);
  ASSERT_FALSE(record.denials.empty());
  EXPECT_EQ(record.denials[0].kind, "syscall");
  EXPECT_THAT(record.denials[0].rule, testing::HasSubstr("seccomp"));
  record = Run("import socket; socket.socket()");
  EXPECT_THAT(record, EndedWithError("PermissionError"));
  EXPECT_THAT(ErrorOf(record).hint, testing::HasSubstr("network is off"));
  ASSERT_FALSE(record.denials.empty());
  EXPECT_EQ(record.denials[0].kind, "network");
}

// One run in a thousand dies of a system call that some library makes rarely.
TEST_F(CasesRunTest, Case02MixedCellsNeverDieOfTheFilter) {
  std::atomic<int> ran = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      std::unique_ptr<Session> session = NewSession();
      for (int i = 0; i < 40; ++i) {
        const char* cells[] = {"import json; json.loads(json.dumps({'a': [1, 2, {'b': None}]}))", "import threading; t = threading.Thread(target=sum, args=([1],)); t.start(); t.join()",
                               "import time; time.sleep(0.001); time.strftime('%c')", "import subprocess; subprocess.run(['true']).returncode"};
        Record record = RunIn(*session, cells[(i + t) % 4]);
        EXPECT_THAT(record, EndedWell());
        ran += record.status == CallStatus::kOk;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ran, 8 * 40);
}

// The operator's list replaces the default one.
TEST_F(CasesRunTest, Case02AnAddedSystemCallExtendsTheList) {
  constexpr char kReadAhead[] = "import ctypes, os\nf = open('/usr/bin/true')\nif ctypes.CDLL(None, use_errno=True).readahead(f.fileno(), 0, 0) != 0: raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))";
  EXPECT_THAT(Run(kReadAhead), EndedWithError("OSError"));
  Policy policy;
  policy.isolation.extra_syscalls = {"readahead"};
  Use(policy);
  EXPECT_THAT(Run(kReadAhead), EndedWell());
  EXPECT_EQ(Value("import json, subprocess, threading; subprocess.run(['true']).returncode"), "0");
  EXPECT_THAT(Run("import ctypes; assert ctypes.CDLL(None).unshare(0x10000000) == -1"), EndedWell());
  policy.isolation.extra_syscalls = {"unshare"};
  EXPECT_THAT(TestHost().CreateSession(policy), StatusIs(absl::StatusCode::kInvalidArgument, testing::HasSubstr("unshare")));
}

// clone3 refused with an error that glibc takes for final.
TEST_F(CasesRunTest, Case03ThreadsStart) {
  Record record = Run("import threading; t = threading.Thread(target=print, args=(1,)); t.start(); t.join()");
  EXPECT_THAT(record, EndedWell());
  EXPECT_EQ(record.stdout_text, "1\n");
}

// A memory limit on address space, which big libraries reserve and never use.
TEST_F(CasesRunTest, Case04BigLibrariesImportUnderASmallLimit) {
  Policy policy;
  policy.limits.memory_bytes = int64_t{512} << 20;
  Use(policy);
  EXPECT_THAT(Run("import numpy, scipy.linalg, sklearn.linear_model; float(scipy.linalg.norm(numpy.ones(4)))", WithTimeout(absl::Seconds(110))), EndedWell());
}

// Sessions forked from one warm process draw the same numbers.
TEST_F(CasesRunTest, Case10RandomNumbersDifferBetweenSessions) {
  constexpr char kDraw[] = "import random, numpy, uuid, tempfile, secrets\nprint(random.random(), numpy.random.rand(), uuid.uuid4(), tempfile.mktemp(), secrets.token_hex(), sep='\\n')";
  std::string all = absl::StrCat(RunIn(*NewSession(), kDraw).stdout_text, RunIn(*NewSession(), kDraw).stdout_text);
  std::set<std::string> distinct;
  for (size_t at = 0; at < all.size(); at = all.find('\n', at) + 1) distinct.insert(all.substr(at, all.find('\n', at) - at));
  EXPECT_EQ(distinct.size(), 10u) << all;
}

// The same, over many sessions with NumPy loaded before the fork.
TEST_F(CasesRunTest, Case11TwentySessionsHaveTwentyFirstDraws) {
  std::set<std::string> draws;
  for (int i = 0; i < 20; ++i) draws.insert(ValueIn(*NewSession(), "import numpy; numpy.random.rand()"));
  EXPECT_EQ(draws.size(), 20u);
}

// A session ends for lack of memory and nobody says why.
TEST_F(CasesRunTest, Case39RunningOutOfMemoryIsExplained) {
  Policy policy;
  policy.limits.memory_bytes = int64_t{256} << 20;
  policy.limits.shm_bytes = int64_t{4} << 30;
  Use(policy);
  Record record = Run("b = bytearray(10**9)\nfor i in range(0, len(b), 4096): b[i] = 1");
  EXPECT_THAT(record, EndedWithError("MemoryError"));
  EXPECT_THAT(record, Hit("memory"));
  EXPECT_THAT(ErrorOf(record).hint, testing::HasSubstr("256 MiB"));
  record = Run("f = open('/dev/shm/a', 'wb')\nwhile True: f.write(bytes(1 << 20))");  // in a file: no soft limit sees it
  EXPECT_THAT(record, Ended(CallStatus::kOutOfMemory, SessionState::kGone));
  EXPECT_THAT(record.reason, testing::AllOf(testing::HasSubstr("out of memory"), testing::HasSubstr("268435456"), testing::HasSubstr("peak")));
  record = Run("1");
  EXPECT_THAT(record, Ended(CallStatus::kRejected, SessionState::kGone));
}

// Nothing starts where only the other version of cgroups exists.
TEST_F(CasesRunTest, Case40MemoryIsLimitedOneWayOrTheOther) {
  bool reported = false;
  for (const LayerReport& row : InspectMachine()) {
    if (row.name != "cgroup") continue;
    reported = true;
    EXPECT_NE(row.detail, "");
    EXPECT_EQ(row.available, row.advice.empty());
    EXPECT_EQ(row.available, HasCgroup(session()));
  }
  EXPECT_TRUE(reported);
  EXPECT_THAT(LayerState(session(), "memory"), testing::AnyOf("enforced", "watched"));
}

// A time-out that waits for the thread it is meant to end.
TEST_F(CasesRunTest, Case47ABlockedAcceptEndsInTime) {
  Record record = Run("import socket\ns = socket.socket(socket.AF_UNIX); s.bind('\\0a'); s.listen()\ns.accept()", WithTimeout(absl::Seconds(1)));
  EXPECT_THAT(record, Ended(CallStatus::kTimeout, SessionState::kKept));
  EXPECT_LE(record.receipt.wall, absl::Seconds(1) + kSlack);
}

// A time-out that nobody can change.
TEST_F(CasesRunTest, Case49ALongerTimeoutCanBeAskedFor) {
  Record record = Run("import time; time.sleep(11)", WithTimeout(absl::Seconds(30)));
  EXPECT_THAT(record, EndedWell());
  EXPECT_GE(record.receipt.wall, absl::Seconds(11));
}

// One message for "it never ran" and "it ran and the output is lost".
TEST_F(CasesRunTest, Case51NeverRanAndEndUnknownAndEndedAreToldApart) {
  Policy policy;
  policy.session.queue = 0;
  Use(policy);
  absl::StatusOr<Record> never;
  ExecuteOptions options;
  options.on_event = [&](const Event&, const Record&) {
    std::thread([&] { never = session().Execute("open('never', 'w')"); }).join();
    for (pid_t worker : WorkerProcesses()) kill(worker, SIGKILL);
  };
  Record killed = Run("open('ran', 'w').close()\nimport time\nprint('go', flush=True)\ntime.sleep(60)", options);
  EXPECT_EQ(never.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(killed.status, CallStatus::kKilled);
  EXPECT_EQ(Run("1").status, CallStatus::kRejected);
  EXPECT_THAT(session().Restart(), IsOk());
  EXPECT_EQ(Value("import os; os.listdir()"), "['ran']");
}

// A library starts a thread for each processor of the machine and crawls.
TEST_F(CasesRunTest, Case57LibrariesSeeTheProcessorsTheyMayUse) {
  EXPECT_EQ(Value("import os; len(os.sched_getaffinity(0)), os.environ['OPENBLAS_NUM_THREADS'], os.environ['OMP_NUM_THREADS']"), "(1, '1', '1')");
  Record record = Run("import numpy as np, re\na = np.random.rand(300, 300)\nfor i in range(2000): np.linalg.norm(a[:50, :50])\na @ a\nre.search(r'Threads:\\s+(\\d+)', open('/proc/self/status').read())[1]");
  EXPECT_THAT(record, EndedWell());
  EXPECT_EQ(ValueText(record), "'1'");
  EXPECT_EQ(Value("import threadpoolctl; [p['num_threads'] for p in threadpoolctl.threadpool_info()]"), "[1]");
}

// No /proc, or the machine's whole.
TEST_F(CasesRunTest, Case61ProcShowsTheSessionAlone) {
  EXPECT_EQ(Value("'Name:' in open('/proc/self/status').read()"), "True");
  EXPECT_EQ(Value("import psutil; psutil.virtual_memory().total > 0, psutil.pids(), psutil.Process().memory_info().rss > 0"), "(True, [1, 2], True)");
}

// State of one context leaks into the next.
TEST_F(CasesRunTest, Case77FiftyContextsShareNothing) {
  for (int i = 0; i < 50; ++i) EXPECT_THAT(RunIn(*NewSession(), "assert 'v' not in globals()\nv = 1\nimport json; assert not hasattr(json, 'mark'); json.mark = 1"), EndedWell());
}

}  // namespace
}  // namespace cellblock
