// Each layer switched off in turn, in a copy of the room that is built with the test-only switches: what the layer refused then
// works, so the tests in this folder would notice its loss. And what is shipped holds no trace of the switches.
#include <sys/resource.h>

#include <sstream>

#include "absl/strings/str_split.h"
#include "tests/confine/confine_fixture.h"

namespace cellblock::confine {
namespace {

constexpr char kVariable[] = "CELLBLOCK_TEST_LAYERS_OFF";

class SwitchesTest : public ConfineTest {
 protected:
  // What a process that was locked with these layers off can tell about itself.
  ChildEnd RunWithout(const char* layers, absl::FunctionRef<void(const Report&)> body) const {
    return RunFree([&] {
      ASSERT_EQ(setenv(kVariable, layers, 1), 0);
      body(Lock(FullSpec()));
    });
  }
  static rlim_t MemoryLockLimit() {
    rlimit limit;
    getrlimit(RLIMIT_MEMLOCK, &limit);
    return limit.rlim_cur;
  }
  static bool HasBoundingSet() {
    std::ifstream file("/proc/self/status");
    std::stringstream text;
    text << file.rdbuf();
    return text.str().find("CapBnd:\t0000000000000000") == std::string::npos;
  }
};

TEST_P(SwitchesTest, AllLayersAreOnUnlessNamed) {
  for (const char* layers : {"", "nothing", "seccompx", "xseccomp", "sec", ",", "seccomp landlock"}) {
    EXPECT_THAT(RunWithout(layers,
                           [this](const Report& report) {
                             EXPECT_EQ(report.seccomp, 1);
                             EXPECT_GT(report.landlock_abi, 0);
                             EXPECT_EQ(report.capabilities_dropped, 1);
                             EXPECT_EQ(report.no_new_privileges, 1);
                             EXPECT_EQ(ErrnoOf(syscall(SYS_unshare, 0)), EPERM);
                             EXPECT_EQ(OpenErrno(Path("outside/file"), O_RDONLY), EACCES);
                             EXPECT_FALSE(HasBoundingSet());
                             EXPECT_EQ(prctl(PR_GET_DUMPABLE), 0);
                             EXPECT_EQ(MemoryLockLimit(), 0U);
                           }),
                Passes())
        << layers;
  }
}

TEST_P(SwitchesTest, SeccompMatters) {
  EXPECT_THAT(RunWithout("seccomp",
                         [](const Report& report) {
                           EXPECT_EQ(report.seccomp, 0);
                           EXPECT_EQ(ErrnoOf(syscall(SYS_unshare, 0)), 0);
                         }),
              Passes());
}

TEST_P(SwitchesTest, LandlockMatters) {
  EXPECT_THAT(RunWithout("landlock",
                         [this](const Report& report) {
                           EXPECT_EQ(report.landlock_abi, 0);
                           EXPECT_EQ(OpenErrno(Path("outside/file"), O_RDONLY), 0);
                         }),
              Passes());
}

TEST_P(SwitchesTest, CapabilitiesMatter) {
  EXPECT_THAT(RunWithout("capabilities",
                         [](const Report& report) {
                           EXPECT_EQ(report.capabilities_dropped, 0);
                           EXPECT_TRUE(HasBoundingSet());
                         }),
              Passes());
}

TEST_P(SwitchesTest, SingleStepsMatter) {
  EXPECT_THAT(RunWithout("not_dumpable",
                         [this](const Report&) {
                           // A change of ids clears it by itself; as a user there is none.
                           EXPECT_EQ(prctl(PR_GET_DUMPABLE) == 1, actor() == Actor::kUser);
                         }),
              Passes());
  EXPECT_THAT(RunWithout("rlimits", [](const Report&) { EXPECT_GT(MemoryLockLimit(), 0U); }), Passes());
}

TEST_P(SwitchesTest, SeveralLayersAtOnce) {
  EXPECT_THAT(RunWithout("landlock,seccomp,no_new_privileges",
                         [](const Report& report) {
                           EXPECT_EQ(report.landlock_abi, 0);
                           EXPECT_EQ(report.seccomp, 0);
                           EXPECT_EQ(report.no_new_privileges, 0);
                           EXPECT_EQ(report.capabilities_dropped, 1);
                         }),
              Passes());
}

CELLBLOCK_BOTH_ACTORS(SwitchesTest);

bool HoldsTheSwitches(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  std::stringstream bytes;
  bytes << file.rdbuf();
  return bytes.str().find(kVariable) != std::string::npos;
}

TEST(ShippedBinariesTest, HoldNoTraceOfTheSwitches) {
  EXPECT_TRUE(HoldsTheSwitches(CELLBLOCK_SWITCHABLE_LIBRARY)) << "the search itself finds what is there";
#ifdef CELLBLOCK_TEST_LAYER_SWITCHES
  GTEST_SKIP() << "missing: this whole build has the switches (CELLBLOCK_TEST_LAYER_SWITCHES)";
#endif
  int searched = 0;
  for (absl::string_view path : absl::StrSplit(CELLBLOCK_SHIPPED_FILES, ',', absl::SkipEmpty())) {
    ++searched;
    EXPECT_FALSE(HoldsTheSwitches(std::string(path))) << path;
  }
  EXPECT_GE(searched, 1);
}

}  // namespace
}  // namespace cellblock::confine
