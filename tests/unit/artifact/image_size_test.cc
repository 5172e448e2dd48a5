// Image sizes from headers, and no answer from broken ones.
#include "artifact/image_size.h"

#include <random>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cellblock::artifact {
namespace {

using namespace std::string_literals;
using ::testing::Optional;
using ::testing::Pair;

const std::string kPng = "\x89PNG\r\n\x1A\n\0\0\0\rIHDR\0\0\x02\x80\0\0\x01\xE0\x08\x06\0\0\0"s;
const std::string kJpeg = "\xFF\xD8\xFF\xE0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0\xFF\xFF\xDB\0\x04zz\xFF\xC2\0\x11\x08\x01\xE0\x02\x80\x03"s;

TEST(ImageSizeTest, ReadsEachFormat) {
  EXPECT_THAT(ImageSize("image/png", kPng), Optional(Pair(640, 480)));
  EXPECT_THAT(ImageSize("image/jpeg", kJpeg), Optional(Pair(640, 480)));
  EXPECT_THAT(ImageSize("image/gif", "GIF89a\x80\x02\xE0\x01\0\0\0"s), Optional(Pair(640, 480)));
  EXPECT_THAT(ImageSize("image/webp", "RIFF\0\0\0\0WEBPVP8X\x0A\0\0\0\0\0\0\0\x7F\x02\0\xDF\x01\0"s), Optional(Pair(640, 480)));
  EXPECT_THAT(ImageSize("image/webp", "RIFF\0\0\0\0WEBPVP8 \0\0\0\0\x30\x01\0\x9D\x01\x2A\x80\x02\xE0\x01"s), Optional(Pair(640, 480)));
  // 14 bits of width − 1, 14 of height − 1
  EXPECT_THAT(ImageSize("image/webp", "RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2F\x7F\xC2\x77\0\0\0\0\0\0"s), Optional(Pair(640, 480)));
}

TEST(ImageSizeTest, ReadsSvgInEveryUnit) {
  auto size = [](const std::string& attributes) { return ImageSize("image/svg+xml", "<?xml version=\"1.0\"?>\n<svg " + attributes + ">"); };
  EXPECT_THAT(size("width=\"640\" height='480'"), Optional(Pair(640, 480)));
  EXPECT_THAT(size("height=\"345.6pt\" viewBox=\"0 0 460.8 345.6\" width=\"460.8pt\""), Optional(Pair(614, 461)));  // as matplotlib writes it
  EXPECT_THAT(size("width = \"1in\" height=\"2.54cm\""), Optional(Pair(96, 96)));
  EXPECT_THAT(size("width=\"100%\" height=\"100%\" viewBox=\"0,0 , 300 200\""), Optional(Pair(300, 200)));
  EXPECT_THAT(size("stroke-width=\"3\" viewBox=\"0 0 30 20\""), Optional(Pair(30, 20)));
  for (const char* none : {"", "width=\"10\"", "width=\"-1\" height=\"5\"", "width=\"nan\" height=\"nan\"", "width=\"1e300\" height=\"5\"", "viewBox=\"0 0 1\"", "width=\"10"}) {
    EXPECT_EQ(size(none), std::nullopt) << none;
  }
  EXPECT_EQ(ImageSize("image/svg+xml", "<svg width=\"1\" height=\"1\""), std::nullopt);
}

TEST(ImageSizeTest, FindsAJpegFrameBehindLargeMetadata) {
  std::string segment = "\xFF\xE2\xFF\xFF"s + std::string(0xFFFF - 2, 'i');
  EXPECT_THAT(ImageSize("image/jpeg", "\xFF\xD8"s + segment + segment + segment + kJpeg.substr(2)), Optional(Pair(640, 480)));
}

TEST(ImageSizeTest, EveryTruncationAndZeroSizeGivesNone) {
  for (size_t i = 0; i < 24; ++i) EXPECT_EQ(ImageSize("image/png", kPng.substr(0, i)), std::nullopt);
  for (size_t i = 0; i + 1 < kJpeg.size(); ++i) EXPECT_EQ(ImageSize("image/jpeg", kJpeg.substr(0, i)), std::nullopt) << i;
  EXPECT_EQ(ImageSize("image/gif", "GIF89a\0\0\xE0\x01\0\0\0"s), std::nullopt);
  std::string huge = kPng;
  huge[16] = '\x80';
  EXPECT_EQ(ImageSize("image/png", huge), std::nullopt);
  EXPECT_EQ(ImageSize("text/plain", kPng), std::nullopt);
}

TEST(ImageSizeTest, DamagedHeadersNeverReadOutside) {  // for the sanitizers
  std::mt19937 random(2);
  const std::vector<std::pair<const char*, std::string>> seeds = {
      {"image/png", kPng}, {"image/jpeg", kJpeg}, {"image/svg+xml", "<svg width=\"1\" height=\"2\" viewBox=\"0 0 1 1\">"},
      {"image/webp", "RIFF\0\0\0\0WEBPVP8X\x0A\0\0\0\0\0\0\0\x7F\x02\0\xDF\x01\0"s}, {"image/gif", "GIF89a\x80\x02\xE0\x01"s}};
  for (int round = 0; round < 20'000; ++round) {
    auto [mime, bytes] = seeds[random() % seeds.size()];
    for (size_t i = random() % 4; i > 0; --i) bytes[random() % bytes.size()] = static_cast<char>(random());
    bytes.resize(random() % (bytes.size() + 1));
    auto size = ImageSize(mime, std::string(bytes));
    if (size.has_value()) {
      EXPECT_GE(size->first, 1);
      EXPECT_GE(size->second, 1);
    }
  }
}

}  // namespace
}  // namespace cellblock::artifact
