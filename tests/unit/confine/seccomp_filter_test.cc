// What the built filter answers, for every system call number and architecture, found by running the filter in user space. The
// whole effect stands in tests/confine/allowed_syscalls.txt, which people review: the test fails when the two differ.
#include <asm/unistd.h>
#include <linux/memfd.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "confine/seccomp_groups.h"
#include "confine/seccomp_program.h"
#include "tests/support/seccomp_evaluate.h"
#include "tests/support/status_matchers.h"

namespace cellblock::confine {
namespace {

constexpr int kNumbers = 600;  // the highest call of Linux 6.18 is below 500
constexpr uint64_t kHigh = uint64_t{1} << 32;
using Arguments = std::array<uint64_t, 6>;
constexpr Arguments kAllOnes = {~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}};
constexpr Arguments kHighOnes = {kHigh, kHigh, kHigh, kHigh, kHigh, kHigh};

class Filter {
 public:
  explicit Filter(const SeccompOptions& options = {}) {
    absl::StatusOr<SeccompProgram> built = SeccompProgram::Build(options);
    CELLBLOCK_CHECK(built.ok());
    program_ = built->instructions();
  }
  std::string Ask(int number, Arguments args = {}, uint32_t arch = kNativeAuditArch) const {
    seccomp_data data = {.nr = number, .arch = arch, .instruction_pointer = 0x1000, .args = {}};
    std::copy(args.begin(), args.end(), data.args);
    absl::StatusOr<uint32_t> action = SeccompEvaluator(program_).Run(data);
    return action.ok() ? SeccompActionName(*action) : std::string(action.status().message());
  }
  const std::vector<sock_filter>& program() const { return program_; }

 private:
  std::vector<sock_filter> program_;
};

const Filter& Default() {
  static const Filter* filter = new Filter;
  return *filter;
}
const Filter& WithInet() {
  static const Filter* filter = new Filter({.allow_inet = true});
  return *filter;
}
const Filter& WithoutUncounted() {
  static const Filter* filter = new Filter({.allow_uncounted_memory = false});
  return *filter;
}
const Filter& WithoutExec() {
  static const Filter* filter = new Filter({.allow_exec = false});
  return *filter;
}

// Values worth asking about in any argument: small ones, single bits and their complements, and all that a rule mentions, with its
// neighbours.
const std::vector<uint64_t>& Values() {
  static const auto* values = [] {
    std::set<uint64_t> all;
    for (uint64_t v = 0; v < 128; ++v) all.insert(v);
    for (unsigned bit = 0; bit < 32; ++bit) all.insert({uint64_t{1} << bit, 0xffffffff & ~(uint64_t{1} << bit)});
    for (uint64_t v = 0x5400; v < 0x5480; ++v) all.insert(v);
    for (const ArgumentRule& rule : ArgumentRules({.allow_inet = true})) {
      for (const Condition& c : rule.conditions) all.insert({c.value, c.value ^ 1, uint64_t{c.value} | ~c.mask, 0xffffffff & ~uint64_t{c.value}});
    }
    all.insert(0xffffffff);
    return new std::vector<uint64_t>(all.begin(), all.end());
  }();
  return *values;
}

// ---- Other doors into the kernel

TEST(SeccompFilterTest, KillsCallsOfOtherArchitectures) {
  for (uint32_t arch : {uint32_t{AUDIT_ARCH_I386}, uint32_t{AUDIT_ARCH_ARM}, uint32_t{AUDIT_ARCH_S390X}, uint32_t{0}, kNativeAuditArch ^ 1}) {
    for (int number = 0; number <= kNumbers; ++number) {
      for (const Arguments& arguments : {Arguments{}, kAllOnes, kHighOnes}) EXPECT_EQ(Default().Ask(number, arguments, arch), "kill") << number << " on " << arch;
    }
  }
}

TEST(SeccompFilterTest, KillsX32Calls) {
#ifdef __X32_SYSCALL_BIT
  for (int number = 0; number <= kNumbers; ++number) {
    for (const Arguments& arguments : {Arguments{}, kAllOnes, kHighOnes}) EXPECT_EQ(Default().Ask(number | __X32_SYSCALL_BIT, arguments), "kill") << number;
  }
#else
  GTEST_SKIP() << "missing: x32 exists on x86-64 only";
#endif
}

TEST(SeccompFilterTest, AnswersEnosysToNumbersThatNoKernelHas) {
  for (int number : {470, 599, 600, 0x3fffffff, -1}) EXPECT_EQ(Default().Ask(number), "ENOSYS") << number;
  for (const Filter* filter : {&Default(), &WithInet(), &WithoutExec(), &WithoutUncounted()}) {
    for (int number = kNumbers; number < 1 << 16; ++number) ASSERT_EQ(filter->Ask(number), "ENOSYS") << number;
    // Every allowed number with one more bit in it is another number.
    for (unsigned bit = 10; bit < 32; ++bit) {
      for (int number = 0; number <= kNumbers; ++number) ASSERT_NE(filter->Ask(static_cast<int>(static_cast<uint32_t>(number) | 1U << bit)), "allow") << number << " bit " << bit;
    }
  }
}

// ---- Arguments

TEST(SeccompFilterTest, IgnoresTheHighHalfOfEveryArgument) {
  for (const Filter* filter : {&Default(), &WithInet(), &WithoutExec()}) {
    for (int number = 0; number <= kNumbers; ++number) {
      for (unsigned argument = 0; argument < 6; ++argument) {
        for (uint64_t value : Values()) {
          Arguments plain{}, high{};
          plain[argument] = value;
          high[argument] = value | kHigh;
          ASSERT_EQ(filter->Ask(number, high), filter->Ask(number, plain)) << number << " argument " << argument << " " << value;
        }
      }
    }
  }
}

TEST(SeccompFilterTest, NeverLetsTextIntoATerminal) {
  for (uint64_t request : {uint64_t{TIOCSTI}, uint64_t{TIOCLINUX}}) {
    for (uint64_t high : {uint64_t{0}, kHigh, ~uint64_t{0} << 32}) EXPECT_EQ(Default().Ask(__NR_ioctl, {1, request | high}), "EPERM");
  }
  EXPECT_EQ(Default().Ask(__NR_ioctl, {1, TCGETS}), "allow");
  EXPECT_EQ(Default().Ask(__NR_ioctl, {1, TIOCGWINSZ}), "allow");
}

TEST(SeccompFilterTest, NeverLetsCloneMakeNamespaces) {
  EXPECT_EQ(Default().Ask(__NR_clone, {SIGCHLD}), "allow");
  constexpr uint64_t kThread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS |
                               CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
  EXPECT_EQ(Default().Ask(__NR_clone, {kThread}), "allow");
  EXPECT_EQ(Default().Ask(__NR_clone, {CLONE_VM | CLONE_VFORK | SIGCHLD}), "allow");
  for (uint64_t flag : {CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET, CLONE_PARENT}) {
    for (uint64_t with : {uint64_t{0}, uint64_t{SIGCHLD}, kThread}) {
      EXPECT_EQ(Default().Ask(__NR_clone, {flag | with}), "EPERM");
      EXPECT_EQ(Default().Ask(__NR_clone, {flag | with | kHigh}), "EPERM");
    }
  }
  EXPECT_EQ(Default().Ask(__NR_clone3), "ENOSYS");
}

TEST(SeccompFilterTest, LetsNodesBeFifosOnly) {
  for (uint64_t mode = 0; mode <= 0xffff; mode += 0x100) {
    const char* expected = (mode & S_IFMT) == S_IFIFO ? "allow" : "EPERM";
    EXPECT_EQ(Default().Ask(__NR_mknodat, {0, 0, mode}), expected) << mode;
#ifdef __NR_mknod
    EXPECT_EQ(Default().Ask(__NR_mknod, {0, mode}), expected) << mode;
#endif
  }
}

TEST(SeccompFilterTest, KnowsUnixSocketsOnlyUnlessInetIsAllowed) {
  for (uint64_t family = 0; family < 64; ++family) {
    const bool inet = family == AF_INET || family == AF_INET6;
    const std::string offline = family == AF_UNIX ? "allow" : inet ? "EACCES" : "EAFNOSUPPORT";
    EXPECT_EQ(Default().Ask(__NR_socket, {family, SOCK_STREAM, 0}), offline) << family;
    EXPECT_EQ(Default().Ask(__NR_socket, {family | kHigh, SOCK_STREAM, 0}), offline) << family;
    EXPECT_EQ(WithInet().Ask(__NR_socket, {family, SOCK_STREAM, 0}), inet ? "allow" : offline) << family;
    const std::string pair = family == AF_UNIX ? "allow" : inet ? "EOPNOTSUPP" : "EAFNOSUPPORT";
    EXPECT_EQ(Default().Ask(__NR_socketpair, {family, SOCK_STREAM, 0}), pair) << family;
    EXPECT_EQ(WithInet().Ask(__NR_socketpair, {family, SOCK_STREAM, 0}), pair) << family;
  }
}

TEST(SeccompFilterTest, AllowsTcpAndUdpOnlyOfTheInetFamilies) {
  for (uint64_t family : {AF_INET, AF_INET6}) {
    for (uint64_t type = 0; type < 16; ++type) {
      for (uint64_t flags : {uint64_t{0}, uint64_t{SOCK_CLOEXEC | SOCK_NONBLOCK}}) {
        for (uint64_t protocol = 0; protocol < 300; ++protocol) {
          const bool tcp = type == SOCK_STREAM && (protocol == 0 || protocol == IPPROTO_TCP);
          const bool udp = type == SOCK_DGRAM && (protocol == 0 || protocol == IPPROTO_UDP);
          const std::string expected = tcp || udp ? "allow" : type == SOCK_STREAM || type == SOCK_DGRAM ? "ENOSYS" : "EPERM";
          ASSERT_EQ(WithInet().Ask(__NR_socket, {family, type | flags, protocol}), expected) << type << " " << protocol;
          ASSERT_EQ(Default().Ask(__NR_socket, {family, type | flags, protocol}), "EACCES") << type << " " << protocol;
        }
      }
    }
  }
}

TEST(SeccompFilterTest, AllowsFiltersWithoutListeners) {
  constexpr uint64_t kNewListener = 8, kWaitKillable = 32;
  EXPECT_EQ(Default().Ask(__NR_seccomp, {SECCOMP_SET_MODE_FILTER, 0}), "allow");
  EXPECT_EQ(Default().Ask(__NR_seccomp, {SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC}), "allow");
  EXPECT_EQ(Default().Ask(__NR_seccomp, {SECCOMP_SET_MODE_FILTER, kNewListener}), "ENOSYS");
  EXPECT_EQ(Default().Ask(__NR_seccomp, {SECCOMP_SET_MODE_FILTER, kNewListener | kWaitKillable}), "ENOSYS");
  EXPECT_EQ(Default().Ask(__NR_seccomp, {SECCOMP_SET_MODE_STRICT, 0}), "ENOSYS");
}

TEST(SeccompFilterTest, KeepsHugePagesOfTheHostAway) {
  EXPECT_EQ(Default().Ask(__NR_mmap, {0, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS}), "allow");
  EXPECT_EQ(Default().Ask(__NR_mmap, {0, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB}), "ENOMEM");
  EXPECT_EQ(Default().Ask(__NR_memfd_create, {0, 1}), "allow");
  EXPECT_EQ(Default().Ask(__NR_memfd_create, {0, MFD_HUGETLB}), "EINVAL");
}

TEST(SeccompFilterTest, LetsProcessesSetTheirOwnLimitsAlone) {
  EXPECT_EQ(Default().Ask(__NR_prlimit64, {0, 7}), "allow");
  for (uint64_t pid : {uint64_t{1}, uint64_t{2}, uint64_t{0x80000000}, uint64_t{0xffffffff}}) EXPECT_EQ(Default().Ask(__NR_prlimit64, {pid, 7}), "EPERM") << pid;
}

TEST(SeccompFilterTest, TurnsUncountedMemoryOffWhenAsked) {
  EXPECT_EQ(WithoutUncounted().Ask(__NR_memfd_create, {0, 1}), "ENOSYS");
  EXPECT_EQ(WithoutUncounted().Ask(__NR_memfd_create, {0, MFD_HUGETLB}), "ENOSYS");
  EXPECT_EQ(WithoutUncounted().Ask(__NR_setsockopt, {3, SOL_SOCKET, SO_SNDBUF}), "EPERM");
  EXPECT_EQ(WithoutUncounted().Ask(__NR_setsockopt, {3, SOL_SOCKET, SO_RCVBUFFORCE}), "EPERM");
  EXPECT_EQ(WithoutUncounted().Ask(__NR_setsockopt, {3, SOL_SOCKET, SO_REUSEADDR}), "allow");
  EXPECT_EQ(Default().Ask(__NR_setsockopt, {3, SOL_SOCKET, SO_SNDBUF}), "allow");
}

TEST(SeccompFilterTest, TurnsSharedMemoryWithoutAFileOffWithIt) {
  for (uint64_t flags : {MAP_PRIVATE | MAP_ANONYMOUS, MAP_SHARED, MAP_SHARED_VALIDATE, MAP_PRIVATE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED}) {
    EXPECT_EQ(WithoutUncounted().Ask(__NR_mmap, {0, 4096, 3, flags}), "allow") << flags;
  }
  for (uint64_t flags : {MAP_SHARED | MAP_ANONYMOUS, MAP_SHARED_VALIDATE | MAP_ANONYMOUS, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE}) {
    EXPECT_EQ(WithoutUncounted().Ask(__NR_mmap, {0, 4096, 3, flags}), "EPERM") << flags;
    EXPECT_EQ(WithoutUncounted().Ask(__NR_mmap, {0, 4096, 3, flags | uint64_t{1} << 32}), "EPERM") << "the kernel reads all 64 bits";
    EXPECT_EQ(WithoutUncounted().Ask(__NR_mmap, {0, 4096, 3, flags | MAP_HUGETLB}), "ENOMEM") << flags;
    EXPECT_EQ(Default().Ask(__NR_mmap, {0, 4096, 3, flags}), "allow") << flags;
  }
}

TEST(SeccompFilterTest, TurnsExecOffWhenAsked) {
  for (int number : {__NR_execve, __NR_execveat}) {
    EXPECT_EQ(Default().Ask(number), "allow");
    EXPECT_EQ(WithoutExec().Ask(number), "EPERM");
  }
}

TEST(SeccompFilterTest, AddsExtraCallsAndNothingElse) {
  const Filter more({.extra_syscalls = {"semget"}});
  for (int number = 0; number <= kNumbers; ++number) {
    EXPECT_EQ(more.Ask(number), number == __NR_semget ? "allow" : Default().Ask(number)) << number;
  }
  EXPECT_EQ(Default().Ask(__NR_semget), "ENOSYS");
}

TEST(SeccompFilterTest, GivesEveryDeniedCallTheErrnoOfItsGroup) {
  int seen = 0;
  for (const CallGroup& group : DeniedGroups()) {
    for (const char* call : group.calls) {
      const int number = seccomp_syscall_resolve_name(call);
      if (number < 0) continue;  // not on this architecture
      ++seen;
      for (uint64_t value : Values()) EXPECT_EQ(Default().Ask(number, {value, value, value, value, value, value}), strerrorname_np(group.error)) << call;
    }
  }
  EXPECT_GT(seen, 90);
}

// ---- The reviewed list

std::string Name(int number) {
  char* name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);
  std::string result = name == nullptr ? "?" : name;
  free(name);
  return result;
}

std::string AskArgument(const Filter& filter, int number, unsigned argument, uint64_t value) {
  Arguments args{};
  args[argument] = value;
  return filter.Ask(number, args);
}

// Bits that have another answer than `rest` together but not alone; 0: no two have.
uint64_t Pair(const Filter& filter, int number, unsigned argument, uint64_t without, const std::string& rest) {
  for (unsigned i = 0; i < 32; ++i) {
    for (unsigned j = 0; j < i; ++j) {
      const uint64_t pair = uint64_t{1} << i | uint64_t{1} << j;
      if ((pair & without) == 0 && AskArgument(filter, number, argument, pair) != rest) return pair;
    }
  }
  return 0;
}

// "bits 0x4 EINVAL, others allow", where each value's answer follows from its single bits, or one pair of them; "" where it does not.
std::string ByBits(const Filter& filter, int number, unsigned argument) {
  const std::string rest = AskArgument(filter, number, argument, 0);
  std::map<std::string, uint64_t> bits;
  for (unsigned bit = 0; bit < 32; ++bit) {
    const std::string answer = AskArgument(filter, number, argument, uint64_t{1} << bit);
    if (answer != rest) bits[answer] |= uint64_t{1} << bit;
  }
  if (bits.size() != 1) return "";
  const auto& [answer, mask] = *bits.begin();
  const uint64_t pair = Pair(filter, number, argument, mask, rest);
  const std::string of_pair = AskArgument(filter, number, argument, pair);
  for (uint64_t value : Values()) {
    const bool has_pair = pair != 0 && (value & pair) == pair;
    if (AskArgument(filter, number, argument, value) != ((value & mask) != 0 ? answer : has_pair ? of_pair : rest)) return "";
  }
  return absl::StrCat("bits 0x", absl::Hex(mask), " ", answer, pair == 0 ? "" : absl::StrCat(", both of 0x", absl::Hex(pair), " ", of_pair), ", others ", rest);
}

// "0x0-0x7f allow, 0x80 EPERM": the answers by the values of one argument, the others being 0; "" when they are all the same.
std::string ByArgument(const Filter& filter, int number, unsigned argument) {
  if (std::string bits = ByBits(filter, number, argument); !bits.empty()) return bits;
  std::string text;
  std::set<std::string> answers;
  uint64_t first = 0, last = 0;
  std::string current;
  auto flush = [&] {
    if (current.empty()) return;
    absl::StrAppend(&text, text.empty() ? "" : ", ", "0x", absl::Hex(first), last == first ? "" : absl::StrCat("-0x", absl::Hex(last)), " ", current);
  };
  for (uint64_t value : Values()) {
    const std::string answer = AskArgument(filter, number, argument, value);
    answers.insert(answer);
    if (answer != current) {
      flush();
      first = value;
      current = answer;
    }
    last = value;
  }
  flush();
  return answers.size() > 1 ? text : "";
}

// One line a call, or one for each argument that matters; calls that answer ENOSYS whatever the arguments have no line.
std::map<int, std::string> Effect(const Filter& filter) {
  std::map<int, std::string> lines;
  for (int number = 0; number <= kNumbers; ++number) {
    std::string text;
    for (unsigned argument = 0; argument < 6; ++argument) {
      std::string by = ByArgument(filter, number, argument);
      if (!by.empty()) absl::StrAppend(&text, number, " ", Name(number), " argument ", argument, ": ", by, "\n");
    }
    if (text.empty() && filter.Ask(number) != "ENOSYS") text = absl::StrCat(number, " ", Name(number), " ", filter.Ask(number), "\n");
    if (!text.empty()) lines[number] = text;
  }
  return lines;
}

std::string Difference(const std::map<int, std::string>& base, const std::map<int, std::string>& other) {
  std::string text;
  for (int number = 0; number <= kNumbers; ++number) {
    auto a = base.find(number), b = other.find(number);
    if (b != other.end() && (a == base.end() || a->second != b->second)) text += b->second;
    if (a != base.end() && b == other.end()) absl::StrAppend(&text, number, " ", Name(number), " ENOSYS\n");
  }
  return text;
}

TEST(SeccompFilterTest, HasTheEffectThatTheReviewedListStates) {
#ifndef __x86_64__
  GTEST_SKIP() << "missing: the list holds x86-64's numbers";
#endif
  const std::map<int, std::string> base = Effect(Default());
  std::string actual;
  int whole = 0, partly = 0;
  for (const auto& [number, line] : base) {
    actual += line;
    whole += line.find(" allow\n") != std::string::npos && line.find(" argument ") == std::string::npos;
    partly += line.find(" argument ") != std::string::npos;
  }
  absl::StrAppend(&actual, "# ", whole, " calls allowed, ", partly, " allowed for some arguments\n");
  absl::StrAppend(&actual, "# with allow_inet:\n", Difference(base, Effect(WithInet())));
  absl::StrAppend(&actual, "# without allow_exec:\n", Difference(base, Effect(WithoutExec())));
  absl::StrAppend(&actual, "# without allow_uncounted_memory:\n", Difference(base, Effect(WithoutUncounted())));

  std::ifstream file(CELLBLOCK_ALLOWED_SYSCALLS);
  std::stringstream text;
  text << file.rdbuf();
  const std::string reviewed = text.str();
  const std::string separator = "\n---\n";
  const size_t start = reviewed.find(separator);
  ASSERT_NE(start, std::string::npos) << "cannot read " << CELLBLOCK_ALLOWED_SYSCALLS;
  if (reviewed.substr(start + separator.size()) != actual) {
    const std::string proposal = ::testing::TempDir() + "allowed_syscalls.txt";
    std::ofstream(proposal) << reviewed.substr(0, start) << separator << actual;
    ADD_FAILURE() << "the filter's effect has changed; review: diff " << CELLBLOCK_ALLOWED_SYSCALLS << " " << proposal << " and copy the latter over it";
  }
}

TEST(SeccompFilterTest, StaysSmall) {
  // The kernel takes 4096; installing costs time in proportion.
  RecordProperty("instructions", static_cast<int>(Default().program().size()));
  EXPECT_LT(Default().program().size(), 1024U);
  EXPECT_LT(WithInet().program().size(), 1024U);
}

}  // namespace
}  // namespace cellblock::confine
