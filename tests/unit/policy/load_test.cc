// Refusals of keys and values in policy files: position, key and advice, word for word. Those of YAML itself: syntax_test.cc.
#include "policy/load/load.h"

#include <ostream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace cellblock::policy {
namespace {

struct Refusal {
  const char* text;
  const char* message;
};

void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.text; }

class RefusalTest : public ::testing::TestWithParam<Refusal> {};

TEST_P(RefusalTest, NamesPositionKeyAndAdvice) {
  EXPECT_THAT(LoadPolicyText(GetParam().text, "p.yaml", ""), StatusIs(absl::StatusCode::kInvalidArgument, std::string(GetParam().message)));
}

INSTANTIATE_TEST_SUITE_P(
    UnknownKeys, RefusalTest,
    ::testing::Values(
        Refusal{"limits:\n  memroy: 2GiB\n", "p.yaml:2:3: unknown key \"memroy\" in limits; did you mean limits.memory?"},
        Refusal{"limit: {memory: 2GiB}\n", "p.yaml:1:1: unknown key \"limit\"; did you mean limits?"},
        Refusal{"memory: 2GiB\n", "p.yaml:1:1: unknown key \"memory\"; did you mean limits.memory or isolation.memory?"},
        Refusal{"limits: {idle: 5s}\n", "p.yaml:1:10: unknown key \"idle\" in limits; did you mean session.idle or network.idle?"},
        Refusal{"limits: {timeout: 5s}\n", "p.yaml:1:10: unknown key \"timeout\" in limits; did you mean limits.wall?"},
        Refusal{"limits: {open-files: 20}\n", "p.yaml:1:10: unknown key \"open-files\" in limits; did you mean limits.open_files?"},
        Refusal{"limits: {memory_bytes: 20}\n", "p.yaml:1:10: unknown key \"memory_bytes\" in limits; did you mean limits.memory?"},
        Refusal{"limits.memory: 2GiB\n", "p.yaml:1:1: unknown key \"limits.memory\"; write limits: {memory: …}"},
        Refusal{"session: {xyzzy: 1}\n", "p.yaml:1:11: unknown key \"xyzzy\" in session; the keys here are: idle, life, queue"},
        Refusal{"xyzzy: 1\n",
                "p.yaml:1:1: unknown key \"xyzzy\"; the keys at the top are: name, extends, limits, session, artifacts, files, languages, "
                "python, "
                "determinism, isolation, environment, redact, network, keep_processes"},
        Refusal{"files: {mounts: [{source: /a, taget: /b}]}\n",
                "p.yaml:1:31: files.mounts: unknown key \"taget\" of a mount; did you mean target?"},
        Refusal{"files: {mounts: [{source: /a, target: /b, mode: rw}]}\n",
                "p.yaml:1:43: files.mounts: unknown key \"mode\" of a mount; a mount has source and target, and is always read-only"}));

INSTANTIATE_TEST_SUITE_P(
    Units, RefusalTest,
    ::testing::Values(
        Refusal{"limits:\n  memory: 2GB\n", "p.yaml:2:11: limits.memory: \"2GB\" has a unit that some read as thousands; write 2GiB"},
        Refusal{"limits: {memory: 5s}\n", "p.yaml:1:18: limits.memory: \"5s\" is a time, not a size; write a size such as 512MiB"},
        Refusal{"limits: {wall: 120}\n", "p.yaml:1:16: limits.wall: \"120\" has no unit; write 120s for seconds"},
        Refusal{"limits: {cpu: 120}\n", "p.yaml:1:15: limits.cpu: \"120\" has no unit; write 120s for seconds"},
        Refusal{"limits: {wall: 2sec}\n", "p.yaml:1:16: limits.wall: \"2sec\" has a unit in another spelling; write 2s"},
        Refusal{"limits: {wall: 2MiB}\n", "p.yaml:1:16: limits.wall: \"2MiB\" is a size, not a time; write a time such as 90s"},
        Refusal{"limits: {processes: 1_000}\n", "p.yaml:1:21: limits.processes: \"1_000\" has separators in it; write 1000"}));

INSTANTIATE_TEST_SUITE_P(
    Types, RefusalTest,
    ::testing::Values(
        Refusal{"limits: 5\n",
                "p.yaml:1:9: limits: takes keys below it (wall, wall_grace, cpu, cpus, cpu_weight, memory, processes, open_files, workspace, "
                "workspace_files, tmp, "
                "shm, file_size, output, result_size, results, code_size), not one text"},
        Refusal{"session: [idle]\n", "p.yaml:1:10: session: takes keys below it (idle, life, queue), not a list"},
        Refusal{"session:\n", "p.yaml:1:1: session: takes keys below it (idle, life, queue), not nothing; write one, or remove the line"},
        Refusal{"session:\n  idle:5s\n",
                "p.yaml:2:3: session: takes keys below it (idle, life, queue), not one text; write a space after the colon"},
        Refusal{"limits: {memory: [1]}\n", "p.yaml:1:18: limits.memory: takes a size such as 512MiB (64MiB – 16TiB), not a list"},
        Refusal{"limits: {memory: {a: 1}}\n",
                "p.yaml:1:18: limits.memory: takes a size such as 512MiB (64MiB – 16TiB), not keys of its own"},
        Refusal{
            "limits:\n  memory:\n",
            "p.yaml:2:3: limits.memory: has no value; write a size such as 512MiB (64MiB – 16TiB), or remove the line to keep the default"},
        Refusal{"limits: {cpus: ~}\n",
                "p.yaml:1:10: limits.cpus: has no value; write a whole number (1 – 1024), or remove the line to keep the default"},
        Refusal{"limits: {memory: lots}\n",
                "p.yaml:1:18: limits.memory: \"lots\" does not start with a number; write a size such as 512MiB"},
        Refusal{"limits: {cpus: 1.5}\n", "p.yaml:1:16: limits.cpus: \"1.5\" is not a whole number such as 128"},
        Refusal{"limits: {cpus: '2'}\n",
                "p.yaml:1:16: limits.cpus: \"2\" is in quotes, which makes it a text; write a whole number (1 – 1024) without quotes"},
        Refusal{"languages: {bash: yes}\n", "p.yaml:1:19: languages.bash: \"yes\" is neither true nor false; write true"},
        Refusal{"languages: {bash: off}\n", "p.yaml:1:19: languages.bash: \"off\" is neither true nor false; write false"},
        Refusal{"languages: {bash: maybe}\n", "p.yaml:1:19: languages.bash: \"maybe\" is neither true nor false; write true or false"},
        Refusal{"languages: {bash: \"true\"}\n",
                "p.yaml:1:19: languages.bash: \"true\" is in quotes, which makes it a text; write true or false without quotes"},
        Refusal{"isolation: {landlock: requird}\n",
                "p.yaml:1:23: isolation.landlock: \"requird\" is not one of required, preferred, off; did you mean required?"},
        Refusal{"isolation: {landlock: true}\n",
                "p.yaml:1:23: isolation.landlock: \"true\" is a switch's word; write required or preferred"},
        Refusal{"isolation: {landlock: false}\n", "p.yaml:1:23: isolation.landlock: \"false\" is a switch's word; write off"},
        Refusal{"isolation: {memory: watch}\n",
                "p.yaml:1:21: isolation.memory: \"watch\" is not one of enforced, watched; did you mean watched?"},
        Refusal{"redact: word\n", "p.yaml:1:9: redact: takes a list such as [first, second] (at most 64 items), not one text"},
        Refusal{"redact: [[word]]\n", "p.yaml:1:10: redact: each item is one text, not a list"},
        Refusal{"artifacts:\n  include:\n    - a\n    -\n    - b\n", "p.yaml:4:5: artifacts.include: each item is one text, not nothing"},
        Refusal{"files: {mounts: [/a:/b]}\n",
                "p.yaml:1:18: files.mounts: each item is {source: /on/the/host, target: /inside}, not one text"},
        Refusal{"files: {mounts: {source: /a}}\n",
                "p.yaml:1:17: files.mounts: takes a list of mounts such as [{source: /srv/data, target: /data}] (at most 32 items), not "
                "keys of its own"},
        Refusal{"files: {mounts: [{source: /a}]}\n", "p.yaml:1:18: files.mounts: a mount needs both source and target; target is missing"},
        Refusal{"files: {mounts: [{source: [/a], target: /b}]}\n", "p.yaml:1:27: files.mounts: source takes a path, not a list"},
        Refusal{"environment: [A=1]\n",
                "p.yaml:1:14: environment: takes variables such as {NAME: value} (at most 128 variables, 64KiB together), not a list"},
        Refusal{"environment: {A: [1]}\n", "p.yaml:1:18: environment: \"A\" takes one text, not a list"},
        Refusal{"environment:\n  A:\n", "p.yaml:2:3: environment: \"A\" takes one text, not nothing; write \"\" for an empty one"},
        Refusal{"environment: {A-B: 1}\n",
                "p.yaml:1:15: environment: \"A-B\" is not a variable's name: letters, digits and '_', not starting with a digit"},
        Refusal{"name: [a]\n", "p.yaml:1:7: name: takes one text, not a list"},
        Refusal{"name: none\n", "p.yaml:1:7: name: \"none\" is the word for nothing; choose another name"}));

INSTANTIATE_TEST_SUITE_P(
    Values, RefusalTest,
    ::testing::Values(
        Refusal{"limits: {processes: -1}\n", "p.yaml:1:21: limits.processes: \"-1\" is negative; write a whole number such as 128"},
        Refusal{"limits: {memory: -5MiB}\n", "p.yaml:1:18: limits.memory: \"-5MiB\" is negative; write a size such as 512MiB"},
        Refusal{"limits: {wall: -5s}\n", "p.yaml:1:16: limits.wall: \"-5s\" is negative; write a time such as 90s"},
        Refusal{"limits: {cpus: 99999999999}\n", "p.yaml:1:16: limits.cpus: 99999999999 is above the most, 1024; the range is 1 – 1024"},
        Refusal{"determinism: {seed: 18446744073709551616}\n",
                "p.yaml:1:21: determinism.seed: \"18446744073709551616\" is more than 64 bits can count, 18446744073709551615"},
        Refusal{"redact: [fine, abc]\n", "p.yaml:1:16: redact: \"abc\" has fewer than 4 bytes, which would blot out ordinary output"},
        Refusal{"redact: [\"a\\0bc\"]\n", "p.yaml:1:10: redact: \"a\\u0000bc\" holds the control character U+0000"},
        Refusal{"environment: {A: \"\\e[0m\"}\n", "p.yaml:1:18: environment: A: \"\\u001B[0m\" holds the control character U+001B"},
        Refusal{
            "artifacts: {include: [/etc/*]}\n",
            "p.yaml:1:23: artifacts.include: \"/etc/*\" starts with a slash; patterns are relative to /workspace, such as reports/*.csv"},
        Refusal{"python: {preload: [numpy, \"a b\"]}\n",
                "p.yaml:1:27: python.preload: \"a b\" is not a module name such as matplotlib.pyplot"},
        Refusal{"files: {mounts: [{source: /run/x.sock, target: /data}]}\n",
                "p.yaml:1:18: files.mounts: source \"/run/x.sock\" is in /run, which shows or controls the host itself; copy what is "
                "needed elsewhere"},
        Refusal{"files: {mounts: [{source: /a, target: /data}, {source: /b, target: /data/x}]}\n",
                "p.yaml:1:17: files.mounts: target \"/data/x\" lies at or below the target \"/data\" of another mount; give each a folder "
                "of its own"},
        Refusal{"files: {root: /}\n",
                "p.yaml:1:15: files.root: \"/\" is the host's own root; write none for the host's /usr, or the folder of an unpacked root"},
        Refusal{"determinism: {time_zone: ../../etc/passwd}\n",
                "p.yaml:1:26: determinism.time_zone: \"../../etc/passwd\" is not the name of a time zone such as UTC or Europe/Berlin"}));

INSTANTIATE_TEST_SUITE_P(
    Combinations, RefusalTest,
    ::testing::Values(
        Refusal{"languages:\n  subprocesses: false\n",
                "p.yaml:2:17: languages.bash: bash starts programs, which languages.subprocesses: false forbids; write languages.bash: "
                "false too"},
        Refusal{"limits: {wall: 2h}\nsession: {life: 1h}\n",
                "p.yaml:1:16: limits.wall: one call may take 2h, longer than the whole session (session.life: 1h); lower the one or raise "
                "the other"},
        Refusal{"session: {idle: 48h}\n",
                "p.yaml:1:17: session.idle: 48h is longer than session.life, 24h; lower the one or raise the other"},
        Refusal{
            "isolation: {memory: enforced, cgroup: off}\n",
            "p.yaml:1:21: isolation.memory: only a cgroup can enforce it, and isolation.cgroup is off; write isolation.cgroup: required"},
        Refusal{"isolation: {no_new_privileges: off}\n",
                "p.yaml:1:32: isolation.no_new_privileges: the kernel sets up landlock and seccomp only with it; write required"}));

TEST(LoadPolicyTextTest, CountsFurtherProblems) {
  EXPECT_THAT(LoadPolicyText("limits: {memory: 2GB, wall: 5}\nfoo: 1\n", "p.yaml", ""),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "p.yaml:1:18: limits.memory: \"2GB\" has a unit that some read as thousands; write 2GiB "
                       "(2 more problems; `cellblock policy check` lists them)"));
}

TEST(LoadPolicyTextTest, CountsColumnsInCharacters) {
  EXPECT_THAT(LoadPolicyText("environment: {A: \"äöü\", B: []}\n", "p.yaml", ""),
              StatusIs(absl::StatusCode::kInvalidArgument, "p.yaml:1:28: environment: \"B\" takes one text, not a list"));
}

TEST(LoadPolicyTextTest, SetsEveryKindOfValue) {
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(
      LoadedPolicy loaded,
      LoadPolicyText("name: mine\nlimits: {memory: \"1.5GiB\", wall: 1m30s, cpu: 2h, cpus: 4}\nlanguages: {bash: false}\n"
                     "determinism: {seed: 18446744073709551615, time_zone: UTC}\nisolation: {landlock: required, memory: enforced, "
                     "extra_syscalls: [mlock2, mlock2]}\n"
                     "files: {root: /srv/root, mounts: [{target: /data, source: /srv/data}, {source: /srv/data, target: /data}]}\n"
                     "environment: {A: 1, B: true, C: '', D: \"x\\ty\"}\nredact: [word, \"1234\"]\nnetwork: off\nkeep_processes: true\n",
                     "p.yaml", ""));
  const Policy& policy = loaded.policy;
  EXPECT_EQ(policy.name, "mine");
  EXPECT_EQ(policy.limits.memory_bytes, int64_t{1536} << 20);
  EXPECT_EQ(policy.limits.wall, absl::Seconds(90));
  EXPECT_EQ(policy.limits.cpu, absl::Hours(2));
  EXPECT_EQ(policy.limits.cpus, 4);
  EXPECT_FALSE(policy.languages.bash);
  EXPECT_EQ(policy.determinism.seed, 18446744073709551615u);
  EXPECT_EQ(policy.isolation.landlock, Requirement::kRequired);
  EXPECT_EQ(policy.isolation.memory, MemoryRequirement::kEnforced);
  EXPECT_THAT(policy.isolation.extra_syscalls, ::testing::ElementsAre("mlock2"));
  EXPECT_EQ(policy.files.directory, "/srv/root");
  EXPECT_THAT(policy.files.mounts, ::testing::ElementsAre(ReadOnlyMount{"/srv/data", "/data"}));
  EXPECT_THAT(policy.redact, ::testing::ElementsAre("word", "1234"));
  EXPECT_TRUE(policy.keep_processes);
  using Variable = std::pair<std::string, std::string>;
  EXPECT_THAT(policy.environment,
              ::testing::ElementsAre(Variable("A", "1"), Variable("B", "true"), Variable("C", ""), Variable("D", "x\ty")));
}

TEST(LoadPolicyTextTest, ReadsBlocksOfText) {
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(LoadedPolicy loaded,
                                 LoadPolicyText("environment:\n  A: |\n    line\n    other\n  B: >-\n    one\n    line\n", "p.yaml", ""));
  using Variable = std::pair<std::string, std::string>;
  EXPECT_THAT(loaded.policy.environment, ::testing::ElementsAre(Variable("A", "line\nother\n"), Variable("B", "one line")));
}

TEST(LoadPolicyTextTest, SaysWhereEachKeyWasSet) {
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(LoadedPolicy loaded, LoadPolicyText("limits:\n  memory: 1GiB\n", "p.yaml", ""));
  ASSERT_EQ(loaded.origins.size(), 1u);
  const auto& [key, origin] = *loaded.origins.begin();
  EXPECT_EQ(key, "limits.memory");
  EXPECT_EQ(TextAt(origin.file, origin.position, ""), "p.yaml:2:11: ");
}

}  // namespace
}  // namespace cellblock::policy
