// Limits of things that are counted: processes, threads, open files, bytes and files on the session's disks. Each just within works,
// each just beyond is an error that code can survive, and the record says which limit it was. Tests only.
#include "absl/strings/str_cat.h"
#include "tests/support/session_fixture.h"

namespace cellblock {
namespace {

class CountLimitsTest : public SessionTest {
 protected:
  void ExpectOsError(const Record& record, absl::string_view text, const char* limit) {
    ASSERT_EQ(record.status, CallStatus::kError) << testing::PrintToString(record);
      EXPECT_THAT(ErrorOf(record).value, testing::HasSubstr(std::string(text.data(), text.size())));
    EXPECT_THAT(record, Hit(limit));
    EXPECT_EQ(record.session_state, SessionState::kKept);
  }
};

constexpr int64_t kProcesses = 20;
constexpr char kSleepers[] = "import subprocess\ndef start(n): return [subprocess.Popen(['sleep', '30']) for i in range(n)]";

TEST_F(CountLimitsTest, AsManyProcessesAsAllowedCanRun) {
  Policy policy;
  policy.limits.processes = kProcesses;
  Use(policy);
  EXPECT_THAT(Run(kSleepers), EndedWell());
  Record record = Run(absl::StrCat("children = start(", kProcesses - 1, "); len(children)"));  // the worker is one itself
  EXPECT_THAT(record, EndedWell());
  EXPECT_THAT(record, HitNothing());
  EXPECT_EQ(record.receipt.processes_killed, kProcesses - 1);
  EXPECT_GE(record.receipt.processes_peak, kProcesses - 1);
}

TEST_F(CountLimitsTest, OneProcessMoreIsRefused) {
  Policy policy;
  policy.limits.processes = kProcesses;
  Use(policy);
  EXPECT_THAT(Run(kSleepers), EndedWell());
  ExpectOsError(Run(absl::StrCat("children = start(", kProcesses, ")")), "Resource temporarily unavailable", "processes");
  EXPECT_EQ(Value("1"), "1");
}

constexpr char kThreads[] = R"(
import threading
stop = threading.Event()
def start(n):
    for i in range(n): threading.Thread(target=stop.wait, daemon=True).start()
)";

TEST_F(CountLimitsTest, AsManyThreadsAsAllowedCanRun) {
  Policy policy;
  policy.limits.processes = kProcesses;
  Use(policy);
  EXPECT_THAT(Run(kThreads), EndedWell());
  Record record = Run(absl::StrCat("start(", kProcesses - 1, "); threading.active_count()"));
  EXPECT_THAT(record, EndedWell());
  EXPECT_EQ(ValueText(record), absl::StrCat(kProcesses));
  EXPECT_EQ(record.receipt.threads_kept, kProcesses - 1);
}

TEST_F(CountLimitsTest, OneThreadMoreIsRefused) {
  Policy policy;
  policy.limits.processes = kProcesses;
  Use(policy);
  EXPECT_THAT(Run(kThreads), EndedWell());
  Record record = Run(absl::StrCat("start(", kProcesses, ")"));
  ExpectOsError(record, "can't start new thread", "processes");
  EXPECT_THAT(ErrorOf(record).hint, testing::HasSubstr("processes and threads"));
}

TEST_F(CountLimitsTest, BashIsRejectedWhileThreadsHoldAllProcesses) {
  Policy policy;
  policy.limits.processes = kProcesses;
  Use(policy);
  EXPECT_THAT(Run(kThreads), EndedWell());
  EXPECT_THAT(Run(absl::StrCat("start(", kProcesses - 1, ")")), EndedWell());
  // bash itself is started by the jail, and has no process left for anything else.
  Record record = RunBash("ls; echo $?", WithTimeout(absl::Seconds(2)));  // it tries for long
  EXPECT_EQ(record.session_state, SessionState::kKept);
  EXPECT_NE(record.status, CallStatus::kOk);
  EXPECT_THAT(record, Hit("processes"));
  EXPECT_THAT(Run("stop.set()"), EndedWell());
  EXPECT_TRUE(Eventually([this] { return Value("threading.active_count()") == "1"; }));
  EXPECT_THAT(RunBash("ls; echo $?"), EndedWell());
}

TEST_F(CountLimitsTest, BashIsRefusedProcessesToo) {
  Policy policy;
  policy.limits.processes = kProcesses;
  Use(policy);
  EXPECT_THAT(RunBash("for i in $(seq 15); do sleep 20 & done; echo started"), EndedWell());
  Record record = RunBash("for i in $(seq 30); do sleep 20 & done; echo not reached", WithTimeout(absl::Seconds(2)));
  EXPECT_EQ(record.session_state, SessionState::kKept);
  EXPECT_THAT(record.stderr_text, testing::HasSubstr("Resource temporarily unavailable"));
  EXPECT_THAT(record, Hit("processes"));
}

TEST_F(CountLimitsTest, OpenFilesEndAtTheLimit) {
  Policy policy;
  policy.limits.open_files = 64;
  Use(policy);
  EXPECT_EQ(Value("import resource; resource.getrlimit(resource.RLIMIT_NOFILE)"), "(64, 64)");
  Record record = Run("files = []\nwhile True: files.append(open('/dev/null'))");
  ExpectOsError(record, "Too many open files", "open_files");
  // What the session itself holds open is little.
  EXPECT_EQ(Value("50 < len(files) < 64"), "True");
  EXPECT_THAT(Run("files.pop().close(); open('/dev/null')"), EndedWell());
  EXPECT_THAT(Run("del files"), EndedWell());
}

TEST_F(CountLimitsTest, AFullWorkspaceIsAnErrorAndCanBeEmptied) {
  Policy policy;
  policy.limits.workspace_bytes = 4 << 20;
  policy.artifacts.files = 0;
  Use(policy);
  EXPECT_THAT(Run("n = open('a', 'wb').write(bytes(3 << 20))"), EndedWell());
  Record record = Run("open('b', 'wb').write(bytes(2 << 20))");
  ExpectOsError(record, "No space left on device", "workspace");
  // Only the call that met the limit says so.
  record = Run("1");
  EXPECT_THAT(record, EndedWell());
  EXPECT_THAT(record, testing::Not(Hit("workspace")));
  EXPECT_THAT(Run("import os; os.remove('a'); os.remove('b'); n = open('b', 'wb').write(bytes(3 << 20))"), EndedWell());
}

TEST_F(CountLimitsTest, FilesOfTheWorkspaceAreCounted) {
  Policy policy;
  policy.limits.workspace_files = 40;
  policy.artifacts.files = 0;
  Use(policy);
  Record record = Run("import os\nos.mkdir('d')\nfor i in range(38): open(f'd/{i}', 'w')");
  EXPECT_THAT(record, EndedWell());
  EXPECT_THAT(record, testing::Not(Hit("workspace_files")));
  EXPECT_THAT(Run("open('one more', 'w').close()"), EndedWell());  // the fortieth
  ExpectOsError(Run("open('too many', 'w')"), "No space left on device", "workspace_files");
  ExpectOsError(Run("os.mkdir('too many')"), "No space left on device", "workspace_files");
  EXPECT_THAT(Run("os.remove('one more'); open('instead', 'w').close()"), EndedWell());
}

TEST_F(CountLimitsTest, TmpAndSharedMemoryHaveSizesOfTheirOwn) {
  Policy policy;
  policy.limits.tmp_bytes = 2 << 20;
  policy.limits.shm_bytes = 2 << 20;
  Use(policy);
  for (const char* limit : {"tmp", "shm"}) {
    const std::string folder = absl::StrCat(std::string(limit) == "shm" ? "/dev/" : "/", limit);
    EXPECT_THAT(Run(absl::StrCat("n = open('", folder, "/a', 'wb').write(bytes(1 << 20))")), EndedWell());
    Record record = Run(absl::StrCat("open('", folder, "/b', 'wb').write(bytes(2 << 20))"));
    ExpectOsError(record, "No space left on device", limit);
    EXPECT_EQ(record.receipt.limits_hit.size(), 1u);
  }
  EXPECT_THAT(Run("n = open('c', 'wb').write(bytes(4 << 20))"), EndedWell());
}

TEST_F(CountLimitsTest, AFileCanGrowToTheLimitAndNotBeyond) {
  Policy policy;
  policy.limits.file_bytes = 1 << 20;
  policy.artifacts.files = 0;
  Use(policy);
  Record record = Run("f = open('a', 'wb', buffering=0); f.write(bytes(1 << 20))");
  EXPECT_THAT(record, EndedWell());
  EXPECT_THAT(record, testing::Not(Hit("file_size")));
  ExpectOsError(Run("f.write(b'x')"), "File too large", "file_size");
  ExpectOsError(Run("open('/tmp/a', 'wb').truncate((1 << 20) + 1)"), "File too large", "file_size");
  EXPECT_THAT(Run("open('/tmp/a', 'wb').truncate(1 << 20)"), EndedWell());
}

TEST_F(CountLimitsTest, ProgramsOfBashMeetTheFileLimitAsAnError) {
  Policy policy;
  policy.limits.file_bytes = 1 << 20;
  Use(policy);
  EXPECT_THAT(RunBash("head -c 1048576 /dev/zero > a"), EndedWell());
  Record record = RunBash("head -c 1048577 /dev/zero > b");
  EXPECT_THAT(record, Ended(CallStatus::kError, SessionState::kKept));
  EXPECT_EQ(record.exit_code, 1);
  EXPECT_THAT(record.stderr_text, testing::HasSubstr("File too large"));
  EXPECT_THAT(record, Hit("file_size"));
}

TEST_F(CountLimitsTest, SessionsOfAHostAreCounted) {
  HostOptions options = TestHostOptions();
  options.sessions_max = 1;
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Host> host, Host::Create(options));
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Session> first, host->CreateSession(Policy()));
  EXPECT_THAT(host->CreateSession(Policy()), StatusIs(absl::StatusCode::kResourceExhausted, testing::HasSubstr("sessions_max")));
  first.reset();
  EXPECT_THAT(host->CreateSession(Policy()), IsOk());
}

TEST_F(CountLimitsTest, ArtifactsAreCountedAndTheRestNamed) {
  Policy policy;
  policy.artifacts.files = 3;
  policy.artifacts.file_bytes = 1000;
  Use(policy);
  Record record = Run("for name in 'abc': open(name, 'w').write('x')");
  EXPECT_THAT(PathsOf(record.artifacts), testing::ElementsAre("a", "b", "c"));
  EXPECT_THAT(record, testing::Not(Hit("artifacts")));
  record = Run("for name in 'defg': open(name, 'w').write('x')");
  EXPECT_THAT(PathsOf(record.artifacts), testing::ElementsAre("d", "e", "f"));
  EXPECT_THAT(record, Hit("artifacts"));
  record = Run("open('large', 'w').write('x' * 1001); open('small', 'w').write('x' * 1000)");
  EXPECT_THAT(PathsOf(record.artifacts), testing::ElementsAre("small"));
  EXPECT_THAT(record, Hit("artifacts"));
}

}  // namespace
}  // namespace cellblock
