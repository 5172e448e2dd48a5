// The table of steps that lock a process, and EnterConfinement, which runs it from top to bottom. Runs in the process being locked,
// after fork, single-threaded: no allocation, no locks, errno values. Trusts the Spec. The rows are tested in tests/confine/, each in
// a process of its own.
#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/unique_fd.h"
#include "confine/capabilities.h"
#include "confine/confine.h"
#include "confine/jail_proof.h"
#include "confine/landlock.h"
#include "confine/landlock_abi.h"
#include "confine/proof.h"
#include "confine/seccomp_install.h"
#include "confine/test_layer_switches.h"

namespace cellblock::confine {
namespace {

struct Context {
  const Spec& spec;
  const std::vector<sock_filter>& filter;
  int descriptors_max;
  const Outside* outside;  // nullptr: not in a jail
  // What was asked for; test builds may switch a layer off.
  Requirement landlock, seccomp, capabilities, no_new_privileges;
  UniqueFd proc_fd;     // /proc/self/fd, opened while Landlock still lets us
  Report report;
};

bool IsMissing(int error) { return error == ENOSYS || error == EOPNOTSUPP; }

int CheckArguments(Context& c) {
  constexpr uint32_t kUnchanged = UINT32_MAX;  // setresuid would keep the id that we have
  if (c.spec.uid == kUnchanged || c.spec.gid == kUnchanged || c.descriptors_max < 2) return EINVAL;
  if (c.seccomp != Requirement::kOff && (c.filter.empty() || c.filter.size() > BPF_MAXINSNS)) return EINVAL;
  return 0;
}

int CheckSingleThread(Context& c) { return ProveSingleThread(&c.report.failure.detail); }

int OpenDescriptorList(Context& c) {
  c.proc_fd = UniqueFd(open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return c.proc_fd.valid() ? 0 : errno;
}

int SetAffinity(Context& c) {
  if (c.spec.cpus.empty()) return 0;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int32_t cpu : c.spec.cpus) {
    if (cpu < 0 || cpu >= CPU_SETSIZE) return EINVAL;
    CPU_SET(cpu, &set);
  }
  return sched_setaffinity(0, sizeof(set), &set) == 0 ? 0 : errno;
}

int LowerLimit(__rlimit_resource_t resource, uint64_t value) {
  rlimit limit;
  if (getrlimit(resource, &limit) != 0) return errno;
  limit.rlim_cur = limit.rlim_max = std::min<rlim_t>(value, limit.rlim_max);
  return setrlimit(resource, &limit) == 0 ? 0 : errno;
}

struct Limit {
  __rlimit_resource_t resource;
  uint64_t value;
  bool zero_keeps;
};
std::array<Limit, 7> LimitsOf(const Spec& spec) {
  return {{
      {RLIMIT_CORE, 0, false},  // a core file would carry the session's memory into the workspace
      {RLIMIT_MEMLOCK, 0, false},
      {RLIMIT_NOFILE, spec.open_files, true},
      {RLIMIT_FSIZE, spec.file_bytes, true},
      {RLIMIT_NPROC, spec.processes, true},
      {RLIMIT_DATA, spec.data_bytes, true},
      {RLIMIT_STACK, spec.stack_bytes, true},
  }};
}

int LowerLimits(Context& c) {
  for (const Limit& limit : LimitsOf(c.spec)) {
    if (limit.value == 0 && limit.zero_keeps) continue;
    if (int error = LowerLimit(limit.resource, limit.value); error != 0) {
      c.report.failure.detail = static_cast<int32_t>(limit.resource);
      return error;
    }
  }
  return 0;
}

int ProveLimitsHold(Context& c) {
  if (IsLayerSwitchedOff("rlimits")) return 0;
  for (const Limit& limit : LimitsOf(c.spec)) {
    if (limit.value == 0 && limit.zero_keeps) continue;
    rlimit now;
    if (getrlimit(limit.resource, &now) != 0) return errno;
    if (now.rlim_max <= limit.value && now.rlim_cur <= now.rlim_max) continue;
    c.report.failure.detail = static_cast<int32_t>(limit.resource);
    return kNotProven;
  }
  return 0;
}

// An error of the capability steps counts only when the layer is required; otherwise the proof decides what the report says.
int CapabilityResult(const Context& c, int error) { return c.capabilities == Requirement::kRequired ? error : 0; }

int Securebits(Context& c) { return c.capabilities == Requirement::kOff ? 0 : CapabilityResult(c, LockSecurebits()); }

int BoundingSet(Context& c) {
  if (c.capabilities == Requirement::kOff) return 0;
  return CapabilityResult(c, DropBoundingSet(&c.report.failure.detail));
}

// Where the maker of the user namespace wrote "deny" (it must, as an ordinary user), nobody inside can change the list.
bool IsSetgroupsDenied() {
  UniqueFd fd(open("/proc/self/setgroups", O_RDONLY | O_CLOEXEC));
  char word[4] = {};
  return fd.valid() && read(fd.get(), word, sizeof(word)) == sizeof(word) && std::memcmp(word, "deny", sizeof(word)) == 0;
}

int DropGroups(Context&) {
  if (syscall(SYS_setgroups, 0, nullptr) == 0 || getgroups(0, nullptr) == 0) return 0;
  const int error = EPERM;
  return IsSetgroupsDenied() ? 0 : error;
}

int SetGid(Context& c) { return syscall(SYS_setresgid, c.spec.gid, c.spec.gid, c.spec.gid) == 0 ? 0 : errno; }
int SetUid(Context& c) { return syscall(SYS_setresuid, c.spec.uid, c.spec.uid, c.spec.uid) == 0 ? 0 : errno; }

int CapabilitySets(Context& c) { return c.capabilities == Requirement::kOff ? 0 : CapabilityResult(c, ClearCapabilitySets()); }

int NotDumpable(Context&) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 ? 0 : errno; }

int NoNewPrivileges(Context& c) {
  if (c.no_new_privileges == Requirement::kOff) return 0;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) return 0;
  return c.no_new_privileges == Requirement::kRequired ? errno : 0;
}

int Landlock(Context& c) {
  if (c.landlock == Requirement::kOff) return 0;
  const int abi = LandlockAbi();
  if (abi == 0) return c.landlock == Requirement::kRequired ? ENOSYS : 0;
  if (int error = CheckLandlockProbe(c.spec); error != 0) return error;
  if (int error = RestrictByLandlock(c.spec, abi, &c.report.failure.detail); error != 0) return error;
  c.report.landlock_abi = abi;
  return 0;
}

int ProveNamespacesHold(Context& c) { return c.outside == nullptr ? 0 : ProveNamespaces(*c.outside, &c.report.failure.detail); }

int ProveRootHolds(Context& c) {
  const bool left_open = IsLayerSwitchedOff("read_only_root") || IsLayerSwitchedOff("old_root");
  return c.outside == nullptr || left_open ? 0 : ProveRoot(*c.outside, c.spec, &c.report.failure.detail);
}

int ProveOneUserHolds(Context& c) { return c.outside == nullptr ? 0 : ProveOneUser(c.spec); }

int ProveIdsHold(Context& c) { return ProveIds(c.spec.uid, c.spec.gid); }

int ProveCapabilitiesHold(Context& c) {
  if (c.capabilities == Requirement::kOff) return 0;
  const int error = ProveNoCapabilities(&c.report.failure.detail);
  c.report.capabilities_dropped = error == 0;
  return CapabilityResult(c, error);
}

int ProveNoNewPrivilegesHold(Context& c) {
  if (c.no_new_privileges == Requirement::kOff) return 0;
  const int error = ProveNoNewPrivileges();
  c.report.no_new_privileges = error == 0;
  return c.no_new_privileges == Requirement::kRequired ? error : 0;
}

int ProveLandlockHolds(Context& c) { return c.report.landlock_abi == 0 ? 0 : ProveLandlock(c.spec); }

int ProveDescriptorsHold(Context& c) {
  const int error = ProveDescriptors(c.proc_fd.get(), c.descriptors_max, &c.report.failure.detail);
  c.proc_fd.Reset();
  return error;
}

int Seccomp(Context& c) {
  if (c.seccomp == Requirement::kOff) return 0;
  const int error = InstallSeccomp(c.filter);
  c.report.seccomp = error == 0;
  return c.seccomp == Requirement::kPreferred && IsMissing(error) ? 0 : error;
}

int ProveSeccompHolds(Context& c) { return c.report.seccomp == 0 ? 0 : ProveSeccomp(); }

struct Step {
  const char* name;
  const char* reason;
  int (*run)(Context&);  // 0 or an errno
  const char* proof;     // the row below that asks the kernel whether it holds; "itself", "none needed"
  const char* test;      // what fails without it; tools/lint/threat-model looks for it
};

constexpr Step kSteps[] = {
    {"arguments", "an id of -1 or an empty filter would lock nothing", CheckArguments, "itself", "FailureTest.FailsWithoutAFilterThatIsAskedFor"},
    {"single_thread", "Landlock and seccomp bind the calling thread alone: another would stay free", CheckSingleThread, "itself",
     "FailureTest.FailsWithASecondThread"},
    {"descriptor_list", "opened now for the proof below, since Landlock may not let us later", OpenDescriptorList, "none needed",
     "FailureTest.FailsWithoutProc"},
    {"affinity", "before any library counts processors and sizes its thread pools", SetAffinity, "none needed", "IdentityTest.RunsOnTheProcessorsItWasGiven"},
    {"rlimits", "soft and hard, before the capabilities go that could raise them again", LowerLimits, "rlimits_proof", "LimitsTest.NeverLoosensWhatWasInherited"},
    {"securebits", "first of the capability steps: they keep setresuid from taking CAP_SETPCAP away too early", Securebits, "capabilities_proof",
     "IdentityTest.HasNoCapabilityInAnySet"},
    {"bounding_set", "needs CAP_SETPCAP; an execve could bring back what the bounding set still holds", BoundingSet, "capabilities_proof",
     "IdentityTest.GainsNothingByExec"},
    {"groups", "before the gid and uid go, which may change the list", DropGroups, "itself", "RootIdentityTest.HasNoSupplementaryGroupsWhereTheyCanBeDropped"},
    {"gid", "before the uid, whose change could take CAP_SETGID away", SetGid, "ids_proof", "IdentityTest.HasTheIdsItWasGiven"},
    {"uid", "real, effective, saved and (with them) file-system uid", SetUid, "ids_proof", "IdentityTest.HasTheIdsItWasGiven"},
    {"capability_sets", "last use of any capability was the row above", CapabilitySets, "capabilities_proof", "IdentityTest.HasNoCapabilityInAnySet"},
    {"not_dumpable", "after the ids, whose change resets it: no other process may read this one through /proc or ptrace", NotDumpable, "none needed",
     "IdentityTest.IsNotDumpable"},
    {"no_new_privileges", "a set-uid program gains nothing; the kernel asks for it before Landlock and seccomp", NoNewPrivileges,
     "no_new_privileges_proof", "IdentityTest.GainsNothingByExec"},
    {"landlock", "second lock on files behind the mount namespace; first on abstract sockets and signals", Landlock, "landlock_proof",
     "LandlockTest.ChangesOnlyWhatIsWritable"},
    {"namespaces_proof", "each of the jail's namespaces is another than the one outside", ProveNamespacesHold, "itself",
     "JailProofTest.FailsInANamespaceOfTheOutside"},
    {"root_proof", "the old root is gone, and nothing but the session's own folders can be written", ProveRootHolds, "itself",
     "JailProofTest.FailsOnEveryRootThatIsNoJails"},
    {"one_user_proof", "the user namespace maps one user and one group: nobody else can be become", ProveOneUserHolds, "itself",
     "JailProofTest.FailsWhereMoreThanOneUserIsMapped"},
    {"rlimits_proof", "none is looser than asked, soft or hard", ProveLimitsHold, "itself", "LimitsTest.SetsEveryLimitSoftAndHard"},
    {"ids_proof", "all four uids and gids are as asked", ProveIdsHold, "itself", "RootIdentityTest.ProvesEachOfTheIds"},
    {"capabilities_proof", "none in effective, permitted, inheritable, ambient and bounding set; securebits locked", ProveCapabilitiesHold, "itself",
     "IdentityTest.HasNoCapabilityInAnySet"},
    {"no_new_privileges_proof", "asked again from the kernel", ProveNoNewPrivilegesHold, "itself", "IdentityTest.GainsNothingByExec"},
    {"landlock_proof", "something that worked before the restriction is refused", ProveLandlockHolds, "itself", "LandlockTest.ChangesOnlyWhatIsWritable"},
    {"descriptors_proof", "an inherited descriptor is a road out that no path rule closes (runc CVE-2024-21626)", ProveDescriptorsHold, "itself",
     "FailureTest.FailsOnAStrayDescriptor"},
    {"seccomp", "last, so that the filter need not allow what the rows above do", Seccomp, "seccomp_proof",
     "SeccompFilterTest.HasTheEffectThatTheReviewedListStates"},
    {"seccomp_proof", "a forbidden call that would work without the filter fails with the errno the tables name", ProveSeccompHolds, "itself",
     "FailureTest.FailsWithoutAFilterThatIsAskedFor"},
};
constexpr int kStepCount = sizeof(kSteps) / sizeof(kSteps[0]);

}  // namespace

int StepCount() { return kStepCount; }
const char* StepName(int step) { return step >= 0 && step < kStepCount ? kSteps[step].name : "none"; }
const char* StepReason(int step) { return step >= 0 && step < kStepCount ? kSteps[step].reason : ""; }

Report EnterConfinement(const Spec& spec, const std::vector<sock_filter>& filter, int descriptors_max, const Outside* outside) {
  Context c{.spec = spec,
            .filter = filter,
            .descriptors_max = descriptors_max,
            .outside = outside,
            .landlock = Switched("landlock", spec.landlock),
            .seccomp = Switched("seccomp", spec.seccomp),
            .capabilities = Switched("capabilities", spec.capabilities),
            .no_new_privileges = Switched("no_new_privileges", spec.no_new_privileges)};
  for (int step = 0; step < kStepCount; ++step) {
    if (IsLayerSwitchedOff(kSteps[step].name)) continue;
    c.report.failure.detail = -1;
    const int error = kSteps[step].run(c);
    if (error == 0) continue;
    c.report.failure.step = step;
    c.report.failure.error = error;
    return c.report;
  }
  c.report.failure = StepFailure{};
  return c.report;
}

int LowerLimitsLater(const Spec& spec) {
  if (IsLayerSwitchedOff("rlimits")) return 0;
  Context c{.spec = spec, .filter = {}};
  const int error = LowerLimits(c);
  return error != 0 ? error : ProveLimitsHold(c);
}

int LandlockAbi() {
  const long abi = syscall(landlock_abi::kCreateRulesetCall, nullptr, 0UL, landlock_abi::kCreateRulesetVersion);
  return abi < 0 ? 0 : static_cast<int>(std::min<long>(abi, landlock_abi::kAbiKnownMax));
}

}  // namespace cellblock::confine
