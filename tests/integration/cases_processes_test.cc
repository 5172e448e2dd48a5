// What users of comparable systems ran into, by the number that the report has in our list: processes, pools and what they leave. Tests
// only.
#include "absl/strings/str_cat.h"
#include "tests/support/session_fixture.h"

namespace cellblock {
namespace {

class CasesProcessesTest : public SessionTest {
 protected:
  void ExpectNoProcessesLeft() { EXPECT_EQ(RunBash("cat /proc/[0-9]*/stat 2>/dev/null | grep -c '(sleep) [^Z]'").stdout_text, "0\n"); }
};

// No permission to make the semaphore of a pool.
TEST_F(CasesProcessesTest, Case05AProcessPoolWorks) {
  EXPECT_EQ(Value("from concurrent.futures import ProcessPoolExecutor\ndef square(i): return i * i\nwith ProcessPoolExecutor(2) as pool: r = list(pool.map(square, range(4)))\nr"), "[0, 1, 4, 9]");
}

// A function of the session cannot be found by a spawned worker.
TEST_F(CasesProcessesTest, Case06SpawnedWorkersKnowTheSessionsFunctions) {
  EXPECT_THAT(Run("def f(x): return x*x"), EndedWell());
  EXPECT_EQ(Value("import multiprocessing\nwith multiprocessing.get_context('spawn').Pool(2) as pool: r = pool.map(f, [1, 2])\nr"), "[1, 4]");
}

// A pool waits for ever for workers that keep dying.
TEST_F(CasesProcessesTest, Case07APoolWhoseWorkersDieIsNoHang) {
  Record record = Run("import multiprocessing, os\npool = multiprocessing.Pool(2)\npool.map(os._exit, [1, 1])", WithTimeout(absl::Seconds(20)));
  EXPECT_THAT(record.status, testing::AnyOf(CallStatus::kError, CallStatus::kTimeout));
  EXPECT_EQ(record.session_state, SessionState::kKept);
  EXPECT_LE(record.receipt.wall, absl::Seconds(20) + kSlack);
  EXPECT_EQ(Value("1+1"), "2");
}

// After a time-out descendants go on running.
TEST_F(CasesProcessesTest, Case25ATimeoutEndsDescendants) {
  Record record = Run("import subprocess; subprocess.Popen('sleep 300 & sleep 300', shell=True).wait()", WithTimeout(absl::Seconds(1)));
  EXPECT_THAT(record, Ended(CallStatus::kTimeout, SessionState::kKept));
  EXPECT_LE(record.receipt.wall, absl::Seconds(1) + kSlack);
  EXPECT_GE(record.receipt.processes_killed, 1);
  ExpectNoProcessesLeft();
}

// A child in the background that holds the pipes keeps the call open.
TEST_F(CasesProcessesTest, Case26ABackgroundChildDoesNotHoldTheCall) {
  Record record = Run("import subprocess; p = subprocess.Popen(['sleep', '60'])", WithTimeout(absl::Seconds(30)));
  EXPECT_THAT(record, EndedWell());
  EXPECT_LE(record.receipt.wall, kSlack);
  EXPECT_EQ(record.receipt.processes_killed, 1);
}

// An interrupt has no effect and only a restart helps.
TEST_F(CasesProcessesTest, Case27WhatCannotBeInterruptedIsKilledAndTheRecordSaysWhich) {
  for (const char* code : {"while True: pass", "import numpy as np; np.linalg.svd(np.random.rand(3000, 3000))", "import time\nwhile True:\n    try: time.sleep(99)\n    except BaseException: pass"}) {
    Policy policy;
    policy.limits.wall_grace = absl::Seconds(1);
    Use(policy);
    EXPECT_THAT(Run("x = 7"), EndedWell());
    Record record = Run(code, WithTimeout(absl::Seconds(1)));
    EXPECT_EQ(record.status, CallStatus::kTimeout) << code;
    EXPECT_LE(record.receipt.wall, absl::Seconds(2) + kSlack) << code;
    Record next = Run("x");
    if (record.session_state == SessionState::kKept) {
      EXPECT_EQ(ValueText(next), "7") << code;
    } else {
      EXPECT_THAT(next, Ended(CallStatus::kRejected, SessionState::kGone)) << code;
    }
  }
}

// Out of memory kills the supervisor's helper together with the program.
TEST_F(CasesProcessesTest, Case53OutOfMemoryOfAChildHarmsNoHelper) {
  Policy policy;
  policy.limits.memory_bytes = int64_t{128} << 20;
  policy.limits.shm_bytes = int64_t{4} << 30;
  Use(policy);
  const Record record = Run(R"(
import subprocess
hold = """
import mmap, os
with open('/dev/shm/a', 'wb+') as file:
    os.unlink(file.name)
    file.truncate(10**9)
    m = mmap.mmap(file.fileno(), 10**9)
for i in range(0, len(m), 4096): m[i] = 1
"""
subprocess.run(['/usr/bin/python3', '-c', hold]).returncode)");  // shared: no soft limit sees it, and it goes with its process
  EXPECT_THAT(record, Hit("memory"));
  if (record.session_state == SessionState::kKept) {
    EXPECT_EQ(ValueText(record), "-9");
  } else {
    EXPECT_EQ(record.status, CallStatus::kOutOfMemory);
    EXPECT_THAT(session().Restart(), IsOk());
  }
  EXPECT_EQ(Value("1"), "1");
  EXPECT_EQ(ValueIn(*NewSession(), "1"), "1");
}

// The limit on processes is the user's, so that sessions eat each other's.
TEST_F(CasesProcessesTest, Case55EachSessionHasItsOwnCountOfProcesses) {
  Policy policy;
  policy.limits.processes = 12;
  std::vector<std::unique_ptr<Session>> sessions;
  for (int i = 0; i < 20; ++i) {
    sessions.push_back(NewSession(policy));
    EXPECT_THAT(RunIn(*sessions.back(), "import threading\nstop = threading.Event()\nfor i in range(8): threading.Thread(target=stop.wait, daemon=True).start()"), EndedWell()) << i;
  }
}

// No semaphores: joblib does not import, or warns at each use.
TEST_F(CasesProcessesTest, Case59JoblibAndForestsRunInParallel) {
  Policy policy;
  policy.limits.cpus = 2;
  Use(policy);
  Record record = Run("from joblib import Parallel, delayed; Parallel(2)(delayed(abs)(-i) for i in range(4))");
  EXPECT_THAT(record, EndedWell());
  EXPECT_EQ(ValueText(record), "[0, 1, 2, 3]");
  EXPECT_EQ(record.stderr_text, "");
  record = Run("import numpy as np\nfrom sklearn.ensemble import RandomForestClassifier\nx = np.random.RandomState(0).rand(60, 3); y = x[:, 0] > 0.5\nfloat(RandomForestClassifier(10, n_jobs=-1, random_state=0).fit(x, y).score(x, y)) > 0.9",
               WithTimeout(absl::Seconds(110)));
  EXPECT_THAT(record, EndedWell());
  EXPECT_EQ(ValueText(record), "True");
  EXPECT_EQ(record.stderr_text, "");
  // Later calls are not disturbed by workers that were killed in between.
  record = Run("Parallel(2)(delayed(abs)(-i) for i in range(4))");
  EXPECT_THAT(record, EndedWell());
  EXPECT_EQ(record.stderr_text, "");
}

}  // namespace
}  // namespace cellblock
