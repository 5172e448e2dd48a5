// The server name of a TLS connection's first bytes: of real clients', however they arrive, and refused wherever two readers could see
// two names.
#include "egress/client_hello.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace cellblock::egress {
namespace {

using ::testing::HasSubstr;

// From OpenSSL 3.0: TLS 1.3 for "API.example.com" with ALPN, up to the zeros of its padding (0xdf of them).
constexpr absl::string_view kWithName =
    "1603010200010001fc03034da5615d19a15b16b67a11b1108a9ef5179685c76c9a0a3be235de584f57fcc9206ff3730d7cd5d52cb034c18e0e2b326b66ae381e43e0febd7f05"
    "60562334036c0010130213031301c02cc030c02bc02f00ff010001a300000014001200000f4150492e6578616d706c652e636f6d000b000403000102000a00160014001d0017"
    "001e0019001801000101010201030104002300000010000b000908687474702f312e310016000000170000000d002a0028040305030603080708080809080a080b0804080508"
    "06040105010601030303010302040205020602002b0009080304030303020301002d00020101003300260024001d002063c4366859b7f8c1937a149f46e3ff2981746cb182b9"
    "1fa5e508a4484167923f001500df";
// TLS 1.2 without a name.
constexpr absl::string_view kWithoutName =
    "1603010089010000850303073f482462f90d948dfb0bdead6c9c83bf2f0819ac434a82f19ec243458fe88600000ac02cc030c02bc02f00ff01000052000b000403000102000a"
    "000c000a001d0017001e00190018002300000016000000170000000d002a0028040305030603080708080809080a080b08040805080604010501060103030301030204020502"
    "0602";

std::string WithName() { return absl::StrCat(absl::HexStringToBytes(kWithName), std::string(0xdf, '\0')); }
std::string WithoutName() { return absl::HexStringToBytes(kWithoutName); }

std::string Number(size_t number, size_t width) {
  std::string bytes;
  for (size_t i = width; i > 0; --i) bytes.push_back(static_cast<char>(number >> (8 * (i - 1)) & 0xff));
  return bytes;
}
std::string Counted(absl::string_view bytes, size_t width) { return absl::StrCat(Number(bytes.size(), width), bytes); }
std::string Record(absl::string_view bytes) { return absl::StrCat("\x16\x03\x01", Counted(bytes, 2)); }
std::string Extension(size_t type, absl::string_view content) { return absl::StrCat(Number(type, 2), Counted(content, 2)); }
std::string NameEntry(absl::string_view name, char type = '\0') { return absl::StrCat(std::string(1, type), Counted(name, 2)); }
std::string Sni(absl::string_view name) { return Extension(0, Counted(NameEntry(name), 2)); }
std::string Message(absl::string_view body) { return absl::StrCat("\x01", Counted(body, 3)); }
std::string Body(absl::string_view behind_compression) {
  return absl::StrCat("\x03\x03", std::string(32, 'r'), Counted("session", 1), Counted("\x13\x01", 2), Counted(std::string(1, '\0'), 1), behind_compression);
}
// A hello in one record.
std::string Hello(absl::string_view extensions) { return Record(Message(Body(Counted(extensions, 2)))); }

absl::StatusOr<std::string> NameOf(absl::string_view bytes) {
  absl::StatusOr<std::optional<ClientHello>> hello = ReadClientHello(bytes);
  if (!hello.ok()) return hello.status();
  return hello->has_value() ? (*hello)->server_name : "(more)";
}

ClientHello Read(absl::string_view bytes) {
  absl::StatusOr<std::optional<ClientHello>> hello = ReadClientHello(bytes);
  EXPECT_THAT(hello, IsOk());
  return hello.ok() ? hello->value_or(ClientHello()) : ClientHello();
}

TEST(ClientHelloTest, ReadsRealOnesByteByByte) {
  for (const auto& [bytes, name] : {std::pair(WithName(), "api.example.com"), std::pair(WithoutName(), ""), std::pair(Hello(Sni("a.example.")), "a.example")}) {
    for (size_t length = 0; length < bytes.size(); ++length) {
      ASSERT_THAT(NameOf(bytes.substr(0, length)), IsOk());
      ASSERT_EQ(*NameOf(bytes.substr(0, length)), "(more)") << length;
      ASSERT_TRUE(MayBeTls(bytes.substr(0, length)));
    }
    ASSERT_EQ(*NameOf(bytes), name);
    EXPECT_FALSE(Read(bytes).has_encrypted_hello);
  }
}

TEST(ClientHelloTest, TakesRecordsOfAnySizeAndWhatFollowsTheHello) {
  const std::string message = WithName().substr(5);
  for (size_t size = 1; size <= message.size(); ++size) {
    std::string bytes;
    for (size_t at = 0; at < message.size(); at += size) bytes += Record(message.substr(at, size));
    ASSERT_THAT(NameOf(bytes), IsOk());
    EXPECT_EQ(*NameOf(bytes), "api.example.com") << size;
    EXPECT_EQ(*NameOf(bytes + "\x17\x03\x03" "early data"), "api.example.com") << size;
  }
  EXPECT_THAT(NameOf(Record(message + "x")), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("behind it"))) << "but not in its own record";
}

TEST(ClientHelloTest, RefusesMoreThanOneName) {
  const std::string bad[] = {
      Hello(Sni("a.example") + Sni("b.example")),
      Hello(Sni("a.example") + Sni("a.example")),
      Hello(Extension(0, Counted(NameEntry("a.example") + NameEntry("b.example"), 2))),
      Hello(Extension(0, Counted(NameEntry("a.example") + NameEntry("b.example", '\1'), 2))),
      Hello(Extension(0, absl::StrCat(Counted(NameEntry("a.example"), 2), Counted(NameEntry("b.example"), 2)))),
      Hello(Extension(7, "x") + Extension(7, "y")),
  };
  for (const std::string& one : bad) EXPECT_THAT(NameOf(one), StatusIs(absl::StatusCode::kInvalidArgument, ::testing::AnyOf(HasSubstr("more than one"), HasSubstr("two extensions"))));
}

TEST(ClientHelloTest, RefusesANameThatIsNone) {
  for (absl::string_view name : {"", "127.0.0.1", "[::1]", "::1", "a b", "a..b", "*.example", "caf\xc3\xa9.example", "a.example:443", "http://a.example"}) EXPECT_FALSE(NameOf(Hello(Sni(name))).ok()) << name;
  EXPECT_FALSE(NameOf(Hello(Sni(absl::string_view("a.example\0.b.example", 20)))).ok());
  EXPECT_FALSE(NameOf(Hello(Extension(0, Counted(NameEntry("a.example", '\1'), 2)))).ok()) << "another kind of name";
  EXPECT_FALSE(NameOf(Hello(Extension(0, ""))).ok());
  EXPECT_FALSE(NameOf(Hello(Extension(0, Counted("", 2)))).ok());
}

TEST(ClientHelloTest, SeesAnEncryptedHelloAndItsDrafts) {
  for (size_t type : {0xfe0d, 0xfe08, 0xfe0a, 0xffce}) {
    const ClientHello hello = Read(Hello(Sni("public.example") + Extension(type, "x")));
    EXPECT_TRUE(hello.has_encrypted_hello) << type;
    EXPECT_EQ(hello.server_name, "public.example");
  }
  EXPECT_FALSE(Read(Hello(Sni("public.example") + Extension(0xfe0e, "x"))).has_encrypted_hello);
}

TEST(ClientHelloTest, RefusesWhatIsBroken) {
  const std::string sni = Sni("a.example");
  ASSERT_THAT(NameOf(Hello(sni)), IsOk());
  ASSERT_THAT(NameOf(Record(Message(Body("")))), IsOk()) << "no extensions at all";
  const std::string bad[] = {
      Hello(sni.substr(0, sni.size() - 1)),
      Hello(sni + std::string("\0", 1)),
      Hello(Extension(0, Counted(NameEntry("a.example"), 2).substr(0, 8))),
      Record(Message(Body(Counted(sni, 2) + "x"))),
      Record(Message(Body(Counted(sni, 2).substr(0, 9)))),
      Record(Message(Body("\x01"))),
      Record(Message(Body("").substr(0, 30))),
      Record(Message("")),
      Record(Message(absl::StrCat("\x03\x03", std::string(32, 'r'), Counted(std::string(33, 's'), 1), Counted("\x13\x01", 2), Counted("x", 1)))),   // a long session id
      Record(Message(absl::StrCat("\x03\x03", std::string(32, 'r'), Counted("", 1), Counted("", 2), Counted("x", 1)))),                              // no ciphers
      Record(Message(absl::StrCat("\x03\x03", std::string(32, 'r'), Counted("", 1), Counted("abc", 2), Counted("x", 1)))),                           // half a cipher
      Record(Message(absl::StrCat("\x03\x03", std::string(32, 'r'), Counted("", 1), Counted("ab", 2), Counted("", 1)))),                             // no compression
      Record(absl::StrCat("\x02", Hello(sni).substr(6))),                                                                                                          // a ServerHello
      Record(Message(Body(Counted(sni, 2))).substr(0, 20)) + "\x15\x03\x01" + Counted("\x02\x28", 2),                                                 // an alert within
      Record(Message(Body(Counted(sni, 2))).substr(0, 20)) + std::string("\x16\x03\x01\0\0", 5),
      Record(Message(Body(Counted(sni, 2))).substr(0, 20)) + std::string("\x16\x02\x01\0\x01x", 6),
  };
  for (const std::string& one : bad) EXPECT_THAT(NameOf(one), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("ClientHello"))) << absl::BytesToHexString(one);
}

TEST(ClientHelloTest, OneOfSixteenKibibytesIsTakenAndNoByteMore) {
  const size_t around = Hello(Extension(21, "")).size();
  EXPECT_THAT(NameOf(Hello(Extension(21, std::string(kClientHelloBytesMax - around, 'x')))), IsOk());
  const std::string beyond = Hello(Extension(21, std::string(kClientHelloBytesMax + 1 - around, 'x')));
  EXPECT_THAT(NameOf(beyond), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("more than 16384")));
  EXPECT_THAT(NameOf(beyond.substr(0, 9)), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("more than 16384"))) << "as soon as it says so";
  std::string many;
  for (size_t i = 0; i < 4000; ++i) many += Record("\x01");
  EXPECT_FALSE(NameOf(many).ok()) << "records of one byte";
}

TEST(MayBeTlsTest, TellsItFromOtherProtocolsAtTheFirstBytes) {
  for (absl::string_view bytes : {"GET / HTTP/1.1\r\n", "SSH-2.0-OpenSSH", "\x80\x2e\x01\x03\x01", "\x16\x02", "\x16\x03\x05", "\x15\x03\x01", "\x16\x03\x01\x40\x01", "\x16\x03\x01\x01\x01\x02"}) {
    EXPECT_FALSE(MayBeTls(bytes)) << absl::BytesToHexString(bytes);
    EXPECT_FALSE(ReadClientHello(bytes).ok());
  }
  EXPECT_FALSE(MayBeTls(absl::string_view("\x16\x03\x01\0\0", 5)));
  for (absl::string_view bytes : {"", "\x16", "\x16\x03", "\x16\x03\x01", "\x16\x03\x01\x40", "\x16\x03\x04\x3f\xff\x01"}) EXPECT_TRUE(MayBeTls(bytes)) << absl::BytesToHexString(bytes);
}

}  // namespace
}  // namespace cellblock::egress
