// Questions as resolvers ask them, and what no honest one sends.
#include "egress/dns_message.h"

#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace cellblock::egress {
namespace {

using ::testing::HasSubstr;

// glibc 2.36, getaddrinfo("Api.example.com"): plain, and with "options edns0 trust-ad".
constexpr absl::string_view kGlibcA = "f7900100000100000000000003417069076578616d706c6503636f6d0000010001";
constexpr absl::string_view kGlibcAaaa = "7c9b0100000100000000000003417069076578616d706c6503636f6d00001c0001";
constexpr absl::string_view kGlibcEdns = "290d0120000100000000000103417069076578616d706c6503636f6d000001000100002904b0000000000000";
// As dig asks: EDNS with a cookie.
constexpr absl::string_view kDig = "1d2c0120000100000000000103617069076578616d706c6503636f6d000001000100002904d000000000000c000a0008a1b2c3d4e5f60718";
constexpr absl::string_view kHeader = "000101000001000000000000";   // one question

std::string Bytes(absl::string_view hex) { return absl::HexStringToBytes(hex); }
// `kHeader` and what follows, in hex.
absl::StatusOr<DnsQuestion> Ask(absl::string_view hex) { return ParseDnsQuestion(Bytes(absl::StrCat(kHeader, hex))); }

TEST(DnsQuestionTest, ReadsWhatResolversAsk) {
  struct Case {
    absl::string_view hex;
    uint16_t id, type;
    absl::string_view name;
  };
  for (const Case& one : {Case{kGlibcA, 0xf790, kDnsTypeA, "Api.example.com"}, Case{kGlibcAaaa, 0x7c9b, kDnsTypeAaaa, "Api.example.com"}, Case{kGlibcEdns, 0x290d, kDnsTypeA, "Api.example.com"},
                          Case{kDig, 0x1d2c, kDnsTypeA, "api.example.com"}}) {
    CELLBLOCK_ASSERT_OK_AND_ASSIGN(DnsQuestion question, ParseDnsQuestion(Bytes(one.hex)));
    EXPECT_EQ(question.id, one.id);
    EXPECT_EQ(question.type, one.type);
    EXPECT_EQ(question.name, one.name);
    EXPECT_TRUE(question.recursion_desired);
    EXPECT_EQ(question.question, Bytes(one.hex).substr(12, 21)) << "without EDNS";
  }
}

TEST(DnsQuestionTest, RefusesEveryCutOfARealOne) {
  for (absl::string_view hex : {kGlibcA, kGlibcEdns, kDig}) {
    const std::string bytes = Bytes(hex);
    for (size_t length = 0; length < bytes.size(); ++length) EXPECT_THAT(ParseDnsQuestion(bytes.substr(0, length)), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("DNS"))) << length;
    EXPECT_THAT(ParseDnsQuestion(bytes + "x"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("behind the last record")));
  }
}

TEST(DnsQuestionTest, ANameIsTextInWhichNoByteOfALabelLooksLikeADot) {
  EXPECT_EQ(Ask("0000020001")->name, "");
  EXPECT_EQ(Ask("0b6170692e6578616d706c6503636f6d0000010001")->name, "api?example.com");
  EXPECT_EQ(Ask("0401207fff0000010001")->name, "????");
  EXPECT_EQ(Ask("022a5f0000ff0001")->type, kDnsTypeAny);
}

TEST(DnsQuestionTest, RefusesNamesThatPointElsewhereOrAreTooLong) {
  EXPECT_THAT(Ask("c00c00010001"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("compressed")));
  EXPECT_THAT(Ask("0161c00c00010001"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("compressed")));
  for (absl::string_view first : {"40", "80", "bf", "ff"}) EXPECT_FALSE(Ask(absl::StrCat(first, "00010001")).ok()) << first;
  const std::string label = absl::StrCat("3f", std::string(126, '6'));   // 64 bytes
  const auto of_length = [&](size_t last) { return Ask(absl::StrCat(label, label, label, absl::Hex(last, absl::kZeroPad2), std::string(2 * last, '6'), "0000010001")); };
  EXPECT_EQ(of_length(61)->name.size(), 253u);   // 3 × 64 + 62 + the root's: 255
  EXPECT_THAT(of_length(62), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("255 bytes")));
}

TEST(DnsQuestionTest, RefusesWhatIsNotOneQuestion) {
  const std::string good = Bytes(kGlibcA);
  const auto with = [&good](size_t at, char byte) {
    std::string bytes = good;
    bytes[at] = byte;
    return ParseDnsQuestion(bytes);
  };
  EXPECT_THAT(with(2, '\x81'), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("an answer")));
  EXPECT_THAT(with(2, '\x03'), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("cut")));
  EXPECT_THAT(with(2, '\x29'), StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("plain questions"))) << "an update";
  for (size_t at : {4, 5, 6, 7, 8, 9, 10}) EXPECT_THAT(with(at, '\x02'), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("one question"))) << at;
  EXPECT_THAT(with(5, '\0'), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("one question")));
  EXPECT_THAT(with(11, '\x02'), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("one question")));
  EXPECT_THAT(with(good.size() - 1, '\x03'), StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("class IN"))) << "CHAOS";
  EXPECT_FALSE(with(2, '\0')->recursion_desired);
}

TEST(DnsQuestionTest, TakesNoAdditionalRecordButEdns) {
  const std::string head = "000101000001000000000001", question = "0161" "0000010001";
  const auto with = [&](absl::string_view record) { return ParseDnsQuestion(Bytes(absl::StrCat(head, question, record))); };
  EXPECT_THAT(with("0000290200000000000000"), IsOk());
  EXPECT_THAT(with("000029020000000000000401020304"), IsOk());
  EXPECT_THAT(with("0000290200000000000005" "01020304"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("cut off")));
  EXPECT_FALSE(with("").ok());
  EXPECT_FALSE(with("0000fa0000000000000000").ok()) << "TSIG";
  EXPECT_FALSE(with("016100290200000000000000").ok()) << "EDNS of a name";
  EXPECT_FALSE(with("c00c00290200000000000000").ok());
}

TEST(DnsQuestionTest, MayHaveAsManyBytesAsEdnsAllowsAndNotOneMore) {
  const std::string start = Bytes("000101000001000000000001" "0161" "0000010001" "0000290200" "00000000");
  const auto of_size = [&](size_t size) {
    const size_t data = size - start.size() - 2;
    return ParseDnsQuestion(absl::StrCat(start, std::string(1, static_cast<char>(data >> 8)), std::string(1, static_cast<char>(data & 0xff)), std::string(data, 'x')));
  };
  EXPECT_THAT(of_size(kDnsQuestionBytesMax), IsOk());
  EXPECT_THAT(of_size(kDnsQuestionBytesMax + 1), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("too long")));
}

TEST(DnsAnswerTest, CarriesTheQuestionAndAnAddressOfItsKind) {
  const DnsQuestion question = *ParseDnsQuestion(Bytes(kGlibcEdns));
  const std::string asked = "03417069076578616d706c6503636f6d0000010001";
  EXPECT_EQ(absl::BytesToHexString(FormatDnsAnswer(question, DnsCode::kNoError, policy::Address::V4(0xc6120005), 60)),
            absl::StrCat("290d81800001000100000000", asked, "c00c00010001", "0000003c", "0004c6120005"));
  EXPECT_EQ(absl::BytesToHexString(FormatDnsAnswer(question, DnsCode::kNoError, *policy::Address::Parse("fd00::1"), 0x10203)),
            absl::StrCat("290d81800001000100000000", asked, "c00c001c0001", "00010203", "0010fd000000000000000000000000000001"));
}

TEST(DnsAnswerTest, WithoutAnAddressItIsItsCodeAlone) {
  DnsQuestion question = *ParseDnsQuestion(Bytes(kGlibcAaaa));
  question.recursion_desired = false;
  const std::string asked = "03417069076578616d706c6503636f6d00001c0001";
  EXPECT_EQ(absl::BytesToHexString(FormatDnsAnswer(question, DnsCode::kNoError, std::nullopt, 60)), absl::StrCat("7c9b80800001000000000000", asked));
  EXPECT_EQ(absl::BytesToHexString(FormatDnsAnswer(question, DnsCode::kRefused, std::nullopt, 60)), absl::StrCat("7c9b80850001000000000000", asked));
  EXPECT_EQ(absl::BytesToHexString(FormatDnsAnswer(question, DnsCode::kNameError, std::nullopt, 60)), absl::StrCat("7c9b80830001000000000000", asked));
}

TEST(DnsFailureTest, AnswersWhatCouldNotBeReadAndNeverAnAnswer) {
  EXPECT_EQ(absl::BytesToHexString(FormatDnsFailure(Bytes("12340100"), DnsCode::kFormatError)), "123481810000000000000000");
  EXPECT_EQ(absl::BytesToHexString(FormatDnsFailure(Bytes("12342800ffff"), DnsCode::kNotImplemented)), "1234a8840000000000000000");
  EXPECT_EQ(FormatDnsFailure(Bytes("12348180"), DnsCode::kFormatError), "");
  EXPECT_EQ(FormatDnsFailure(Bytes("123401"), DnsCode::kFormatError), "");
  EXPECT_EQ(FormatDnsFailure("", DnsCode::kFormatError), "");
}

}  // namespace
}  // namespace cellblock::egress
