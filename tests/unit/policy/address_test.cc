// IP addresses: the spellings that are taken, every special range at both ends and one step beyond, and what no policy can open.
#include "policy/address.h"

#include <ostream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace cellblock::policy {
namespace {

using ::testing::HasSubstr;

Address Parsed(const std::string& text) {
  absl::StatusOr<Address> address = Address::Parse(text);
  EXPECT_THAT(address, IsOk());
  return address.value_or(Address{});
}

AddressRange ParsedRange(const std::string& text) {
  absl::StatusOr<AddressRange> range = AddressRange::Parse(text);
  EXPECT_THAT(range, IsOk());
  return range.value_or(AddressRange{});
}

std::string Use(const std::string& text) { return std::string(SpecialUse(Parsed(text))); }

TEST(AddressTest, ReadsAndPrintsBothKinds) {
  EXPECT_EQ(Parsed("10.0.0.7").ToString(), "10.0.0.7");
  EXPECT_EQ(Parsed("255.255.255.255").ToString(), "255.255.255.255");
  EXPECT_EQ(Parsed("FD00:0:0::7").ToString(), "fd00::7");
  EXPECT_EQ(Parsed("::ffff:127.0.0.1").ToString(), "::ffff:127.0.0.1");
  EXPECT_EQ(Address::V4(0x7F000001), Parsed("127.0.0.1"));
  EXPECT_EQ(Address{}, Parsed("0.0.0.0"));
}

TEST(AddressTest, TellsTheKindsApart) {
  EXPECT_FALSE(Parsed("::ffff:127.0.0.1") == Parsed("127.0.0.1"));
  EXPECT_FALSE(Parsed("::") == Parsed("0.0.0.0"));
  EXPECT_TRUE(Parsed("::1") == Parsed("0:0:0:0:0:0:0:1"));
}

// Spellings that inet_aton(3), browsers or libraries take for an address.
TEST(AddressTest, RefusesEveryOtherSpelling) {
  for (const char* text : {"", " ", "127.1", "127.0.1", "2130706433", "017700000001", "0177.0.0.1", "010.0.0.1", "127.0.0.01", "0x7f.1", "0x7f.0.0.1",
                           "0x7f000001", "256.0.0.1", "1.2.3", "1.2.3.4.5", "1.2.3.", ".1.2.3", "1.2.3.4.", " 1.2.3.4", "1.2.3.4 ", "1.2.3.-4",
                           "+1.2.3.4", "1.2.3.4/32", "[::1]", "[127.0.0.1]", "::1%lo", "fe80::1%eth0", ":", ":::", "1::2::3", "::12345", "::g",
                           "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "::ffff:127.1", "::ffff:0x7f000001", "localhost", "１.2.3.4"}) {
    EXPECT_THAT(Address::Parse(text), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is not an IP address such as"))) << text;
  }
  EXPECT_THAT(Address::Parse(std::string("1.2.3.4\0", 8)), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("\"1.2.3.4\\u0000\"")));
  EXPECT_THAT(Address::Parse(std::string("::1\0.", 5)), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is not an IP address")));
}

// A special range: what lies before it, its ends, what lies behind it, and what those outside are (empty: public).
struct Special {
  const char* before;
  const char* first;
  const char* last;
  const char* behind;
  const char* use;
  bool is_never_allowed = false;
  const char* use_before = "";
  const char* use_behind = "";
};

void PrintTo(const Special& special, std::ostream* out) { *out << special.first << " – " << special.last; }

class SpecialTest : public ::testing::TestWithParam<Special> {};

TEST_P(SpecialTest, EndsWhereTheRegistrySays) {
  const Special& s = GetParam();
  EXPECT_EQ(Use(s.first), s.use);
  EXPECT_EQ(Use(s.last), s.use);
  EXPECT_EQ(NeverAllowed(Parsed(s.first)), s.is_never_allowed);
  EXPECT_EQ(NeverAllowed(Parsed(s.last)), s.is_never_allowed);
  if (s.before != nullptr) {
    EXPECT_EQ(Use(s.before), s.use_before);
  }
  if (s.behind != nullptr) {
    EXPECT_EQ(Use(s.behind), s.use_behind);
  }
}

constexpr bool kNever = true;

INSTANTIATE_TEST_SUITE_P(
    Four, SpecialTest,
    ::testing::Values(Special{nullptr, "0.0.0.0", "0.255.255.255", "1.0.0.0", "unspecified", kNever},
                      Special{"9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0", "private"},
                      Special{"100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0", "shared (CGNAT)"},
                      Special{"126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0", "loopback"},
                      Special{"169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0", "link-local", kNever},
                      Special{"172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0", "private"},
                      Special{"191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0", "reserved"},
                      Special{"192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0", "documentation"},
                      Special{"192.88.98.255", "192.88.99.0", "192.88.99.255", "192.88.100.0", "6to4", kNever},
                      Special{"192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0", "private"},
                      Special{"198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0", "benchmark", kNever},
                      Special{"198.51.99.255", "198.51.100.0", "198.51.100.255", "198.51.101.0", "documentation"},
                      Special{"203.0.112.255", "203.0.113.0", "203.0.113.255", "203.0.114.0", "documentation"},
                      Special{"223.255.255.255", "224.0.0.0", "239.255.255.255", "240.0.0.0", "multicast", kNever, "", "reserved"},
                      Special{"239.255.255.255", "240.0.0.0", "255.255.255.254", nullptr, "reserved", false, "multicast"},
                      Special{"255.255.255.254", "255.255.255.255", "255.255.255.255", nullptr, "broadcast", kNever, "reserved"}));

INSTANTIATE_TEST_SUITE_P(
    Six, SpecialTest,
    ::testing::Values(
        Special{nullptr, "::", "::", "::1", "unspecified", kNever, "", "loopback"}, Special{nullptr, "::1", "::1", "::2", "loopback", false, "", "v4-compatible"},
        Special{nullptr, "::2", "::ffff:ffff", "::1:0:0", "v4-compatible", kNever, "", "reserved"},
        Special{"::fffe:ffff:ffff", "::ffff:0:0", "::ffff:ffff:ffff", "::1:0:0:0", "v4-mapped", kNever, "reserved", "reserved"},
        Special{"::fffe:ffff:ffff:ffff", "::ffff:0:0:0", "::ffff:0:ffff:ffff", "::ffff:1:0:0", "v4-translated", kNever, "reserved", "reserved"},
        Special{"64:ff9a:ffff:ffff:ffff:ffff:ffff:ffff", "64:ff9b::", "64:ff9b::ffff:ffff", "64:ff9b::1:0:0", "NAT64", kNever, "reserved", "reserved"},
        Special{"64:ff9b:0:ffff:ffff:ffff:ffff:ffff", "64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", "64:ff9b:2::", "NAT64", kNever,
                "reserved", "reserved"},
        Special{nullptr, "100::", "100::ffff:ffff:ffff:ffff", "100:0:0:1::", "reserved", false, "", "reserved"},
        Special{"1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff", "2001:1::", "Teredo", kNever, "reserved",
                "reserved"},
        Special{"2001:1:ffff:ffff:ffff:ffff:ffff:ffff", "2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff", "2001:2:1::", "benchmark", false, "reserved",
                "reserved"},
        Special{"2001:f:ffff:ffff:ffff:ffff:ffff:ffff", "2001:10::", "2001:2f:ffff:ffff:ffff:ffff:ffff:ffff", "2001:30::", "ORCHID", false, "reserved",
                "reserved"},
        Special{nullptr, "2001:100::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:200::", "reserved"},
        Special{"2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::", "documentation"},
        Special{"2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2003::", "6to4", kNever},
        Special{"3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:1000::", "documentation"},
        Special{"3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "4000::", "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fc00::", "reserved", false, "",
                "unique-local"},
        Special{nullptr, "5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff", nullptr, "reserved"},
        Special{"fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fe00::", "unique-local", false,
                "reserved", "reserved"},
        Special{"fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fec0::", "link-local", kNever,
                "reserved", "site-local"},
        Special{"febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "ff00::", "site-local", false,
                "link-local", "multicast"},
        Special{nullptr, "ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", nullptr, "multicast", kNever}));

INSTANTIATE_TEST_SUITE_P(
    Metadata, SpecialTest,
    ::testing::Values(Special{nullptr, "169.254.169.254", "169.254.170.2", nullptr, "link-local", kNever},
                      Special{"168.63.129.15", "168.63.129.16", "168.63.129.16", "168.63.129.17", "cloud metadata", kNever},
                      Special{"100.100.100.199", "100.100.100.200", "100.100.100.200", "100.100.100.201", "cloud metadata", kNever, "shared (CGNAT)",
                              "shared (CGNAT)"},
                      Special{"192.0.0.191", "192.0.0.192", "192.0.0.192", "192.0.0.193", "cloud metadata", kNever, "reserved", "reserved"},
                      Special{"fd00:ec2::253", "fd00:ec2::254", "fd00:ec2::254", "fd00:ec2::255", "cloud metadata", kNever, "unique-local",
                              "unique-local"},
                      Special{"fd20:ce::253", "fd20:ce::254", "fd20:ce::254", "fd20:ce::255", "cloud metadata", kNever, "unique-local",
                              "unique-local"}));

TEST(SpecialUseTest, LeavesPublicAddressesAlone) {
  for (const char* text : {"1.1.1.1", "8.8.8.8", "93.184.216.34", "192.31.196.1", "192.52.193.1", "192.175.48.1", "223.255.255.255", "2000::",
                           "2001:200::1", "2606:4700::1111", "2620:4f:8000::1", "2a00:1450::1", "3fff:ffff::1"}) {
    EXPECT_EQ(Use(text), "") << text;
    EXPECT_FALSE(NeverAllowed(Parsed(text))) << text;
  }
}

TEST(AddressRangeTest, HoldsWhatSharesItsPrefix) {
  AddressRange eight = ParsedRange("10.0.0.0/8");
  EXPECT_FALSE(eight.is_single());
  EXPECT_TRUE(eight.Contains(Parsed("10.0.0.0")));
  EXPECT_TRUE(eight.Contains(Parsed("10.255.255.255")));
  EXPECT_FALSE(eight.Contains(Parsed("9.255.255.255")));
  EXPECT_FALSE(eight.Contains(Parsed("11.0.0.0")));
  EXPECT_FALSE(eight.Contains(Parsed("::ffff:10.0.0.1")));
  EXPECT_FALSE(eight.Contains(Parsed("a00::")));  // the same first byte
  AddressRange odd = ParsedRange("172.16.0.0/12");
  EXPECT_TRUE(odd.Contains(Parsed("172.31.255.255")));
  EXPECT_FALSE(odd.Contains(Parsed("172.32.0.0")));
  AddressRange six = ParsedRange("fd00::/8");
  EXPECT_TRUE(six.Contains(Parsed("fd00::1")));
  EXPECT_FALSE(six.Contains(Parsed("fc00::1")));
}

TEST(AddressRangeTest, IsOneAddressWithoutAPrefix) {
  AddressRange one = ParsedRange("10.0.0.7");
  EXPECT_TRUE(one.is_single());
  EXPECT_EQ(one.bits, 32);
  EXPECT_TRUE(one == ParsedRange("10.0.0.7/32"));
  EXPECT_TRUE(one.Contains(Parsed("10.0.0.7")));
  EXPECT_FALSE(one.Contains(Parsed("10.0.0.6")));
  EXPECT_TRUE(ParsedRange("::1").is_single());
  EXPECT_TRUE(ParsedRange("::1").Contains(Parsed("::1")));
  EXPECT_FALSE(ParsedRange("fd00::/127").is_single());
}

TEST(AddressRangeTest, PrintsItself) {
  for (const char* text : {"10.0.0.0/8", "10.0.0.7", "fd00::/8", "fd00::7", "8.0.0.0/5", "127.0.0.0/8"}) {
    EXPECT_EQ(ParsedRange(text).ToString(), text);
  }
  EXPECT_EQ(ParsedRange("10.0.0.7/32").ToString(), "10.0.0.7");
}

struct Refusal {
  const char* text;
  const char* message;
};

void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.text; }

class RangeRefusalTest : public ::testing::TestWithParam<Refusal> {};

TEST_P(RangeRefusalTest, SaysWhatIsWrong) {
  EXPECT_THAT(AddressRange::Parse(GetParam().text), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(GetParam().message)));
}

INSTANTIATE_TEST_SUITE_P(
    Texts, RangeRefusalTest,
    ::testing::Values(Refusal{"", "\"\" is not an IP address such as 10.0.0.7, nor a range such as 10.0.0.0/8"},
                      Refusal{"/8", "is not an IP address"}, Refusal{"10/8", "is not an IP address"}, Refusal{"api.example.com", "is not an IP address"},
                      Refusal{"10.0.0.0-10.0.0.9", "is not an IP address"}, Refusal{"10.0.0.0/", "a prefix that is not a number of 0 – 32"},
                      Refusal{"10.0.0.0/33", "a number of 0 – 32"}, Refusal{"10.0.0.0/08", "a number of 0 – 32"},
                      Refusal{"10.0.0.0/+8", "a number of 0 – 32"}, Refusal{"10.0.0.0/-8", "a number of 0 – 32"},
                      Refusal{"10.0.0.0/8 ", "a number of 0 – 32"}, Refusal{"10.0.0.0/ 8", "a number of 0 – 32"},
                      Refusal{"10.0.0.0/8/8", "a number of 0 – 32"}, Refusal{"10.0.0.0/255.0.0.0", "a number of 0 – 32"},
                      Refusal{"10.0.0.0/99999999999999999999", "a number of 0 – 32"}, Refusal{"fd00::/129", "a number of 0 – 128"},
                      Refusal{"10.0.0.1/8", "\"10.0.0.1/8\" has bits set beyond its prefix; write 10.0.0.0/8, or the one address without a prefix"},
                      Refusal{"172.16.0.0/11", "write 172.0.0.0/11"}, Refusal{"10.0.0.7/31", "write 10.0.0.6/31"},
                      Refusal{"fd00::1/64", "write fd00::/64"}, Refusal{"128.0.0.0/0", "write 0.0.0.0/0"}));

INSTANTIATE_TEST_SUITE_P(
    Closed, RangeRefusalTest,
    ::testing::Values(
        Refusal{"169.254.169.254", "\"169.254.169.254\" touches 169.254.0.0/16 (link-local), which no policy can open"},
        Refusal{"169.254.0.0/16", "(link-local)"}, Refusal{"169.254.169.0/24", "(link-local)"}, Refusal{"169.0.0.0/8", "(link-local)"},
        Refusal{"128.0.0.0/1", "which no policy can open"}, Refusal{"0.0.0.0", "0.0.0.0/8 (unspecified)"}, Refusal{"0.0.0.0/0", "(unspecified)"},
        Refusal{"0.1.2.3", "(unspecified)"}, Refusal{"224.0.0.1", "224.0.0.0/4 (multicast)"}, Refusal{"192.0.0.0/2", "which no policy can open"},
        Refusal{"255.255.255.255", "255.255.255.255 (broadcast)"}, Refusal{"198.18.0.1", "198.18.0.0/15 (benchmark)"},
        Refusal{"198.19.255.255", "(benchmark)"}, Refusal{"198.0.0.0/8", "(benchmark)"}, Refusal{"168.63.129.16", "168.63.129.16 (cloud metadata)"},
        Refusal{"100.100.100.200", "(cloud metadata)"}, Refusal{"fd00:ec2::254", "(cloud metadata)"}, Refusal{"::", ":: (unspecified)"},
        Refusal{"::/0", "which no policy can open"}, Refusal{"::/127", "(v4-compatible)"}, Refusal{"::127.0.0.1", "::/96 (v4-compatible)"},
        Refusal{"::ffff:10.0.0.1", "::ffff:0.0.0.0/96 (v4-mapped)"}, Refusal{"::ffff:0:10.0.0.1", "(v4-translated)"},
        Refusal{"::ffff:0:0/96", "(v4-mapped)"}, Refusal{"64:ff9b::a00:1", "64:ff9b::/96 (NAT64)"}, Refusal{"64:ff9b:1::1", "(NAT64)"},
        Refusal{"2002:a00:1::", "2002::/16 (6to4)"}, Refusal{"2001::1", "2001::/32 (Teredo)"}, Refusal{"2000::/3", "which no policy can open"},
        Refusal{"fe80::1", "fe80::/10 (link-local)"}, Refusal{"fe80::/9", "which no policy can open"}, Refusal{"ff02::1", "ff00::/8 (multicast)"}));

TEST(AddressRangeTest, OpensTheSpecialRangesThatMayBe) {
  for (const char* text : {"127.0.0.1", "127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "192.0.2.0/24", "240.0.0.0/4",
                           "::1", "fc00::/7", "fec0::/10", "2001:db8::/32", "8.8.8.8", "168.63.0.0/16"}) {
    EXPECT_THAT(AddressRange::Parse(text), IsOk()) << text;
  }
}

// A range may be wider than one of these addresses, and does not hold it.
TEST(AddressRangeTest, KeepsMetadataServicesClosedWithin) {
  EXPECT_FALSE(ParsedRange("100.64.0.0/10").Contains(Parsed("100.100.100.200")));
  EXPECT_TRUE(ParsedRange("100.64.0.0/10").Contains(Parsed("100.100.100.201")));
  EXPECT_FALSE(ParsedRange("168.63.0.0/16").Contains(Parsed("168.63.129.16")));
  EXPECT_FALSE(ParsedRange("fd00::/8").Contains(Parsed("fd00:ec2::254")));
  EXPECT_FALSE(ParsedRange("fd00::/8").Contains(Parsed("fd20:ce::254")));
  EXPECT_FALSE(ParsedRange("240.0.0.0/4").Contains(Parsed("255.255.255.255")));
  EXPECT_TRUE(ParsedRange("240.0.0.0/4").Contains(Parsed("255.255.255.254")));
}

}  // namespace
}  // namespace cellblock::policy
