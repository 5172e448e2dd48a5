// The one decoder of what a worker sends: whole frames at any split, and nothing else.
#include "wire/frame.h"

#include <random>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace cellblock::wire {
namespace {

constexpr size_t kBundleMax = 1000;

TEST(FrameParserTest, GivesFramesInOrderHoweverTheyAreSplit) {
  std::string bytes = EncodeFrame(FrameType::kResult, 5, "value") + EncodeFrame(FrameType::kSync, 5, "") + EncodeFrame(FrameType::kDone, 5, "end");
  for (size_t step = 1; step <= bytes.size(); ++step) {
    FrameParser parser(kBundleMax);
    std::vector<std::string> bodies;
    for (size_t at = 0; at < bytes.size(); at += step) {
      parser.Append(absl::string_view(bytes).substr(at, step));
      while (true) {
        CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::optional<Frame> frame, parser.Next());
        if (!frame.has_value()) break;
        EXPECT_EQ(frame->nonce, 5u);
        bodies.push_back(frame->body);
      }
    }
    EXPECT_THAT(bodies, ::testing::ElementsAre("value", "", "end")) << "step " << step;
    EXPECT_EQ(parser.buffered_bytes(), 0u);
  }
}

TEST(FrameParserTest, ABundleAtTheCapIsTakenAndOneByteMoreIsRefusedBeforeItsBody) {
  FrameParser at_cap(kBundleMax);
  at_cap.Append(EncodeFrame(FrameType::kDisplay, 1, std::string(kBundleMax, 'x')));
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::optional<Frame> frame, at_cap.Next());
  ASSERT_TRUE(frame.has_value());
  FrameParser beyond(kBundleMax);
  beyond.Append(EncodeFrame(FrameType::kDisplay, 1, std::string(kBundleMax + 1, 'x')).substr(0, kFrameHeaderBytes));
  EXPECT_THAT(beyond.Next(), StatusIs(absl::StatusCode::kInvalidArgument, ::testing::HasSubstr("at most 1000")));
}

TEST(FrameParserTest, SmallTypesHaveACapOfTheirOwn) {
  FrameParser parser(size_t{64} << 20);
  parser.Append(EncodeFrame(FrameType::kError, 1, std::string(kSmallFrameBytesMax, 'x')));
  EXPECT_THAT(parser.Next(), IsOk());
  parser.Append(EncodeFrame(FrameType::kError, 1, std::string(kSmallFrameBytesMax + 1, 'x')));
  EXPECT_FALSE(parser.Next().ok());
  FrameParser sync(1000);
  sync.Append(EncodeFrame(FrameType::kSync, 1, "x"));
  EXPECT_FALSE(sync.Next().ok()) << "a sync carries nothing";
}

TEST(FrameParserTest, StaysBrokenAfterGarbage) {
  FrameParser parser(kBundleMax);
  parser.Append("GET / HTTP/1.1\r\nHost: x\r\n");
  EXPECT_FALSE(parser.Next().ok());
  parser.Append(EncodeFrame(FrameType::kSync, 1, ""));
  EXPECT_FALSE(parser.Next().ok());
}

TEST(FrameParserTest, RefusesUnknownTypesAndReservedBits) {
  std::string good = EncodeFrame(FrameType::kSync, 1, "");
  for (uint16_t type : {0, 4, 15, 25, 255, 65535}) {
    std::string bytes = good;
    bytes[4] = static_cast<char>(type & 0xff);
    bytes[5] = static_cast<char>(type >> 8);
    FrameParser parser(kBundleMax);
    parser.Append(bytes);
    EXPECT_FALSE(parser.Next().ok()) << type;
  }
  good[6] = 1;
  FrameParser parser(kBundleMax);
  parser.Append(good);
  EXPECT_FALSE(parser.Next().ok());
}

TEST(FrameParserTest, SurvivesRandomBytes) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    FrameParser parser(kBundleMax);
    std::string bytes = round % 2 == 0 ? EncodeFrame(FrameType::kDone, 1, "body") : std::string(random() % 64, 'x');
    for (int i = 0; i < 4 && !bytes.empty(); ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
    parser.Append(bytes);
    for (int i = 0; i < 4; ++i) {
      absl::StatusOr<std::optional<Frame>> frame = parser.Next();
      if (!frame.ok() || !frame->has_value()) break;
      EXPECT_LE((*frame)->body.size(), bytes.size());
    }
  }
}

}  // namespace
}  // namespace cellblock::wire
