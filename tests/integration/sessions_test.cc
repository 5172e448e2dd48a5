// What sessions share (nothing), what a restart keeps, seeds, and what a policy's layers demand. Tests only.
#include <filesystem>
#include <set>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "sys/files.h"
#include "tests/support/session_fixture.h"

namespace cellblock {
namespace {

class SessionsTest : public SessionTest {
 protected:
  // Draws once from every generator that people use.
  static constexpr char kDraw[] = R"(
import os, random, secrets, ssl, tempfile, uuid
import numpy as np
draws = [random.random(), random.Random().random(), np.random.rand(), np.random.RandomState().rand(), np.random.default_rng().random(), uuid.uuid4(), uuid.uuid1(),
         tempfile.mktemp(), secrets.token_hex(), ssl.RAND_bytes(8).hex(), os.urandom(8).hex()]
for d in draws: print(d))";
  static constexpr size_t kDrawn = 11;
};

TEST_F(SessionsTest, VariablesLiveFromCallToCall) {
  EXPECT_THAT(Run("import pandas as pd\ndf = pd.DataFrame({'a': [1, 2]})\ndef total(): return df.a.sum()"), EndedWell());
  EXPECT_EQ(Value("int(total())"), "3");
  EXPECT_EQ(Value("_"), "3");
  EXPECT_EQ(Value("Out[2]"), "3");
  EXPECT_EQ(Run("1").call, 5);
}

TEST_F(SessionsTest, TwoSessionsShareNoVariablesAndNoFiles) {
  std::unique_ptr<Session> a = NewSession(), b = NewSession();
  EXPECT_NE(a->id(), b->id());
  for (const char* folder : {"/workspace", "/tmp", "/dev/shm", "/mnt/data"}) {
    EXPECT_THAT(RunIn(*a, absl::StrCat("secret = 1; open('", folder, "/secret', 'w').write('x')")), EndedWell());
    EXPECT_EQ(ValueIn(*b, absl::StrCat("import os; 'secret' in os.listdir('", folder, "')")), "False");
  }
  EXPECT_THAT(RunIn(*b, "secret"), EndedWithError("NameError"));
}

TEST_F(SessionsTest, TheHostsNameIsNotSeen) {
  EXPECT_EQ(Value("import os, platform, socket, subprocess; len({platform.node(), platform.uname().node, os.uname().nodename, socket.gethostname(), subprocess.getoutput('uname -n')})"), "1");
  EXPECT_EQ(Value("platform.node()"), "'cellblock'");
}

TEST_F(SessionsTest, ASessionMayOutliveItsHost) {
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Host> host, Host::Create(TestHostOptions()));
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Session> session, host->CreateSession(Policy{}));
  host.reset();
  EXPECT_EQ(ValueIn(*session, "1 + 1"), "2");
  session.reset();
}

TEST_F(SessionsTest, TwoSessionsDoNotSeeEachOthersProcesses) {
  std::unique_ptr<Session> a = NewSession(), b = NewSession();
  EXPECT_THAT(RunIn(*a, "import subprocess; p = subprocess.Popen(['sleep', '300'])"), EndedWell());
  EXPECT_EQ(ValueIn(*b, "import os; [p for p in os.listdir('/proc') if p.isdigit()]"), "['1', '2']");
}

TEST_F(SessionsTest, TwoSessionsShareNoAbstractSocketsNorIpc) {
  std::unique_ptr<Session> a = NewSession(), b = NewSession();
  EXPECT_THAT(RunIn(*a, "import socket\ns = socket.socket(socket.AF_UNIX); s.bind('\\0cellblock-test'); s.listen()"), EndedWell());
  EXPECT_THAT(RunIn(*b, "import socket\nsocket.socket(socket.AF_UNIX).connect('\\0cellblock-test')"), EndedWithError("ConnectionRefusedError"));
  EXPECT_THAT(RunIn(*a, "c = socket.socket(socket.AF_UNIX); c.connect('\\0cellblock-test')"), EndedWell());
  EXPECT_THAT(RunIn(*a, "from multiprocessing import shared_memory; m = shared_memory.SharedMemory('cellblocktest', create=True, size=10)"), EndedWell());
  EXPECT_THAT(RunIn(*b, "from multiprocessing import shared_memory; m = shared_memory.SharedMemory('cellblocktest')"), EndedWithError("FileNotFoundError"));
}

TEST_F(SessionsTest, TwentySessionsNeverDrawTheSameNumber) {
  std::set<std::string> draws;
  for (int i = 0; i < 20; ++i) {
    Record record = RunIn(*NewSession(), kDraw);
    EXPECT_THAT(record, EndedWell());
    std::vector<std::string> lines = absl::StrSplit(record.stdout_text, '\n', absl::SkipEmpty());
    EXPECT_EQ(lines.size(), kDrawn);
    draws.insert(lines.begin(), lines.end());
  }
  EXPECT_EQ(draws.size(), 20 * kDrawn);
}

TEST_F(SessionsTest, ASeedMakesRandomNumbersRepeat) {
  constexpr char kCode[] = "import random, numpy as np; (random.random(), np.random.rand(), random.sample(range(1000), 3))";
  std::vector<std::string> draws;
  for (std::optional<uint64_t> seed : {std::optional<uint64_t>(7), std::optional<uint64_t>(7), std::optional<uint64_t>(8), std::optional<uint64_t>(~uint64_t{0}), std::optional<uint64_t>()}) {
    SessionOptions options;
    options.seed = seed;
    std::unique_ptr<Session> session = NewSession(Policy(), options);
    draws.push_back(ValueIn(*session, kCode));
    if (seed == std::optional<uint64_t>(7)) {
      EXPECT_THAT(session->Restart(), IsOk());
      EXPECT_EQ(ValueIn(*session, kCode), draws[0]) << "a restart begins anew";
    }
  }
  EXPECT_EQ(draws[0], draws[1]);
  EXPECT_EQ(std::set<std::string>(draws.begin(), draws.end()).size(), 4u);
}

TEST_F(SessionsTest, ThePolicysSeedServesUntilTheCallerNamesOne) {
  Policy policy;
  policy.determinism.seed = 7;
  std::string with_policy = ValueIn(*NewSession(policy), "import random; random.random()");
  SessionOptions options;
  options.seed = 7;
  EXPECT_EQ(ValueIn(*NewSession(Policy(), options), "import random; random.random()"), with_policy);
  options.seed = 8;
  EXPECT_NE(ValueIn(*NewSession(policy, options), "import random; random.random()"), with_policy);
}

TEST_F(SessionsTest, ASeedLeavesSecretsRandom) {
  SessionOptions options;
  options.seed = 7;
  constexpr char kCode[] = "import secrets, uuid, os; (secrets.token_hex(), uuid.uuid4(), os.urandom(8))";
  EXPECT_NE(ValueIn(*NewSession(Policy(), options), kCode), ValueIn(*NewSession(Policy(), options), kCode));
}

TEST_F(SessionsTest, AFixedHashSeedMakesSetsRepeat) {
  Policy policy;
  policy.determinism.fixed_hash_seed = true;
  policy.python.preload = {};
  std::string inside = ValueIn(*NewSession(policy), "hash('cellblock'), list({'a', 'b', 'c', 'd', 'e'})");
  EXPECT_EQ(inside + "\n", RunOutside({"/usr/bin/env", "PYTHONHASHSEED=0", "/usr/bin/python3", "-c", "print((hash('cellblock'), list({'a', 'b', 'c', 'd', 'e'})))"}).output);
}

TEST_F(SessionsTest, ARestartKeepsFilesAndDropsVariables) {
  EXPECT_THAT(Run("x = 1; open('kept', 'w').write('kept'); import os, threading; os.environ['A'] = '1'; os.chdir('/tmp')"), EndedWell());
  EXPECT_THAT(Run("import subprocess, time\nthreading.Thread(target=time.sleep, args=(300,), daemon=True).start()"), EndedWell());
  EXPECT_THAT(session().Restart(), IsOk());
  EXPECT_THAT(Run("x"), EndedWithError("NameError"));
  EXPECT_EQ(Value("import os; open('kept').read(), os.getcwd(), 'A' in os.environ"), "('kept', '/workspace', False)");
  Record record = Run("1");
  EXPECT_EQ(record.receipt.threads_kept, 0);
  EXPECT_TRUE(record.artifacts.empty());
  EXPECT_GT(record.call, 4) << "calls are counted on";
}

TEST_F(SessionsTest, ARestartEndsProcessesThatWereKept) {
  Policy policy;
  policy.keep_processes = true;
  Use(policy);
  EXPECT_THAT(Run("import subprocess; p = subprocess.Popen(['sleep', '300'], start_new_session=True)"), EndedWell());
  EXPECT_THAT(session().Restart(), IsOk());
  EXPECT_TRUE(Eventually([this] { return RunBash("pgrep -c sleep").stdout_text == "0\n"; }));
}

TEST_F(SessionsTest, ARestartWaitsForTheRunningCall) {
  absl::Status restarted;
  std::thread restarter;
  ExecuteOptions options;
  options.on_event = [&](const Event&, const Record&) {
    if (!restarter.joinable()) restarter = std::thread([&] { restarted = session().Restart(); });
  };
  EXPECT_THAT(Run("import time\nprint('go', flush=True)\ntime.sleep(0.5)\nx = 1", options), EndedWell());
  restarter.join();
  EXPECT_THAT(restarted, IsOk());
  EXPECT_THAT(Run("x"), EndedWithError("NameError"));
}

TEST_F(SessionsTest, APolicyOutOfRangeIsRefused) {
  Policy policy;
  policy.limits.memory_bytes = 1;
  EXPECT_THAT(TestHost().CreateSession(policy), StatusIs(absl::StatusCode::kInvalidArgument, testing::HasSubstr("limits.memory")));
}

TEST_F(SessionsTest, SessionsThatCouldNotStartAreNotCounted) {
  HostOptions options = TestHostOptions();
  options.sessions_max = 1;
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Host> host, Host::Create(options));
  Policy policy;
  policy.files.mounts = {{"/no/such/folder", "/data"}};
  for (int i = 0; i < 3; ++i) EXPECT_THAT(host->CreateSession(policy), StatusIs(absl::StatusCode::kNotFound, testing::HasSubstr("/no/such/folder")));
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Session> session, host->CreateSession(Policy()));
  EXPECT_THAT(host->CreateSession(Policy()), StatusIs(absl::StatusCode::kResourceExhausted, testing::HasSubstr("sessions_max")));
}

TEST_F(SessionsTest, EnvironmentNamesThatCannotBeAreRefused) {
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{{"", "x"}, {"A=B", "x"}, {std::string("A\0B", 3), "x"}, {"A", std::string("x\0y", 3)}}) {
    SessionOptions options;
    options.environment = {{name, value}};
    EXPECT_THAT(TestHost().CreateSession(Policy(), options), StatusIs(absl::StatusCode::kInvalidArgument, testing::HasSubstr("environment"))) << name;
  }
  SessionOptions many;
  for (int i = 0; i < 100'000; ++i) many.environment.emplace_back(absl::StrCat("NAME_", i), "value");
  EXPECT_THAT(TestHost().CreateSession(Policy(), many), StatusIs(absl::StatusCode::kInvalidArgument, testing::HasSubstr("environment")));
}

TEST_F(SessionsTest, EnforcedMemoryIsRefusedWhereNoCgroupGivesIt) {
  Policy policy;
  policy.isolation.memory = MemoryRequirement::kEnforced;
  absl::StatusOr<std::unique_ptr<Session>> session = TestHost().CreateSession(policy);
  bool has_cgroup = HasCgroup(*NewSession());
  EXPECT_EQ(session.ok(), has_cgroup) << session.status();
  if (!has_cgroup) {
    EXPECT_THAT(session, StatusIs(absl::StatusCode::kFailedPrecondition, testing::HasSubstr("cgroup")));
  }
}

TEST_F(SessionsTest, LayersThatAreSwitchedOffAreReportedOff) {
  Policy policy;
  policy.isolation.cgroup = Requirement::kOff;
  policy.isolation.landlock = Requirement::kOff;
  Use(policy);
  EXPECT_EQ(LayerState(session(), "memory"), "watched");
  EXPECT_EQ(LayerState(session(), "landlock"), "off");
  EXPECT_EQ(LayerState(session(), "seccomp"), "enforced");
  EXPECT_EQ(Value("1"), "1");
  EXPECT_NE(LayerState(*NewSession(), "landlock"), "");
}

TEST_F(SessionsTest, TheWatchKeepsMemoryWithoutACgroup) {
  Policy policy;
  policy.isolation.cgroup = Requirement::kOff;
  policy.limits.memory_bytes = int64_t{128} << 20;
  policy.limits.shm_bytes = int64_t{4} << 30;  // not full before the watch has looked
  Use(policy);
  EXPECT_THAT(Run("n = open('/dev/shm/a', 'wb').write(bytes(60 << 20))"), EndedWell());
  Record record = Run("f = open('/dev/shm/b', 'wb')\nwhile True: f.write(bytes(1 << 20))");
  EXPECT_THAT(record, Ended(CallStatus::kOutOfMemory, SessionState::kGone));
  EXPECT_THAT(record, Hit("memory"));
  EXPECT_GE(record.receipt.memory_peak_bytes, int64_t{100} << 20);
}

TEST_F(SessionsTest, ManyCallsAreAllAnswered) {
  for (int i = 1; i <= 300; ++i) {
    ASSERT_EQ(Value(absl::StrCat(i, " + 1")), absl::StrCat(i + 1));
  }
}

TEST_F(SessionsTest, ProcessesAreAllowedAgainAfterManyWereKilled) {
  // Those that were killed at the end of a call are zombies until Python looks after them; they must not use up the limit.
  Policy policy;
  policy.limits.processes = 32;
  Use(policy);
  for (int i = 0; i < 6; ++i) {
    EXPECT_THAT(Run(absl::StrCat("import subprocess\nkept", i, " = [subprocess.Popen(['sleep', '300']) for i in range(15)]")), EndedWell()) << i;
  }
  EXPECT_EQ(Value("kept0[0].returncode"), "-9");
}

TEST_F(SessionsTest, ReadOnlyMountsAreThereAndReadOnly) {
  Policy policy;
  policy.files.mounts = {{std::string(CELLBLOCK_TEST_SOURCE) + "/policies", "/data/policies"}, {std::string(CELLBLOCK_TEST_SOURCE) + "/policies/default.yaml", "/data/one.yaml"}};
  Use(policy);
  EXPECT_EQ(Value("import os; 'default.yaml' in os.listdir('/data/policies'), 'name:' in open('/data/one.yaml').read()"), "(True, True)");
  EXPECT_THAT(Run("open('/data/policies/new', 'w')"), testing::AnyOf(EndedWithError("PermissionError"), EndedWithError("OSError")));
  EXPECT_THAT(Run("open('/data/one.yaml', 'a')"), testing::AnyOf(EndedWithError("PermissionError"), EndedWithError("OSError")));
  policy.files.mounts = {{"/no/such/folder", "/data"}};
  EXPECT_THAT(TestHost().CreateSession(policy), StatusIs(absl::StatusCode::kNotFound, testing::HasSubstr("/no/such/folder")));
}

TEST_F(SessionsTest, PlacesOfAHostMayBeRelative) {
  HostOptions options = TestHostOptions();
  options.python_environment = std::filesystem::relative(options.python_environment);
  options.libexec_directory = std::filesystem::relative(options.libexec_directory);
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Host> host, Host::Create(options));
  Policy policy;
  for (const char* target : {"/data/first", "/data/second"}) {  // each set of mounts gets a root of its own, for which they are looked up anew
    policy.files.mounts = {{std::string(CELLBLOCK_TEST_SOURCE) + "/policies", target}};
    EXPECT_THAT(host->CreateSession(policy), IsOk()) << target;
  }
}

TEST_F(SessionsTest, RedactedTextNeverComesOut) {
  Policy policy;
  policy.redact = {"s3cr3t-value"};
  Use(policy);
  Record record = Run("s = 's3cr3t' + '-value'\nprint(s)\nimport sys\nfor c in s: sys.stderr.write(c); sys.stderr.flush()\nraise ValueError(s)");
  EXPECT_THAT(absl::StrCat(record.stdout_text, record.stderr_text, ErrorOf(record).value, ErrorOf(record).traceback, record.reason), testing::Not(testing::HasSubstr("s3cr3t-value")));
  EXPECT_THAT(record.stdout_text, testing::HasSubstr("***"));
  EXPECT_THAT(ValueText(Run("s")), testing::Not(testing::HasSubstr("s3cr3t-value")));
}

TEST_F(SessionsTest, FilesAndTheirNamesAreNotRedacted) {  // as policies/reference.yaml says
  Policy policy;
  policy.redact = {"hunter22"};
  Use(policy);
  const Record record = Run("name = 'hunter' + '22.txt'\nopen(name, 'w').write(name)\nname");
  EXPECT_EQ(ValueText(record), "'***.txt'");
  ASSERT_EQ(record.artifacts.size(), 1u);
  EXPECT_EQ(record.artifacts[0].path, "hunter22.txt");
  EXPECT_EQ(sys::ReadFile(record.artifacts[0].stored_at, 100).value_or(""), "hunter22.txt");
}

TEST_F(SessionsTest, RedactedTextNeverComesOutInTheSpellingsOfItsCarriers) {
  Policy policy;
  policy.redact = {"S3CRET-p\u00e4ss", "pa\"ss\\word<&>", "line1\nline2"};
  Use(policy);
  // "S3CRET" and the others are put together here, so that no source line in a traceback shows a piece.
  Run("a = 'S3CR' + 'ET-p' + chr(228) + 'ss'\nb = 'pa' + chr(34) + 'ss' + chr(92) + 'word<' + '&>'\nc = 'line1' + chr(10) + 'line2'");
  const Record json = Run(
      "from IPython.display import JSON, HTML\n"
      "import html, json\n"
      "class Chart:\n"
      "    def _repr_mimebundle_(self, include=None, exclude=None): return {'text/plain': 'chart', 'application/vnd.own.v1+json': {a: [b, {c: c}]}}\n"
      "display(Chart(), {'application/json': {'k': b}}, metadata={'title': a})\n"
      "display({'application/json': {'k': b, a: c}}, raw=True)\n"
      "display(HTML('<td>' + html.escape(b) + '</td>'))\n"
      "print([a, b, c], json.dumps([a, b, c]), a.encode())\n"
      "JSON({'k': a, 'l': [b, c]})");
  ASSERT_EQ(json.status, CallStatus::kOk) << json.reason;
  std::string all = json.stdout_text;
  int notations = 0;
  for (const Result& result : json.results) {
    absl::StrAppend(&all, result.metadata_json);
    for (const MimeData& data : result.mime) {
      absl::StrAppend(&all, data.data, "\n");
      notations += data.is_json || data.type == "text/html" ? 1 : 0;
    }
  }
  EXPECT_GE(notations, 4) << all;
  for (const char* piece : {"S3CR", "word", "ine2", "u00e4"}) EXPECT_THAT(all, testing::Not(testing::HasSubstr(piece)));
  EXPECT_THAT(json.stdout_text, testing::StartsWith("['***', '***', '***'] [\"***\", \"***\", \"***\"] b'***'"));
  const Record failed = Run("{}[b]");
  EXPECT_EQ(ErrorOf(failed).value, "'***'");
  EXPECT_THAT(ErrorOf(failed).traceback, testing::Not(testing::HasSubstr("word")));
  absl::StatusOr<std::string> variables = session().DescribeVariables();
  ASSERT_THAT(variables, IsOk());
  for (const char* piece : {"S3CR", "word", "ine2"}) EXPECT_THAT(*variables, testing::Not(testing::HasSubstr(piece)));
}

}  // namespace
}  // namespace cellblock
