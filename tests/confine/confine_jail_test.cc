// The proofs that a process is in its jail, each against a jail that lacks just that. The jail here is a small one made by hand: its
// real maker is host/jail, which no test of this folder needs.
#include "confine/jail_proof.h"
#include "confine/proof.h"
#include "tests/confine/confine_fixture.h"

namespace cellblock::confine {
namespace {

class JailProofTest : public ConfineTest {
 protected:
  enum class Fault { kNone, kOldRootAbove, kOldRootInside, kOldRootNamed, kWritableRoot, kWritableFolder, kSetUserIds, kHearsOfMounts, kNoOwnFolder };

  // In a child: what ProveRoot answers in a root that has this fault.
  int Prove(Fault fault, int32_t* line) {
    Outside outside;
    EXPECT_EQ(LookOutside(&outside, /*with_root=*/true), 0);
    MakeRoot(fault);
    Spec spec;
    if (fault == Fault::kOldRootNamed) spec.read_only_paths.push_back("/old");
    return ProveRoot(outside, spec, line);
  }

  void MakeRoot(Fault fault) {
    constexpr unsigned long kPlain = MS_NOSUID | MS_NODEV;
    const std::string root = Path("own");
    ASSERT_EQ(mount("tmpfs", root.c_str(), "tmpfs", kPlain, nullptr), 0);
    for (const char* folder : {"/proc", "/workspace", "/tmp", "/dev", "/dev/shm", "/old", "/more"}) ASSERT_EQ(mkdir((root + folder).c_str(), 0755), 0);
    // One's own would take a pid namespace; and what is mounted on the host's below it stays outside.
    ASSERT_EQ(mount("/proc", (root + "/proc").c_str(), nullptr, MS_BIND | MS_REC, nullptr), 0);
    ASSERT_EQ(mount(nullptr, (root + "/proc").c_str(), nullptr, MS_BIND | MS_REMOUNT | kPlain | MS_NOEXEC, nullptr), 0);
    for (const char* folder : {"/workspace", "/tmp", "/dev/shm"}) {
      if (fault == Fault::kNoOwnFolder && std::string(folder) == "/tmp") continue;
      ASSERT_EQ(mount("tmpfs", (root + folder).c_str(), "tmpfs", fault == Fault::kSetUserIds ? 0UL : kPlain, nullptr), 0);
    }
    if (fault == Fault::kOldRootInside || fault == Fault::kOldRootNamed) {
      ASSERT_EQ(mount("/", (root + "/old").c_str(), nullptr, MS_BIND | MS_REC, nullptr), 0);
      constexpr uint64_t kReadOnlyNoSuid[4] = {1 | 2, 0, 0, 0};  // mount_attr, whose header clashes with <sys/mount.h>
      ASSERT_EQ(syscall(SYS_mount_setattr, AT_FDCWD, (root + "/old").c_str(), AT_RECURSIVE, kReadOnlyNoSuid, sizeof(kReadOnlyNoSuid)), 0);
    }
    if (fault == Fault::kWritableFolder) {
      ASSERT_EQ(mount("tmpfs", (root + "/more").c_str(), "tmpfs", kPlain, nullptr), 0);
    }
    if (fault == Fault::kHearsOfMounts) {
      ASSERT_EQ(mount(nullptr, (root + "/tmp").c_str(), nullptr, MS_SHARED, nullptr), 0);
    }
    ASSERT_EQ(chdir(root.c_str()), 0);
    ASSERT_EQ(syscall(SYS_pivot_root, ".", "."), 0);
    if (fault != Fault::kOldRootAbove) {
      ASSERT_EQ(umount2(".", MNT_DETACH), 0);
    }
    ASSERT_EQ(chdir("/"), 0);
    if (fault != Fault::kWritableRoot) {
      ASSERT_EQ(mount(nullptr, "/", nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY | kPlain, nullptr), 0);
    }
  }
};

TEST_P(JailProofTest, IsContentInAPreparedRoot) {
  for (Fault fault : {Fault::kNone, Fault::kOldRootNamed}) {
    EXPECT_THAT(RunFree([&] {
                  int32_t line;
                  EXPECT_EQ(Prove(fault, &line), 0) << "line " << line;
                }),
                Passes());
  }
}

TEST_P(JailProofTest, FailsOnEveryRootThatIsNoJails) {
  for (Fault fault : {Fault::kOldRootAbove, Fault::kOldRootInside, Fault::kWritableRoot, Fault::kWritableFolder, Fault::kSetUserIds, Fault::kHearsOfMounts,
                      Fault::kNoOwnFolder}) {
    EXPECT_THAT(RunFree([&] {
                  int32_t line;
                  EXPECT_EQ(Prove(fault, &line), kNotProven);
                }),
                Passes())
        << static_cast<int>(fault);
  }
  EXPECT_THAT(RunFree([] {
                int32_t line;
                EXPECT_EQ(ProveRoot(Outside{}, Spec{}, &line), kNotProven) << "the machine's own root";
              }),
              Passes());
}

TEST_P(JailProofTest, FailsInANamespaceOfTheOutside) {
  EXPECT_THAT(RunFree([] {
                Outside here;
                ASSERT_EQ(LookOutside(&here, /*with_root=*/false), 0);
                EXPECT_STREQ(here.root_device, "");
                int32_t which = -1;
                EXPECT_EQ(ProveNamespaces(Outside{}, &which), 0) << "no namespace has the number 0";
                for (int32_t i = 0; i < Outside::kNamespaces; ++i) {
                  Outside outside;
                  outside.namespaces[static_cast<size_t>(i)] = here.namespaces[static_cast<size_t>(i)];
                  EXPECT_EQ(ProveNamespaces(outside, &which), kNotProven);
                  EXPECT_EQ(which, i) << NamespaceName(i);
                }
                ASSERT_EQ(unshare(CLONE_NEWUTS), 0);
                EXPECT_EQ(ProveNamespaces(here, &which), kNotProven);
                EXPECT_STREQ(NamespaceName(which), "user_namespace");
                here.namespaces.fill(here.namespaces[5]);
                EXPECT_EQ(ProveNamespaces(here, &which), 0) << "another one since";
              }),
              Passes());
}

TEST_P(JailProofTest, FailsWhereMoreThanOneUserIsMapped) {
  EXPECT_THAT(RunFree([this] {
                Spec spec;
                EXPECT_EQ(ProveOneUser(spec), actor() == Actor::kUser ? 0 : kNotProven) << "the machine's own namespace has all of them";
                spec.gid = 7;
                EXPECT_EQ(ProveOneUser(spec), kNotProven);
                spec = Spec{.uid = 7};
                EXPECT_EQ(ProveOneUser(spec), kNotProven);
              }),
              Passes());
}

TEST_P(JailProofTest, ALockOutsideOfAJailFailsWhereOneIsAskedFor) {
  const Spec spec = FullSpec();
  EXPECT_THAT(RunFree([&] {
                Outside outside;
                ASSERT_EQ(LookOutside(&outside, /*with_root=*/true), 0);
                const Report report = EnterConfinement(spec, TestFilter(), 2, &outside);
                EXPECT_STREQ(StepName(report.failure.step), "namespaces_proof");
                EXPECT_THAT(std::string(ReportStatus(report, spec).message()), testing::HasSubstr("user_namespace"));
              }),
              Passes());
}

CELLBLOCK_BOTH_ACTORS(JailProofTest);

}  // namespace
}  // namespace cellblock::confine
