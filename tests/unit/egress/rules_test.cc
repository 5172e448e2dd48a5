// What a policy's network part lets through, and what it says where it does not.
#include "egress/rules.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace cellblock::egress {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

RuleSet MakeOf(const Network& network) {
  absl::StatusOr<RuleSet> rules = RuleSet::Create(network);
  EXPECT_THAT(rules, IsOk());
  return rules.ok() ? *std::move(rules) : RuleSet();
}

RuleSet Make(std::vector<NetworkRule> allow) { return MakeOf(Network{.allow = std::move(allow)}); }

policy::Address Ip(absl::string_view text) { return *policy::Address::Parse(text); }

struct NameCase {
  absl::string_view host;
  const char* rule;   // "": refused
};

TEST(LookupTest, FollowsTheFirstRuleOfTheNameOnLabelBoundaries) {
  const RuleSet rules = Make({{.host = "api.example.com"}, {.host = "*.example.org"}, {.host = "*.b.example.org"}, {.host = "API.example.com"}});
  const NameCase cases[] = {
      {"api.example.com", "network.allow[0]: api.example.com"}, {"a.example.org", "network.allow[1]: *.example.org"}, {"a.b.example.org", "network.allow[1]: *.example.org"},
      {"example.org", ""}, {"badexample.org", ""}, {"a.example.org.evil.example", ""}, {"x.api.example.com", ""}, {"example.com", ""}, {"com", ""}, {"api.example.co", ""},
  };
  for (const NameCase& one : cases) {
    const Verdict verdict = rules.ForLookup(one.host);
    EXPECT_EQ(verdict.allowed, *one.rule != '\0') << one.host;
    EXPECT_EQ(verdict.reason.empty(), verdict.allowed) << one.host;
    EXPECT_EQ(verdict.rule, verdict.allowed ? one.rule : "network.allow");
  }
}

TEST(LookupTest, ARefusalListsWhatIsAllowed) {
  const Verdict verdict = Make({{.host = "api.example.com"}, {.host = "*.example.org"}}).ForLookup("evil.example");
  EXPECT_EQ(verdict.rule, "network.allow");
  EXPECT_EQ(verdict.reason, "\"evil.example\" is not among the hosts of network.allow (api.example.com, *.example.org)");
  EXPECT_THAT(Make({{.host = "*.example.org"}}).ForLookup("example.org").reason, HasSubstr("\"*.example.org\" stands for the names below it, not for itself"));
}

TEST(LookupTest, ARefusalListsEightNamesAtMost) {
  std::vector<NetworkRule> allow;
  for (int i = 0; i < 8; ++i) allow.push_back({.host = absl::StrCat("h", i, ".example")});
  allow.push_back({.host = "h0.example", .ports = {8080}});   // no ninth name
  EXPECT_THAT(Make(allow).ForLookup("x.example").reason, HasSubstr("h6.example, h7.example)"));
  allow.push_back({.host = "h8.example"});
  EXPECT_THAT(Make(allow).ForLookup("x.example").reason, HasSubstr("h6.example, h7.example, …)"));
}

TEST(LookupTest, WithoutANetworkEverythingIsRefusedAndSaysSo) {
  const RuleSet rules = MakeOf(Network{});
  for (const Verdict& verdict : {rules.ForLookup("index.example.com"), rules.ForConnection("index.example.com", 443), rules.ForRequest("index.example.com", 443, Scheme::kTls, "GET", "/"),
                                 rules.ForAddress("index.example.com", 443, Ip("8.8.8.8"))}) {
    EXPECT_FALSE(verdict.allowed);
    EXPECT_EQ(verdict.rule, "network: off");
    EXPECT_EQ(verdict.reason, "\"index.example.com\" cannot be reached: this session has no network (network: off)");
  }
  EXPECT_THAT(rules.Ports(), IsEmpty());
  EXPECT_THAT(rules.InspectedHosts(), IsEmpty());
}

TEST(ConnectionTest, NeedsTheHostAndThePortInOneRule) {
  const RuleSet rules = Make({{.host = "api.example.com", .ports = {443}}, {.host = "db.example.com", .ports = {5432}}, {.host = "*.example.com", .ports = {80, 8080}}});
  EXPECT_EQ(rules.ForConnection("api.example.com", 443).rule, "network.allow[0]: api.example.com");
  EXPECT_EQ(rules.ForConnection("api.example.com", 8080).rule, "network.allow[2]: *.example.com") << "all rules of a name count";
  EXPECT_FALSE(rules.ForConnection("db.example.com", 443).allowed) << "another host's port";
  const Verdict refused = rules.ForConnection("db.example.com", 22);
  EXPECT_EQ(refused.rule, "network.allow");
  EXPECT_EQ(refused.reason, "port 22 of db.example.com is not in network.allow[1] (port 5432) or network.allow[2] (ports 80, 8080)");
  EXPECT_EQ(rules.ForConnection("www.example.com", 81).rule, "network.allow[2]: *.example.com");
  EXPECT_THAT(rules.ForConnection("evil.example", 443).reason, HasSubstr("not among the hosts"));
}

struct HandlingCase {
  NetworkRule rule;
  uint16_t port;
  const char* admits;   // of "h" HTTP, "t" TLS, "r" raw, "i" inspected
};

std::string Letters(const Handling& handling) { return absl::StrCat(handling.may_http ? "h" : "", handling.may_tls ? "t" : "", handling.may_raw ? "r" : "", handling.inspect_tls ? "i" : ""); }

TEST(HandlingTest, FollowsPortProtocolMethodsAndPaths) {
  using enum NetworkProtocol;
  const HandlingCase cases[] = {
      {{.host = "a.example"}, 80, "h"},
      {{.host = "a.example"}, 443, "t"},
      {{.host = "a.example", .ports = {8080}}, 8080, "htr"},
      {{.host = "a.example", .ports = {8080}, .protocol = kHttp}, 8080, "h"},
      {{.host = "a.example", .ports = {8080}, .protocol = kTls}, 8080, "t"},
      {{.host = "a.example", .protocol = kHttp}, 443, "h"},
      {{.host = "a.example", .protocol = kTls}, 80, "t"},
      {{.host = "a.example", .methods = {"GET"}}, 443, "ti"},
      {{.host = "a.example", .paths = {"/v1"}}, 443, "ti"},
      {{.host = "a.example", .methods = {"GET"}}, 80, "h"},
      {{.host = "a.example", .ports = {8080}, .methods = {"GET"}}, 8080, "hti"},   // other bytes would go around it
      {{.host = "a.example", .ports = {8080}, .protocol = kHttp, .methods = {"GET"}}, 8080, "h"},
      {{.host = "a.example"}, 8080, ""},
      {{.host = "b.example"}, 443, ""},
  };
  for (const HandlingCase& one : cases) EXPECT_EQ(Letters(Make({one.rule}).HandlingOf("a.example", one.port)), one.admits) << one.port << " " << one.admits;
}

TEST(HandlingTest, AnotherRuleThatLetsAllThroughLeavesTlsClosed) {
  const NetworkRule restricted{.host = "a.example", .ports = {443, 8443}, .paths = {"/v1"}};
  EXPECT_EQ(Letters(Make({restricted, {.host = "*.example"}}).HandlingOf("a.example", 443)), "t");
  EXPECT_EQ(Letters(Make({restricted, {.host = "*.example"}}).HandlingOf("a.example", 8443)), "hti") << "the other rule is not of this port";
  EXPECT_EQ(Letters(Make({restricted, {.host = "*.example", .methods = {"GET"}}}).HandlingOf("a.example", 443)), "ti");
  EXPECT_EQ(Letters(Make({restricted, {.host = "*.example", .ports = {8443}, .protocol = NetworkProtocol::kHttp}}).HandlingOf("a.example", 8443)), "hti") << "nor of TLS";
}

TEST(HandlingTest, ASecretOpensTlsOfItsHostOnEveryPortAndLeavesNothingUnread) {
  const RuleSet rules = MakeOf(Network{.allow = {{.host = "*.example", .ports = {80, 443, 8443}}}, .secrets = {{.name = "KEY", .host = "API.example", .port = 443}, {.name = "OLD", .host = "old.example", .port = 80}}});
  EXPECT_EQ(Letters(rules.HandlingOf("api.example", 443)), "ti");
  EXPECT_EQ(Letters(rules.HandlingOf("api.example", 8443)), "hti");
  EXPECT_EQ(Letters(rules.HandlingOf("www.example", 443)), "t");
  EXPECT_EQ(Letters(rules.HandlingOf("old.example", 80)), "h");
  EXPECT_THAT(rules.InspectedHosts(), ElementsAre("api.example", "old.example"));
}

struct RequestCase {
  absl::string_view host, method, path;
  bool allowed;
};

TEST(RequestTest, IsAllowedByAnyOneRuleThatFitsItWhole) {
  const RuleSet rules = Make({{.host = "a.example", .methods = {"get", "HEAD"}}, {.host = "a.example", .methods = {"POST"}, .paths = {"/v1", "/upload/"}}, {.host = "*.b.example", .paths = {"/public"}}, {.host = "c.example"}});
  const RequestCase cases[] = {
      {"a.example", "GET", "/anything", true},     {"a.example", "GET", "/x/../y", true},       {"a.example", "POST", "/v1", true},           {"a.example", "POST", "/v1/x", true},
      {"a.example", "POST", "/v10", false},        {"a.example", "POST", "/upload", false},     {"a.example", "POST", "/upload/x", true},     {"a.example", "POST", "/v1/../x", false},
      {"a.example", "POST", "/v1/%2e%2e/x", false}, {"a.example", "POST", "/v1%2fx", false},    {"a.example", "POST", "//v1", false},         {"a.example", "DELETE", "/v1", false},
      {"a.example", "get", "/", false},            {"x.b.example", "DELETE", "/public/x", true}, {"x.b.example", "GET", "/", false},          {"x.b.example", "GET", "/public/..;/x", false},
      {"b.example", "GET", "/public", false},      {"c.example", "PURGE", "/a//b/%2f", true},   {"c.example", "TRACE", "/", false},           {"c.example", "trace", "/", false},
      {"c.example", "TRACK", "/", false},          {"c.example", "CONNECT", "/", false},        {"c.example", "Connect", "/", false},         {"c.example", "OPTIONS", "*", true},
      {"x.b.example", "OPTIONS", "*", false},
  };
  for (const RequestCase& one : cases) {
    const Verdict verdict = rules.ForRequest(one.host, 443, Scheme::kTls, one.method, one.path);
    EXPECT_EQ(verdict.allowed, one.allowed) << one.host << " " << one.method << " " << one.path << ": " << verdict.reason;
    EXPECT_EQ(verdict.reason.empty(), one.allowed);
  }
}

TEST(RequestTest, ARefusalSaysWhichMethodsAndPathsThereAre) {
  const RuleSet rules = Make({{.host = "a.example", .methods = {"GET", "HEAD"}, .paths = {"/v1", "/v2"}}, {.host = "a.example", .methods = {"POST"}}});
  const Verdict verdict = rules.ForRequest("a.example", 443, Scheme::kTls, "DELETE", "/admin");
  EXPECT_EQ(verdict.rule, "network.allow");
  EXPECT_EQ(verdict.reason, "DELETE of \"/admin\" at a.example is not in network.allow[0] (methods GET, HEAD; paths /v1, /v2) or network.allow[1] (methods POST)");
  EXPECT_THAT(rules.ForRequest("a.example", 443, Scheme::kTls, "GET", "/admin").reason, HasSubstr("GET of \"/admin\" at a.example is not in"));
  EXPECT_EQ(rules.ForRequest("a.example", 443, Scheme::kTls, "GET", "/v1/../x").reason,
            "the path \"/v1/../x\" has a segment \".\" or \"..\", which servers read differently: network.allow[0] (methods GET, HEAD; paths /v1, /v2) takes none such");
  EXPECT_THAT(rules.ForRequest("a.example", 443, Scheme::kTls, "TRACE", "/").reason, HasSubstr("TRACE is refused everywhere"));
}

TEST(RequestTest, HostileTextComesOutEscapedAndCut) {
  const RuleSet rules = Make({{.host = "a.example", .paths = {"/v1"}}});
  const Verdict verdict = rules.ForRequest("a.example", 443, Scheme::kTls, "G\nT", absl::StrCat("/\x1b[2J", std::string(5000, 'x')));
  EXPECT_THAT(verdict.reason, HasSubstr("\"G\\nT\" of \"/\\x1b[2J"));
  EXPECT_LT(verdict.reason.size(), 300u);
}

TEST(RequestTest, TheSchemeMustBeOneOfThePort) {
  const RuleSet rules = Make({{.host = "a.example", .ports = {80, 443, 8080}, .methods = {"GET"}}, {.host = "raw.example", .ports = {5432, 9000}}, {.host = "raw.example", .ports = {9000}, .protocol = NetworkProtocol::kTls, .paths = {"/x"}}});
  EXPECT_TRUE(rules.ForRequest("a.example", 80, Scheme::kHttp, "GET", "/").allowed);
  EXPECT_EQ(rules.ForRequest("a.example", 443, Scheme::kHttp, "GET", "/").reason, "plain HTTP to a.example:443 is not in network.allow[0] (TLS alone: use https://)");
  EXPECT_EQ(rules.ForRequest("a.example", 80, Scheme::kTls, "GET", "/").reason, "TLS to a.example:80 is not in network.allow[0] (plain HTTP alone: use http://)");
  EXPECT_EQ(rules.ForRequest("a.example", 8080, Scheme::kRaw, "", "").reason,
            "a connection that is neither HTTP nor TLS to a.example:8080 is not in network.allow[0] (HTTP and TLS alone, since it names methods or paths)");
  EXPECT_EQ(rules.ForRequest("raw.example", 5432, Scheme::kRaw, "", "").rule, "network.allow[1]: raw.example");
  EXPECT_TRUE(rules.ForRequest("raw.example", 9000, Scheme::kHttp, "GET", "/y").allowed);
  EXPECT_FALSE(rules.ForRequest("raw.example", 22, Scheme::kRaw, "", "").allowed);
  EXPECT_TRUE(rules.ForRequest("a.example", 443, Scheme::kTls, "", "").allowed) << "without a method the question is of the scheme";
}

struct AddressCase {
  absl::string_view host, address;
  const char* reason;   // "": allowed
};

TEST(AddressTest, PublicOnesAndThoseOfTheRulesRangesAreConnectedTo) {
  const RuleSet rules = Make({{.host = "*.example", .ports = {443}}, {.host = "db.example", .ports = {443}, .addresses = {"10.0.0.0/8", "fd00::/8"}}, {.host = "fix.example", .ports = {443}, .addresses = {"10.0.0.7", "192.168.1.0/24"}},
                              {.host = "lo.example", .ports = {443}, .addresses = {"127.0.0.0/8"}}});
  const AddressCase cases[] = {
      {"www.example", "93.184.216.34", ""},
      {"www.example", "2606:4700::1111", ""},
      {"www.example", "10.0.0.7", "www.example leads to 10.0.0.7 (private), which is no public address and not in the addresses of network.allow[0]"},
      {"www.example", "127.0.0.1", "(loopback)"},
      {"www.example", "169.254.169.254", "which no policy can open"},
      {"www.example", "::1", "(loopback)"},
      {"www.example", "fd12::1", "(unique-local)"},
      {"www.example", "::ffff:10.0.0.1", "which no policy can open"},
      {"www.example", "198.18.0.1", "which no policy can open"},
      {"www.example", "0.0.0.0", "which no policy can open"},
      {"db.example", "10.200.0.1", ""},
      {"db.example", "fd12::1", ""},
      {"db.example", "93.184.216.34", ""},
      {"db.example", "192.168.0.1", "not in the addresses of network.allow[0] or network.allow[1]"},
      {"db.example", "169.254.0.1", "which no policy can open"},
      {"fix.example", "10.0.0.7", ""},
      {"fix.example", "10.0.0.8", "not among its fixed addresses (10.0.0.7)"},
      {"fix.example", "192.168.1.1", "not among its fixed addresses"},
      {"fix.example", "93.184.216.34", "not among its fixed addresses"},
      {"lo.example", "127.0.0.1", ""},
  };
  for (const AddressCase& one : cases) {
    const Verdict verdict = rules.ForAddress(one.host, 443, Ip(one.address));
    EXPECT_EQ(verdict.allowed, *one.reason == '\0') << one.host << " " << one.address << ": " << verdict.reason;
    EXPECT_THAT(verdict.reason, HasSubstr(one.reason));
  }
  EXPECT_EQ(rules.ForAddress("db.example", 443, Ip("10.0.0.1")).rule, "network.allow[1]: db.example");
  EXPECT_FALSE(rules.ForAddress("db.example", 80, Ip("10.0.0.1")).allowed) << "another port";
  EXPECT_FALSE(rules.ForAddress("x.test", 443, Ip("93.184.216.34")).allowed);
}

TEST(AddressTest, FixedOnesAreThoseOfAllRulesOfTheHostAndPort) {
  const RuleSet rules = Make({{.host = "*.example", .addresses = {"10.0.0.1", "10.1.0.0/16"}}, {.host = "a.example", .ports = {443}, .addresses = {"10.0.0.2/32", "10.0.0.1", "fd00::1"}}});
  EXPECT_THAT(rules.FixedAddresses("a.example", 443), ElementsAre(Ip("10.0.0.1"), Ip("10.0.0.2"), Ip("fd00::1")));
  EXPECT_THAT(rules.FixedAddresses("a.example", 80), ElementsAre(Ip("10.0.0.1")));
  EXPECT_THAT(rules.FixedAddresses("a.example", 81), IsEmpty());
  EXPECT_TRUE(rules.ForAddress("a.example", 443, Ip("10.0.0.2")).allowed);
  EXPECT_FALSE(rules.ForAddress("a.example", 80, Ip("10.0.0.2")).allowed);
}

TEST(RuleSetTest, TheAuthoritiesAreOfTheFirstRuleThatHasSome) {
  const RuleSet rules = Make({{.host = "a.example"}, {.host = "*.example", .authorities = "/etc/one.pem"}, {.host = "a.example", .authorities = "/etc/two.pem"}});
  EXPECT_EQ(rules.AuthoritiesFor("a.example", 443), "/etc/one.pem");
  EXPECT_EQ(rules.AuthoritiesFor("a.example", 8443), "");
  EXPECT_EQ(rules.AuthoritiesFor("b.test", 443), "");
}

TEST(RuleSetTest, PortsAreAscendingAndEachOnce) {
  EXPECT_THAT(Make({{.host = "a.example", .ports = {8080, 443}}, {.host = "b.example", .ports = {22, 443}}}).Ports(), ElementsAre(22, 443, 8080));
}

TEST(RuleSetTest, InspectedHostsAreThoseWhoseTlsSomeRuleNeedsToSeeAndNoneLetsThroughUnseen) {
  const NetworkRule seen{.host = "a.b.example", .paths = {"/x"}}, seen_below{.host = "*.b.example", .methods = {"GET"}};
  EXPECT_THAT(Make({seen, seen_below}).InspectedHosts(), ElementsAre("*.b.example", "a.b.example"));
  EXPECT_THAT(Make({seen, {.host = "a.b.example"}}).InspectedHosts(), IsEmpty());
  EXPECT_THAT(Make({seen, {.host = "*.b.example"}}).InspectedHosts(), IsEmpty());
  EXPECT_THAT(Make({seen_below, {.host = "*.example"}}).InspectedHosts(), IsEmpty());
  EXPECT_THAT(Make({seen_below, {.host = "*.b.example"}}).InspectedHosts(), IsEmpty());
  EXPECT_THAT(Make({seen_below, {.host = "a.b.example"}}).InspectedHosts(), ElementsAre("*.b.example")) << "other names remain";
  EXPECT_THAT(Make({seen_below, {.host = "*.a.b.example"}}).InspectedHosts(), ElementsAre("*.b.example"));
  EXPECT_THAT(Make({seen, {.host = "a.b.example", .ports = {80}}}).InspectedHosts(), ElementsAre("a.b.example")) << "another port";
  EXPECT_THAT(Make({{.host = "a.example", .ports = {80}, .methods = {"GET"}}}).InspectedHosts(), IsEmpty()) << "no TLS there";
  EXPECT_THAT(Make({{.host = "a.example"}}).InspectedHosts(), IsEmpty());
}

TEST(PackagesTest, TheIndexAndTheHostsItLeadsToAreRulesOfTheirOwn) {
  const RuleSet rules = MakeOf(Network{.allow = {{.host = "a.example"}}, .packages = {.url = "https://index.example.com/simple/", .hosts = {"wheels.example.com", "*.mirror.example"}}});
  EXPECT_EQ(rules.ForLookup("index.example.com").rule, "network.packages: index.example.com");
  EXPECT_EQ(rules.ForConnection("wheels.example.com", 443).rule, "network.packages.hosts[0]: wheels.example.com");
  EXPECT_TRUE(rules.ForConnection("x.mirror.example", 443).allowed);
  EXPECT_FALSE(rules.ForConnection("index.example.com", 80).allowed);
  EXPECT_EQ(Letters(rules.HandlingOf("index.example.com", 443)), "t");
  EXPECT_EQ(rules.ForLookup("evil.example").reason,
            "\"evil.example\" is not among the hosts of network.allow and network.packages (a.example, index.example.com, wheels.example.com, *.mirror.example)");
  EXPECT_EQ(MakeOf(Network{.packages = {.url = "https://index.example.com/simple/"}}).ForLookup("evil.example").rule, "network.packages");
}

TEST(PackagesTest, AnIndexOfOnesOwnMayBeElsewhere) {
  const RuleSet rules = MakeOf(Network{.packages = {.url = "http://index.internal:8081/root", .hosts = {"files.internal"}, .addresses = {"10.0.0.0/8"}, .authorities = "/etc/ca.pem"}});
  EXPECT_EQ(Letters(rules.HandlingOf("index.internal", 8081)), "h");
  EXPECT_FALSE(rules.ForConnection("index.internal", 80).allowed);
  EXPECT_EQ(Letters(rules.HandlingOf("files.internal", 8081)), "h");
  EXPECT_FALSE(rules.ForConnection("files.internal", 80).allowed) << "on the index's port alone";
  EXPECT_TRUE(rules.ForAddress("files.internal", 8081, Ip("10.1.2.3")).allowed);
  EXPECT_EQ(rules.AuthoritiesFor("index.internal", 8081), "/etc/ca.pem");
  EXPECT_THAT(rules.Ports(), ElementsAre(8081));
}

TEST(RuleSetTest, WhatIsWrongInAPolicyIsNamedByItsKey) {
  struct Case {
    Network network;
    const char* key;
  };
  const Case cases[] = {
      {{.allow = {{.host = "a.example"}, {.host = "10.0.0.1"}}}, "network.allow[1].host: "},
      {{.allow = {{.host = "*"}}}, "network.allow[0].host: "},
      {{.allow = {{.host = "a.example", .ports = {}}}}, "network.allow[0].ports: "},
      {{.allow = {{.host = "a.example", .ports = {0}}}}, "network.allow[0].ports: 0"},
      {{.allow = {{.host = "a.example", .ports = {65536}}}}, "network.allow[0].ports: 65536"},
      {{.allow = {{.host = "a.example", .methods = {"GE T"}}}}, "network.allow[0].methods: "},
      {{.allow = {{.host = "a.example", .paths = {"v1"}}}}, "network.allow[0].paths: "},
      {{.allow = {{.host = "a.example", .addresses = {"10.0.0.0/8", "10.0.0.1/8"}}}}, "network.allow[0].addresses[1]: "},
      {{.allow = {{.host = "a.example", .addresses = {"169.254.169.254"}}}}, "network.allow[0].addresses[0]: "},
      {{.secrets = {{.host = "*.example"}}}, "network.secrets[0].host: "},
      {{.secrets = {{.host = "a.example", .port = 70000}}}, "network.secrets[0].port: 70000"},
      {{.packages = {.url = "ftp://a.example/"}}, "network.packages.url: "},
      {{.packages = {.url = "https://u:p@a.example/"}}, "network.packages.url: "},
      {{.packages = {.url = "https://a.example:x/"}}, "network.packages.url: "},
      {{.packages = {.url = "https://a.example/", .hosts = {"a b"}}}, "network.packages.hosts[0].host: "},
      {{.packages = {.url = "https://a.example/", .addresses = {"x"}}}, "network.packages.addresses[0]: "},
  };
  for (const Case& one : cases) EXPECT_THAT(RuleSet::Create(one.network), StatusIs(absl::StatusCode::kInvalidArgument, ::testing::StartsWith(one.key))) << one.key;
}

}  // namespace
}  // namespace cellblock::egress
