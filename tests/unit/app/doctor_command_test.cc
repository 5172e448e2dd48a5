// `cellblock doctor`.
#include "app/doctor_command.h"

#include "app/exit_codes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/captured_stream.h"
#include "tests/support/fake_host.h"

namespace cellblock::app {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<LayerReport> CompleteMachine() {
  std::vector<LayerReport> reports;
  for (const char* name : {"user_namespace", "pid namespace", "mount-namespace", "network_namespace", "ipc_namespace", "uts_namespace",
                           "nest", "user_ids", "seccomp", "landlock", "cgroup"}) {
    reports.push_back({name, true, "as it should be", ""});
  }
  return reports;
}

LayerReport& Layer(std::vector<LayerReport>& reports, const std::string& name) {
  for (LayerReport& report : reports) {
    if (report.name == name) return report;
  }
  ADD_FAILURE() << name;
  return reports.front();
}

class DoctorCommandTest : public ::testing::Test {
 protected:
  DoctorCommandTest() {
    context_.surroundings.executable_directory = root_ / "usr/bin";
    context_.surroundings.environment = [](const char*) { return std::nullopt; };
    context_.console.stdout_fd = out_.fd();
    context_.console.stderr_fd = err_.fd();
    context_.inspect_machine = [this] { return machine_; };
    root_.Write("usr/share/cellblock/policies/default.yaml", "name: default\n");
    root_.Write("usr/share/cellblock/policies/hard.yaml", "name: hard\nisolation:\n  landlock: required\n  memory: enforced\n");
    root_.Write("usr/share/cellblock/python_env/full/manifest.json", "{}");
  }

  TemporaryFolder root_;
  CapturedStream out_, err_;
  Context context_;
  std::vector<LayerReport> machine_ = CompleteMachine();
};

TEST_F(DoctorCommandTest, IsContentWithACompleteMachine) {
  EXPECT_EQ(DoctorCommand({}, context_), kExitOk);
  EXPECT_THAT(out_.text(), AllOf(HasSubstr("seccomp"), HasSubstr("python environment"), HasSubstr("can be kept"), Not(HasSubstr("OFF"))));
}

TEST_F(DoctorCommandTest, NamesTheLayerThatIsMissingAndHowToTurnItOn) {
  Layer(machine_, "user_namespace") = {"user_namespace", false, "switched off by sysctl", "sysctl -w kernel.unprivileged_userns_clone=1"};
  EXPECT_EQ(DoctorCommand({}, context_), kExitHost);
  EXPECT_THAT(out_.text(), AllOf(HasSubstr("OFF"), HasSubstr("→ sysctl -w kernel.unprivileged_userns_clone=1"), HasSubstr("cannot be kept"),
                                 HasSubstr("isolation.user_namespace: switched off by sysctl")));
}

TEST_F(DoctorCommandTest, APreferredLayerMayBeMissing) {
  Layer(machine_, "landlock") = {"landlock", false, "not in this kernel", "boot with lsm=landlock"};
  Layer(machine_, "cgroup").available = false;
  EXPECT_EQ(DoctorCommand({}, context_), kExitOk);
  EXPECT_THAT(out_.text(), HasSubstr("→ boot with lsm=landlock"));
}

TEST_F(DoctorCommandTest, JudgesByTheNamedPolicy) {
  Layer(machine_, "landlock").available = false;
  Layer(machine_, "cgroup").available = false;
  DoctorOptions options;
  options.policy = "hard";
  EXPECT_EQ(DoctorCommand(options, context_), kExitHost);
  EXPECT_THAT(out_.text(), AllOf(HasSubstr("isolation.landlock"), HasSubstr("isolation.memory")));
  options.policy = "nosuch";
  EXPECT_EQ(DoctorCommand(options, context_), kExitUsage);
}

TEST_F(DoctorCommandTest, WithoutAnEnvironmentNothingRuns) {
  std::filesystem::remove_all(root_ / "usr/share/cellblock/python_env");
  EXPECT_EQ(DoctorCommand({}, context_), kExitHost);
  EXPECT_THAT(out_.text(), AllOf(HasSubstr("python environment"), HasSubstr("→ build it with: "), HasSubstr("--set full")));
}

TEST_F(DoctorCommandTest, JsonIsOneObject) {
  Layer(machine_, "seccomp") = {"seccomp", false, "says \"no\"\n", ""};
  DoctorOptions options;
  options.json = true;
  EXPECT_EQ(DoctorCommand(options, context_), kExitHost);
  EXPECT_THAT(out_.text(), AllOf(HasSubstr(R"("satisfied":false)"), HasSubstr(R"("detail":"says \"no\"\n")"),
                                 HasSubstr(R"("key":"isolation.seccomp")"), ::testing::EndsWith("}\n")));
}

TEST_F(DoctorCommandTest, NothingRunsWithoutTheNest) {
  Layer(machine_, "nest") = {"nest", false, "/proc is masked", "unmask it"};
  EXPECT_EQ(DoctorCommand({}, context_), kExitHost);
  EXPECT_THAT(out_.text(), HasSubstr("nest: /proc is masked"));
}

TEST_F(DoctorCommandTest, SaysHowToGetWhatThePolicyRequires) {
  Layer(machine_, "cgroup") = {"cgroup", false, "no cgroup", "systemd-run --user --scope -p Delegate=yes"};
  DoctorOptions options;
  options.policy = "hard";
  EXPECT_EQ(DoctorCommand(options, context_), kExitHost);
  EXPECT_THAT(out_.text(), HasSubstr("isolation.memory: no cgroup\n    → systemd-run --user --scope -p Delegate=yes\n"));
}

class StrictDoctorTest : public DoctorCommandTest {
 protected:
  StrictDoctorTest() {
    options_.strict = true;
    context_.create_host = world_.Factory();
  }
  DoctorOptions options_;
  FakeWorld world_;
};

TEST_F(StrictDoctorTest, IsContentWithASessionThatAnswers) {
  EXPECT_EQ(DoctorCommand(options_, context_), kExitOk);
  EXPECT_THAT(out_.text(), AllOf(HasSubstr("was started and has answered. Enforced in it: seccomp."), HasSubstr("  memory is watched\n"), HasSubstr("can be kept")));
  ASSERT_EQ(world_.calls.size(), 1u);
  EXPECT_EQ(world_.calls[0].code, "pass");
}

TEST_F(StrictDoctorTest, FindsWhatTheLookAtEachLayerDoesNot) {
  world_.host_status = absl::FailedPreconditionError("the nest has no capabilities");
  EXPECT_EQ(DoctorCommand({}, context_), kExitOk);
  EXPECT_EQ(DoctorCommand(options_, context_), kExitHost);
  EXPECT_THAT(out_.text(), HasSubstr("session: none could be started: the nest has no capabilities"));
}

TEST_F(StrictDoctorTest, FindsASessionThatDoesNotAnswer) {
  world_.scripts["pass"] = [](Playback& play, FakeSession&) { return play.Status(CallStatus::kKilled, "ended by signal 31").Gone(); };
  EXPECT_EQ(DoctorCommand(options_, context_), kExitHost);
  EXPECT_THAT(out_.text(), HasSubstr("session: its first call did not end well: ended by signal 31"));
}

TEST_F(StrictDoctorTest, MeasuresWhatASessionCosts) {
  world_.usage.pool.ready = 1;
  options_ = {.bench = true};
  EXPECT_EQ(DoctorCommand(options_, context_), kExitOk);
  EXPECT_THAT(out_.text(), AllOf(HasSubstr("session, built"), HasSubstr("fork of the interpreter"), HasSubstr("a later cell"), HasSubstr("can be kept")));
  ASSERT_EQ(world_.hosts.size(), 2u);
  EXPECT_EQ(world_.hosts[0].pool.ready_max, 0);
  EXPECT_GT(world_.hosts[1].pool.ready_max, 0);
}

TEST_F(StrictDoctorTest, MeasuresInJsonToo) {
  world_.usage.pool.ready = 1;
  options_ = {.json = true, .bench = true};
  EXPECT_EQ(DoctorCommand(options_, context_), kExitOk);
  EXPECT_THAT(out_.text(), AllOf(HasSubstr(R"("bench":[{"name":"first session)"), HasSubstr(R"("median_ms":)")));
}

TEST_F(StrictDoctorTest, CannotMeasureWhatDoesNotRun) {
  world_.scripts["1+1"] = [](Playback& play, FakeSession&) { return play.Status(CallStatus::kKilled, "ended by signal 31").Gone(); };
  options_ = {.bench = true};
  EXPECT_EQ(DoctorCommand(options_, context_), kExitHost);
  EXPECT_THAT(out_.text(), AllOf(HasSubstr("bench: a cell did not end well: ended by signal 31"), Not(HasSubstr("session, built"))));
}

class SessionWithoutSeccomp : public FakeSession {
 public:
  using FakeSession::FakeSession;
  const std::vector<cellblock::Layer>& layers() const override { return layers_; }

 private:
  const std::vector<cellblock::Layer> layers_ = {{"seccomp", "off", "the kernel has none"}};
};
class HostWithoutSeccomp : public FakeHost {
 public:
  explicit HostWithoutSeccomp(FakeWorld& world) : FakeHost(world), world_(world) {}
  absl::StatusOr<std::unique_ptr<Session>> CreateSession(const Policy& policy, const SessionOptions&) override {
    return std::unique_ptr<Session>(std::make_unique<SessionWithoutSeccomp>(world_, policy));
  }

 private:
  FakeWorld& world_;
};

TEST_F(StrictDoctorTest, FindsARequiredLayerThatIsOff) {
  context_.create_host = [this](HostOptions) -> absl::StatusOr<std::unique_ptr<Host>> { return std::unique_ptr<Host>(std::make_unique<HostWithoutSeccomp>(world_)); };
  options_.json = true;
  EXPECT_EQ(DoctorCommand(options_, context_), kExitHost);
  EXPECT_THAT(out_.text(), AllOf(HasSubstr(R"("key":"isolation.seccomp","reason":"off in a session: the kernel has none")"), HasSubstr(R"("session":{"answered":true)")));
}

TEST_F(StrictDoctorTest, StartsNoSessionWhereItIsKnownToFail) {
  Layer(machine_, "user_namespace").available = false;
  EXPECT_EQ(DoctorCommand(options_, context_), kExitHost);
  EXPECT_TRUE(world_.hosts.empty());
}

TEST(FindMissingLayersTest, ALayerThatNobodyLookedAtIsMissing) {
  std::vector<LayerReport> machine = CompleteMachine();
  EXPECT_THAT(FindMissingLayers(Policy(), machine), IsEmpty());
  machine.erase(std::find_if(machine.begin(), machine.end(), [](const LayerReport& report) { return report.name == "seccomp"; }));
  EXPECT_THAT(FindMissingLayers(Policy(), machine), ElementsAre(Field(&MissingLayer::key, "isolation.seccomp")));
}

TEST(FindMissingLayersTest, AReportAgainstALayerOfEveryKernelCounts) {
  std::vector<LayerReport> machine = CompleteMachine();
  machine.push_back({"no_new_privileges", false, "", ""});
  EXPECT_THAT(FindMissingLayers(Policy(), machine), ElementsAre(Field(&MissingLayer::key, "isolation.no_new_privileges")));
}

}  // namespace
}  // namespace cellblock::app
