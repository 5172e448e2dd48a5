// Chunked bodies: the same content however the bytes are cut, and nothing that a laxer reader would take for something else.
#include "egress/chunk_decoder.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace cellblock::egress {
namespace {

using ::testing::HasSubstr;

struct Decoded {
  absl::Status status;
  std::string body;
  size_t used = 0;
  bool done = false;
};

// The pieces begin at 0, `first` and `second`.
Decoded Decode(absl::string_view bytes, size_t first, size_t second) {
  ChunkDecoder decoder;
  Decoded decoded;
  for (absl::string_view piece : {bytes.substr(0, first), bytes.substr(first, second - first), bytes.substr(second)}) {
    absl::StatusOr<size_t> used = decoder.Feed(piece, decoded.body);
    decoded.done = decoder.done();
    if (!used.ok()) {
      decoded.status = used.status();
      break;
    }
    decoded.used += *used;
    EXPECT_TRUE(*used == piece.size() || decoder.done());
  }
  return decoded;
}

TEST(ChunkDecoderTest, GivesTheSameBodyHoweverItIsCutAndLeavesTheNextMessageAlone) {
  const std::string body = "5\r\nhello\r\n00A\r\n, \r\nworld!\r\n1\r\n\r\r\n0\r\nX-Sum: 1\r\nY:\r\n\r\n", next = "GET / HTTP/1.1\r\n";
  const std::string bytes = body + next;
  for (size_t first = 0; first <= bytes.size(); ++first) {
    for (size_t second = first; second <= bytes.size(); ++second) {
      const Decoded decoded = Decode(bytes, first, second);
      ASSERT_THAT(decoded.status, IsOk());
      EXPECT_EQ(decoded.body, "hello, \r\nworld!\r");
      EXPECT_EQ(decoded.used, body.size()) << first << " " << second;
      EXPECT_TRUE(decoded.done);
    }
  }
}

TEST(ChunkDecoderTest, IsNotDoneBeforeTheLastByte) {
  const std::string body = "1\r\nx\r\n0\r\n\r\n";
  for (size_t length = 0; length < body.size(); ++length) {
    const Decoded decoded = Decode(body.substr(0, length), 0, 0);
    EXPECT_THAT(decoded.status, IsOk());
    EXPECT_FALSE(decoded.done) << length;
  }
  EXPECT_TRUE(Decode(body, 0, 0).done);
  EXPECT_TRUE(Decode("0\r\n\r\n", 0, 0).done) << "a body of nothing";
}

TEST(ChunkDecoderTest, RefusesWhatReadersTakeDifferentlyWhereverItIsCut) {
  const std::string bad[] = {
      "5;a=b\r\nhello\r\n", "5 ;a\r\n", "5 \r\nhello\r\n", " 5\r\nhello\r\n", "5\t\r\n", "0x5\r\nhello\r\n", "-1\r\n", "+5\r\n", "\r\n", "g\r\n", "5\nhello\n", "5\r\nhello\n", "5\rhello\r\n",
      "5\r\nhello5\r\n", "5\r\nhello\rx", "5\r\nhelloX\r\n", "00000000000000005\r\n", "10000000000000000\r\n", "5,5\r\n", "5\xc2\xa0\r\n", std::string("5\0\r\n", 4), "0\r\nX: y\n\r\n", "0\r\n\n",
      "0\r\n\rx", "0\r\nno colon\r\n\r\n", "0\r\n X: y\r\n\r\n", "0\r\nX : y\r\n\r\n", "0\r\nX: y\r\n z\r\n\r\n", std::string("0\r\nX: \0\r\n\r\n", 11), "0\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
  };
  for (const std::string& one : bad) {
    for (size_t cut = 0; cut <= one.size(); ++cut) {
      const Decoded decoded = Decode(one, cut, cut);
      EXPECT_THAT(decoded.status, StatusIs(absl::StatusCode::kInvalidArgument, ::testing::Not(""))) << one << " at " << cut;
      EXPECT_FALSE(decoded.done);
    }
  }
}

TEST(ChunkDecoderTest, StaysBroken) {
  ChunkDecoder decoder;
  std::string out;
  EXPECT_FALSE(decoder.Feed("x", out).ok());
  EXPECT_THAT(decoder.Feed("0\r\n\r\n", out), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("broken")));
  EXPECT_FALSE(decoder.done());
  EXPECT_EQ(out, "");
}

TEST(ChunkDecoderTest, ASizeMayHaveSixteenDigitsAndItsChunkMayGoOnForAsLong) {
  ChunkDecoder decoder;
  std::string out;
  EXPECT_THAT(decoder.Feed("FFFFfffffffffffF\r\n", out), IsOk());
  for (int i = 0; i < 100; ++i) EXPECT_THAT(decoder.Feed(std::string(1000, '\r'), out), IsOk());
  EXPECT_EQ(out.size(), 100'000u);
}

TEST(ChunkDecoderTest, TrailersEndAtFourKibibytes) {
  const auto with_trailers = [](size_t bytes) { return absl::StrCat("0\r\nX: ", std::string(bytes - 7, 'y'), "\r\n\r\n"); };   // "X: ", two CRLF
  EXPECT_TRUE(Decode(with_trailers(kTrailerBytesMax), 0, 0).done);
  EXPECT_THAT(Decode(with_trailers(kTrailerBytesMax + 1), 0, 0).status, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("4 KiB")));
  std::string many = "0\r\n";
  for (int i = 0; i < 2000; ++i) many += "X:\r\n";
  EXPECT_THAT(Decode(many, 0, 0).status, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("4 KiB")));
}

}  // namespace
}  // namespace cellblock::egress
