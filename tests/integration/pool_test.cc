// Sessions that are handed out ready: that they are no different from built ones, that each has its own limits, and that the pool keeps
// its bounds. Tests only.
#include <signal.h>

#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/support/helper_processes.h"
#include "tests/support/session_fixture.h"

namespace cellblock {
namespace {

class PoolTest : public SessionTest {
 protected:
  void SetUp() override { CELLBLOCK_SKIP_BESIDE_A_POOL(); }
  void Open(PoolOptions pool) {
    HostOptions options = TestHostOptions();
    options.pool = pool;
    CELLBLOCK_ASSERT_OK_AND_ASSIGN(host_, Host::Create(options));
  }
  void Open() { Open({.ready_max = 4, .ready_min = 2, .refills_per_second = 1000}); }
  PoolUsage usage() { return host_->usage().pool; }
  void WaitForReady(int64_t count) {
    ASSERT_TRUE(Eventually([&] { return usage().ready == count; }, absl::Seconds(30))) << usage().ready;
  }
  std::unique_ptr<Session> Make(const Policy& policy = {}, const SessionOptions& options = {}) {
    absl::StatusOr<std::unique_ptr<Session>> session = host_->CreateSession(policy, options);
    EXPECT_THAT(session, IsOk());
    return session.ok() ? *std::move(session) : nullptr;
  }
  std::unique_ptr<Session> Built(const Policy& policy = {}, const SessionOptions& options = {}) {
    std::unique_ptr<Session> session = Make(policy, options);
    EXPECT_EQ(session->start_timings().hand_out, absl::ZeroDuration());
    return session;
  }
  std::unique_ptr<Session> HandedOut(const Policy& policy = {}, const SessionOptions& options = {}) {
    std::unique_ptr<Session> session = Make(policy, options);
    EXPECT_GT(session->start_timings().hand_out, absl::ZeroDuration());
    return session;
  }

  static void ExpectTheSame(const Record& got, const Record& expected) {
    EXPECT_THAT(expected, EndedWell());
    const std::vector<std::string> got_lines = absl::StrSplit(got.stdout_text, '\n'), expected_lines = absl::StrSplit(expected.stdout_text, '\n');
    ASSERT_EQ(got_lines.size(), expected_lines.size());
    for (size_t i = 0; i < got_lines.size(); ++i) EXPECT_EQ(got_lines[i], expected_lines[i]);
  }

  std::unique_ptr<Host> host_;
};

// All that a session shows of itself and that is the same in every one.
constexpr char kSelf[] = R"(
import os, resource, sys, threading, signal, warnings, linecache
ip = get_ipython()
for name in sorted(n for n in dir(resource) if n.startswith('RLIMIT_')):
    print(name, resource.getrlimit(getattr(resource, name)))
print(sorted(os.environ.items()))
print(sorted(globals()))
print(ip.execution_count, In, Out, repr(_), repr(__), repr(___), _dh, _ih, _oh, ip.history_manager.session_number)
print(sorted(linecache.cache), sys.argv, sys.path, sys.excepthook, hasattr(sys, 'last_type'), threading.enumerate())
print(os.getcwd(), sorted(os.listdir('/workspace')), sorted(os.listdir('/tmp')), sorted(os.listdir('/dev/shm')), sorted(os.listdir('/proc/self/fd')))
print(len(os.sched_getaffinity(0)), os.nice(0), os.getpid(), os.getppid(), os.getsid(0), os.getpgrp(), signal.getsignal(signal.SIGINT).__class__)
print(sorted(sys.modules))
print([line for line in open('/proc/self/status') if line.split(':')[0] in ('Seccomp', 'NoNewPrivs', 'CapEff', 'CapPrm', 'CapBnd', 'SigBlk', 'SigIgn', 'SigCgt', 'SigPnd', 'Uid', 'Gid', 'Groups', 'Threads')])
)";

TEST_F(PoolTest, ASessionFromThePoolShowsNothingThatABuiltOneDoesNot) {
  Open();
  std::unique_ptr<Session> built = Built();
  WaitForReady(2);
  std::unique_ptr<Session> handed_out = HandedOut();
  const Record expected = RunIn(*built, kSelf), got = RunIn(*handed_out, kSelf);
  ExpectTheSame(got, expected);
  EXPECT_EQ(got.call, 1);
  ASSERT_EQ(handed_out->layers().size(), built->layers().size());
  for (size_t i = 0; i < built->layers().size(); ++i) {
    EXPECT_EQ(handed_out->layers()[i].name, built->layers()[i].name);
    EXPECT_EQ(handed_out->layers()[i].state, built->layers()[i].state);
  }
}

TEST_F(PoolTest, EachSessionHasItsOwnLimitsAndSettings) {
  Open({.ready_max = 1, .ready_min = 1, .refills_per_second = 0.1});  // so that the second session finds none
  (void)Built();
  WaitForReady(1);
  Policy policy;
  policy.limits.memory_bytes = int64_t{256} << 20;
  policy.limits.open_files = 64;
  policy.limits.processes = 9;
  policy.limits.file_bytes = 1 << 20;
  policy.determinism.time_zone = "Asia/Tokyo";
  policy.environment = {{"OF_THE_POLICY", "1"}};
  policy.python.table_width = 100;
  policy.redact = {"not to be seen"};
  SessionOptions options;
  options.environment = {{"OF_THE_SESSION", "2"}};
  options.seed = 7;
  std::unique_ptr<Session> handed_out = HandedOut(policy, options), built = Built(policy, options);
  constexpr char kSettings[] = R"(
import time, random, numpy, pandas
print(time.tzname, os.environ['OF_THE_POLICY'], os.environ['OF_THE_SESSION'], random.random(), numpy.random.rand(), numpy.random.default_rng().random(), pandas.get_option('display.width'))
print('not to ' + 'be seen'))";
  const std::string code = absl::StrCat(kSelf, kSettings);
  const Record expected = RunIn(*built, code), got = RunIn(*handed_out, code);
  ExpectTheSame(got, expected);
  EXPECT_THAT(got.stdout_text, testing::HasSubstr("('JST', 'J"));
  EXPECT_THAT(got.stdout_text, testing::HasSubstr("***"));
  EXPECT_THAT(RunIn(*handed_out, "x = bytearray(300 << 20)"), EndedWithError("MemoryError"));
}

TEST_F(PoolTest, AMemoryLimitBelowAndAboveTheOneItWasMadeUnderHolds) {
  Open();
  Policy small, large;
  small.limits.memory_bytes = int64_t{128} << 20;
  large.limits.memory_bytes = int64_t{1} << 30;
  (void)Built(small);  // ready ones are made under these limits
  WaitForReady(2);
  EXPECT_EQ(ValueIn(*HandedOut(large), "x = bytearray(600 << 20); len(x)"), "629145600");
  (void)Make(large);
  ASSERT_TRUE(Eventually([&] { return usage().made >= 4 && usage().ready >= 2; }));
  std::unique_ptr<Session> session = HandedOut(small);
  const Record record = RunIn(*session, "x = open('/dev/shm/x', 'wb'); x.write(bytes(100 << 20)); x.flush(); y = bytearray(90 << 20)");
  EXPECT_NE(record.status, CallStatus::kOk);
}

TEST_F(PoolTest, NoTwoDrawTheSame) {
  Open();
  (void)Built();
  std::set<std::string> draws;
  for (int i = 0; i < 6; ++i) {
    WaitForReady(2);
    const Record record = RunIn(*HandedOut(), R"(
import os, random, secrets, ssl, tempfile, uuid
import numpy as np
for d in [random.random(), random.Random().random(), np.random.rand(), np.random.RandomState().rand(), np.random.default_rng().random(), uuid.uuid4(), uuid.uuid1(), tempfile.mktemp(),
          secrets.token_hex(), ssl.RAND_bytes(8).hex(), os.urandom(8).hex()]: print(d))");
    const std::vector<std::string> lines = absl::StrSplit(record.stdout_text, '\n', absl::SkipEmpty());
    EXPECT_EQ(lines.size(), 11U);
    draws.insert(lines.begin(), lines.end());
  }
  EXPECT_EQ(draws.size(), 66U);
}

TEST_F(PoolTest, NothingStaysOfThePolicyThatItWasMadeUnder) {
  Open({.ready_max = 1, .ready_min = 1, .refills_per_second = 0.1});  // so that the next session finds none
  Policy theirs;
  theirs.determinism.seed = 5;
  theirs.determinism.time_zone = "Asia/Tokyo";
  theirs.environment = {{"OF_THE_OTHERS", "a secret"}};
  theirs.python.table_width = 100;
  const std::unique_ptr<Session> others = Built(theirs);
  WaitForReady(1);
  const std::unique_ptr<Session> handed_out = HandedOut(), built = Built(), theirs_again = Built(theirs);
  ExpectTheSame(RunIn(*handed_out, kSelf), RunIn(*built, kSelf));
  EXPECT_EQ(ValueIn(*handed_out, "import time, pandas as pd; os.environ.get('OF_THE_OTHERS'), time.tzname[0], pd.get_option('display.width')"), "(None, 'UTC', 240)");
  constexpr char kDraws[] = "import random, numpy as np; (random.random(), np.random.rand(), np.random.default_rng().random())";
  const std::string seeded = ValueIn(*others, kDraws);
  EXPECT_NE(ValueIn(*handed_out, kDraws), seeded);
  EXPECT_EQ(ValueIn(*theirs_again, kDraws), seeded);
}

TEST_F(PoolTest, BashAQuestionAndARestartWorkBeforeTheFirstCell) {
  Open();
  (void)Built();
  WaitForReady(2);
  ExecuteOptions bash;
  bash.language = Language::kBash;
  EXPECT_EQ(RunIn(*HandedOut(), "echo $HOME", bash).stdout_text, "/workspace\n");
  WaitForReady(2);
  EXPECT_THAT(HandedOut()->DescribeVariables(), IsOk());
  WaitForReady(2);
  std::unique_ptr<Session> session = HandedOut();
  EXPECT_THAT(session->Restart(), IsOk());
  EXPECT_EQ(ValueIn(*session, "1 + 1"), "2");
  WaitForReady(2);
  session = HandedOut();
  EXPECT_THAT(Put(*session, "a.csv", "a,b\n1,2\n"), IsOk());
  EXPECT_THAT(session->PreviewFile("a.csv", 1), IsOk());
  EXPECT_EQ(ValueIn(*session, "import pandas; int(pandas.read_csv('a.csv').b.sum())"), "2");
}

TEST_F(PoolTest, AnInterruptReachesTheFirstCall) {
  Open();
  (void)Built();
  WaitForReady(2);
  std::unique_ptr<Session> session = HandedOut();
  ExecuteOptions options;
  options.on_event = [&](const Event&, const Record&) { session->Interrupt(); };
  EXPECT_EQ(RunIn(*session, "import time\nprint('go', flush=True)\ntime.sleep(60)", options).status, CallStatus::kInterrupted);
  EXPECT_EQ(ValueIn(*session, "1 + 1"), "2");
}

TEST_F(PoolTest, WhatCannotBeGivenLateIsBuilt) {
  Open();
  (void)Built();
  WaitForReady(2);
  Policy files, calls, hash;
  files.limits.workspace_bytes = 2 << 20;
  calls.languages.subprocesses = calls.languages.bash = false;
  hash.determinism.fixed_hash_seed = true;
  EXPECT_EQ(ValueIn(*Built(files), "import os; s = os.statvfs('/workspace'); s.f_blocks * s.f_frsize"), "2097152");
  EXPECT_THAT(RunIn(*Built(calls), "import os; os.execv('/bin/true', ['true'])"), EndedWithError("PermissionError"));
  const std::string first = ValueIn(*Built(hash), "hash('a')");
  EXPECT_EQ(ValueIn(*Make(hash), "hash('a')"), first) << "whether or not one was made ahead meanwhile";
}

TEST_F(PoolTest, AWorkerThatEndedIsNotHandedOut) {
  Open({.ready_max = 1, .ready_min = 1, .refills_per_second = 0.1});
  (void)Built();
  WaitForReady(1);
  const std::vector<pid_t> ready = WorkerProcesses();
  ASSERT_EQ(ready.size(), 1U);
  ASSERT_EQ(kill(ready[0], SIGKILL), 0);
  ASSERT_TRUE(Eventually([&] { return WorkerProcesses().empty(); }));
  EXPECT_EQ(ValueIn(*Built(), "1 + 1"), "2");
  EXPECT_EQ(usage().discarded, 1);
}

TEST_F(PoolTest, GrowsWithTheDemandAndNotBeyondItsMost) {
  Open();
  std::vector<std::unique_ptr<Session>> sessions;
  for (int i = 0; i < 12; ++i) sessions.push_back(Make());
  WaitForReady(4);
  EXPECT_EQ(usage().wanted, 4);
  absl::SleepFor(absl::Seconds(2));
  EXPECT_EQ(usage().ready, 4);
}

TEST_F(PoolTest, KeepsWithinItsMemory) {
  Open({.ready_max = 64, .ready_min = 64, .refills_per_second = 1000, .memory_bytes_max = int64_t{20} << 20});
  (void)Built();
  ASSERT_TRUE(Eventually([&] { return usage().ready >= 2; }));
  absl::SleepFor(absl::Seconds(1));
  EXPECT_LE(usage().memory_bytes, int64_t{20} << 20);
  EXPECT_GE(usage().ready, 2);
  EXPECT_LE(usage().ready, 20);
}

TEST_F(PoolTest, MakesOldOnesAnew) {
  Open({.ready_max = 1, .ready_min = 1, .refills_per_second = 1000, .age_max = absl::Seconds(1)});
  (void)Built();
  ASSERT_TRUE(Eventually([&] { return usage().made >= 3; }, absl::Seconds(30)));
  EXPECT_GE(usage().discarded, 2);
  WaitForReady(1);
  EXPECT_EQ(ValueIn(*HandedOut(), "1 + 1"), "2");
}

TEST_F(PoolTest, SeventeenKindsLeaveRoomForOneOther) {
  Open({.ready_max = 2, .ready_min = 1, .refills_per_second = 1000});
  for (int i = 0; i < 17; ++i) {
    Policy policy;
    policy.limits.workspace_files = 100 + i;
    (void)Built(policy);
  }
  Policy last;
  last.limits.workspace_files = 116;
  EXPECT_TRUE(Eventually([&] { return Make(last)->start_timings().hand_out > absl::ZeroDuration(); })) << "those asked for last come first";
  EXPECT_LE(usage().ready, 2);
}

TEST_F(PoolTest, ReadyOnesEndWithTheHostThoughASessionLivesOn) {
  Open();
  std::unique_ptr<Session> session = Built();
  WaitForReady(2);
  ASSERT_EQ(WorkerProcesses().size(), 3U);
  host_.reset();
  EXPECT_EQ(WorkerProcesses().size(), 1U);
  EXPECT_EQ(ValueIn(*session, "1 + 1"), "2");
}

TEST_F(PoolTest, TakesAndEndsFromManyThreads) {
  Open();
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 8; ++i) {
        absl::StatusOr<std::unique_ptr<Session>> session = host_->CreateSession(Policy{});
        if (!session.ok() || ValueText((*session)->Execute("6 * 7").value_or(Record())) != "42") ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(usage().handed_out + usage().built, 32);
}

}  // namespace
}  // namespace cellblock
