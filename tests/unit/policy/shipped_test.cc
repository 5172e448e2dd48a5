// The shipped policies: the reference and the default are the defaults of the code, the others load and say what they promise.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "policy/load/load.h"
#include "policy/network_parts.h"
#include "policy/print.h"
#include "policy/schema.h"
#include "policy/value.h"
#include "tests/support/status_matchers.h"

namespace cellblock::policy {
namespace {

using ::testing::HasSubstr;

constexpr char kPolicies[] = CELLBLOCK_POLICIES;

std::vector<std::string> ReferenceLines() {
  std::ifstream in(absl::StrCat(kPolicies, "/reference.yaml"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(ShippedTest, ReferenceHasTheDefaultsOfTheCode) {
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(Policy reference, LoadPolicy("reference", kPolicies));
  EXPECT_EQ(DiffPolicies(Policy{}, reference), "name: default → reference\n");
  reference.name = "default";
  EXPECT_TRUE(reference == Policy{});
}

TEST(ShippedTest, DefaultIsTheDefaultsOfTheCode) {
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(Policy policy, LoadPolicy("default", kPolicies));
  EXPECT_EQ(DiffPolicies(Policy{}, policy), "");
  EXPECT_TRUE(policy == Policy{});
}

// Each key stands in the reference, below a comment that ends in a line `Takes: …` with the range that the code checks.
TEST(ShippedTest, ReferenceShowsEveryKeyWithItsRange) {
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(LoadedPolicy reference, LoadPolicyWithOrigins("reference", kPolicies));
  std::vector<std::string> lines = ReferenceLines();
  for (const Key& key : Schema()) {
    auto origin = reference.origins.find(key.path);
    ASSERT_NE(origin, reference.origins.end()) << key.path;
    ASSERT_GE(origin->second.position.line, 3) << key.path;
    size_t at = static_cast<size_t>(origin->second.position.line) - 2;  // the line above
    absl::string_view takes = absl::StripLeadingAsciiWhitespace(lines[at]);
    EXPECT_TRUE(absl::StartsWith(takes, "# Takes: ")) << key.path << ": " << takes;
    EXPECT_THAT(std::string(takes), HasSubstr(RangeText(key))) << key.path;
    EXPECT_TRUE(absl::StartsWith(absl::StripLeadingAsciiWhitespace(lines[at - 1]), "# ")) << key.path << " has no reason";
  }
}

// The keys within items stand in the comment above their key, each named as `key`.
template <typename Item>
void ExpectDescribed(const LoadedPolicy& reference, const char* path) {
  std::vector<std::string> lines = ReferenceLines();
  std::string comment;
  for (size_t at = static_cast<size_t>(reference.origins.at(path).position.line) - 1; at-- > 0;) {
    if (!absl::StartsWith(absl::StripLeadingAsciiWhitespace(lines[at]), "#")) break;
    comment = absl::StrCat(lines[at], "\n", comment);
  }
  for (const Part<Item>& part : PartsOf<Item>()) EXPECT_THAT(comment, HasSubstr(absl::StrCat("`", part.name, "`"))) << path;
}

TEST(ShippedTest, ReferenceDescribesEveryKeyOfItems) {
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(LoadedPolicy reference, LoadPolicyWithOrigins("reference", kPolicies));
  ExpectDescribed<NetworkRule>(reference, "network.allow");
  ExpectDescribed<NetworkSecret>(reference, "network.secrets");
  ExpectDescribed<PackageIndex>(reference, "network.packages");
}

TEST(ShippedTest, EveryPolicyLoadsUnderItsOwnNameAndPrintsBack) {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kPolicies)) {
    ++count;
    ASSERT_EQ(entry.path().extension(), ".yaml") << entry.path();
    std::string name = entry.path().stem();
    CELLBLOCK_ASSERT_OK_AND_ASSIGN(Policy policy, LoadPolicy(name, kPolicies));
    EXPECT_EQ(policy.name, name);
    EXPECT_THAT(CheckPolicyFile(entry.path().string(), kPolicies), IsOk());
    CELLBLOCK_ASSERT_OK_AND_ASSIGN(LoadedPolicy again, LoadPolicyText(PrintPolicy(policy), "p.yaml", ""));
    EXPECT_TRUE(again.policy == policy) << name;
  }
  EXPECT_EQ(count, 6u);
}

TEST(ShippedTest, StrictRequiresEveryLayerAndStartsNothing) {
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(Policy policy, LoadPolicy("strict", kPolicies));
  const Isolation& i = policy.isolation;
  for (Requirement layer : {i.user_namespace, i.pid_namespace, i.mount_namespace, i.network_namespace, i.ipc_namespace, i.uts_namespace,
                            i.capabilities_dropped, i.no_new_privileges, i.landlock, i.seccomp, i.cgroup}) {
    EXPECT_EQ(layer, Requirement::kRequired);
  }
  EXPECT_EQ(i.memory, MemoryRequirement::kEnforced);
  EXPECT_FALSE(policy.languages.bash);
  EXPECT_FALSE(policy.languages.subprocesses);
  EXPECT_FALSE(policy.keep_processes);
}

// No shipped policy is looser than the default in its isolation, and strict is nowhere larger.
TEST(ShippedTest, NoneIsLooserThanItSays) {
  for (const char* name : {"strict", "data-analysis", "charts", "notebook"}) {
    CELLBLOCK_ASSERT_OK_AND_ASSIGN(Policy policy, LoadPolicy(name, kPolicies));
    Isolation isolation = policy.isolation;
    EXPECT_EQ(isolation == Isolation{}, std::string(name) != "strict") << name;
    EXPECT_TRUE(policy.files == Root{}) << name;
  }
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(Policy strict, LoadPolicy("strict", kPolicies));
  const Limits defaults;
  EXPECT_LE(strict.limits.wall, defaults.wall);
  EXPECT_LE(strict.limits.memory_bytes, defaults.memory_bytes);
  EXPECT_LE(strict.limits.processes, defaults.processes);
  EXPECT_LE(strict.limits.open_files, defaults.open_files);
  EXPECT_LE(strict.limits.workspace_bytes, defaults.workspace_bytes);
  EXPECT_LE(strict.limits.workspace_files, defaults.workspace_files);
  EXPECT_LE(strict.limits.tmp_bytes + strict.limits.shm_bytes + strict.limits.workspace_bytes, strict.limits.memory_bytes);
}

TEST(ShippedTest, RefusesATimeZoneThatThisMachineLacks) {
  if (!std::filesystem::exists("/usr/share/zoneinfo/UTC")) GTEST_SKIP() << "this machine has no time zone database (package tzdata)";
  EXPECT_THAT(LoadPolicyText("determinism: {time_zone: Europe/Berlin}\n", "p.yaml", ""), IsOk());
  EXPECT_THAT(LoadPolicyText("determinism:\n  time_zone: Europe/Berlinn\n", "p.yaml", ""),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "p.yaml:2:14: determinism.time_zone: there is no time zone \"Europe/Berlinn\" in /usr/share/zoneinfo; write a name "
                       "such as Europe/Berlin"));
  EXPECT_THAT(LoadPolicyText("determinism: {time_zone: Europe}\n", "p.yaml", ""),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no time zone")));
  EXPECT_THAT(LoadPolicyText("determinism: {time_zone: Mars/Olympus}\nfiles: {root: /srv/root}\n", "p.yaml", ""), IsOk());
}

TEST(ShippedTest, RefusesALocaleThatTheHostsRootMayLack) {
  EXPECT_THAT(LoadPolicyText("determinism: {locale: POSIX}\n", "p.yaml", ""), IsOk());
  EXPECT_THAT(LoadPolicyText("determinism:\n  locale: de_DE.UTF-8\n", "p.yaml", ""),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("p.yaml:2:11: determinism.locale: \"de_DE.UTF-8\" is not sure to exist")));
  EXPECT_THAT(LoadPolicyText("determinism: {locale: de_DE.UTF-8}\nfiles: {root: /srv/root}\n", "p.yaml", ""), IsOk());
}

}  // namespace
}  // namespace cellblock::policy
