// What the builder accepts, and the filter's way through a memfd. What the filter answers is tested in seccomp_filter_test.cc.
#include "confine/seccomp_program.h"

#include <fcntl.h>
#include <linux/memfd.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "base/log.h"
#include "confine/confine.h"
#include "confine/seccomp_groups.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace cellblock::confine {
namespace {

using ::testing::HasSubstr;

absl::Status BuildWith(std::vector<std::string> extra, bool allow_exec = true) {
  return SeccompProgram::Build({.allow_exec = allow_exec, .extra_syscalls = std::move(extra)}).status();
}

TEST(SeccompProgramTest, RefusesExtraCallsThatAreDeniedOnPurpose) {
  for (const CallGroup& group : DeniedGroups()) {
    for (const char* call : group.calls) {
      EXPECT_THAT(BuildWith({call}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(group.reason))) << call;
    }
  }
}

TEST(SeccompProgramTest, RefusesExtraCallsThatAreAllowedForSomeArguments) {
  for (const ArgumentRule& rule : ArgumentRules({})) {
    EXPECT_THAT(BuildWith({rule.call}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("only"))) << rule.call;
  }
}

TEST(SeccompProgramTest, RefusesExtraNamesThatAreNoSystemCalls) {
  // "socketcall" is one of i386, "mmap2" of arm: libseccomp gives them numbers that are not the kernel's.
  for (const char* name : {"", "no_such_call", "READ", "socketcall", "mmap2", "59"}) {
    EXPECT_THAT(BuildWith({name}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("not a system call"))) << name;
  }
  EXPECT_THAT(BuildWith({std::string("read\0x", 6)}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("not a system call")));
}

TEST(SeccompProgramTest, TakesExtraCallsUpToTheMaximumAndThoseItAllowsAnyway) {
  EXPECT_THAT(BuildWith({"semget", "semop", "timer_create"}), IsOk());
  EXPECT_THAT(BuildWith({"read", "semget", "semget"}), IsOk());
  EXPECT_THAT(BuildWith(std::vector<std::string>(kExtraSyscallsMax, "semget")), IsOk());
  EXPECT_THAT(BuildWith(std::vector<std::string>(kExtraSyscallsMax + 1, "semget")), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("at most 64")));
}

TEST(SeccompProgramTest, RefusesExtraExecWhereThePolicyForbidsIt) {
  EXPECT_THAT(BuildWith({"execve"}, /*allow_exec=*/true), IsOk());
  EXPECT_THAT(BuildWith({"execve"}, /*allow_exec=*/false), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("contradicts")));
}

TEST(SeccompProgramTest, ComesBackFromItsMemFdAsItWas) {
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(SeccompProgram program, SeccompProgram::Build({}));
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(UniqueFd fd, program.ToMemFd());
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::vector<sock_filter> back, ReadSeccompProgram(fd.get()));
  ASSERT_EQ(back.size(), program.instructions().size());
  EXPECT_EQ(std::memcmp(back.data(), program.instructions().data(), back.size() * sizeof(sock_filter)), 0);
  EXPECT_EQ(write(fd.get(), "x", 1), -1) << "a sealed memfd takes no writes";
  EXPECT_EQ(ftruncate(fd.get(), 8), -1);
}

UniqueFd MemFdOf(size_t bytes, bool seal) {
  UniqueFd fd(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  CELLBLOCK_CHECK(ftruncate(fd.get(), static_cast<off_t>(bytes)) == 0);
  if (seal) CELLBLOCK_CHECK(fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == 0);
  return fd;
}

TEST(ReadSeccompProgramTest, RefusesWhatIsNoSealedProgram) {
  constexpr size_t kOne = sizeof(sock_filter);
  EXPECT_THAT(ReadSeccompProgram(MemFdOf(kOne, true).get()), IsOk());
  EXPECT_THAT(ReadSeccompProgram(MemFdOf(kOne * BPF_MAXINSNS, true).get()), IsOk());
  EXPECT_THAT(ReadSeccompProgram(MemFdOf(kOne * BPF_MAXINSNS + kOne, true).get()), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("1 to 4096")));
  EXPECT_THAT(ReadSeccompProgram(MemFdOf(0, true).get()), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("0 bytes")));
  EXPECT_THAT(ReadSeccompProgram(MemFdOf(kOne + 1, true).get()), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("9 bytes")));
  EXPECT_THAT(ReadSeccompProgram(MemFdOf(kOne, false).get()), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("not sealed")));
  UniqueFd file(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  EXPECT_THAT(ReadSeccompProgram(file.get()), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("not a memfd")));
  EXPECT_THAT(ReadSeccompProgram(-1), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("not a memfd")));
}

TEST(SeccompGroupsTest, NoCallStandsInTwoGroups) {
  std::vector<std::string> all;
  auto add = [&all](const CallGroup& group) { all.insert(all.end(), group.calls.begin(), group.calls.end()); };
  for (const CallGroup& group : AllowedGroups()) add(group);
  for (const CallGroup& group : DeniedGroups()) add(group);
  add(ExecGroup());
  std::vector<std::string> by_argument;
  for (const ArgumentRule& rule : ArgumentRules({.allow_inet = true})) by_argument.push_back(rule.call);
  by_argument.erase(std::unique(by_argument.begin(), by_argument.end()), by_argument.end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
  for (const std::string& call : by_argument) EXPECT_FALSE(std::binary_search(all.begin(), all.end(), call)) << call;
}

// arm64's kernel lacks the calls that newer ones replace; the C library then uses those, which must be on the list.
TEST(SeccompGroupsTest, HoldsWhatArm64HasInstead) {
  for (const char* call : {"openat", "newfstatat", "faccessat", "readlinkat", "mkdirat", "unlinkat", "renameat2", "linkat", "symlinkat",
                           "fchmodat", "dup3", "pipe2", "ppoll", "pselect6", "epoll_create1", "epoll_pwait", "eventfd2", "utimensat"}) {
    EXPECT_GE(seccomp_syscall_resolve_name_arch(SCMP_ARCH_AARCH64, call), 0) << call;
    bool found = false;
    for (const CallGroup& group : AllowedGroups()) {
      for (const char* allowed : group.calls) found |= std::strcmp(allowed, call) == 0;
    }
    EXPECT_TRUE(found) << call;
  }
}

TEST(ComplementBlocksTest, CoverEveryOtherNumberExactlyOnce) {
  const std::vector<std::vector<uint32_t>> samples = {{}, {0}, {63}, {1, 2, 10}, {0, 1, 2, 3, 60}};
  for (const std::vector<uint32_t>& values : samples) {
    const std::vector<Condition> blocks = ComplementBlocks(0, values, 6);
    for (uint32_t number = 0; number < 200; ++number) {
      int hits = 0;
      for (const Condition& block : blocks) hits += (number & block.mask) == block.value;
      const bool is_value = std::find(values.begin(), values.end(), number) != values.end();
      EXPECT_EQ(hits, number < 64 && !is_value ? 1 : 0) << number << " without " << ::testing::PrintToString(values);
    }
  }
}

}  // namespace
}  // namespace cellblock::confine
