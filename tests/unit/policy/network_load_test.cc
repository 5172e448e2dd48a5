// The network part of policy files: what is read, and refusals with position, key and advice, word for word. What single values may be:
// network_rules_test.cc; how they go together: network_validate_test.cc.
#include <ostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "policy/load/load.h"
#include "tests/support/status_matchers.h"

namespace cellblock::policy {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(LoadNetworkTest, ReadsEveryKey) {
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(LoadedPolicy loaded, LoadPolicyText(R"(network:
  allow:
    - host: api.example.com
      ports: [443, 8443]
      protocol: tls
      methods: [GET, POST]
      paths: [/v1/]
      addresses: [10.0.0.7]
      authorities: /etc/ssl/internal.pem
    - "*.example.org"
    - plain.example.net
  secrets:
    - name: OPENAI_API_KEY
      host: api.example.com
      port: 8443
      header: Authorization
      format: "Bearer {secret}"
      source: file:/etc/cellblock/openai.key
    - {name: OTHER, host: a.example.org, query: key, source: env:KEY}
  packages:
    url: https://index.example.com/simple/
    hosts: [wheels.example.com]
    addresses: []
    authorities: /etc/ssl/internal.pem
  call_bytes: 2GiB
  rate: 10MiB
  connections: 7
  requests: 8
  idle: 90s
)",
                                                                     "p.yaml", ""));
  Network network;
  network.allow = {{"api.example.com", {443, 8443}, NetworkProtocol::kTls, {"GET", "POST"}, {"/v1/"}, {"10.0.0.7"}, "/etc/ssl/internal.pem"},
                   {"*.example.org", {80, 443}, NetworkProtocol::kAny, {}, {}, {}, ""},
                   {"plain.example.net", {80, 443}, NetworkProtocol::kAny, {}, {}, {}, ""}};
  network.secrets = {{"OPENAI_API_KEY", "api.example.com", 8443, "Authorization", "", "Bearer {secret}", "file:/etc/cellblock/openai.key"},
                     {"OTHER", "a.example.org", 443, "", "key", "{secret}", "env:KEY"}};
  network.packages = {"https://index.example.com/simple/", {"wheels.example.com"}, {}, "/etc/ssl/internal.pem"};
  network.call_bytes = int64_t{2} << 30;
  network.rate_bytes = 10 << 20;
  network.connections = 7;
  network.requests = 8;
  network.idle = absl::Seconds(90);
  EXPECT_TRUE(loaded.policy.network == network);
  EXPECT_EQ(TextAt("", loaded.origins.at("network.allow[1]").position, ""), ":10:7: ");
  EXPECT_EQ(TextAt("", loaded.origins.at("network.secrets[1]").position, ""), ":19:7: ");
  EXPECT_EQ(TextAt("", loaded.origins.at("network.packages").position, ""), ":21:5: ");
}

TEST(LoadNetworkTest, IsOffByDefaultAndByWord) {
  for (const char* text : {"name: a\n", "network: off\n", "network: \"off\"\n", "network: {}\n", "network: {allow: [], packages: none, rate: none}\n"}) {
    CELLBLOCK_ASSERT_OK_AND_ASSIGN(LoadedPolicy loaded, LoadPolicyText(text, "p.yaml", ""));
    EXPECT_TRUE(loaded.policy.network == Network{}) << text;
    EXPECT_FALSE(loaded.policy.network.is_on()) << text;
  }
}

struct Refusal {
  const char* text;
  const char* message;
};

void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.text; }

class NetworkRefusalTest : public ::testing::TestWithParam<Refusal> {};

TEST_P(NetworkRefusalTest, NamesPositionKeyAndAdvice) {
  EXPECT_THAT(LoadPolicyText(GetParam().text, "p.yaml", ""), StatusIs(absl::StatusCode::kInvalidArgument, std::string(GetParam().message)));
}

INSTANTIATE_TEST_SUITE_P(
    Words, NetworkRefusalTest,
    ::testing::Values(
        Refusal{"network: on\n", "p.yaml:1:10: network: \"on\" does not say what for; write network: {allow: [api.example.com]}"},
        Refusal{"network: true\n", "p.yaml:1:10: network: \"true\" does not say what for; write network: {allow: [api.example.com]}"},
        Refusal{"network: false\n", "p.yaml:1:10: network: \"false\" is another word for it; write off"},
        Refusal{"network: none\n", "p.yaml:1:10: network: \"none\" is another word for it; write off"},
        Refusal{"network:\n",
                "p.yaml:1:1: network: takes keys below it (allow, secrets, packages, call_bytes, rate, connections, requests, idle) or is off, not "
                "nothing; write one, or remove the line"},
        Refusal{"network: [api.example.com]\n",
                "p.yaml:1:10: network: takes keys below it (allow, secrets, packages, call_bytes, rate, connections, requests, idle) or is off, not a "
                "list"},
        Refusal{"network: api.example.com\n",
                "p.yaml:1:10: network: takes keys below it (allow, secrets, packages, call_bytes, rate, connections, requests, idle) or is off, not one "
                "text"}));

INSTANTIATE_TEST_SUITE_P(
    UnknownKeys, NetworkRefusalTest,
    ::testing::Values(
        Refusal{"network: {alow: [a.com]}\n", "p.yaml:1:11: unknown key \"alow\" in network; did you mean network.allow?"},
        Refusal{"network: {domains: [a.com]}\n", "p.yaml:1:11: unknown key \"domains\" in network; did you mean network.allow?"},
        Refusal{"network: {hosts: [a.com]}\n", "p.yaml:1:11: unknown key \"hosts\" in network; did you mean network.allow?"},
        Refusal{"network: {allowlist: [a.com]}\n", "p.yaml:1:11: unknown key \"allowlist\" in network; did you mean network.allow?"},
        Refusal{"network: {whitelist: [a.com]}\n", "p.yaml:1:11: unknown key \"whitelist\" in network; did you mean network.allow?"},
        Refusal{"network: {key: x}\n", "p.yaml:1:11: unknown key \"key\" in network; did you mean network.secrets?"},
        Refusal{"network: {pip: x}\n", "p.yaml:1:11: unknown key \"pip\" in network; did you mean network.packages?"},
        Refusal{"network: {bandwidth: 1MiB}\n", "p.yaml:1:11: unknown key \"bandwidth\" in network; did you mean network.rate?"},
        Refusal{"network: {timeout: 1s}\n", "p.yaml:1:11: unknown key \"timeout\" in network; did you mean limits.wall?"},
        Refusal{"secrets: [word]\n", "p.yaml:1:1: unknown key \"secrets\"; did you mean network.secrets?"},
        Refusal{"mask: [word]\n", "p.yaml:1:1: unknown key \"mask\"; did you mean redact?"},
        Refusal{"packages: [numpy]\n", "p.yaml:1:1: unknown key \"packages\"; did you mean network.packages?"},
        Refusal{"internet: off\n", "p.yaml:1:1: unknown key \"internet\"; did you mean network?"},
        Refusal{"network: {allow: [{hots: a.com}]}\n", "p.yaml:1:20: network.allow[0]: unknown key \"hots\" of a rule; did you mean host?"},
        Refusal{"network: {allow: [a.com, {host: b.com, port: 443}]}\n",
                "p.yaml:1:40: network.allow[1]: unknown key \"port\" of a rule; did you mean ports?"},
        Refusal{"network: {allow: [{domain: a.com}]}\n", "p.yaml:1:20: network.allow[0]: unknown key \"domain\" of a rule; did you mean host?"},
        Refusal{"network: {allow: [{host: a.com, xyzzy: 1}]}\n",
                "p.yaml:1:33: network.allow[0]: unknown key \"xyzzy\" of a rule; a rule has host, ports, protocol, methods, paths, addresses, authorities"},
        Refusal{"network: {secrets: [{name: A, host: a.com, value: x}]}\n",
                "p.yaml:1:44: network.secrets[0]: unknown key \"value\" of a secret; did you mean source?"},
        Refusal{"network: {packages: {index_url: x}}\n",
                "p.yaml:1:22: network.packages: unknown key \"index_url\" of a package index; did you mean url?"}));

INSTANTIATE_TEST_SUITE_P(
    Types, NetworkRefusalTest,
    ::testing::Values(
        Refusal{"network: {allow: a.com}\n",
                "p.yaml:1:18: network.allow: takes a list of rules such as [{host: api.example.com, ports: [443]}] (at most 64 items), not one text"},
        Refusal{"network:\n  allow:\n",
                "p.yaml:2:3: network.allow: has no value; write a list of rules such as [{host: api.example.com, ports: [443]}] (at most 64 items), or "
                "remove the line to keep the default"},
        Refusal{"network: {allow: [[a.com]]}\n", "p.yaml:1:19: network.allow[0]: a rule has keys of its own, not a list"},
        Refusal{"network: {secrets: [KEY]}\n", "p.yaml:1:21: network.secrets[0]: a secret has keys of its own, not one text"},
        Refusal{"network: {packages: https://index.example.com/simple/}\n",
                "p.yaml:1:21: network.packages: takes an index such as {url: \"https://index.example.com/simple/\", hosts: [wheels.example.com]}, or none, "
                "not one text"},
        Refusal{"network: {packages: [pypi]}\n",
                "p.yaml:1:21: network.packages: takes an index such as {url: \"https://index.example.com/simple/\", hosts: [wheels.example.com]}, or none, "
                "not a list"},
        Refusal{"network: {allow: [{host: [a.com]}]}\n",
                "p.yaml:1:26: network.allow[0].host: takes a name such as api.example.com or \"*.example.com\", not a list"},
        Refusal{"network: {allow: [{host: a.com, ports: 443}]}\n",
                "p.yaml:1:40: network.allow[0].ports: takes a list such as [80, 443], not one text"},
        Refusal{"network: {allow: [{host: a.com, ports: [[443]]}]}\n", "p.yaml:1:41: network.allow[0].ports: each item is one text, not a list"},
        Refusal{"network: {allow: [{host: a.com, ports: [80, \"443\"]}]}\n",
                "p.yaml:1:45: network.allow[0].ports: \"443\" is in quotes, which makes it a text; write the number without"},
        Refusal{"network: {allow: [{host: a.com, ports: [https]}]}\n",
                "p.yaml:1:41: network.allow[0].ports: \"https\" is not a whole number such as 128"},
        Refusal{"network: {allow: [{host: a.com, ports: [99999999999999999999]}]}\n",
                "p.yaml:1:41: network.allow[0].ports: \"99999999999999999999\" is more than 64 bits can count, 18446744073709551615"},
        Refusal{"network: {allow: [{host: a.com, protocol: https}]}\n",
                "p.yaml:1:43: network.allow[0].protocol: \"https\" is not one of any, http, tls; write tls"},
        Refusal{"network: {allow: [{host: a.com, protocol: ssh}]}\n",
                "p.yaml:1:43: network.allow[0].protocol: \"ssh\" is not one of any, http, tls"},
        Refusal{"network: {allow: [{host: a.com, methods: GET}]}\n",
                "p.yaml:1:42: network.allow[0].methods: takes a list such as [GET, POST], not one text"},
        Refusal{"network: {rate: fast}\n", "p.yaml:1:17: network.rate: \"fast\" does not start with a number; write a size such as 512MiB"},
        Refusal{"network: {rate: [1]}\n", "p.yaml:1:17: network.rate: takes a size such as 512MiB (1KiB – 16GiB or none), not a list"},
        Refusal{"network: {idle: 60}\n", "p.yaml:1:17: network.idle: \"60\" has no unit; write 60s for seconds"}));

INSTANTIATE_TEST_SUITE_P(
    Values, NetworkRefusalTest,
    ::testing::Values(
        Refusal{"network:\n  allow:\n    - fine.com\n    - 127.0.0.1\n",
                "p.yaml:4:7: network.allow[1].host: \"127.0.0.1\" is an IP address; write the host's name"},
        Refusal{"network: {allow: [API.example.com]}\n",
                "p.yaml:1:19: network.allow[0].host: \"API.example.com\" is in another spelling than rules have; write api.example.com"},
        Refusal{"network: {allow: [https://a.com/]}\n",
                "p.yaml:1:19: network.allow[0].host: \"https://a.com/\" holds a \":\"; write the host alone, without scheme and port"},
        Refusal{"network: {allow: [\"*\"]}\n",
                "p.yaml:1:19: network.allow[0].host: \"*\" holds a \"*\"; in a rule it stands first, with a name behind it, as in *.example.com"},
        Refusal{"network: {allow: [{ports: [443]}]}\n",
                "p.yaml:1:19: network.allow[0]: has no host; write host: and a name such as api.example.com or \"*.example.com\""},
        Refusal{"network: {allow: [{host: a.com, ports: []}]}\n",
                "p.yaml:1:40: network.allow[0].ports: is empty, so that nothing could be reached; write a port, or leave it out for [80, 443]"},
        Refusal{"network:\n  allow:\n    - host: a.com\n      ports: [443, 70000]\n",
                "p.yaml:4:20: network.allow[0].ports: 70000 is not a port of 1 – 65535"},
        Refusal{"network: {allow: [{host: a.com, ports: [443, 443]}]}\n", "p.yaml:1:40: network.allow[0].ports: 443 is listed twice"},
        Refusal{"network: {allow: [{host: a.com, methods: [GET, post]}]}\n",
                "p.yaml:1:48: network.allow[0].methods: \"post\" is not in capitals; write POST"},
        Refusal{"network: {allow: [{host: a.com, methods: []}]}\n",
                "p.yaml:1:42: network.allow[0].methods: is empty, which reads as none and would be any; leave it out for any"},
        Refusal{"network: {allow: [{host: a.com, paths: []}]}\n",
                "p.yaml:1:40: network.allow[0].paths: is empty, which reads as none and would be any; leave it out for any"},
        Refusal{"network: {allow: [{host: a.com, authorities: ''}]}\n",
                "p.yaml:1:46: network.allow[0].authorities: \"\" is not an absolute path such as /srv/data"},
        Refusal{"network: {allow: [{host: a.com, addresses: [169.254.169.254]}]}\n",
                "p.yaml:1:45: network.allow[0].addresses: \"169.254.169.254\" touches 169.254.0.0/16 (link-local), which no policy can open"},
        Refusal{"network: {allow: [{host: a.com, addresses: [10.0.0.7, 10.1.0.0/16]}]}\n",
                "p.yaml:1:19: network.allow[0].addresses: holds both single addresses, for which no DNS is asked, and ranges, which its answers are "
                "held against; write the one or the other"},
        Refusal{"network: {packages: {hosts: [a.com]}}\n",
                "p.yaml:1:21: network.packages: has no url; write url: and a URL such as https://index.example.com/simple/"},
        Refusal{"network: {packages: {}}\n",
                "p.yaml:1:21: network.packages: has no url; write url: and a URL such as https://index.example.com/simple/"},
        Refusal{"network: {packages: {url: http://index.example.com/simple/}}\n",
                "p.yaml:1:21: network.packages.url: is http://, over which anybody on the way could change a package; write https://, or loopback "
                "addresses for an index on this machine"},
        Refusal{"network: {secrets: [{host: a.com, header: X, source: env:A}]}\n",
                "p.yaml:1:21: network.secrets[0]: has no name; write name: and a variable's name such as API_KEY"},
        Refusal{"network: {secrets: [{name: A, host: a.com, header: X}]}\n",
                "p.yaml:1:21: network.secrets[0]: has no source; write source: and a place such as \"file:/etc/cellblock/api.key\""},
        Refusal{"network: {secrets: [{name: A, host: a.com, source: env:A}]}\n",
                "p.yaml:1:21: network.secrets[0]: needs the header or the query parameter that the value goes into; write header: Authorization"}));

INSTANTIATE_TEST_SUITE_P(
    Combinations, NetworkRefusalTest,
    ::testing::Values(
        Refusal{"network:\n  allow: [a.com]\n  secrets:\n    - {name: A, host: a.com, header: X, source: env:A}\n    - {name: A, host: a.com, header: Y, "
                "source: env:A}\n",
                "p.yaml:5:7: network.secrets[1].name: A is the name of network.secrets[0] too; choose another"},
        Refusal{"network:\n  secrets:\n    - {name: A, host: a.com, header: X, source: env:A}\n",
                "p.yaml:3:7: network.secrets[0]: no rule allows a.com:443; add {host: a.com, ports: [443]} to network.allow"},
        Refusal{"network: {allow: [a.com]}\nisolation: {network_namespace: off}\n",
                "p.yaml:2:32: isolation.network_namespace: is off, so that code would have the host's whole network instead of what network allows; "
                "write required"}));

// Somebody may write the value itself where its place belongs, or a password into the URL.
TEST(LoadNetworkTest, NeverShowsWhatMayBeASecret) {
  for (const char* part : {"secrets: [{name: A, host: a.com, header: X, source: sk-very-secret}]", "packages: {url: \"https://user:very-secret@a.com/\"}"}) {
    absl::Status status = LoadPolicyText(absl::StrCat("network: {", part, "}\n"), "p.yaml", "").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), Not(HasSubstr("very-secret")));
  }
}

TEST(LoadNetworkTest, CountsEveryProblemOfAnItem) {
  EXPECT_THAT(LoadPolicyText("network: {allow: [{host: a b, ports: [0, 53], xyzzy: 1}, [x]]}\n", "p.yaml", ""),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("p.yaml:1:26: network.allow[0].host: \"a b\" holds white space (4 more problems")));
}

}  // namespace
}  // namespace cellblock::policy
