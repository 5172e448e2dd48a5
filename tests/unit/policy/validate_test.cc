// ValidatePolicy on policies built by hand: every kind of rule, with the key named.
#include <functional>
#include <string>

#include "absl/strings/str_cat.h"
#include "cellblock/policy.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "policy/print.h"
#include "tests/support/status_matchers.h"

namespace cellblock {
namespace {

using ::testing::HasSubstr;

struct Case {
  std::function<void(Policy&)> change;
  std::string message;
};

void ExpectRefused(const Case& c) {
  Policy policy;
  c.change(policy);
  EXPECT_THAT(ValidatePolicy(policy), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(c.message)));
}

TEST(ValidatePolicyTest, AcceptsTheDefaults) { EXPECT_THAT(ValidatePolicy(Policy{}), IsOk()); }

TEST(ValidatePolicyTest, NamesTheKeyFirst) {
  Policy policy;
  policy.limits.memory_bytes = -1;
  EXPECT_THAT(ValidatePolicy(policy),
              StatusIs(absl::StatusCode::kInvalidArgument, "limits.memory: -1 is below the least, 64MiB; the range is 64MiB – 16TiB"));
}

TEST(ValidatePolicyTest, RefusesValuesThatNoFileCouldHold) {
  ExpectRefused({[](Policy& p) { p.limits.wall = absl::InfiniteDuration(); }, "limits.wall: inf is above the most, 24h"});
  ExpectRefused(
      {[](Policy& p) { p.limits.wall = absl::Microseconds(100'001); }, "limits.wall: 100.001ms is not a whole number of milliseconds"});
  ExpectRefused({[](Policy& p) { p.limits.wall_grace = absl::Seconds(-1); }, "limits.wall_grace: -1s is below the least, 0s"});
  ExpectRefused({[](Policy& p) { p.limits.cpu = absl::Microseconds(100'001); }, "limits.cpu: 100.001ms is not a whole number"});
  ExpectRefused({[](Policy& p) { p.isolation.landlock = static_cast<Requirement>(3); }, "isolation.landlock: holds a number"});
  ExpectRefused({[](Policy& p) { p.isolation.memory = static_cast<MemoryRequirement>(2); }, "isolation.memory: holds a number"});
  ExpectRefused({[](Policy& p) { p.redact = {"same", "same"}; }, "redact: \"same\" is listed twice"});
  ExpectRefused({[](Policy& p) { p.environment = {{"A", "1"}, {"A", "2"}}; }, "environment: A is set twice"});
  ExpectRefused({[](Policy& p) {
                   p.environment = {{"A", std::string("\0", 1)}};
                 },
                 "environment: A: \"\\u0000\" holds the control character U+0000"});
  ExpectRefused({[](Policy& p) { p.redact = {"\xFF\xFF\xFF\xFF"}; }, "redact: \"\\uFFFD\\uFFFD\\uFFFD\\uFFFD\" is not UTF-8"});
}

TEST(ValidatePolicyTest, RefusesValuesThatDontGoTogether) {
  ExpectRefused({[](Policy& p) {
                   p.session.life = absl::Seconds(119);
                   p.session.idle = absl::Seconds(9);
                 },
                 "limits.wall: one call may take 2min"});
  ExpectRefused({[](Policy& p) { p.session.idle = absl::Hours(25); }, "session.idle: 25h is longer than session.life, 24h"});
  ExpectRefused({[](Policy& p) { p.languages = {false, false, true}; }, "languages.python: neither python nor bash is on"});
  ExpectRefused({[](Policy& p) { p.languages.subprocesses = false; }, "languages.bash: bash starts programs"});
  ExpectRefused({[](Policy& p) {
                   p.isolation.memory = MemoryRequirement::kEnforced;
                   p.isolation.cgroup = Requirement::kOff;
                 },
                 "isolation.memory: only a cgroup can enforce it"});
  ExpectRefused({[](Policy& p) { p.isolation.no_new_privileges = Requirement::kOff; }, "isolation.no_new_privileges: the kernel sets up"});
  for (const char* locale : {"de_DE.UTF-8", "en_US.UTF-8", "C.ISO-8859-1", "posix"}) {
    ExpectRefused({[=](Policy& p) { p.determinism.locale = locale; }, absl::StrCat("determinism.locale: \"", locale, "\" is not sure to exist")});
  }
}

TEST(ValidatePolicyTest, AcceptsTheTwinsOfThose) {
  auto accept = [](const std::function<void(Policy&)>& change) {
    Policy policy;
    change(policy);
    EXPECT_THAT(ValidatePolicy(policy), IsOk());
  };
  accept([](Policy& p) {
    p.session.life = absl::Seconds(120);
    p.session.idle = absl::Seconds(120);
  });
  accept([](Policy& p) { p.languages = {false, true, true}; });
  accept([](Policy& p) { p.languages = {true, false, false}; });
  accept([](Policy& p) { p.isolation.memory = MemoryRequirement::kEnforced; });
  for (const char* locale : {"C.UTF-8", "C", "POSIX"}) accept([=](Policy& p) { p.determinism.locale = locale; });
  accept([](Policy& p) {
    p.determinism.locale = "de_DE.UTF-8";
    p.files.directory = "/srv/root";
  });
  accept([](Policy& p) { p.isolation.no_new_privileges = p.isolation.landlock = p.isolation.seccomp = Requirement::kOff; });
}

TEST(ValidatePolicyTest, RefusesBadTexts) {
  ExpectRefused({[](Policy& p) { p.name = ""; }, "name: \"\" is empty"});
  ExpectRefused({[](Policy& p) { p.name = ".x"; }, "name: \".x\" must start with a letter or digit"});
  ExpectRefused({[](Policy& p) { p.name = "a/b"; }, "name: \"a/b\" may only hold letters"});
  ExpectRefused({[](Policy& p) { p.python.environment = "../x"; }, "python.environment: \"../x\" must start"});
  ExpectRefused({[](Policy& p) { p.python.preload = {"os;"}; }, "python.preload: \"os;\" is not a module name"});
  ExpectRefused({[](Policy& p) { p.python.preload = {"a..b"}; }, "python.preload: \"a..b\" is not a module name"});
  ExpectRefused({[](Policy& p) { p.determinism.time_zone = "../UTC"; }, "determinism.time_zone: \"../UTC\" is not the name"});
  ExpectRefused({[](Policy& p) { p.determinism.time_zone = ""; }, "determinism.time_zone: \"\" is not the name"});
  ExpectRefused({[](Policy& p) { p.determinism.locale = "C UTF"; }, "determinism.locale: \"C UTF\" is not the name"});
  ExpectRefused({[](Policy& p) { p.isolation.extra_syscalls = {"mlock 2"}; }, "isolation.extra_syscalls: \"mlock 2\" is not the name"});
  ExpectRefused({[](Policy& p) { p.artifacts.include = {"/etc/*"}; }, "artifacts.include: \"/etc/*\" starts with a slash"});
  ExpectRefused({[](Policy& p) { p.artifacts.exclude = {"a/../b"}; }, "artifacts.exclude: \"a/../b\" has an empty, '.' or '..' part"});
  ExpectRefused({[](Policy& p) { p.artifacts.exclude = {"a//b"}; }, "artifacts.exclude: \"a//b\" has an empty"});
  ExpectRefused({[](Policy& p) { p.artifacts.exclude = {""}; }, "artifacts.exclude: \"\" is empty"});
  ExpectRefused({[](Policy& p) { p.files.directory = "/"; }, "files.root: \"/\" is the host's own root"});
  ExpectRefused({[](Policy& p) { p.files.directory = "srv"; }, "files.root: \"srv\" is not an absolute path"});
  ExpectRefused({[](Policy& p) { p.environment = {{"1A", ""}}; }, "environment: \"1A\" is not a variable's name"});
  ExpectRefused({[](Policy& p) { p.environment = {{"", ""}}; }, "environment: \"\" is not a variable's name"});
}

TEST(ValidatePolicyTest, RefusesTextsOverTheirLength) {
  ExpectRefused({[](Policy& p) { p.name = std::string(65, 'a'); }, "has 65 bytes, more than 64"});
  ExpectRefused({[](Policy& p) { p.artifacts.include = {std::string(257, 'a')}; }, "has 257 bytes, more than 256"});
  ExpectRefused({[](Policy& p) { p.python.preload = {std::string(129, 'a')}; }, "has 129 bytes, more than 128"});
  ExpectRefused({[](Policy& p) { p.isolation.extra_syscalls = {std::string(65, 'a')}; }, "has 65 bytes, more than 64"});
  ExpectRefused({[](Policy& p) { p.determinism.time_zone = std::string(65, 'a'); }, "has 65 bytes, more than 64"});
  ExpectRefused({[](Policy& p) { p.determinism.locale = std::string(65, 'a'); }, "has 65 bytes, more than 64"});
  ExpectRefused({[](Policy& p) { p.redact = {std::string(4097, 'a')}; }, "has 4097 bytes, more than 4096"});
  ExpectRefused({[](Policy& p) { p.redact = {"abc"}; }, "has fewer than 4 bytes"});
  ExpectRefused({[](Policy& p) { p.files.directory = "/" + std::string(1024, 'a'); }, "has 1025 bytes, more than 1024"});
  ExpectRefused({[](Policy& p) { p.environment = {{std::string(129, 'A'), ""}}; }, "has 129 bytes, more than 128"});
}

TEST(ValidatePolicyTest, AcceptsTextsAtTheirLength) {
  Policy policy;
  policy.name = std::string(64, 'a');
  policy.artifacts.include = {std::string(256, 'a')};
  policy.python.preload = {std::string(128, 'a')};
  policy.isolation.extra_syscalls = {std::string(64, 'a')};
  policy.determinism.time_zone = std::string(64, 'a');
  policy.determinism.locale = std::string(64, 'a');
  policy.redact = {std::string(4096, 'a'), "abcd"};
  policy.files.directory = "/" + std::string(1023, 'a');
  policy.environment = {{std::string(128, 'A'), ""}};
  EXPECT_THAT(ValidatePolicy(policy), IsOk());
}

TEST(ValidatePolicyTest, LimitsTheNumberOfItems) {
  auto fill = [](size_t count, const char* prefix) {
    std::vector<std::string> items;
    for (size_t i = 0; i < count; ++i) items.push_back(absl::StrCat(prefix, i));
    return items;
  };
  auto mounts = [&](Policy& p, size_t count) {
    p.files.mounts.clear();
    for (const std::string& name : fill(count, "/data")) p.files.mounts.push_back({name, name});
  };
  auto variables = [&](Policy& p, size_t count) {
    p.environment.clear();
    for (const std::string& name : fill(count, "V")) p.environment.emplace_back(name, "");
  };
  Policy policy;
  policy.artifacts.include = policy.artifacts.exclude = policy.python.preload = policy.isolation.extra_syscalls = policy.redact =
      fill(64, "item");
  mounts(policy, 32);
  variables(policy, 128);
  EXPECT_THAT(ValidatePolicy(policy), IsOk());
  ExpectRefused({[&](Policy& p) { p.artifacts.include = fill(65, "item"); }, "artifacts.include: has 65 items, more than 64"});
  ExpectRefused({[&](Policy& p) { p.artifacts.exclude = fill(65, "item"); }, "artifacts.exclude: has 65 items, more than 64"});
  ExpectRefused({[&](Policy& p) { p.python.preload = fill(65, "item"); }, "python.preload: has 65 items, more than 64"});
  ExpectRefused(
      {[&](Policy& p) { p.isolation.extra_syscalls = fill(65, "item"); }, "isolation.extra_syscalls: has 65 items, more than 64"});
  ExpectRefused({[&](Policy& p) { p.redact = fill(65, "item"); }, "redact: has 65 items, more than 64"});
  ExpectRefused({[&](Policy& p) { mounts(p, 33); }, "files.mounts: has 33 items, more than 32"});
  ExpectRefused({[&](Policy& p) { variables(p, 129); }, "environment: has 129 items, more than 128"});
}

TEST(ValidatePolicyTest, LimitsTheEnvironmentAndTheWholePolicy) {
  Policy policy;
  policy.environment = {{"A", std::string(65536 - 3, 'x')}};  // with name, '=' and NUL exactly 64 KiB
  EXPECT_THAT(ValidatePolicy(policy), IsOk());
  policy.environment[0].second.push_back('x');
  EXPECT_THAT(ValidatePolicy(policy), StatusIs(absl::StatusCode::kInvalidArgument, "environment: takes 65537 bytes, more than 64KiB"));
  policy = Policy{};
  for (int i = 0; i < 64; ++i) policy.redact.push_back(absl::StrCat("x", i, std::string(4000, 'x')));
  policy.environment = {{"A", "x"}};
  policy.environment[0].second.append(262'144 - policy::PrintPolicy(policy).size(), 'x');
  EXPECT_THAT(ValidatePolicy(policy), IsOk());
  policy.environment[0].second.push_back('x');
  EXPECT_THAT(ValidatePolicy(policy),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "redact: the whole policy takes 262145 bytes as text, more than the 262144 of a policy file; "
                       "shorten redact, environment or network.allow"));
}

TEST(ValidatePolicyTest, KeepsMountsAwayFromTheHostAndTheJail) {
  auto mount = [](const char* source, const char* target) { return [=](Policy& p) { p.files.mounts = {{source, target}}; }; };
  for (const char* source : {"/proc", "/proc/1/root", "/sys/fs", "/dev/sda", "/run/docker.sock", "/var/run/dbus"}) {
    ExpectRefused({mount(source, "/data"), "which shows or controls the host itself"});
  }
  ExpectRefused({mount("/", "/data"), "source \"/\" would show the whole host"});
  for (const char* target : {"/",           "/proc",  "/proc/x",    "/sys",   "/dev/shm",           "/usr/lib",        "/etc",
                             "/bin",        "/lib64", "/run",       "/tmp/x", "/workspace",         "/workspace/data", "/mnt",
                             "/mnt/data/x", "/home",  "/home/user", "/opt",   "/opt/cellblock/env", "/var/tmp"}) {
    ExpectRefused({mount("/srv/data", target), "of the session itself"});
  }
  for (const char* bad : {"data", "/a/../b", "/a/./b", "/a//b", "/a/", "/a\nb", ""}) {
    ExpectRefused({mount(bad, "/data"), "files.mounts: source "});
    ExpectRefused({mount("/srv/data", bad), "files.mounts: target "});
  }
  ExpectRefused({[](Policy& p) { p.files.mounts = {{"/srv/a", "/data"}, {"/srv/b", "/data"}}; }, "at or below the target \"/data\""});
  ExpectRefused({[](Policy& p) { p.files.mounts = {{"/srv/a", "/data/x"}, {"/srv/b", "/data"}}; }, "target \"/data/x\" lies at or below"});
  Policy policy;
  policy.files.mounts = {
      {"/srv/a", "/data"}, {"/srv/b", "/data2"}, {"/procedures", "/mnt/models"}, {"/runs", "/opt/tools"}, {"/srv/c", "/usrlocal"}};
  EXPECT_THAT(ValidatePolicy(policy), IsOk());
}

}  // namespace
}  // namespace cellblock
