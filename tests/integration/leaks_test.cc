// That nothing is left behind: by sessions that end, and by a supervisor that is killed. Tests only.
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "sys/files.h"
#include "tests/support/helper_processes.h"
#include "tests/support/left_behind.h"
#include "tests/support/session_fixture.h"
#include "tests/support/signal_child.h"

namespace cellblock {
namespace {

class LeaksTest : public SessionTest {};

TEST_F(LeaksTest, FiftySessionsLeaveNothing) {
  CELLBLOCK_SKIP_BESIDE_A_POOL();
  EXPECT_EQ(Value("1"), "1");  // what is made once is made now
  RunBash("true");
  End();
  auto settled = [] { return WorkerProcesses().empty() && JailInitProcesses().empty(); };
  ASSERT_TRUE(Eventually(settled));
  const LeftBehind before = CountLeftBehind();
  for (int i = 0; i < 50; ++i) {
    std::unique_ptr<Session> session = NewSession();
    switch (i % 5) {  // each kind of end
      case 0: EXPECT_THAT(RunIn(*session, "import subprocess; p = subprocess.Popen(['sleep', '300'])"), EndedWell()); break;
      case 1: RunIn(*session, "import os; os._exit(1)"); break;
      case 2: RunIn(*session, "while True: pass", WithTimeout(absl::Milliseconds(100))); break;
      case 3: EXPECT_THAT(session->Restart(), IsOk()); break;
      default: RunIn(*session, "import os\nif os.fork() == 0:\n    os.setsid()\n    import time\n    time.sleep(300)"); break;
    }
  }
  EXPECT_TRUE(Eventually([&] { return CountLeftBehind() == before; })) << CountLeftBehind() << "; before: " << before;
}

TEST_F(LeaksTest, ManyCallsOpenNoDescriptors) {
  CELLBLOCK_SKIP_BESIDE_A_POOL();
  EXPECT_THAT(Run("1"), EndedWell());
  RunBash("true");
  size_t before = OpenDescriptors();
  for (int i = 0; i < 30; ++i) {
    EXPECT_THAT(Run("open('f', 'a').write('x')"), EndedWell());
    RunBash("echo x");
    EXPECT_THAT(Put(session(), "upload", "x"), IsOk());
    EXPECT_THAT(Get(session(), "upload"), IsOk());
  }
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST_F(LeaksTest, AHostThatEndsLeavesNoFolderAndNoProcess) {
  char folder[] = "/tmp/cellblock-leaks-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  std::string old = getenv("TMPDIR") == nullptr ? "" : getenv("TMPDIR");
  setenv("TMPDIR", folder, 1);
  std::vector<pid_t> before = DescendantsOf(getpid());
  {
    CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Host> host, Host::Create(TestHostOptions()));
    CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Session> session, host->CreateSession(Policy()));
    Record record = RunIn(*session, "open('artifact', 'w').write('x')");
    ASSERT_EQ(record.artifacts.size(), 1u);
    EXPECT_THAT(record.artifacts[0].stored_at, testing::StartsWith(folder));
  }
  old.empty() ? unsetenv("TMPDIR") : setenv("TMPDIR", old.c_str(), 1);
  EXPECT_THAT(NamesIn(folder), testing::IsEmpty());
  EXPECT_EQ(rmdir(folder), 0);
  EXPECT_TRUE(Eventually([&] { return DescendantsOf(getpid()).size() <= before.size(); }));
}

// A supervisor of its own process: this same program, running the disabled case below with a folder of its own.
class SupervisorProcess {
 public:
  explicit SupervisorProcess(const std::string& folder) {
    setenv("CELLBLOCK_TEST_SUPERVISOR", "1", 1);
    std::string temporary = absl::StrCat("TMPDIR=", folder);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    output_.reset(fdopen(ends[0], "r"));
    std::vector<std::string> words = {"/usr/bin/env", temporary, "/proc/self/exe", "--gtest_also_run_disabled_tests", "--gtest_filter=LeaksTest.DISABLED_RunsUntilItIsKilled"};
    std::array<char, 4096> self;
    ssize_t length = readlink("/proc/self/exe", self.data(), self.size());
    words[2] = std::string(self.data(), length > 0 ? static_cast<size_t>(length) : 0);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_ = vfork();  // nothing but system calls until the exec
    if (pid_ == 0) {
      dup2(ends[1], 1);
      execv(arguments[0], arguments.data());
      _exit(127);
    }
    close(ends[1]);
    unsetenv("CELLBLOCK_TEST_SUPERVISOR");
    std::array<char, 4096> line;
    while (output_ != nullptr && fgets(line.data(), line.size(), output_.get()) != nullptr) {
      ready_ = std::string(line.data()) == "ready\n";
      if (ready_) break;
    }
  }
  ~SupervisorProcess() { Kill(); }
  void Kill() {
    if (pid_ <= 0) return;
    SignalChild(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  pid_t pid() const { return pid_; }
  bool ready() const { return ready_; }

 private:
  pid_t pid_ = -1;
  bool ready_ = false;
  std::unique_ptr<FILE, int (*)(FILE*)> output_{nullptr, fclose};
};

TEST_F(LeaksTest, DISABLED_RunsUntilItIsKilled) {
  if (getenv("CELLBLOCK_TEST_SUPERVISOR") == nullptr) return;
  EXPECT_THAT(Run("open('artifact', 'w').write('x')\nimport subprocess\nsubprocess.Popen(['sleep', '300'], start_new_session=True)"), EndedWell());
  std::unique_ptr<Session> second = NewSession();
  ExecuteOptions options;
  options.on_event = [](const Event&, const Record&) {
    printf("ready\n");
    fflush(stdout);
  };
  RunIn(*second, "import subprocess, time\nsubprocess.Popen(['setsid', 'sleep', '300'])\nprint('go', flush=True)\ntime.sleep(300)", options);
}

TEST_F(LeaksTest, ASupervisorThatIsKilledLeavesNothing) {
  char folder[] = "/tmp/cellblock-killed-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  std::string mounts = sys::ReadFile("/proc/self/mounts", 1 << 20).value_or("");
  SupervisorProcess supervisor(folder);
  ASSERT_TRUE(supervisor.ready());
  pid_t pid = supervisor.pid();
  std::vector<pid_t> processes = DescendantsOf(pid);
  EXPECT_GE(processes.size(), 8u) << "broom, nest, zygote, two jails' inits, two workers, a program";
  EXPECT_THAT(NamesIn(folder), testing::Not(testing::IsEmpty()));
  bool has_cgroups = !CgroupsOf(pid).empty();
  supervisor.Kill();
  EXPECT_TRUE(Eventually([&] {
    for (pid_t process : processes) {
      if (kill(process, 0) == 0 || errno == EPERM) return false;
    }
    return true;
  })) << "processes are left";
  EXPECT_TRUE(Eventually([&] { return NamesIn(folder).empty(); })) << "the folder of artifacts is left";
  EXPECT_TRUE(Eventually([&] { return CgroupsOf(pid).empty(); })) << "cgroups are left: " << testing::PrintToString(CgroupsOf(pid));
  EXPECT_EQ(has_cgroups, HasCgroup(session()));
  EXPECT_EQ(sys::ReadFile("/proc/self/mounts", 1 << 20).value_or(""), mounts);
  EXPECT_EQ(rmdir(folder), 0);
}

TEST_F(LeaksTest, NothingOfTheSupervisorsIsOpenInASession) {
  Record record = Run("import os\nfor fd in sorted(os.listdir('/proc/self/fd'), key=int):\n    try: print(fd, os.readlink('/proc/self/fd/' + fd).split(':')[0])\n    except FileNotFoundError: pass");
  std::vector<std::string> lines = absl::StrSplit(record.stdout_text, '\n', absl::SkipEmpty());
  // Standard streams, the channel, the copies of the output pipes, and nothing else.
  EXPECT_THAT(lines, testing::ElementsAre("0 /dev/null", "1 pipe", "2 pipe", "3 socket", testing::EndsWith(" pipe"), testing::EndsWith(" pipe")));
  EXPECT_EQ(Value("import subprocess; subprocess.run(['ls', '/proc/self/fd'], capture_output=True, text=True).stdout.split()"), "['0', '1', '2', '3']");
  EXPECT_EQ(RunBash("ls /proc/self/fd | wc -l").stdout_text, "4\n");
}

}  // namespace
}  // namespace cellblock
