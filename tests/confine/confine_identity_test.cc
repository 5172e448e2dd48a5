// Who a locked process is and what it may still become: ids, groups, capabilities, no_new_privs, dumpability, affinity.
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/sysmacros.h>

#include <sstream>

#include "confine/capabilities.h"
#include "confine/proof.h"
#include "tests/confine/confine_fixture.h"

namespace cellblock::confine {
namespace {

using ::testing::HasSubstr;

class IdentityTest : public ConfineTest {};
// What a user's namespace lacks: a second id, and setgroups.
class RootIdentityTest : public ConfineTest {};

// The value of a line of /proc/self/status.
std::string Status(const std::string& key) {
  std::ifstream file("/proc/self/status");
  std::string line;
  while (std::getline(file, line)) {
    if (line.rfind(key + ":\t", 0) == 0) return line.substr(key.size() + 2);
  }
  return "missing";
}

constexpr char kNone[] = "0000000000000000";

// Without any capability from here on, as a process is that no user namespace has made powerful.
void LoseCapabilities() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct none[2] = {};
  EXPECT_EQ(syscall(SYS_capset, &header, none), 0);
}

TEST_P(IdentityTest, HasTheIdsItWasGiven) {
  EXPECT_THAT(RunLocked(FullSpec(),
                        [] {
                          EXPECT_EQ(Status("Uid"), "1000\t1000\t1000\t1000");
                          EXPECT_EQ(Status("Gid"), "1000\t1000\t1000\t1000");
                        }),
              Passes());
}

TEST_P(IdentityTest, FailsOnIdsItCannotHave) {
  for (bool user : {true, false}) {
    Spec spec = FullSpec();
    if (actor() == Actor::kUser) {
      (user ? spec.uid : spec.gid) = 1001;  // not mapped into the namespace
    } else {
      (user ? spec.uid : spec.gid) = UINT32_MAX;
    }
    EXPECT_THAT(RunFree([&] {
                  StepFailure failure;
                  const std::string step = FailingStep(spec, &failure);
                  EXPECT_EQ(step, actor() == Actor::kRoot ? "arguments" : user ? "uid" : "gid");
                  EXPECT_EQ(failure.error, EINVAL);
                }),
                Passes());
  }
}

TEST_P(RootIdentityTest, ProvesEachOfTheIds) {
  EXPECT_THAT(RunFree([] {
                EXPECT_EQ(ProveIds(0, 0), 0);
                EXPECT_EQ(ProveIds(0, 1), kNotProven);
                EXPECT_EQ(ProveIds(1, 0), kNotProven);
                EXPECT_EQ(setresgid(0, 0, 5), 0);
                EXPECT_EQ(ProveIds(0, 0), kNotProven) << "saved gid";
                EXPECT_EQ(setresgid(5, 0, 0), 0);
                EXPECT_EQ(ProveIds(0, 0), kNotProven) << "real gid";
                EXPECT_EQ(setresgid(0, 0, 0), 0);
                EXPECT_EQ(setresuid(0, 0, 5), 0);
                EXPECT_EQ(ProveIds(0, 0), kNotProven) << "saved uid";
                EXPECT_EQ(setresuid(0, 0, 0), 0);
                EXPECT_EQ(ProveIds(0, 0), 0);
                syscall(SYS_setfsuid, 5);
                EXPECT_EQ(ProveIds(0, 0), kNotProven) << "file-system uid";
              }),
              Passes());
}

TEST_P(RootIdentityTest, HasNoSupplementaryGroupsWhereTheyCanBeDropped) {
  const Spec spec = FullSpec();
  EXPECT_THAT(RunFree([&spec] {
                const gid_t groups[] = {4, 27};
                ASSERT_EQ(setgroups(2, groups), 0);
                EXPECT_EQ(getgroups(0, nullptr), 2);
                Lock(spec);
                EXPECT_EQ(getgroups(0, nullptr), 0);
              }),
              Passes());
}

TEST_P(RootIdentityTest, FailsWithGroupsThatItMayNotDrop) {
  const Spec spec = BareSpec();
  EXPECT_THAT(RunFree([&spec] {
                const gid_t groups[] = {4};
                ASSERT_EQ(setgroups(1, groups), 0);
                LoseCapabilities();
                StepFailure failure;
                EXPECT_EQ(FailingStep(spec, &failure), "groups");
                EXPECT_EQ(failure.error, EPERM);
              }),
              Passes());
}

TEST_P(IdentityTest, HasNoCapabilityInAnySet) {
  EXPECT_THAT(RunFree([] {
                EXPECT_NE(Status("CapEff"), kNone);
                EXPECT_NE(Status("CapBnd"), kNone);
                int capability;
                EXPECT_EQ(ProveNoCapabilities(&capability), kNotProven);
              }),
              Passes());
  EXPECT_THAT(RunLocked(FullSpec(),
                        [] {
                          for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"}) EXPECT_EQ(Status(set), kNone) << set;
                          EXPECT_EQ(prctl(PR_GET_SECUREBITS) & (SECBIT_NOROOT | SECBIT_NOROOT_LOCKED), SECBIT_NOROOT | SECBIT_NOROOT_LOCKED);
                        }),
              Passes());
  Spec off = FullSpec();
  off.capabilities = Requirement::kOff;
  EXPECT_THAT(RunLocked(off, [] { EXPECT_NE(Status("CapBnd"), kNone); }), Passes());
}

// The proof looks at each of the five sets by itself.
TEST_P(IdentityTest, ProvesEachOfTheCapabilitySets) {
  EXPECT_THAT(RunFree([] {
                ASSERT_EQ(LockSecurebits(), 0);
                int capability = -1;
                ASSERT_EQ(DropBoundingSet(&capability), 0);
                EXPECT_EQ(ProveNoCapabilities(&capability), kNotProven) << "effective and permitted are still there";
                EXPECT_EQ(capability, CAP_CHOWN);
                ASSERT_EQ(ClearCapabilitySets(), 0);
                EXPECT_EQ(ProveNoCapabilities(&capability), 0);
                EXPECT_EQ(capability, -1);
              }),
              Passes());
  EXPECT_THAT(RunFree([] {
                ASSERT_EQ(LockSecurebits(), 0);
                ASSERT_EQ(ClearCapabilitySets(), 0);
                int capability = -1;
                EXPECT_EQ(ProveNoCapabilities(&capability), kNotProven) << "the bounding set is still there";
                EXPECT_EQ(DropBoundingSet(&capability), EPERM) << "too late: that took CAP_SETPCAP";
              }),
              Passes());
  EXPECT_THAT(RunFree([] {
                int capability = -1;
                ASSERT_EQ(DropBoundingSet(&capability), 0);
                ASSERT_EQ(ClearCapabilitySets(), 0);
                EXPECT_EQ(ProveNoCapabilities(&capability), kNotProven) << "the securebits are open";
                EXPECT_EQ(capability, -1);
              }),
              Passes());
  for (bool ambient : {false, true}) {
    EXPECT_THAT(RunFree([ambient] {
                  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
                  __user_cap_data_struct data[2] = {};
                  ASSERT_EQ(syscall(SYS_capget, &header, data), 0);
                  data[0].inheritable = 1U << CAP_KILL;
                  ASSERT_EQ(syscall(SYS_capset, &header, data), 0);
                  if (ambient) {
                    ASSERT_EQ(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_KILL, 0, 0), 0);
                  }
                  ASSERT_EQ(LockSecurebits(), 0);
                  int capability = -1;
                  ASSERT_EQ(DropBoundingSet(&capability), 0);
                  data[0].effective = data[0].permitted = ambient ? 1U << CAP_KILL : 0;  // ambient needs it permitted
                  data[1].effective = data[1].permitted = 0;
                  ASSERT_EQ(syscall(SYS_capset, &header, data), 0);
                  EXPECT_EQ(ProveNoCapabilities(&capability), kNotProven);
                  EXPECT_EQ(capability, CAP_KILL);
                  ASSERT_EQ(ClearCapabilitySets(), 0);
                  EXPECT_EQ(ProveNoCapabilities(&capability), 0);
                }),
                Passes());
  }
}

// Without the filter: what refuses here is the lack of capabilities alone.
TEST_P(IdentityTest, IsRefusedWhatNeedsCapabilities) {
  auto try_all = [this](int expected) {
    EXPECT_EQ(ErrnoOf(mount("none", Path("own/sub").c_str(), "tmpfs", 0, nullptr)), expected);
    EXPECT_EQ(ErrnoOf(chroot("/")), expected);
    EXPECT_EQ(ErrnoOf(sethostname("locked", 6)), expected);
    EXPECT_EQ(ErrnoOf(prctl(PR_SET_SECUREBITS, 0)), expected);
  };
  Spec spec = BareSpec();
  EXPECT_THAT(RunLocked(spec, [&] { try_all(0); }), Passes());
  spec.capabilities = Requirement::kRequired;
  EXPECT_THAT(RunLocked(spec, [&] { try_all(EPERM); }), Passes());
}

TEST_P(IdentityTest, FailsOrReportsWhenCapabilitiesCannotBeDropped) {
  Spec spec = BareSpec();
  spec.capabilities = Requirement::kRequired;
  EXPECT_THAT(RunFree([&spec] {
                LoseCapabilities();
                StepFailure failure;
                EXPECT_EQ(FailingStep(spec, &failure), "securebits");
                EXPECT_EQ(failure.error, EPERM);
              }),
              Passes());
  spec.capabilities = Requirement::kPreferred;
  EXPECT_THAT(RunFree([&spec] {
                LoseCapabilities();
                EXPECT_EQ(Lock(spec).capabilities_dropped, 0);
              }),
              Passes());
  EXPECT_THAT(RunFree([&spec] { EXPECT_EQ(Lock(spec).capabilities_dropped, 1); }), Passes());
}

TEST_P(IdentityTest, GainsNothingByExec) {
  auto value = [this](const Spec& spec) {
    EXPECT_THAT(RunFree([] { EXPECT_EQ(Status("NoNewPrivs"), "0"); }), Passes());
    return RunLocked(spec, [] { printf("%s", Status("NoNewPrivs").c_str()); }).output;
  };
  EXPECT_EQ(value(FullSpec()), "1");
  EXPECT_EQ(value(BareSpec()), "0");
}

// Without no_new_privs and CAP_SYS_ADMIN the kernel takes no filter and no ruleset: the lock fails rather than go without them.
TEST_P(IdentityTest, FailsWithoutNoNewPrivileges) {
  Spec spec = SeccompOnly();
  spec.no_new_privileges = Requirement::kOff;
  EXPECT_THAT(RunFree([&spec] {
                LoseCapabilities();
                StepFailure failure;
                EXPECT_EQ(FailingStep(spec, &failure), "seccomp");
                EXPECT_EQ(failure.error, EACCES);
              }),
              Passes());
}

TEST_P(IdentityTest, IsNotDumpable) {
  EXPECT_THAT(RunFree([] {
                EXPECT_EQ(prctl(PR_GET_DUMPABLE), 1);
                EXPECT_EQ(OpenErrno("/proc/self/mem", O_RDWR), 0);
              }),
              Passes());
  EXPECT_THAT(RunLocked(FullSpec(),
                        [] {
                          EXPECT_EQ(prctl(PR_GET_DUMPABLE), 0);
                          EXPECT_EQ(OpenErrno("/proc/self/mem", O_RDWR), EACCES);
                          EXPECT_EQ(OpenErrno("/proc/self/environ", O_RDONLY), EACCES);
                          EXPECT_EQ(OpenErrno("/proc/self/fd", O_RDONLY | O_DIRECTORY), 0) << "subprocess needs it";
                          EXPECT_EQ(OpenErrno("/proc/self/status", O_RDONLY), 0);
                        }),
              Passes());
}

TEST_P(IdentityTest, RunsOnTheProcessorsItWasGiven) {
  cpu_set_t now;
  ASSERT_EQ(sched_getaffinity(0, sizeof(now), &now), 0);
  if (CPU_COUNT(&now) < 2) GTEST_SKIP() << "missing: a second processor";
  int first = 0;
  while (!CPU_ISSET(first, &now)) ++first;
  Spec spec = FullSpec();
  auto count = [](const Spec& s) { return s.cpus.size(); };
  EXPECT_THAT(RunLocked(spec, [&] {
                cpu_set_t set;
                sched_getaffinity(0, sizeof(set), &set);
                EXPECT_EQ(CPU_COUNT(&set), CPU_COUNT(&now));
              }),
              Passes());
  spec.cpus = {first};
  EXPECT_EQ(count(spec), 1U);
  EXPECT_THAT(RunLocked(spec, [&] {
                cpu_set_t set;
                sched_getaffinity(0, sizeof(set), &set);
                EXPECT_EQ(CPU_COUNT(&set), 1);
                EXPECT_TRUE(CPU_ISSET(first, &set));
              }),
              Passes());
  for (int32_t bad : {-1, 1023, 1024}) {  // 1023 is a number, but no processor of this machine
    spec.cpus = {bad};
    EXPECT_THAT(RunFree([&] {
                  StepFailure failure;
                  EXPECT_EQ(FailingStep(spec, &failure), "affinity");
                  EXPECT_EQ(failure.error, EINVAL);
                }),
                Passes());
  }
}

CELLBLOCK_BOTH_ACTORS(IdentityTest);
CELLBLOCK_ONE_ACTOR(RootIdentityTest, Actor::kRoot);

}  // namespace
}  // namespace cellblock::confine
