// PrintPolicy and DiffPolicies: order, form, and that no field of Policy is forgotten in the table of keys.
#include "policy/print.h"

#include <algorithm>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "policy/schema.h"
#include "policy/value.h"

namespace cellblock::policy {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(PrintPolicyTest, PrintsEveryKeyOnceUnderItsGroup) {
  std::string text = PrintPolicy(Policy{});
  EXPECT_THAT(text, StartsWith("name: default\nlimits:\n  wall: 2min\n  wall_grace: 2s\n  cpu: none\n  cpus: 1\n  memory: 2GiB\n"));
  EXPECT_THAT(text, HasSubstr("artifacts:\n  include:\n    - \"**\"\n  exclude:\n    - \".*\"\n"));
  EXPECT_THAT(text, HasSubstr("files:\n  root: none\n  mounts: []\n"));
  EXPECT_THAT(text, HasSubstr("environment: {}\nredact: []\nnetwork: off\nkeep_processes: false\n"));
  for (const Key& key : Schema()) {
    if (key.path == "extends") continue;
    EXPECT_THAT(text, HasSubstr(absl::StrCat(LastPartOf(key.path), ":"))) << key.path;
  }
}

TEST(PrintPolicyTest, PrintsListsItemByItem) {
  Policy policy;
  policy.files.mounts = {{"/srv/my data", "/data"}};
  policy.environment = {{"A", "1"}, {"B", "x y"}, {"NO", "a"}};
  std::string text = PrintPolicy(policy);
  EXPECT_THAT(text, HasSubstr("  mounts:\n    - {source: \"/srv/my data\", target: /data}\n"));
  EXPECT_THAT(text, HasSubstr("environment:\n  A: \"1\"\n  B: \"x y\"\n  \"NO\": a\n"));
}

TEST(DiffPoliciesTest, NamesEachDifferenceOnOneLine) {
  EXPECT_EQ(DiffPolicies(Policy{}, Policy{}), "");
  Policy other;
  other.name = "small";
  other.limits.memory_bytes = int64_t{512} << 20;
  other.limits.cpu = absl::Seconds(30);
  other.python.preload = {};
  other.environment = {{"A", "x y"}};
  EXPECT_EQ(DiffPolicies(Policy{}, other),
            "name: default → small\nlimits.cpu: none → 30s\nlimits.memory: 2GiB → 512MiB\n"
            "python.preload: [numpy, pandas, matplotlib.pyplot, IPython] → []\nenvironment: {} → {A: \"x y\"}\n");
}

// One change per field. The bindings stop compiling when a struct gets a field, so that it gets a key and a line here too.
std::vector<std::function<void(Policy&)>> ChangesOfEveryField() {
  std::vector<std::function<void(Policy&)>> changes;
  auto add = [&](std::function<void(Policy&)> change) { changes.push_back(std::move(change)); };
  auto text = [](std::string& s) { s += "x"; };
  auto texts = [](std::vector<std::string>& v) { v.push_back("another"); };
  auto requirement = [](Requirement& r) { r = r == Requirement::kOff ? Requirement::kRequired : Requirement::kOff; };
#define CHANGE(fields, member, index, action)  \
  add([=](Policy& p) {                         \
    auto& [fields] = p.member;                 \
    (void)std::tie(fields);                    \
    action(std::get<index>(std::tie(fields))); \
  })
  auto next = [](auto& n) { ++n; };
  auto longer = [](absl::Duration& d) { d += absl::Seconds(1); };
  auto flip = [](bool& b) { b = !b; };
#define LIMITS a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, q
  CHANGE(LIMITS, limits, 0, longer);
  CHANGE(LIMITS, limits, 1, longer);
  CHANGE(LIMITS, limits, 2, [](auto& v) { v = absl::Seconds(9); });
  CHANGE(LIMITS, limits, 3, next);
  CHANGE(LIMITS, limits, 4, next);
  CHANGE(LIMITS, limits, 5, next);
  CHANGE(LIMITS, limits, 6, next);
  CHANGE(LIMITS, limits, 7, next);
  CHANGE(LIMITS, limits, 8, next);
  CHANGE(LIMITS, limits, 9, next);
  CHANGE(LIMITS, limits, 10, next);
  CHANGE(LIMITS, limits, 11, next);
  CHANGE(LIMITS, limits, 12, next);
  CHANGE(LIMITS, limits, 13, next);
  CHANGE(LIMITS, limits, 14, next);
  CHANGE(LIMITS, limits, 15, next);
#undef LIMITS
#define SESSION a, b, c
  CHANGE(SESSION, session, 0, longer);
  CHANGE(SESSION, session, 1, longer);
  CHANGE(SESSION, session, 2, next);
#undef SESSION
#define ARTIFACTS a, b, c, d, e, f, g
  CHANGE(ARTIFACTS, artifacts, 0, texts);
  CHANGE(ARTIFACTS, artifacts, 1, texts);
  CHANGE(ARTIFACTS, artifacts, 2, next);
  CHANGE(ARTIFACTS, artifacts, 3, next);
  CHANGE(ARTIFACTS, artifacts, 4, next);
  CHANGE(ARTIFACTS, artifacts, 5, next);
  CHANGE(ARTIFACTS, artifacts, 6, next);
#undef ARTIFACTS
#define FILES a, b
  CHANGE(FILES, files, 0, text);
  CHANGE(FILES, files, 1, [](auto& v) { v.push_back({"/a", "/b"}); });
#undef FILES
#define LANGUAGES a, b, c
  CHANGE(LANGUAGES, languages, 0, flip);
  CHANGE(LANGUAGES, languages, 1, flip);
  CHANGE(LANGUAGES, languages, 2, flip);
#undef LANGUAGES
#define PYTHON a, b, c, d, e, f
  CHANGE(PYTHON, python, 0, text);
  CHANGE(PYTHON, python, 1, texts);
  CHANGE(PYTHON, python, 2, next);
  CHANGE(PYTHON, python, 3, next);
  CHANGE(PYTHON, python, 4, next);
  CHANGE(PYTHON, python, 5, flip);
#undef PYTHON
#define DETERMINISM a, b, c, d
  CHANGE(DETERMINISM, determinism, 0, [](auto& v) { v = 7; });
  CHANGE(DETERMINISM, determinism, 1, flip);
  CHANGE(DETERMINISM, determinism, 2, text);
  CHANGE(DETERMINISM, determinism, 3, text);
#undef DETERMINISM
#define ISOLATION a, b, c, d, e, f, g, h, i, j, k, l, m
  CHANGE(ISOLATION, isolation, 0, requirement);
  CHANGE(ISOLATION, isolation, 1, requirement);
  CHANGE(ISOLATION, isolation, 2, requirement);
  CHANGE(ISOLATION, isolation, 3, requirement);
  CHANGE(ISOLATION, isolation, 4, requirement);
  CHANGE(ISOLATION, isolation, 5, requirement);
  CHANGE(ISOLATION, isolation, 6, requirement);
  CHANGE(ISOLATION, isolation, 7, requirement);
  CHANGE(ISOLATION, isolation, 8, requirement);
  CHANGE(ISOLATION, isolation, 9, requirement);
  CHANGE(ISOLATION, isolation, 10, requirement);
  CHANGE(ISOLATION, isolation, 11, [](auto& v) { v = MemoryRequirement::kEnforced; });
  CHANGE(ISOLATION, isolation, 12, texts);
#undef ISOLATION
#undef CHANGE
  add([](Policy& p) {
    auto& [name, limits, session, artifacts, files, languages, python, determinism, isolation, keep_processes, environment, redact] = p;
    (void)std::tie(limits, session, artifacts, files, languages, python, determinism, isolation, keep_processes, environment, redact);
    name += "x";
  });
  add([](Policy& p) { p.keep_processes = true; });
  add([](Policy& p) { p.environment.emplace_back("A", "B"); });
  add([](Policy& p) { p.redact.push_back("word"); });
  return changes;
}

TEST(DiffPoliciesTest, SeesAChangeOfEveryField) {
  std::vector<std::function<void(Policy&)>> changes = ChangesOfEveryField();
  // One key each, but for those without a field: extends and network.
  EXPECT_EQ(changes.size(), Schema().size() - 2);
  std::string seen;
  for (const auto& change : changes) {
    Policy changed;
    change(changed);
    EXPECT_FALSE(changed == Policy{});
    std::string line = DiffPolicies(Policy{}, changed);
    EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1) << line;
    std::string key = line.substr(0, line.find(':') + 1);
    EXPECT_THAT(seen, ::testing::Not(HasSubstr("\n" + key)));
    absl::StrAppend(&seen, "\n", key);
  }
}

TEST(PrintPolicyTest, PrintsAPolicyThatWasNeverChecked) {
  Policy policy;
  policy.name = std::string("\0\xFF\x1b", 3);
  policy.limits.wall = absl::InfiniteDuration();
  policy.limits.memory_bytes = -1;
  policy.isolation.landlock = static_cast<Requirement>(9);
  std::string text = PrintPolicy(policy);
  EXPECT_THAT(text, HasSubstr("name: \"\\u0000\\uFFFD\\u001B\"\n"));
  EXPECT_THAT(text, HasSubstr("  wall: inf\n"));
  EXPECT_THAT(text, HasSubstr("  memory: -1\n"));
  EXPECT_THAT(text, HasSubstr("  landlock: invalid(9)\n"));
}

}  // namespace
}  // namespace cellblock::policy
