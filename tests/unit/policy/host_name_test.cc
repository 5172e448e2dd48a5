// Host names: one spelling each, and none that is an address or that two programs read differently.
#include "policy/host_name.h"

#include <ostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace cellblock::policy {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Host(absl::string_view text) { return CanonicalHost(text).value_or("refused"); }

struct Refusal {
  std::string text;
  const char* reason;
};

void PrintTo(const Refusal& refusal, std::ostream* out) { *out << ::testing::PrintToString(refusal.text); }

class HostRefusalTest : public ::testing::TestWithParam<Refusal> {};

TEST_P(HostRefusalTest, SaysWhatIsWrongInBothForms) {
  EXPECT_THAT(CanonicalHost(GetParam().text), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(GetParam().reason)));
  EXPECT_THAT(CanonicalHostPattern(GetParam().text), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(GetParam().reason)));
  EXPECT_THAT(CanonicalHostPattern(absl::StrCat("*.", GetParam().text)), StatusIs(absl::StatusCode::kInvalidArgument, StartsWith("\"*.")));
}

INSTANTIATE_TEST_SUITE_P(
    Characters, HostRefusalTest,
    ::testing::Values(Refusal{std::string("a\0.com", 6), "holds a control character"}, Refusal{std::string("a.com\0", 6), "control character"},
                      Refusal{"a\x01.com", "control character"}, Refusal{"a\x7F.com", "control character"}, Refusal{"a .com", "white space"},
                      Refusal{" a.com", "white space"}, Refusal{"a.com ", "white space"}, Refusal{"a.com\n", "white space"},
                      Refusal{"a.com\r\nHost: b.com", "white space"}, Refusal{"a\t.com", "white space"}, Refusal{"a%00.com", "holds a \"%\""},
                      Refusal{"a%2ecom", "holds a \"%\""}, Refusal{"user@a.com", "holds an \"@\""}, Refusal{"a.com@b.com", "holds an \"@\""},
                      Refusal{"a\\.com", "that no host name has"}, Refusal{"a.com\\@b.com", "that no host name has"},
                      Refusal{"https://a.com", "holds a \":\""}, Refusal{"a.com/v1", "holds a \"/\""}, Refusal{"a.com:443", "holds a \":\""},
                      Refusal{"a.com?b", "that no host name has"}, Refusal{"a.com#b", "that no host name has"},
                      Refusal{"a,b.com", "that no host name has"}, Refusal{"(a).com", "that no host name has"},
                      Refusal{"a.*.com", "holds a \"*\""}, Refusal{"*a.com", "holds a \"*\""}, Refusal{"*", "holds a \"*\""}));

INSTANTIATE_TEST_SUITE_P(BeyondAscii, HostRefusalTest,
                         ::testing::Values(Refusal{"münchen.de", "beyond ASCII; write the name as DNS has it, xn--…"},
                                           Refusal{"аpple.com", "beyond ASCII"},       // a Cyrillic а
                                           Refusal{"a。com", "beyond ASCII"},          // an ideographic full stop
                                           Refusal{"example\u2024com", "beyond ASCII"},  // a one dot leader
                                           Refusal{"exam\u00ADple.com", "beyond ASCII"},  // a soft hyphen
                                           Refusal{"①②⑦.⓪.⓪.①", "beyond ASCII"}, Refusal{"a\xFF.com", "beyond ASCII"},
                                           Refusal{"a\x80.com", "beyond ASCII"}));

INSTANTIATE_TEST_SUITE_P(Labels, HostRefusalTest,
                         ::testing::Values(Refusal{"", "names no host"}, Refusal{".", "names no host"}, Refusal{"..", "empty label"},
                                           Refusal{".a.com", "empty label"}, Refusal{"a..com", "empty label"}, Refusal{"a.com..", "empty label"},
                                           Refusal{"-a.com", "begins or ends with \"-\""}, Refusal{"a-.com", "begins or ends with \"-\""},
                                           Refusal{"a.-", "begins or ends with \"-\""}, Refusal{"xn--.com", "begins or ends with \"-\""},
                                           Refusal{std::string(64, 'a') + ".com", "has a label of 64 bytes, more than 63"}));

INSTANTIATE_TEST_SUITE_P(
    Addresses, HostRefusalTest,
    ::testing::Values(Refusal{"127.0.0.1", "is an IP address"}, Refusal{"127.0.0.1.", "is an IP address"}, Refusal{"127.1", "is an IP address"},
                      Refusal{"127.0.1", "is an IP address"}, Refusal{"2130706433", "is an IP address"}, Refusal{"017700000001", "is an IP address"},
                      Refusal{"0177.0.0.1", "is an IP address"}, Refusal{"0x7f.1", "is an IP address"}, Refusal{"0x7f000001", "is an IP address"},
                      Refusal{"0X7F000001", "is an IP address"}, Refusal{"127.0.0.0x1", "is an IP address"}, Refusal{"1.2.3.0x", "is an IP address"},
                      Refusal{"0", "is an IP address"}, Refusal{"a.1", "is an IP address"}, Refusal{"999.999.999.999", "is an IP address"},
                      Refusal{"1.2.3.4.5", "is an IP address"}, Refusal{"example.0x7", "is an IP address"}, Refusal{"[::1]", "is an IP address"},
                      Refusal{"[::1]:80", "is an IP address"}, Refusal{"::1", "is an IP address"}, Refusal{"::ffff:127.0.0.1", "is an IP address"},
                      Refusal{"[::ffff:7f00:1]", "is an IP address"}, Refusal{"fe80::1%eth0", "is an IP address"},
                      Refusal{"[127.0.0.1]", "is an IP address"}, Refusal{"[v1.fe]", "is an IP address"}));

TEST(CanonicalHostTest, GivesTheOneSpelling) {
  EXPECT_EQ(Host("api.example.com"), "api.example.com");
  EXPECT_EQ(Host("API.Example.COM"), "api.example.com");
  EXPECT_EQ(Host("api.example.com."), "api.example.com");
  EXPECT_EQ(Host("localhost"), "localhost");
  EXPECT_EQ(Host("XN--Mnchen-3ya.de"), "xn--mnchen-3ya.de");
  EXPECT_EQ(Host("_dmarc.a_b.example"), "_dmarc.a_b.example");
  EXPECT_EQ(Host("r3---sn-x.example"), "r3---sn-x.example");
}

// Digits in front, or letters behind them, make no address.
TEST(CanonicalHostTest, TakesNamesThatOnlyLookLikeAddresses) {
  for (const char* name : {"127.0.0.1.example.com", "0x7f.1.example", "1e100.net", "3com.com", "4.a1", "a.1b", "127.0.0.1x", "0.0.0.0-a", "x0x7"}) {
    EXPECT_EQ(Host(name), name);
  }
}

TEST(CanonicalHostTest, TakesLabelsAndNamesUpToTheirLength) {
  std::string label(63, 'a');
  std::string name = absl::StrCat(label, ".", label, ".", label, ".", std::string(61, 'b'));
  ASSERT_EQ(name.size(), 253u);
  EXPECT_EQ(Host(name), name);
  EXPECT_EQ(Host(name + "."), name);
  EXPECT_THAT(CanonicalHost(name + "b"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("has 254 bytes, more than 253")));
}

TEST(CanonicalHostTest, IsItsOwnSpelling) {
  for (const char* text : {"A.b.", "x", "*.A.B.", "xn--A.c"}) {
    CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::string once, CanonicalHostPattern(text));
    CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::string twice, CanonicalHostPattern(once));
    EXPECT_EQ(once, twice);
  }
}

TEST(CanonicalHostTest, StartsItsMessageWithTheEscapedAndCutText) {
  EXPECT_THAT(CanonicalHost("a\x1B[0m"), StatusIs(absl::StatusCode::kInvalidArgument, "\"a\\u001B[0m\" holds a control character"));
  absl::Status status = CanonicalHost(std::string(100'000, 'a')).status();
  EXPECT_LT(status.message().size(), 200u);
}

TEST(CanonicalHostPatternTest, TakesAStarAsFirstLabelAlone) {
  EXPECT_EQ(CanonicalHostPattern("*.Example.com.").value_or("refused"), "*.example.com");
  EXPECT_EQ(CanonicalHostPattern("*.com").value_or("refused"), "*.com");
  EXPECT_EQ(CanonicalHostPattern("Example.com").value_or("refused"), "example.com");
  for (const char* bad : {"*", "*.", "*..", "**.example.com", "*.*.example.com", "a.*", "*.127.0.0.1", "*.1", "*example.com", ".*.com"}) {
    EXPECT_THAT(CanonicalHostPattern(bad), StatusIs(absl::StatusCode::kInvalidArgument, StartsWith(absl::StrCat("\"", bad, "\" ")))) << bad;
  }
  EXPECT_THAT(CanonicalHost("*.example.com"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "\"*.example.com\" holds a \"*\"; in a rule it stands first, with a name behind it, as in *.example.com"));
}

TEST(HostMatchesTest, MatchesWholeLabelsAlone) {
  EXPECT_TRUE(HostMatches("example.com", "example.com"));
  EXPECT_FALSE(HostMatches("example.com", "a.example.com"));
  EXPECT_FALSE(HostMatches("example.com", "badexample.com"));
  EXPECT_FALSE(HostMatches("example.com", "example.com.evil.net"));
  EXPECT_TRUE(HostMatches("*.example.com", "a.example.com"));
  EXPECT_TRUE(HostMatches("*.example.com", "a.b.example.com"));
  EXPECT_FALSE(HostMatches("*.example.com", "example.com"));
  EXPECT_FALSE(HostMatches("*.example.com", "badexample.com"));
  EXPECT_FALSE(HostMatches("*.example.com", "a.example.com.evil.net"));
  EXPECT_FALSE(HostMatches("*.example.com", "a.exampleXcom"));
  EXPECT_FALSE(HostMatches("*.example.com", ""));
  EXPECT_FALSE(HostMatches("a.example.com", "*.example.com"));
}

TEST(AddressTextTest, KnowsAddressesInEverySpellingAndNoNames) {
  for (const char* text : {"127.0.0.1", "127.0.0.1.", "127.1", "2130706433", "0x7f000001", "0X7F.1", "0177.0.0.1", "::1", "[::1]", "[::ffff:7f00:1]", "fd00:ec2::254"}) EXPECT_TRUE(IsAddressText(text)) << text;
  for (const char* text : {"", "a.example", "example.0x7", "face.cafe", "abc", "127.0.0.1:80x", "fe80::1%eth0", "127.0.0.1 "}) EXPECT_FALSE(IsAddressText(text)) << text;
}

}  // namespace
}  // namespace cellblock::policy
