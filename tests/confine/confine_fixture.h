// The ground under every test in this folder: a scratch folder, a process to lock (RunInChild), and who locks it. Each test runs as
// root and as an ordinary user in a user namespace of its own, which is how workers run on machines without root. Tests only.
#ifndef CELLBLOCK_TESTS_CONFINE_CONFINE_FIXTURE_H_
#define CELLBLOCK_TESTS_CONFINE_CONFINE_FIXTURE_H_

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/unique_fd.h"
#include "confine/confine.h"
#include "confine/seccomp_program.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/run_in_child.h"

namespace cellblock::confine {

enum class Actor { kRoot, kUser };

constexpr uint32_t kInsideId = 1000;
constexpr uint32_t kNobody = 65534;  // the ordinary user that a test run as root becomes

#if defined(__SANITIZE_THREAD__)
constexpr bool kThreadSanitizer = true;
#else
constexpr bool kThreadSanitizer = false;
#endif
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kAddressSanitizer = true;
#else
constexpr bool kAddressSanitizer = false;
#endif

inline bool WriteFile(const char* path, const std::string& text) {
  UniqueFd fd(open(path, O_WRONLY | O_CLOEXEC));
  return fd.valid() && write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// Becomes root of fresh mount and UTS namespaces: as root just so, as a user inside a user namespace where the user is 1000 with all
// capabilities. That is the state in which a worker starts to lock itself. False: the kernel or a setting forbids it.
inline bool Become(Actor actor) {
  int namespaces = CLONE_NEWNS | CLONE_NEWUTS;
  if (actor == Actor::kUser) {
    if (geteuid() == 0 && (setgroups(0, nullptr) != 0 || setresgid(kNobody, kNobody, kNobody) != 0 || setresuid(kNobody, kNobody, kNobody) != 0)) return false;
    prctl(PR_SET_DUMPABLE, 1);  // the change of ids has cleared it, and with it our right to write the maps
    namespaces |= CLONE_NEWUSER;
  }
  const uid_t uid = geteuid();
  const gid_t gid = getegid();
  if (unshare(namespaces) != 0) return false;
  if (actor == Actor::kUser &&
      !(WriteFile("/proc/self/setgroups", "deny") && WriteFile("/proc/self/uid_map", absl::StrCat(kInsideId, " ", uid, " 1")) &&
        WriteFile("/proc/self/gid_map", absl::StrCat(kInsideId, " ", gid, " 1")))) {
    return false;
  }
  return mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

// 0, or the errno of a call that answered -1.
inline int ErrnoOf(long result) { return result == -1 ? errno : 0; }

inline int OpenErrno(const std::string& path, int flags, mode_t mode = 0600) { return ErrnoOf(UniqueFd(open(path.c_str(), flags | O_CLOEXEC, mode)).get()); }

// Filters are built in the parent: what runs after fork in a product allocates nothing.
inline const std::vector<sock_filter>& TestFilter(bool allow_inet = false) {
  auto build = [](bool inet) {
    absl::StatusOr<SeccompProgram> program = SeccompProgram::Build({.allow_inet = inet});
    CELLBLOCK_CHECK(program.ok());
    return new std::vector<sock_filter>(program->instructions());
  };
  static const auto* offline = build(false);
  static const auto* inet = build(true);
  return allow_inet ? *inet : *offline;
}

class ConfineFixture : public ::testing::Test {
 protected:
  explicit ConfineFixture(Actor actor) : actor_(actor) {}
  void SetUp() override {
    if (kThreadSanitizer) GTEST_SKIP() << "missing: ThreadSanitizer's own thread forbids user namespaces and a lock of the whole process";
    if (actor() == Actor::kRoot && geteuid() != 0) GTEST_SKIP() << "missing: root, whose side of this test needs it";
    if (RunInChild([this] { EXPECT_TRUE(Become(actor())); }).wait_status != 0) GTEST_SKIP() << "missing: user namespaces for ordinary users";
    std::string path = ::testing::TempDir() + "cellblock-confine-XXXXXX";
    CELLBLOCK_CHECK(mkdtemp(path.data()) != nullptr);
    scratch_ = path;
    // The locked process has another uid than we: modes let everybody in, so that what refuses is the layer under test.
    for (const char* folder : {"", "/own", "/own/sub", "/fixed", "/fixed/sub", "/outside"}) {
      std::filesystem::create_directories(scratch_ + folder);
      chmod((scratch_ + folder).c_str(), 0777);
    }
    for (const char* file : {"/own/file", "/fixed/file", "/outside/file"}) {
      std::ofstream(scratch_ + file) << "contents";
      chmod((scratch_ + file).c_str(), 0666);
    }
    TestFilter();
  }
  void TearDown() override {
    if (!scratch_.empty()) std::filesystem::remove_all(scratch_);
  }

  Actor actor() const { return actor_; }
  std::string Path(absl::string_view below) const { return absl::StrCat(scratch_, "/", below); }

  // Every layer, with /own writable, /fixed readable, /outside not named.
  Spec FullSpec() const {
    Spec spec;
    for (const char* path : {"/usr", "/bin", "/lib", "/lib64", "/etc", "/proc", "/dev"}) {
      if (std::filesystem::exists(path)) spec.read_only_paths.push_back(path);
    }
    spec.read_only_paths.push_back(Path("fixed"));
    spec.writable_paths = {Path("own"), "/dev/null"};
    spec.landlock = LandlockAbi() > 0 ? Requirement::kRequired : Requirement::kPreferred;
    return spec;
  }
  // No layer but rlimits of zero size and the ids; and the ids stay those that Become gave, so that no capability goes with them.
  Spec BareSpec() const {
    Spec spec;
    spec.uid = spec.gid = actor() == Actor::kRoot ? 0 : kInsideId;
    spec.landlock = spec.seccomp = spec.capabilities = spec.no_new_privileges = Requirement::kOff;
    return spec;
  }
  Spec SeccompOnly() const {
    Spec spec = BareSpec();
    spec.seccomp = spec.no_new_privileges = Requirement::kRequired;
    return spec;
  }
  Spec LandlockOnly() const {
    Spec spec = BareSpec();
    Spec full = FullSpec();
    spec.read_only_paths = full.read_only_paths;
    spec.writable_paths = full.writable_paths;
    spec.landlock = spec.no_new_privileges = Requirement::kRequired;
    return spec;
  }

  // Runs `body` as the actor, not locked. The twin of every denial.
  ChildEnd RunFree(absl::FunctionRef<void()> body) const {
    return RunInChild([&] {
      ASSERT_TRUE(Become(actor()));
      body();
    });
  }
  // Runs `body` locked.
  ChildEnd RunLocked(const Spec& spec, absl::FunctionRef<void()> body) const {
    return RunFree([&] {
      const int failures = FailureCount();
      Lock(spec);
      if (FailureCount() == failures) body();
    });
  }
  // In a child: locks it, or fails the test with the step's name.
  static Report Lock(const Spec& spec, int descriptors_max = 2) {
    const Report report = EnterConfinement(spec, TestFilter(spec.allow_inet), descriptors_max);
    EXPECT_EQ(report.failure.step, -1) << ReportStatus(report, spec);
    return report;
  }
  // In a child: the name of the step that fails, and the rest of the failure in `failure`.
  static std::string FailingStep(const Spec& spec, StepFailure* failure, int descriptors_max = 2) {
    *failure = EnterConfinement(spec, TestFilter(spec.allow_inet), descriptors_max).failure;
    return StepName(failure->step);
  }

 private:
  const Actor actor_;
  std::string scratch_;
};

class ConfineTest : public ConfineFixture, public ::testing::WithParamInterface<Actor> {
 protected:
  ConfineTest() : ConfineFixture(GetParam()) {}
};

inline std::string ActorName(Actor actor) { return actor == Actor::kRoot ? "AsRoot" : "AsUser"; }
inline std::string ActorParamName(const ::testing::TestParamInfo<Actor>& info) { return ActorName(info.param); }

// Where only one of the two has what the test is about.
#define CELLBLOCK_ONE_ACTOR(suite, actor) INSTANTIATE_TEST_SUITE_P(Confine, suite, ::testing::Values(actor), ActorParamName)
#define CELLBLOCK_BOTH_ACTORS(suite) \
  INSTANTIATE_TEST_SUITE_P(Confine, suite, ::testing::Values(Actor::kRoot, Actor::kUser), ActorParamName)

}  // namespace cellblock::confine

#endif  // CELLBLOCK_TESTS_CONFINE_CONFINE_FIXTURE_H_
