// Helper processes that die: what sessions say of it, and that the Host goes on. Tests only.
#include <utility>
#include <signal.h>

#include <algorithm>
#include <cerrno>

#include "tests/support/helper_processes.h"
#include "tests/support/session_fixture.h"

namespace cellblock {
namespace {

class HelpersTest : public SessionTest {
 protected:
  static void KillAll(const std::vector<pid_t>& pids) {
    ASSERT_FALSE(pids.empty());
    for (pid_t pid : pids) EXPECT_EQ(kill(pid, SIGKILL), 0);
    EXPECT_TRUE(Eventually([&] {
      std::vector<pid_t> alive = DescendantsOf(getpid());
      for (pid_t pid : pids) {
        if (std::find(alive.begin(), alive.end(), pid) != alive.end()) return false;
      }
      return true;
    }));
  }
  // Runs a cell that sleeps and harms `pids` once it runs.
  Record RunAndKill(const std::function<std::vector<pid_t>()>& pids) {
    ExecuteOptions options;
    options.on_event = [&](const Event&, const Record&) { KillAll(pids()); };
    return Run("import time\nprint('go', flush=True)\ntime.sleep(60)", options);
  }
};

TEST_F(HelpersTest, AWorkerKilledFromOutsideWhileItRunsIsKilled) {
  Record record = RunAndKill([] { return WorkerProcesses(); });
  EXPECT_THAT(record, Ended(CallStatus::kKilled, SessionState::kGone));
  EXPECT_EQ(record.signal, SIGKILL);
  EXPECT_THAT(record, testing::Not(Hit("memory")));
  EXPECT_THAT(session().Restart(), IsOk());
  EXPECT_EQ(Value("1"), "1");
}

TEST_F(HelpersTest, AWorkerKilledBetweenCallsIsToldByTheNext) {
  EXPECT_THAT(Run("open('kept', 'w').write('x')"), EndedWell());
  KillAll(WorkerProcesses());
  EXPECT_FALSE(session().alive()) << "seen before anybody calls";
  Record record = Run("print('never')");
  EXPECT_EQ(record.session_state, SessionState::kGone);
  EXPECT_EQ(record.status, CallStatus::kRejected) << "it has not run";
  EXPECT_THAT(record.reason, testing::HasSubstr("restart the session"));
  EXPECT_EQ(record.stdout_text, "");
  EXPECT_FALSE(session().lost());
  EXPECT_THAT(session().Restart(), IsOk());
  EXPECT_EQ(Value("open('kept').read()"), "'x'");
}

TEST_F(HelpersTest, ARestartWorksThoughCodeHasClosedTheSessionsFolders) {
  EXPECT_EQ(Run("import os\nopen('kept', 'w').write('x')\nfor path in ('.', '/tmp', '/dev/shm'):\n    os.chmod(path, 0)\nos._exit(0)").session_state, SessionState::kGone);
  EXPECT_THAT(session().Restart(), IsOk());
  EXPECT_EQ(Value("open('kept').read()"), "'x'");
}

TEST_F(HelpersTest, AJailsInitThatDiesTakesItsSessionWithIt) {
  session();
  std::unique_ptr<Session> other = NewSession();
  std::vector<pid_t> inits;
  // Of the jails' inits, the one whose worker answers to this session: both are new, so the older pid is the first session's.
  std::vector<pid_t> all = ProcessesNamed(getpid(), "cellblock-init", "cellblock-init");
  std::sort(all.begin(), all.end());
  ASSERT_GE(all.size(), 2u);
  inits = {all[all.size() - 2]};
  Record record = RunAndKill([&] { return inits; });
  EXPECT_EQ(record.session_state, SessionState::kGone);
  EXPECT_THAT(record.status, testing::AnyOf(CallStatus::kKilled, CallStatus::kLost));
  EXPECT_FALSE(session().Restart().ok()) << "the jail is gone, its files too";
  EXPECT_EQ(ValueIn(*other, "1"), "1");
  End();
  EXPECT_EQ(Value("1"), "1");
}

TEST_F(HelpersTest, BashWhoseJailDiesIsLostWithItsSession) {
  session();
  std::vector<pid_t> all = ProcessesNamed(getpid(), "cellblock-init", "cellblock-init");
  std::sort(all.begin(), all.end());
  ExecuteOptions options;
  options.on_event = [&](const Event&, const Record&) { KillAll({all.back()}); };
  Record record = RunBash("echo go; sleep 60", options);
  EXPECT_THAT(record, Ended(CallStatus::kLost, SessionState::kGone));
  EXPECT_FALSE(session().alive());
}

TEST_F(HelpersTest, TheHostGoesOnWithoutItsZygote) {
  EXPECT_THAT(Run("x = 7; open('kept', 'w').write('x')"), EndedWell());
  KillAll(ZygoteProcesses());
  // Sessions that live need it no more.
  EXPECT_EQ(Value("x"), "7");
  EXPECT_THAT(Run("import subprocess; p = subprocess.Popen(['sleep', '300'])"), EndedWell());
  EXPECT_EQ(ValueIn(*NewSession(), "1 + 1"), "2");
  EXPECT_THAT(session().Restart(), IsOk());
  EXPECT_EQ(Value("open('kept').read()"), "'x'");
  // How it then ends is seen again.
  EXPECT_THAT(Run("import os; os._exit(5)"), Ended(CallStatus::kExited, SessionState::kGone));
}

TEST_F(HelpersTest, AZygoteKilledWhileACellRunsLetsItEnd) {
  Record record;
  ExecuteOptions options;
  bool killed = false;  // the value is an event too
  options.on_event = [&](const Event&, const Record&) {
    if (!std::exchange(killed, true)) KillAll(ZygoteProcesses());
  };
  record = Run("import time\nprint('go', flush=True)\ntime.sleep(0.3)\n'end'", options);
  EXPECT_THAT(record, EndedWell());
  EXPECT_EQ(ValueText(record), "'end'");
}

TEST_F(HelpersTest, ANestThatDiesEndsEverySessionAndTheHostSaysSo) {
  HostOptions options = TestHostOptions();
  std::vector<pid_t> before = DescendantsOf(getpid());
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Host> host, Host::Create(options));
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Session> mine, host->CreateSession(Policy()));
  EXPECT_EQ(ValueIn(*mine, "1"), "1");
  std::vector<pid_t> fresh;
  for (pid_t pid : DescendantsOf(getpid())) {
    if (std::find(before.begin(), before.end(), pid) == before.end() && ProcessName(pid) == "cellblock-init" && ParentOf(pid) == getpid() && !DescendantsOf(pid).empty()) fresh.push_back(pid);
  }
  ASSERT_EQ(fresh.size(), 1u);
  std::vector<pid_t> nested = DescendantsOf(fresh[0]);
  EXPECT_EQ(kill(fresh[0], SIGKILL), 0);
  EXPECT_TRUE(Eventually([&] {
    for (pid_t pid : nested) {
      if (kill(pid, 0) == 0 || errno != ESRCH) return false;
    }
    return true;
  }));
  Record record = RunIn(*mine, "1");
  EXPECT_EQ(record.session_state, SessionState::kGone);
  EXPECT_EQ(record.status, CallStatus::kRejected) << "it has not run";
  EXPECT_THAT(record.reason, testing::HasSubstr("create a new session"));
  EXPECT_TRUE(mine->lost());
  EXPECT_FALSE(host->usage().alive);
  EXPECT_THAT(host->CreateSession(Policy()), StatusIs(absl::StatusCode::kUnavailable, testing::_));
  mine.reset();
  host.reset();
  EXPECT_EQ(Value("1"), "1") << "another Host in this process is not concerned";
}

}  // namespace
}  // namespace cellblock
