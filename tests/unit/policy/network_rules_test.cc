// What the single values of a policy's network part may be: each refusal beside one that is fine.
#include "policy/network_rules.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "policy/package_index.h"
#include "tests/support/status_matchers.h"

namespace cellblock::policy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

template <typename Rule>
void ExpectFine(Rule rule, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) EXPECT_EQ(rule(text), "") << text;
}

template <typename Rule>
void ExpectProblem(Rule rule, const std::vector<std::string>& texts, const char* problem) {
  for (const std::string& text : texts) EXPECT_THAT(rule(text), HasSubstr(problem)) << text;
}

TEST(HostRulesTest, TakeCanonicalNamesAlone) {
  ExpectFine(HostPatternProblem, {"api.example.com", "*.example.com", "localhost", "xn--mnchen-3ya.de"});
  ExpectFine(HostProblem, {"api.example.com", "localhost"});
  EXPECT_EQ(HostPatternProblem("API.example.com."), "is in another spelling than rules have; write api.example.com");
  EXPECT_EQ(HostPatternProblem("*.Example.com"), "is in another spelling than rules have; write *.example.com");
  EXPECT_EQ(HostPatternProblem("127.0.0.1"), "is an IP address; write the host's name");
  EXPECT_EQ(HostPatternProblem("https://example.com"), "holds a \":\"; write the host alone, without scheme and port");
  EXPECT_EQ(HostProblem("*.example.com"), "stands for many hosts; name the one");
  for (const char* bad : {"", "a b", "a..b", "*"}) EXPECT_NE(HostProblem(bad), "") << bad;
}

TEST(AddressRuleTest, TakesAddressesAndRangesAsTheyArePrinted) {
  ExpectFine(AddressProblem, {"10.0.0.7", "10.0.0.0/8", "fd00::7", "fd00::/8", "127.0.0.1", "::1", "8.8.8.8"});
  EXPECT_EQ(AddressProblem("10.0.0.7/32"), "is in another spelling than rules have; write 10.0.0.7");
  EXPECT_EQ(AddressProblem("FD00::7"), "is in another spelling than rules have; write fd00::7");
  EXPECT_EQ(AddressProblem("10.0.0.1/8"), "has bits set beyond its prefix; write 10.0.0.0/8, or the one address without a prefix");
  EXPECT_EQ(AddressProblem("169.254.169.254"), "touches 169.254.0.0/16 (link-local), which no policy can open");
  ExpectProblem(AddressProblem, {"", "127.1", "0x7f.1", "017700000001", "api.example.com"}, "is not an IP address");
}

TEST(PortRuleTest, TakesEveryPortButTheResolvers) {
  for (int64_t port : {1, 52, 54, 80, 443, 65535}) EXPECT_EQ(PortProblem(port), "") << port;
  for (int64_t port : {-1, 0, 65536, 1'000'000}) EXPECT_EQ(PortProblem(port), "is not a port of 1 – 65535") << port;
  EXPECT_THAT(PortProblem(53), HasSubstr("is the port of the session's own resolver"));
}

TEST(MethodRuleTest, TakesTokensInCapitals) {
  ExpectFine(MethodProblem, {"GET", "POST", "PROPFIND", "M-SEARCH", "X_1", std::string(32, 'A')});
  EXPECT_EQ(MethodProblem("get"), "is not in capitals; write GET");
  ExpectProblem(MethodProblem, {"", "GET POST", "G:T", "GÉT", std::string("GET\0", 4)}, "is not a method such as GET");
  ExpectProblem(MethodProblem, {"CONNECT", "TRACE", "TRACK", "trace", "Connect"}, "is refused for every host");
  EXPECT_EQ(MethodProblem(std::string(33, 'A')), "has 33 bytes, more than 32");
}

TEST(PathRuleTest, TakesPlainPaths) {
  ExpectFine(PathPrefixProblem, {"/", "/v1", "/v1/", "/v1/a.b/..c/...", "/~user/(x)/a;b=c,d", "/" + std::string(1023, 'a')});
  ExpectProblem(PathPrefixProblem, {"", "v1/", "*", "https://a.com/"}, "does not start with a slash");
  ExpectProblem(PathPrefixProblem, {"//", "//v1", "/v1//", "/v1//x", "/.", "/..", "/./v1", "/v1/../x", "/v1/."}, "has an empty, \".\" or \"..\" part");
  ExpectProblem(PathPrefixProblem, {"/v%31", "/%2e%2e/"}, "holds a \"%\"");
  ExpectProblem(PathPrefixProblem, {"/v1?x", "/v1#x"}, "write the path alone");
  ExpectProblem(PathPrefixProblem, {"/a b", "/a\\b", "/ä", "/a\n", "/a\x7F", std::string("/a\0", 3)}, "holds characters that no path has");
  EXPECT_EQ(PathPrefixProblem("/" + std::string(1024, 'a')), "has 1025 bytes, more than 1024");
}

TEST(HeaderRuleTest, TakesHeadersThatAreNotAboutTheMessage) {
  ExpectFine(HeaderProblem, {"Authorization", "X-Api-Key", "Cookie", "api_key", "Hosts", "TE-x", "Proxyx", std::string(64, 'a')});
  ExpectProblem(HeaderProblem, {"", "X Key", "X-Key:", "X-Key\r\n", "Ключ", std::string("X\0", 2)}, "is not the name of a header");
  ExpectProblem(HeaderProblem,
                {"Host", "host", "HOST", "Connection", "Content-Length", "Transfer-Encoding", "TE", "te", "Trailer", "Upgrade", "Expect", "Keep-Alive",
                 "Proxy-Authorization", "proxy-", "Proxy-Connection"},
                "is a header that the proxy sets itself");
  EXPECT_EQ(HeaderProblem(std::string(65, 'a')), "has 65 bytes, more than 64");
}

TEST(QueryRuleTest, TakesNamesThatNeedNoEncoding) {
  ExpectFine(QueryProblem, {"key", "api-key", "a.b_c~d", std::string(64, 'a')});
  ExpectProblem(QueryProblem, {"", "a b", "a&b", "a=b", "a#b", "a%20b", "a+b", "a[0]", "ü"}, "is not the name of a parameter");
  EXPECT_EQ(QueryProblem(std::string(65, 'a')), "has 65 bytes, more than 64");
}

TEST(FormatRuleTest, HoldsThePlaceholderOnce) {
  ExpectFine(FormatProblem, {"{secret}", "Bearer {secret}", "{{secret}}", "token={secret};", "{secret}" + std::string(248, 'a')});
  ExpectProblem(FormatProblem, {"", "Bearer", "{SECRET}", "{ secret }", "{secret"}, "does not hold {secret}");
  ExpectProblem(FormatProblem, {"{secret}{secret}", "{secret}:{secret}"}, "holds {secret} more than once");
  ExpectProblem(FormatProblem, {"{secret}\r\nX: y", "{secret}\t", "\x7F{secret}", "ü{secret}", std::string("\0{secret}", 9)}, "other than printable ASCII");
  EXPECT_EQ(FormatProblem("{secret}" + std::string(249, 'a')), "has 257 bytes, more than 256");
}

TEST(SecretNameRuleTest, TakesNamesOfVariables) {
  ExpectFine(SecretNameProblem, {"OPENAI_API_KEY", "_a1", std::string(64, 'A')});
  ExpectProblem(SecretNameProblem, {"", "1A", "A-B", "A=B", "Ä", "A B"}, "is not a variable's name");
  EXPECT_EQ(SecretNameProblem(std::string(65, 'A')), "has 65 bytes, more than 64");
}

TEST(SourceRuleTest, TakesThreeKindsOfPlaces) {
  ExpectFine(SourceProblem, {"file:/etc/cellblock/openai.key", "env:OPENAI_API_KEY", "credential:openai.key-1_x", "credential:" + std::string(255, 'a')});
  EXPECT_EQ(SourceProblem("file:openai.key"), "file: the path is not an absolute path such as /srv/data");
  ExpectProblem(SourceProblem, {"file:", "file:/a/../b", "file:/a/", "file:/a\n", "file:///a"}, "file: the path ");
  ExpectProblem(SourceProblem, {"env:", "env:1A", "env:A-B", "env:A B", "env:$A"}, "env: what follows is not a variable's name");
  ExpectProblem(SourceProblem, {"credential:", "credential:.", "credential:..", "credential:a/b", "credential:a b"}, "credential: what follows is not");
  EXPECT_EQ(SourceProblem("credential:" + std::string(256, 'a')), "credential: the name has 256 bytes, more than 255");
}

// Somebody may write the value itself where its place belongs.
TEST(SourceRuleTest, NeverShowsTheText) {
  for (const char* source : {"sk-very-secret", "File:/etc/x-very-secret", "env:sk-very-secret", "credential:very-secret value", "file:very-secret", ""}) {
    EXPECT_NE(SourceProblem(source), "");
    EXPECT_THAT(SourceProblem(source), Not(HasSubstr("very-secret")));
  }
}

TEST(LoopbackRuleTest, NeedsSingleAddressesOfThisMachine) {
  EXPECT_TRUE(AreFixedLoopback({"127.0.0.1"}));
  EXPECT_TRUE(AreFixedLoopback({"127.0.0.2", "::1"}));
  EXPECT_FALSE(AreFixedLoopback({}));
  EXPECT_FALSE(AreFixedLoopback({"127.0.0.0/8"}));
  EXPECT_FALSE(AreFixedLoopback({"127.0.0.1", "10.0.0.7"}));
  EXPECT_FALSE(AreFixedLoopback({"::ffff:127.0.0.1"}));
  EXPECT_FALSE(AreFixedLoopback({"127.1"}));
}

TEST(IndexUrlTest, ReadsItsParts) {
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(IndexUrl url, ParseIndexUrl("https://index.example.com/simple/"));
  EXPECT_TRUE(url.is_tls);
  EXPECT_EQ(url.host, "index.example.com");
  EXPECT_EQ(url.port, 443);
  EXPECT_EQ(url.path, "/simple/");
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(url, ParseIndexUrl("http://localhost:8080/"));
  EXPECT_FALSE(url.is_tls);
  EXPECT_EQ(url.port, 8080);
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(url, ParseIndexUrl("http://localhost/x"));
  EXPECT_EQ(url.port, 80);
  EXPECT_THAT(ParseIndexUrl("https://a.b/" + std::string(1012, 'a')), IsOk());
}

TEST(IndexUrlTest, RefusesWhatIsNoPlainUrl) {
  ExpectProblem(IndexUrlProblem, {"", "index.example.com", "ftp://index.example.com/", "HTTPS://index.example.com/", "file:///srv/", " https://index.example.com/"},
                "does not start with https://");
  ExpectProblem(IndexUrlProblem, {"https://user@index.example.com/", "https://u:p@index.example.com/", "https://index.example.com@evil.com/"}, "holds a user or password");
  ExpectProblem(IndexUrlProblem, {"https://index.example.com/simple/?a=b", "https://index.example.com/#x", "https://index.example.com?x", "https://index.example.com#x"},
                "has a path that ");
  ExpectProblem(IndexUrlProblem, {"https:///simple/", "https://PyPI.org/", "https://127.0.0.1/", "https://[::1]/", "https://*.index.example.com/", "https://a b/",
                                  "https://index.example.com./", "https://a\\b/"},
                "has a host that ");
  ExpectProblem(IndexUrlProblem, {"https://index.example.com:/", "https://index.example.com:0/", "https://index.example.com:65536/", "https://index.example.com:99999/",
                                  "https://index.example.com:0443/", "https://index.example.com:x/", "https://index.example.com:1:2/", "https://index.example.com:53/"},
                "has a port that ");
  EXPECT_EQ(IndexUrlProblem("https://index.example.com"), "has no path; write at least a slash behind the host");
  ExpectProblem(IndexUrlProblem, {"https://index.example.com//simple", "https://index.example.com/../x", "https://index.example.com/a%20b"}, "has a path that ");
  EXPECT_THAT(IndexUrlProblem("https://a.b/" + std::string(1013, 'a')), HasSubstr("has 1025 bytes, more than 1024"));
  EXPECT_THAT(IndexUrlProblem("https://u:very-secret@index.example.com/"), Not(HasSubstr("very-secret")));
}

TEST(RulesOfTest, AllowTheIndexAndWhereItsLinksLead) {
  PackageIndex packages;
  EXPECT_THAT(RulesOf(packages), IsEmpty());
  packages = {"https://pypi.internal:8443/simple/", {"*.files.internal"}, {"10.0.0.0/8"}, "/etc/ssl/internal.pem"};
  NetworkRule own;
  own.host = "pypi.internal";
  own.ports = {8443};
  own.protocol = NetworkProtocol::kTls;
  own.addresses = {"10.0.0.0/8"};
  own.authorities = "/etc/ssl/internal.pem";
  NetworkRule files = own;
  files.host = "*.files.internal";
  EXPECT_THAT(RulesOf(packages), ElementsAre(own, files));
  packages.url = "http://localhost/";
  EXPECT_EQ(RulesOf(packages)[0].protocol, NetworkProtocol::kHttp);
  packages.url = "nonsense";
  EXPECT_THAT(RulesOf(packages), IsEmpty());
}

}  // namespace
}  // namespace cellblock::policy
