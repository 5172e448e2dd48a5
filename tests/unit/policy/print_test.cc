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
#include "policy/network_parts.h"
#include "policy/schema.h"
#include "policy/value.h"

namespace cellblock::policy {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(PrintPolicyTest, PrintsEveryKeyOnceUnderItsGroup) {
  std::string text = PrintPolicy(Policy{});
  EXPECT_THAT(text, StartsWith("name: default\nlimits:\n  wall: 2min\n  wall_grace: 2s\n  cpu: none\n  cpus: 1\n  cpu_weight: 100\n  memory: 2GiB\n"));
  EXPECT_THAT(text, HasSubstr("artifacts:\n  include:\n    - \"**\"\n  exclude:\n    - \".*\"\n"));
  EXPECT_THAT(text, HasSubstr("files:\n  root: none\n  mounts: []\n"));
  EXPECT_THAT(text, HasSubstr("environment: {}\nredact: []\nnetwork: off\nkeep_processes: false\n"));
  for (const Key& key : Schema()) {
    if (key.path == "extends" || GroupOf(key.path) == "network") continue;
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

TEST(PrintPolicyTest, PrintsANetworkThatIsOnKeyByKey) {
  Policy policy;
  policy.network.allow.resize(2);
  policy.network.allow[0].host = "api.example.com";
  policy.network.allow[0].ports = {443};
  policy.network.allow[1] = {"*.example.com", {80, 443}, NetworkProtocol::kTls, {"GET"}, {"/v1/"}, {"10.0.0.0/8"}, "/etc/ssl/internal.pem"};
  policy.network.secrets = {{"API_KEY", "api.example.com", 443, "Authorization", "", "Bearer {secret}", "file:/etc/cellblock/api.key"}};
  policy.network.packages = {"https://index.example.com/simple/", {"wheels.example.com"}, {}, ""};
  policy.network.rate_bytes = 1 << 20;
  EXPECT_THAT(PrintPolicy(policy),
              HasSubstr("redact: []\nnetwork:\n  allow:\n    - {host: api.example.com, ports: [443]}\n"
                        "    - {host: \"*.example.com\", protocol: tls, methods: [GET], paths: [/v1/], addresses: [\"10.0.0.0/8\"], authorities: "
                        "/etc/ssl/internal.pem}\n"
                        "  secrets:\n    - {name: API_KEY, host: api.example.com, header: Authorization, format: \"Bearer {secret}\", source: "
                        "\"file:/etc/cellblock/api.key\"}\n"
                        "  packages: {url: \"https://index.example.com/simple/\", hosts: [wheels.example.com]}\n"
                        "  call_bytes: 1GiB\n  rate: 1MiB\n  connections: 64\n  requests: 10000\n  idle: 5min\nkeep_processes: false\n"));
  policy.network = Network{};
  policy.network.connections = 7;
  EXPECT_THAT(PrintPolicy(policy), HasSubstr("network:\n  allow: []\n  secrets: []\n  packages: none\n  call_bytes: 1GiB\n  rate: none\n  connections: 7\n"));
}

TEST(DiffPoliciesTest, ShowsWhatTheNetworkLetsThrough) {
  Policy other;
  other.network.allow = {NetworkRule{}};
  other.network.allow[0].host = "api.example.com";
  other.network.packages.url = "https://index.example.com/simple/";
  EXPECT_EQ(DiffPolicies(Policy{}, other),
            "network.allow: [] → [{host: api.example.com}]\nnetwork.packages: none → {url: \"https://index.example.com/simple/\"}\n");
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
#define LIMITS a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, q, r
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
  CHANGE(LIMITS, limits, 16, next);
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
#define NETWORK a, b, c, d, e, f, g, h
  CHANGE(NETWORK, network, 0, [](auto& v) { v.emplace_back(); });
  CHANGE(NETWORK, network, 1, [](auto& v) { v.emplace_back(); });
  CHANGE(NETWORK, network, 2, [](auto& v) { v.url = "https://index.example.com/"; });
  CHANGE(NETWORK, network, 3, next);
  CHANGE(NETWORK, network, 4, [](auto& v) { v = 5; });
  CHANGE(NETWORK, network, 5, next);
  CHANGE(NETWORK, network, 6, next);
  CHANGE(NETWORK, network, 7, longer);
#undef NETWORK
#undef CHANGE
  add([](Policy& p) {
    auto& [name, limits, session, artifacts, files, languages, python, determinism, isolation, network, keep_processes, environment, redact] = p;
    (void)std::tie(limits, session, artifacts, files, languages, python, determinism, isolation, network, keep_processes, environment, redact);
    name += "x";
  });
  add([](Policy& p) { p.keep_processes = true; });
  add([](Policy& p) { p.environment.emplace_back("A", "B"); });
  add([](Policy& p) { p.redact.push_back("word"); });
  return changes;
}

TEST(DiffPoliciesTest, SeesAChangeOfEveryField) {
  std::vector<std::function<void(Policy&)>> changes = ChangesOfEveryField();
  // One key each, but for extends, which has no field.
  EXPECT_EQ(changes.size(), Schema().size() - 1);
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

// One change per field of an item, by the same means.
template <typename Item>
void ExpectSeen(const std::vector<std::function<void(Item&)>>& changes) {
  EXPECT_EQ(changes.size(), PartsOf<Item>().size());
  std::vector<std::string> seen = {ItemText(Item{})};
  for (const auto& change : changes) {
    Item item;
    change(item);
    EXPECT_FALSE(item == Item{});
    seen.push_back(ItemText(item));
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end());
}

TEST(ItemTextTest, SeesAChangeOfEveryField) {
  {
    auto [a, b, c, d, e, f, g] = NetworkRule{};  // stops compiling when there is another
    (void)std::tie(a, b, c, d, e, f, g);
  }
  ExpectSeen<NetworkRule>({[](auto& r) { r.host = "x"; }, [](auto& r) { r.ports = {1}; }, [](auto& r) { r.protocol = NetworkProtocol::kTls; },
                           [](auto& r) { r.methods = {"x"}; }, [](auto& r) { r.paths = {"x"}; }, [](auto& r) { r.addresses = {"x"}; },
                           [](auto& r) { r.authorities = "x"; }});
  {
    auto [a, b, c, d, e, f, g] = NetworkSecret{};
    (void)std::tie(a, b, c, d, e, f, g);
  }
  ExpectSeen<NetworkSecret>({[](auto& s) { s.name = "x"; }, [](auto& s) { s.host = "x"; }, [](auto& s) { s.port = 1; },
                             [](auto& s) { s.header = "x"; }, [](auto& s) { s.query = "x"; }, [](auto& s) { s.format = "x"; },
                             [](auto& s) { s.source = "x"; }});
  {
    auto [a, b, c, d] = PackageIndex{};
    (void)std::tie(a, b, c, d);
  }
  ExpectSeen<PackageIndex>({[](auto& p) { p.url = "x"; }, [](auto& p) { p.hosts = {"x"}; }, [](auto& p) { p.addresses = {"x"}; },
                            [](auto& p) { p.authorities = "x"; }});
}

TEST(PrintPolicyTest, PrintsAPolicyThatWasNeverChecked) {
  Policy policy;
  policy.name = std::string("\0\xFF\x1b", 3);
  policy.limits.wall = absl::InfiniteDuration();
  policy.limits.memory_bytes = -1;
  policy.isolation.landlock = static_cast<Requirement>(9);
  policy.network.allow = {NetworkRule{"\x1b", {-1}, static_cast<NetworkProtocol>(9), {}, {}, {}, ""}};
  std::string text = PrintPolicy(policy);
  EXPECT_THAT(text, HasSubstr("name: \"\\u0000\\uFFFD\\u001B\"\n"));
  EXPECT_THAT(text, HasSubstr("  wall: inf\n"));
  EXPECT_THAT(text, HasSubstr("  memory: -1\n"));
  EXPECT_THAT(text, HasSubstr("  landlock: invalid(9)\n"));
  EXPECT_THAT(text, HasSubstr("- {host: \"\\u001B\", ports: [-1], protocol: invalid(9)}\n"));
}

}  // namespace
}  // namespace cellblock::policy
