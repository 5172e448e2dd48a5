// `extends`: what is inherited, what is added, and where chains end.
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "policy/load/load.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/policy/temp_directory.h"

namespace cellblock::policy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ExtendsTest, InheritsValuesButNotTheName) {
  TempDirectory directory;
  directory.Write("base.yaml", "name: base\nlimits: {cpus: 4, memory: 1GiB, cpu: 5s}\ndeterminism: {seed: 5}\n");
  std::string path = directory.Write("child.yaml", "extends: base\nlimits: {memory: 512MiB, cpu: none}\ndeterminism: {seed: none}\n");
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(LoadedPolicy loaded, LoadPolicyWithOrigins(path, directory.path()));
  EXPECT_EQ(loaded.policy.name, "child");
  EXPECT_EQ(loaded.policy.limits.cpus, 4);
  EXPECT_EQ(loaded.policy.limits.memory_bytes, int64_t{512} << 20);
  EXPECT_EQ(loaded.policy.limits.cpu, std::nullopt);
  EXPECT_EQ(loaded.policy.determinism.seed, std::nullopt);
  EXPECT_THAT(loaded.files, ElementsAre(directory.PathOf("base.yaml"), path));
  EXPECT_EQ(loaded.origins.at("limits.cpus").file, directory.PathOf("base.yaml"));
  EXPECT_EQ(loaded.origins.at("limits.memory").file, path);
}

TEST(ExtendsTest, AddsToSomeListsAndReplacesOthers) {
  TempDirectory directory;
  directory.Write("base.yaml",
                  "environment: {A: 1, B: 2}\nredact: [word1]\nfiles: {mounts: [{source: /srv/a, target: /a}]}\n"
                  "isolation: {extra_syscalls: [mlock2]}\npython: {preload: [numpy]}\nartifacts: {include: [\"*.csv\"], exclude: [a]}\n");
  std::string path = directory.Write("child.yaml",
                                     "extends: base\nenvironment: {B: 3, C: 4}\nredact: [word2, word1]\n"
                                     "files: {mounts: [{source: /srv/b, target: /b}]}\nisolation: {extra_syscalls: [get_mempolicy]}\n"
                                     "python: {preload: [pandas]}\nartifacts: {include: [\"*.png\"], exclude: []}\n");
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(Policy policy, LoadPolicy(path, directory.path()));
  using Variable = std::pair<std::string, std::string>;
  EXPECT_THAT(policy.environment, ElementsAre(Variable("A", "1"), Variable("B", "3"), Variable("C", "4")));
  EXPECT_THAT(policy.redact, ElementsAre("word1", "word2"));
  EXPECT_THAT(policy.files.mounts, ElementsAre(ReadOnlyMount{"/srv/a", "/a"}, ReadOnlyMount{"/srv/b", "/b"}));
  EXPECT_THAT(policy.isolation.extra_syscalls, ElementsAre("mlock2", "get_mempolicy"));
  EXPECT_THAT(policy.python.preload, ElementsAre("pandas"));
  EXPECT_THAT(policy.artifacts.include, ElementsAre("*.png"));
  EXPECT_THAT(policy.artifacts.exclude, ElementsAre());
}

TEST(ExtendsTest, ReplacesRulesSecretsAndPackages) {
  TempDirectory directory;
  directory.Write("base.yaml",
                  "network:\n  allow: [a.com, {host: b.com, ports: [443]}]\n  packages: {url: https://index.example.com/simple/, hosts: [f.org]}\n"
                  "  secrets: [{name: A, host: a.com, header: X-A, source: env:A}]\n  connections: 7\n  rate: 1MiB\n");
  std::string path = directory.Write("child.yaml", "extends: base\nnetwork:\n  allow: [c.com]\n  secrets: []\n  packages: {url: https://c.com/}\n");
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(LoadedPolicy loaded, LoadPolicyWithOrigins(path, directory.path()));
  Network network;
  network.allow = {NetworkRule{}};
  network.allow[0].host = "c.com";
  network.packages.url = "https://c.com/";
  network.connections = 7;
  network.rate_bytes = 1 << 20;
  EXPECT_TRUE(loaded.policy.network == network);
  EXPECT_EQ(loaded.origins.at("network.allow[0]").file, path);
  EXPECT_EQ(loaded.origins.count("network.allow[1]"), 0u);
  EXPECT_EQ(loaded.origins.count("network.secrets[0]"), 0u);
  EXPECT_EQ(loaded.origins.at("network.connections").file, directory.PathOf("base.yaml"));
  path = directory.Write("child.yaml", "extends: base\nnetwork: {packages: none, rate: none}\n");
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(loaded, LoadPolicyWithOrigins(path, directory.path()));
  EXPECT_EQ(loaded.policy.network.allow.size(), 2u);
  EXPECT_EQ(loaded.policy.network.packages.url, "");
  EXPECT_EQ(loaded.policy.network.rate_bytes, std::nullopt);
}

TEST(ExtendsTest, TurnsTheBasesNetworkOff) {
  TempDirectory directory;
  directory.Write("base.yaml", "network: {allow: [a.com], connections: 7, packages: {url: https://index.example.com/simple/}}\n");
  std::string path = directory.Write("child.yaml", "extends: base\nnetwork: off\n");
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(LoadedPolicy loaded, LoadPolicyWithOrigins(path, directory.path()));
  EXPECT_TRUE(loaded.policy.network == Network{});
  for (const auto& [key, origin] : loaded.origins) EXPECT_FALSE(absl::StartsWith(key, "network")) << key;
  path = directory.Write("child.yaml", "extends: base\nnetwork: {}\n");
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(loaded, LoadPolicyWithOrigins(path, directory.path()));
  EXPECT_EQ(loaded.policy.network.connections, 7);
}

TEST(ExtendsTest, BlamesTheFileThatTakesASecretsRuleAway) {
  TempDirectory directory;
  directory.Write("base.yaml", "network: {allow: [a.com], secrets: [{name: A, host: a.com, header: X-A, source: env:A}]}\n");
  std::string path = directory.Write("child.yaml", "extends: base\nnetwork:\n  allow: [b.com]\n");
  EXPECT_THAT(LoadPolicy(path, directory.path()),
              StatusIs(absl::StatusCode::kInvalidArgument, path + ":3:10: network.secrets[0]: no rule allows a.com:443; add {host: a.com, ports: "
                                                                  "[443]} to network.allow"));
  path = directory.Write("child.yaml", "extends: base\nenvironment: {A: x}\n");
  EXPECT_THAT(LoadPolicy(path, directory.path()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(path + ":2:14: network.secrets[0].name: A is a variable of environment too")));
  path = directory.Write("child.yaml", "extends: base\nisolation: {network_namespace: off}\n");
  EXPECT_THAT(LoadPolicy(path, directory.path()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(path + ":2:32: isolation.network_namespace: is off")));
}

TEST(ExtendsTest, CountsTheBasesItems) {
  TempDirectory directory;
  std::string items;
  for (int i = 0; i < 64; ++i) absl::StrAppend(&items, "word", i, ", ");
  directory.Write("base.yaml", absl::StrCat("redact: [", items, "]\n"));
  std::string path = directory.Write("child.yaml", "extends: base\nredact: [word0]\n");
  EXPECT_THAT(LoadPolicy(path, directory.path()), IsOk());
  path = directory.Write("child.yaml", "extends: base\nredact: [another]\n");
  EXPECT_THAT(LoadPolicy(path, directory.path()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       path + ":2:9: redact: has 65 items, more than 64 (those of the files it extends count too)"));
}

TEST(ExtendsTest, FindsRelativePathsFromItsOwnFolder) {
  TempDirectory directory;
  directory.Write("a/base.yaml", "extends: ../other.yaml\n");
  directory.Write("other.yaml", "limits: {cpus: 7}\n");
  std::string path = directory.Write("b/child.yaml", "extends: ../a/base.yaml\n");
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(Policy policy, LoadPolicy(path, ""));
  EXPECT_EQ(policy.limits.cpus, 7);
}

TEST(ExtendsTest, RefusesACycleAndPrintsIt) {
  TempDirectory directory;
  directory.Write("a.yaml", "name: a\nextends: b\n");
  directory.Write("b.yaml", "extends: c\n");
  directory.Write("c.yaml", "# hop\nextends: ./a.yaml\n");
  std::string d = directory.path();
  EXPECT_THAT(LoadPolicy("a", d), StatusIs(absl::StatusCode::kInvalidArgument,
                                           absl::StrCat(d, "/c.yaml:2:10: extends: files extend each other in a cycle, ", d, "/a.yaml → ",
                                                        d, "/b.yaml → ", d, "/c.yaml → ", d, "/a.yaml; remove one of these extends")));
  directory.Write("start.yaml", "extends: a\n");
  EXPECT_THAT(LoadPolicy("start", d),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(absl::StrCat("in a cycle, ", d, "/a.yaml → "))));
  directory.Write("self.yaml", "extends: self\n");
  EXPECT_THAT(LoadPolicy("self", d), StatusIs(absl::StatusCode::kInvalidArgument,
                                              HasSubstr(absl::StrCat("self.yaml:1:10: extends: files extend each other in a cycle, ", d,
                                                                     "/self.yaml → ", d, "/self.yaml;"))));
}

TEST(ExtendsTest, SeesACycleThroughASymbolicLink) {
  TempDirectory directory;
  std::string path = directory.Write("a.yaml", "extends: link\n");
  std::filesystem::create_symlink("a.yaml", directory.PathOf("link.yaml"));
  EXPECT_THAT(LoadPolicy(path, directory.path()), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("in a cycle")));
}

TEST(ExtendsTest, EndsAtEightFiles) {
  TempDirectory directory;
  directory.Write("p1.yaml", "limits: {cpus: 7}\n");
  for (int i = 2; i <= 9; ++i) directory.Write(absl::StrCat("p", i, ".yaml"), absl::StrCat("extends: p", i - 1, "\n"));
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(Policy policy, LoadPolicy("p8", directory.path()));
  EXPECT_EQ(policy.limits.cpus, 7);
  EXPECT_THAT(
      LoadPolicy("p9", directory.path()),
      StatusIs(absl::StatusCode::kInvalidArgument,
               directory.PathOf("p2.yaml") + ":1:10: extends: the chain of files is more than 8 long; extend a file nearer to the base"));
}

TEST(ExtendsTest, SaysWhichBaseIsMissing) {
  TempDirectory directory;
  directory.Write("strict.yaml", "name: strict\n");
  std::string path = directory.Write("child.yaml", "extends: strickt\n");
  EXPECT_THAT(LoadPolicy(path, directory.path()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       absl::StrCat(path, ":1:10: extends: no policy \"strickt\" in ", directory.path(), "; did you mean strict?")));
  path = directory.Write("child.yaml", "extends: ./gone.yaml\n");
  EXPECT_THAT(LoadPolicy(path, directory.path()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       absl::StrCat(path, ":1:10: extends: there is no file ", directory.path(), "/./gone.yaml")));
  path = directory.Write("child.yaml", "extends: base.yml\n");
  EXPECT_THAT(LoadPolicy(path, directory.path()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(":1:10: extends: \"base.yml\" is neither")));
}

TEST(ExtendsTest, TakesOneText) {
  EXPECT_THAT(
      LoadPolicyText("extends: [a, b]\n", "p.yaml", ""),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "p.yaml:1:10: extends: takes the name or path of one policy, not a list; write extends: default, or remove the line"));
  EXPECT_THAT(LoadPolicyText("extends:\n", "p.yaml", ""),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("p.yaml:1:1: extends: takes the name")));
  EXPECT_THAT(LoadPolicyText("extends: none\n", "p.yaml", ""), IsOk());
}

TEST(ExtendsTest, ReportsTheBasesOwnProblemsInItsFile) {
  TempDirectory directory;
  std::string base = directory.Write("base.yaml", "limits: {cpus: 0}\n");
  std::string path = directory.Write("child.yaml", "extends: base\nlimits: {cpus: 1}\n");
  EXPECT_THAT(LoadPolicy(path, directory.path()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(base + ":1:16: limits.cpus: 0 is below")));
  directory.Write("base.yaml", "limits: [\n");
  EXPECT_THAT(LoadPolicy(path, directory.path()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(base + ":1:9: this [ is never closed")));
}

TEST(ExtendsTest, BlamesTheNearestFileForAConflict) {
  TempDirectory directory;
  directory.Write("base.yaml", "limits: {wall: 10min}\nsession: {life: 2h}\n");
  std::string path = directory.Write("child.yaml", "extends: base\nsession:\n  idle: 1min\n  life: 5min\n");
  EXPECT_THAT(LoadPolicy(path, directory.path()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(path + ":4:9: limits.wall: one call may take 10min")));
}

TEST(ExtendsTest, TextsExtendByNameOnly) {
  TempDirectory directory;
  directory.Write("base.yaml", "limits: {cpus: 7}\n");
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(LoadedPolicy loaded, LoadPolicyText("extends: base\n", "inline", directory.path()));
  EXPECT_EQ(loaded.policy.limits.cpus, 7);
  EXPECT_EQ(loaded.policy.name, "inline");
  EXPECT_THAT(LoadPolicyText(absl::StrCat("extends: ", directory.PathOf("base.yaml"), "\n"), "inline", directory.path()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("extends others by name only")));
}

TEST(NameTest, IsTheFilesOwnWhereNoneIsGiven) {
  TempDirectory directory;
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(Policy policy, LoadPolicy(directory.Write("my-policy.yaml", "network: off\n"), ""));
  EXPECT_EQ(policy.name, "my-policy");
  std::string path = directory.Write("my policy.yaml", "network: off\n");
  EXPECT_THAT(LoadPolicy(path, ""),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       path + ":1:1: name: the file's own name, \"my policy\", may only hold letters, digits, '.', '_' and '-'; "
                              "write a line name: …"));
}

TEST(CheckPolicyFileTest, ListsEveryProblemUpToTwenty) {
  TempDirectory directory;
  std::string path = directory.Write("bad.yaml", "limits:\n  cpus: 0\n  wall: 5\nfoo: 1\n");
  EXPECT_THAT(CheckPolicyFile(path, ""),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       absl::StrCat(path, ":2:9: limits.cpus: 0 is below the least, 1; the range is 1 – 1024\n", path,
                                    ":3:9: limits.wall: \"5\" has no unit; write 5s for seconds\n", path,
                                    ":4:1: unknown key \"foo\"; the keys at the top are: name, extends, limits, session, "
                                    "artifacts, files, languages, python, determinism, isolation, environment, redact, "
                                    "network, keep_processes")));
  std::string many = "environment:\n";
  for (int i = 0; i < 21; ++i) absl::StrAppend(&many, "  A-", i, ": x\n");
  absl::Status status = CheckPolicyFile(directory.Write("many.yaml", many), "");
  EXPECT_THAT(std::string(status.message()), HasSubstr("many.yaml:21:3: environment: \"A-19\""));
  EXPECT_THAT(std::string(status.message()), ::testing::EndsWith("\n(1 more problem)"));
  EXPECT_THAT(CheckPolicyFile(directory.Write("good.yaml", "limits: {cpus: 2}\n"), ""), IsOk());
}

}  // namespace
}  // namespace cellblock::policy
