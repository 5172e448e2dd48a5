// When a lock must not be taken for whole: stray descriptors, a second thread, layers that the kernel lacks, filters that filter
// nothing. A missing layer is simulated by a small filter before the lock, which answers ENOSYS as an older kernel would.
#include <linux/filter.h>
#include <linux/seccomp.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "confine/landlock_abi.h"
#include "confine/proof.h"
#include "tests/confine/confine_fixture.h"

namespace cellblock::confine {
namespace {

class FailureTest : public ConfineTest {
 protected:
  // In a child: from now on this call answers ENOSYS.
  static void TakeAway(long call) {
    sock_filter program[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                             BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call), 0, 1),
                             BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const sock_fprog filter{.len = 4, .filter = program};
    ASSERT_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
  }
};

TEST_P(FailureTest, ReportsEveryLayerThatIsOn) {
  const int abi = LandlockAbi();  // a locked process can no longer ask
  EXPECT_THAT(RunFree([this, abi] {
                const Report report = Lock(FullSpec());
                EXPECT_EQ(report.landlock_abi, abi);
                EXPECT_EQ(report.seccomp, 1);
                EXPECT_EQ(report.capabilities_dropped, 1);
                EXPECT_EQ(report.no_new_privileges, 1);
              }),
              Passes());
  EXPECT_THAT(RunFree([this] {
                const Report report = Lock(BareSpec());
                EXPECT_EQ(report.landlock_abi, 0);
                EXPECT_EQ(report.seccomp, 0);
                EXPECT_EQ(report.capabilities_dropped, 0);
                EXPECT_EQ(report.no_new_privileges, 0);
              }),
              Passes());
}

TEST_P(FailureTest, FailsOnAStrayDescriptor) {
  const Spec spec = FullSpec();
  EXPECT_THAT(RunFree([&] {
                ASSERT_EQ(dup2(0, 9), 9);
                StepFailure failure;
                EXPECT_EQ(FailingStep(spec, &failure, 8), "descriptors_proof");
                EXPECT_EQ(failure.error, kNotProven);
                EXPECT_EQ(failure.detail, 9);
              }),
              Passes());
  EXPECT_THAT(RunFree([&] {
                ASSERT_EQ(dup2(0, 9), 9);
                Lock(spec, 9);
              }),
              Passes());
}

TEST_P(FailureTest, FindsAStrayDescriptorBehindManyOthers) {
  constexpr int kMany = 500;
  const Spec spec = FullSpec();
  auto open_many = [] {
    for (int fd = 3; fd <= kMany; ++fd) ASSERT_EQ(dup2(0, fd), fd);
  };
  EXPECT_THAT(RunFree([&] {
                open_many();
                Lock(spec, kMany);
              }),
              Passes());
  EXPECT_THAT(RunFree([&] {
                open_many();
                StepFailure failure;
                EXPECT_EQ(FailingStep(spec, &failure, kMany - 1), "descriptors_proof");
                EXPECT_EQ(failure.detail, kMany);
              }),
              Passes());
}

TEST_P(FailureTest, FailsWithASecondThread) {
  const Spec spec = FullSpec();
  EXPECT_THAT(RunFree([&spec] {
                std::mutex mutex;
                std::condition_variable done;
                bool stop = false;
                std::thread second([&] {
                  std::unique_lock lock(mutex);
                  done.wait(lock, [&] { return stop; });
                });
                StepFailure failure;
                EXPECT_EQ(FailingStep(spec, &failure), "single_thread");
                EXPECT_EQ(failure.detail, 2);
                {
                  std::lock_guard lock(mutex);
                  stop = true;
                }
                done.notify_all();
                second.join();
              }),
              Passes());
}

TEST_P(FailureTest, FailsWithoutAFilterThatIsAskedFor) {
  const Spec spec = FullSpec();
  auto failing = [this, &spec](const std::vector<sock_filter>& filter, int error, const char* step) {
    return RunFree([&] {
      const Report report = EnterConfinement(spec, filter, 2);
      EXPECT_STREQ(StepName(report.failure.step), step);
      EXPECT_EQ(report.failure.error, error);
      EXPECT_NE(ReportStatus(report, spec).message().find(step), absl::string_view::npos);
    });
  };
  const sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  EXPECT_THAT(failing({}, EINVAL, "arguments"), Passes());
  EXPECT_THAT(failing(std::vector<sock_filter>(BPF_MAXINSNS + 1, allow), EINVAL, "arguments"), Passes());
  EXPECT_THAT(failing({allow}, kNotProven, "seccomp_proof"), Passes()) << "a filter that allows everything is found out";
  const sock_filter nonsense = BPF_STMT(0xffff, 0);
  EXPECT_THAT(failing({nonsense}, EINVAL, "seccomp"), Passes());
  Spec off = BareSpec();
  EXPECT_THAT(RunFree([&] { EXPECT_EQ(EnterConfinement(off, {}, 2).failure.step, -1) << "not looked at"; }), Passes());
}

TEST_P(FailureTest, FailsOrReportsWhereTheKernelHasNoLandlock) {
  Spec spec = FullSpec();
  spec.landlock = Requirement::kRequired;
  EXPECT_THAT(RunFree([&] {
                TakeAway(landlock_abi::kCreateRulesetCall);
                EXPECT_EQ(LandlockAbi(), 0);
                StepFailure failure;
                EXPECT_EQ(FailingStep(spec, &failure), "landlock");
                EXPECT_EQ(failure.error, ENOSYS);
              }),
              Passes());
  spec.landlock = Requirement::kPreferred;
  EXPECT_THAT(RunFree([&] {
                TakeAway(landlock_abi::kCreateRulesetCall);
                const Report report = Lock(spec);
                EXPECT_EQ(report.landlock_abi, 0);
                EXPECT_EQ(report.seccomp, 1);
                EXPECT_EQ(OpenErrno(Path("outside/file"), O_RDONLY), 0);
              }),
              Passes());
}

TEST_P(FailureTest, FailsOrReportsWhereTheKernelHasNoSeccomp) {
  Spec spec = FullSpec();
  EXPECT_THAT(RunFree([&] {
                EXPECT_TRUE(HasSeccompFilter());
                TakeAway(SYS_seccomp);
                EXPECT_FALSE(HasSeccompFilter());
                StepFailure failure;
                EXPECT_EQ(FailingStep(spec, &failure), "seccomp");
                EXPECT_EQ(failure.error, ENOSYS);
              }),
              Passes());
  spec.seccomp = Requirement::kPreferred;
  EXPECT_THAT(RunFree([&] {
                TakeAway(SYS_seccomp);
                const Report report = Lock(spec);
                EXPECT_EQ(report.seccomp, 0);
                EXPECT_EQ(report.capabilities_dropped, 1);
              }),
              Passes());
}

TEST_P(FailureTest, FailsWithoutProc) {
  const Spec spec = FullSpec();
  EXPECT_THAT(RunFree([&] {
                ASSERT_EQ(mount("none", "/proc", "tmpfs", 0, nullptr), 0);
                StepFailure failure;
                EXPECT_EQ(FailingStep(spec, &failure), "single_thread");
                EXPECT_EQ(failure.error, ENOENT);
              }),
              Passes());
}

CELLBLOCK_BOTH_ACTORS(FailureTest);

}  // namespace
}  // namespace cellblock::confine
