// Each rlimit at its edge: the last thing that works, and the first that does not.
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>

#include "tests/confine/confine_fixture.h"

namespace cellblock::confine {
namespace {

class LimitsTest : public ConfineTest {};

TEST_P(LimitsTest, OpensFilesUpToTheLimit) {
  constexpr int kFiles = 16;
  Spec spec = FullSpec();
  auto highest = [] {
    int last = -1;
    for (int i = 0; i < 200; ++i) {
      const int fd = dup(0);
      if (fd < 0) {
        EXPECT_EQ(errno, EMFILE);
        break;
      }
      last = fd;
    }
    return last;
  };
  EXPECT_THAT(RunLocked(spec, [&] { EXPECT_EQ(highest(), 202); }), Passes());
  spec.open_files = kFiles;
  EXPECT_THAT(RunLocked(spec, [&] { EXPECT_EQ(highest(), kFiles - 1); }), Passes());
}

TEST_P(LimitsTest, WritesFilesUpToTheLimit) {
  Spec spec = FullSpec();
  auto write_bytes = [this](size_t bytes) {
    signal(SIGXFSZ, SIG_IGN);
    UniqueFd fd(open(Path("own/big").c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    const std::string block(bytes, 'x');
    const ssize_t written = write(fd.get(), block.data(), bytes);
    const ssize_t more = write(fd.get(), "x", 1);
    return std::make_pair(written, more == 1 ? 0 : errno);
  };
  EXPECT_THAT(RunLocked(spec, [&] { EXPECT_EQ(write_bytes(4097), std::make_pair(ssize_t{4097}, 0)); }), Passes());
  spec.file_bytes = 4096;
  EXPECT_THAT(RunLocked(spec,
                        [&] {
                          EXPECT_EQ(write_bytes(4095), std::make_pair(ssize_t{4095}, 0));
                          EXPECT_EQ(write_bytes(4097), std::make_pair(ssize_t{4096}, EFBIG));
                          EXPECT_EQ(ErrnoOf(truncate(Path("own/big").c_str(), 4096)), 0);
                          EXPECT_EQ(ErrnoOf(truncate(Path("own/big").c_str(), 4097)), EFBIG);
                        }),
              Passes());
}

// How many processes live at once, this one included, when up to 20 are tried.
int CountProcesses() {
  int count = 1;
  for (int i = 0; i < 19; ++i) {
    const pid_t pid = fork();
    if (pid == 0) {
      pause();
      _exit(0);
    }
    if (pid < 0) {
      EXPECT_EQ(errno, EAGAIN);
      break;
    }
    ++count;
  }
  return count;
}

// Real root's processes don't count; those of a user namespace do, each namespace by itself.
class UserLimitsTest : public ConfineTest {};

TEST_P(UserLimitsTest, StartsProcessesUpToTheLimit) {
  Spec spec = FullSpec();
  EXPECT_THAT(RunLocked(spec, [] { EXPECT_EQ(CountProcesses(), 20); }), Passes());
  spec.processes = 5;
  EXPECT_THAT(RunLocked(spec, [] { EXPECT_EQ(CountProcesses(), 5); }), Passes());
}

TEST_P(LimitsTest, TakesMemoryUpToTheLimit) {
  if (kAddressSanitizer) GTEST_SKIP() << "missing: a data segment of ordinary size (AddressSanitizer's shadow counts)";
  constexpr size_t kBig = size_t{256} << 20;
  auto map = [] { return mmap(nullptr, kBig, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? errno : 0; };
  Spec spec = FullSpec();
  EXPECT_THAT(RunLocked(spec, [&] { EXPECT_EQ(map(), 0); }), Passes());
  spec.data_bytes = size_t{64} << 20;
  EXPECT_THAT(RunLocked(spec,
                        [&] {
                          EXPECT_EQ(map(), ENOMEM);
                          rlimit raised{.rlim_cur = size_t{65} << 20, .rlim_max = size_t{65} << 20};
                          EXPECT_EQ(ErrnoOf(setrlimit(RLIMIT_DATA, &raised)), EPERM) << "the hard limit went down as well";
                          rlimit lowered{.rlim_cur = size_t{32} << 20, .rlim_max = size_t{32} << 20};
                          EXPECT_EQ(ErrnoOf(setrlimit(RLIMIT_DATA, &lowered)), 0);
                        }),
              Passes());
}

TEST_P(LimitsTest, SetsEveryLimitSoftAndHard) {
  Spec spec = FullSpec();
  spec.open_files = 64;
  spec.file_bytes = 1 << 20;
  spec.processes = 100;
  spec.data_bytes = uint64_t{1} << 40;
  spec.stack_bytes = 1 << 20;
  EXPECT_THAT(RunLocked(spec,
                        [] {
                          const std::pair<__rlimit_resource_t, rlim_t> expected[] = {
                              {RLIMIT_CORE, 0},          {RLIMIT_MEMLOCK, 0},  {RLIMIT_NOFILE, 64},
                              {RLIMIT_FSIZE, 1 << 20},   {RLIMIT_NPROC, 100},  {RLIMIT_DATA, rlim_t{1} << 40},
                              {RLIMIT_STACK, 1 << 20}};
                          for (const auto& [resource, value] : expected) {
                            rlimit limit;
                            ASSERT_EQ(getrlimit(resource, &limit), 0);
                            EXPECT_EQ(limit.rlim_cur, value) << resource;
                            EXPECT_EQ(limit.rlim_max, value) << resource;
                          }
                        }),
              Passes());
}

TEST_P(LimitsTest, NeverLoosensWhatWasInherited) {
  Spec spec = FullSpec();
  spec.open_files = 1000;
  EXPECT_THAT(RunFree([&spec] {
                const rlimit narrow{.rlim_cur = 50, .rlim_max = 60};
                ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &narrow), 0);
                Lock(spec);
                rlimit now;
                getrlimit(RLIMIT_NOFILE, &now);
                EXPECT_EQ(now.rlim_cur, 60U);
                EXPECT_EQ(now.rlim_max, 60U);
              }),
              Passes());
}

TEST_P(LimitsTest, LocksNoMemoryAndLeavesNoCore) {
  static char page[4096];  // by number: AddressSanitizer makes the library call do nothing
  EXPECT_THAT(RunFree([] { EXPECT_EQ(ErrnoOf(syscall(SYS_mlock, page, sizeof(page))), 0); }), Passes());
  EXPECT_THAT(RunLocked(FullSpec(), [] { EXPECT_EQ(ErrnoOf(syscall(SYS_mlock, page, sizeof(page))), EPERM); }), Passes());
  const ChildEnd end = RunLocked(FullSpec(), [] { raise(SIGQUIT); });
  EXPECT_THAT(end, DiesOf(SIGQUIT));
  EXPECT_FALSE(WCOREDUMP(end.wait_status));
}

CELLBLOCK_BOTH_ACTORS(LimitsTest);
CELLBLOCK_ONE_ACTOR(UserLimitsTest, Actor::kUser);

}  // namespace
}  // namespace cellblock::confine
