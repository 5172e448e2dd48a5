// ValidatePolicy on the network part of policies built by hand: every rule about an item and about how items go together, each refusal
// beside a twin that is accepted.
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cellblock/policy.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace cellblock {
namespace {

using ::testing::HasSubstr;

NetworkRule Rule(std::string host, std::vector<int64_t> ports = {80, 443}, NetworkProtocol protocol = NetworkProtocol::kAny,
                 std::vector<std::string> addresses = {}) {
  NetworkRule rule;
  rule.host = std::move(host);
  rule.ports = std::move(ports);
  rule.protocol = protocol;
  rule.addresses = std::move(addresses);
  return rule;
}

NetworkSecret Secret(std::string name = "API_KEY") {
  NetworkSecret secret;
  secret.name = std::move(name);
  secret.host = "api.example.com";
  secret.header = "Authorization";
  secret.source = "env:KEY";
  return secret;
}

// One rule and one secret that are fine together.
Policy Fine() {
  Policy policy;
  policy.network.allow = {Rule("api.example.com")};
  policy.network.secrets = {Secret()};
  return policy;
}

using Change = std::function<void(Policy&)>;

void ExpectRefused(const Change& change, const std::string& message) {
  Policy policy = Fine();
  change(policy);
  EXPECT_THAT(ValidatePolicy(policy), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)));
}

void ExpectFine(const Change& change) {
  Policy policy = Fine();
  change(policy);
  EXPECT_THAT(ValidatePolicy(policy), IsOk());
}

TEST(ValidateNetworkTest, AcceptsWhatIsFine) {
  ExpectFine([](Policy&) {});
  EXPECT_TRUE(Fine().network.is_on());
  EXPECT_FALSE(Policy{}.network.is_on());
}

TEST(ValidateNetworkTest, ChecksEveryPartOfARule) {
  auto rule = [](const std::function<void(NetworkRule&)>& change) { return [=](Policy& p) { change(p.network.allow[0]); }; };
  ExpectRefused(rule([](NetworkRule& r) { r.host = "*"; }), "network.allow[0].host: \"*\" holds a \"*\"");
  ExpectRefused(rule([](NetworkRule& r) { r.host = ""; }), "network.allow[0].host: \"\" names no host");
  ExpectRefused(rule([](NetworkRule& r) { r.ports = {}; }), "network.allow[0].ports: is empty");
  ExpectRefused(rule([](NetworkRule& r) { r.ports = {443, 0}; }), "network.allow[0].ports: 0 is not a port of 1 – 65535");
  ExpectRefused(rule([](NetworkRule& r) { r.ports = {443, 53}; }), "network.allow[0].ports: 53 is the port of the session's own resolver");
  ExpectRefused(rule([](NetworkRule& r) { r.ports = {443, 443}; }), "network.allow[0].ports: 443 is listed twice");
  ExpectRefused(rule([](NetworkRule& r) { r.protocol = static_cast<NetworkProtocol>(3); }), "network.allow[0].protocol: holds a number");
  ExpectRefused(rule([](NetworkRule& r) { r.methods = {"get"}; }), "network.allow[0].methods: \"get\" is not in capitals; write GET");
  ExpectRefused(rule([](NetworkRule& r) { r.methods = {"GET", "GET"}; }), "network.allow[0].methods: GET is listed twice");
  ExpectRefused(rule([](NetworkRule& r) { r.paths = {"v1"}; }), "network.allow[0].paths: \"v1\" does not start with a slash");
  ExpectRefused(rule([](NetworkRule& r) { r.addresses = {"127.1"}; }), "network.allow[0].addresses: \"127.1\" is not an IP address");
  ExpectRefused(rule([](NetworkRule& r) { r.addresses = {"10.0.0.7", "10.0.0.0/8"}; }), "network.allow[0].addresses: holds both single addresses");
  ExpectRefused(rule([](NetworkRule& r) { r.authorities = "a.pem"; }), "network.allow[0].authorities: \"a.pem\" is not an absolute path");
  ExpectFine(rule([](NetworkRule& r) {
    r.ports = {443, 8080};
    r.methods = {"GET", "POST"};
    r.paths = {"/v1/", "/"};
    r.addresses = {"10.0.0.7", "fd00::7"};
    r.authorities = "/etc/ssl/internal.pem";
  }));
  ExpectFine(rule([](NetworkRule& r) { r.addresses = {"10.0.0.0/8", "fd00::/8"}; }));
}

TEST(ValidateNetworkTest, LimitsTheNumberOfItems) {
  auto fill = [](size_t count, const char* before, const char* behind = "") {
    std::vector<std::string> items;
    for (size_t i = 0; i < count; ++i) items.push_back(absl::StrCat(before, i, behind));
    return items;
  };
  auto ports = [](int64_t first, size_t count) {
    std::vector<int64_t> items;
    for (size_t i = 0; i < count; ++i) items.push_back(first + static_cast<int64_t>(i));
    return items;
  };
  auto full = [&](Policy& p, size_t methods, size_t paths, size_t addresses) {
    p.network.allow.push_back(Rule("other.example.com"));
    p.network.allow[1].methods = fill(methods, "M");
    p.network.allow[1].paths = fill(paths, "/v");
    p.network.allow[1].addresses = fill(addresses, "10.0.0.");
  };
  ExpectFine([&](Policy& p) { full(p, 16, 32, 16); });
  ExpectRefused([&](Policy& p) { full(p, 17, 32, 16); }, "network.allow[1].methods: has 17 items, more than 16");
  ExpectRefused([&](Policy& p) { full(p, 16, 33, 16); }, "network.allow[1].paths: has 33 items, more than 32");
  ExpectRefused([&](Policy& p) { full(p, 16, 32, 17); }, "network.allow[1].addresses: has 17 items, more than 16");
  ExpectFine([&](Policy& p) { p.network.allow.push_back(Rule("b.com", ports(1000, 16))); });
  ExpectRefused([&](Policy& p) { p.network.allow.push_back(Rule("b.com", ports(1000, 17))); }, "network.allow[1].ports: has 17 items, more than 16");
  ExpectFine([&](Policy& p) { p.network.allow.resize(64, Rule("b.com")); });
  ExpectRefused([&](Policy& p) { p.network.allow.resize(65, Rule("b.com")); }, "network.allow: has 65 items, more than 64");
  auto secrets = [](Policy& p, size_t count) {
    p.network.secrets.clear();
    for (size_t i = 0; i < count; ++i) {
      p.network.secrets.push_back(Secret(absl::StrCat("KEY_", i)));
      p.network.secrets.back().header = absl::StrCat("X-Key-", i);
    }
  };
  ExpectFine([&](Policy& p) { secrets(p, 16); });
  ExpectRefused([&](Policy& p) { secrets(p, 17); }, "network.secrets: has 17 items, more than 16");
  ExpectFine([&](Policy& p) { p.network.packages = {"https://index.example.com/", fill(16, "h", ".org"), fill(16, "10.0.0."), ""}; });
  ExpectRefused([&](Policy& p) { p.network.packages = {"https://index.example.com/", fill(17, "h", ".org"), {}, ""}; },
                "network.packages.hosts: has 17 items, more than 16");
}

// Those of all rules and of the package index together, each counted once.
TEST(ValidateNetworkTest, LimitsThePortsOfThePolicy) {
  auto ports = [](Policy& p, int64_t count) {
    p.network.allow = {Rule("api.example.com", {443})};
    for (int64_t port = 1; port < count; ++port) p.network.allow.push_back(Rule("b.com", {443, 1000 + port}));
  };
  ExpectFine([&](Policy& p) { ports(p, 32); });
  ExpectRefused([&](Policy& p) { ports(p, 33); }, "network.allow: has 33 ports, more than 32");
  ExpectFine([&](Policy& p) {
    ports(p, 32);
    p.network.packages.url = "https://index.example.com/simple/";
  });
  ExpectRefused(
      [&](Policy& p) {
        ports(p, 32);
        p.network.packages.url = "https://index.example.com:8443/simple/";
      },
      "network.allow: has 33 ports, more than 32 (those of network.packages count too)");
}

TEST(ValidateNetworkTest, ChecksEveryPartOfASecret) {
  auto secret = [](const std::function<void(NetworkSecret&)>& change) { return [=](Policy& p) { change(p.network.secrets[0]); }; };
  ExpectRefused(secret([](NetworkSecret& s) { s.name = "A-B"; }), "network.secrets[0].name: \"A-B\" is not a variable's name");
  ExpectRefused(secret([](NetworkSecret& s) { s.name = std::string(65, 'A'); }), "has 65 bytes, more than 64");
  ExpectRefused(secret([](NetworkSecret& s) { s.host = "*.example.com"; }), "network.secrets[0].host: \"*.example.com\" stands for many hosts");
  ExpectRefused(secret([](NetworkSecret& s) { s.port = 53; }), "network.secrets[0].port: 53 is the port of the session's own resolver");
  ExpectRefused(secret([](NetworkSecret& s) { s.port = 65536; }), "network.secrets[0].port: 65536 is not a port");
  ExpectRefused(secret([](NetworkSecret& s) { s.header = "Host"; }), "network.secrets[0].header: \"Host\" is a header that the proxy sets itself");
  ExpectRefused(secret([](NetworkSecret& s) { s.header = ""; }), "network.secrets[0]: needs the header or the query parameter");
  ExpectRefused(secret([](NetworkSecret& s) { s.query = "key"; }), "network.secrets[0]: goes into one place; write header or query, not both");
  ExpectRefused(secret([](NetworkSecret& s) { s.query = "a&b"; }), "network.secrets[0].query: \"a&b\" is not the name of a parameter");
  ExpectRefused(secret([](NetworkSecret& s) { s.format = ""; }), "network.secrets[0].format: \"\" does not hold {secret}");
  ExpectRefused(secret([](NetworkSecret& s) { s.source = ""; }), "network.secrets[0].source: is neither file:/path, env:NAME nor credential:NAME");
  ExpectRefused(secret([](NetworkSecret& s) { s.source = "sk-1234"; }), "network.secrets[0].source: is neither file:/path");
  ExpectFine(secret([](NetworkSecret& s) {
    s.header = "";
    s.query = "key";
  }));
  ExpectFine(secret([](NetworkSecret& s) { s.format = "Bearer {secret}"; }));
  ExpectFine(secret([](NetworkSecret& s) { s.source = "credential:openai"; }));
}

TEST(ValidateNetworkTest, KeepsSecretsApart) {
  ExpectRefused([](Policy& p) { p.network.secrets.push_back(Secret()); }, "network.secrets[1].name: API_KEY is the name of network.secrets[0] too");
  ExpectRefused([](Policy& p) { p.environment = {{"A", "1"}, {"API_KEY", "x"}}; },
                "network.secrets[0].name: API_KEY is a variable of environment too; choose another name for one");
  ExpectFine([](Policy& p) { p.environment = {{"A", "1"}, {"api_key", "x"}}; });
  auto second = [](const std::function<void(NetworkSecret&)>& change) {
    return [=](Policy& p) {
      p.network.allow.push_back(Rule("*.example.com", {443, 8443}, NetworkProtocol::kTls));
      p.network.secrets.push_back(Secret("OTHER"));
      change(p.network.secrets[1]);
    };
  };
  ExpectRefused(second([](NetworkSecret&) {}),
                "network.secrets[1]: goes into the same header of api.example.com:443 as network.secrets[0]; remove one");
  ExpectRefused(second([](NetworkSecret& s) { s.header = "authorization"; }), "network.secrets[1]: goes into the same header");
  ExpectFine(second([](NetworkSecret& s) { s.header = "X-Other"; }));
  ExpectFine(second([](NetworkSecret& s) { s.port = 8443; }));
  ExpectFine(second([](NetworkSecret& s) { s.host = "b.example.com"; }));
}

TEST(ValidateNetworkTest, SecretsNeedARule) {
  auto rules = [](std::vector<NetworkRule> allow) { return [=](Policy& p) { p.network.allow = allow; }; };
  const std::string refusal = "network.secrets[0]: no rule allows api.example.com:443; add {host: api.example.com, ports: [443]} to network.allow";
  ExpectRefused(rules({}), refusal);
  ExpectRefused(rules({Rule("example.com")}), refusal);
  ExpectRefused(rules({Rule("*.api.example.com")}), refusal);
  ExpectRefused(rules({Rule("api.example.com", {80})}), refusal);
  ExpectFine(rules({Rule("*.example.com")}));
  ExpectFine(rules({Rule("b.com"), Rule("api.example.com", {443}, NetworkProtocol::kTls)}));
  ExpectFine([](Policy& p) {
    p.network.allow.clear();
    p.network.packages.url = "https://api.example.com/simple/";
  });
  ExpectFine([](Policy& p) {
    p.network.allow.clear();
    p.network.packages = {"https://index.example.com/simple/", {"*.example.com"}, {}, ""};
  });
}

TEST(ValidateNetworkTest, SecretsDontTravelInTheClear) {
  auto on = [](int64_t port, std::vector<NetworkRule> allow) {
    return [=](Policy& p) {
      p.network.secrets[0].port = port;
      p.network.allow = allow;
    };
  };
  const char* host = "api.example.com";
  using enum NetworkProtocol;
  ExpectRefused(on(80, {Rule(host)}),
                "network.secrets[0]: the value would travel in the clear, since network.allow[0] lets plain HTTP to api.example.com:80 through; write "
                "protocol: tls there, or another port");
  ExpectRefused(on(443, {Rule(host, {443}, kHttp)}), "since network.allow[0] lets plain HTTP to api.example.com:443 through");
  ExpectRefused(on(8443, {Rule(host, {8443})}), "since network.allow[0] lets plain HTTP to api.example.com:8443 through");
  ExpectRefused(on(443, {Rule(host), Rule("*.example.com", {443}, kHttp)}), "since network.allow[1] lets plain HTTP");
  ExpectFine(on(443, {Rule(host)}));
  ExpectFine(on(443, {Rule(host, {443}, kTls)}));
  ExpectFine(on(8443, {Rule(host, {8443}, kTls)}));
  ExpectFine(on(80, {Rule(host, {80}, kTls)}));
  // Within this machine nobody reads along.
  ExpectFine(on(80, {Rule(host, {80}, kHttp, {"127.0.0.1", "::1"})}));
  ExpectFine(on(8080, {Rule(host, {8080}, kAny, {"127.0.0.1"})}));
  ExpectRefused(on(80, {Rule(host, {80}, kHttp, {"127.0.0.1", "10.0.0.7"})}), "in the clear");
  ExpectRefused(on(80, {Rule(host, {80}, kHttp, {"127.0.0.0/8"})}), "in the clear");
}

TEST(ValidateNetworkTest, ChecksEveryPartOfPackages) {
  auto packages = [](PackageIndex index) { return [=](Policy& p) { p.network.packages = index; }; };
  ExpectFine(packages({"https://index.example.com/simple/", {"wheels.example.com"}, {}, ""}));
  ExpectFine(packages({"https://pypi.internal:8443/simple/", {}, {"10.0.0.0/8"}, "/etc/ssl/internal.pem"}));
  ExpectFine(packages({}));
  ExpectRefused(packages({"", {"wheels.example.com"}, {}, ""}), "network.packages.url: does not start with https://");
  ExpectRefused(packages({"https://index.example.com/simple/", {"FILES.org"}, {}, ""}), "network.packages.hosts: \"FILES.org\" is in another spelling");
  ExpectRefused(packages({"https://index.example.com/simple/", {}, {"0.0.0.0"}, ""}), "network.packages.addresses: \"0.0.0.0\" touches");
  ExpectRefused(packages({"https://index.example.com/simple/", {}, {"10.0.0.7", "10.0.0.0/8"}, ""}), "network.packages.addresses: holds both");
  ExpectRefused(packages({"https://index.example.com/simple/", {}, {}, "x.pem"}), "network.packages.authorities: \"x.pem\" is not an absolute path");
  ExpectRefused(packages({"https://u:p@index.example.com/simple/", {}, {}, ""}), "network.packages.url: holds a user or password");
  ExpectRefused(packages({"http://index.example.com/simple/", {}, {}, ""}), "network.packages.url: is http://, over which anybody on the way could change");
  ExpectRefused(packages({"http://index.example.com/simple/", {}, {"10.0.0.7"}, ""}), "network.packages.url: is http://");
  ExpectFine(packages({"http://localhost:8080/simple/", {}, {"127.0.0.1"}, ""}));
}

TEST(ValidateNetworkTest, NeedsANamespaceOfItsOwn) {
  auto requirement = [](Requirement r) { return [=](Policy& p) { p.isolation.network_namespace = r; }; };
  ExpectRefused(requirement(Requirement::kOff), "isolation.network_namespace: is off, so that code would have the host's whole network");
  ExpectFine(requirement(Requirement::kPreferred));
  ExpectFine(requirement(Requirement::kRequired));
  ExpectFine([](Policy& p) {
    p.network = Network{};
    p.isolation.network_namespace = Requirement::kOff;
  });
  ExpectRefused(
      [](Policy& p) {
        p.network = Network{};
        p.network.packages.url = "https://index.example.com/simple/";
        p.isolation.network_namespace = Requirement::kOff;
      },
      "isolation.network_namespace: is off");
}

TEST(ValidateNetworkTest, ChecksItsNumbers) {
  ExpectRefused([](Policy& p) { p.network.call_bytes = 1023; }, "network.call_bytes: 1023 is below the least, 1KiB");
  ExpectRefused([](Policy& p) { p.network.rate_bytes = 1023; }, "network.rate: 1023 is below the least, 1KiB; the range is 1KiB – 16GiB");
  ExpectRefused([](Policy& p) { p.network.rate_bytes = (int64_t{16} << 30) + 1; }, "network.rate: 17179869185 is above the most, 16GiB");
  ExpectRefused([](Policy& p) { p.network.connections = 0; }, "network.connections: 0 is below the least, 1");
  ExpectRefused([](Policy& p) { p.network.requests = 1'000'001; }, "network.requests: 1000001 is above the most, 1000000");
  ExpectRefused([](Policy& p) { p.network.idle = absl::Milliseconds(999); }, "network.idle: 999ms is below the least, 1s");
  ExpectFine([](Policy& p) { p.network.rate_bytes = 1024; });
}

}  // namespace
}  // namespace cellblock
