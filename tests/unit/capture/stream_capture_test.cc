// The whole road from pipe bytes to text, live and final.
#include "capture/stream_capture.h"

#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace cellblock::capture {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Captured {
  std::string text;
  std::string live;
  std::vector<std::string> events;
  std::optional<StreamTruncation> truncation;
};

// Feeds `bytes` in pieces of sizes that `next_size` gives, a millisecond apart.
template <typename NextSize>
Captured Feed(absl::string_view bytes, StreamCaptureOptions options, NextSize next_size, absl::Duration step = absl::Milliseconds(1)) {
  StreamCapture capture(options);
  Captured result;
  absl::Time now = absl::UnixEpoch();
  auto add = [&result](std::string text) {
    EXPECT_TRUE(IsValidUtf8(text));
    result.live += text;
    if (!text.empty()) result.events.push_back(std::move(text));
  };
  const size_t total = bytes.size();
  while (!bytes.empty()) {
    size_t size = std::min<size_t>(next_size(), bytes.size());
    add(capture.Append(bytes.substr(0, size), now));
    bytes.remove_prefix(size);
    now += step;
  }
  add(capture.Finish());
  EXPECT_EQ(capture.bytes_read(), static_cast<int64_t>(total));
  result.text = capture.text();
  result.truncation = capture.truncation();
  EXPECT_LE(result.live.size(), static_cast<size_t>(options.cap_bytes) + kCutMarkerBytesMax);
  EXPECT_LE(result.text.size(), static_cast<size_t>(options.cap_bytes) + kCutMarkerBytesMax);
  return result;
}

Captured FeedWhole(absl::string_view bytes, StreamCaptureOptions options = {}) {
  return Feed(bytes, options, [&] { return bytes.size(); });
}

std::string Fold(absl::string_view text) {
  LineFolder folder;
  std::string folded;
  auto commit = [&folded](absl::string_view part) { folded.append(part.data(), part.size()); };
  folder.Append(text, commit);
  folder.Finish(commit);
  return folded;
}

TEST(StreamCaptureTest, BadBytesBecomeReplacementMarks) {
  Captured captured = FeedWhole("ok \xFF\xFE \xC3");
  EXPECT_EQ(captured.text, "ok \xEF\xBF\xBD\xEF\xBF\xBD \xEF\xBF\xBD");
  EXPECT_EQ(captured.live, captured.text);
  EXPECT_FALSE(captured.truncation.has_value());
}

TEST(StreamCaptureTest, CharacterAcrossABufferEdgeStaysWhole) {
  const std::string bytes = std::string(65'535, 'a') + "é";
  StreamCapture capture({});
  EXPECT_EQ(capture.Append(absl::string_view(bytes).substr(0, 65'536), absl::UnixEpoch()), std::string(65'535, 'a'));
  EXPECT_EQ(capture.Append(absl::string_view(bytes).substr(65'536), absl::UnixEpoch()), "é");
  EXPECT_EQ(capture.Finish(), "");
  EXPECT_EQ(capture.text(), bytes);
  EXPECT_EQ(FeedWhole(bytes).text, bytes);  // the edge of the slices inside
}

TEST(StreamCaptureTest, UnfinishedLineIsShownAtOnce) {
  StreamCapture capture({});
  EXPECT_EQ(capture.Append("Working", absl::UnixEpoch()), "Working");
  EXPECT_EQ(capture.Append("...", absl::UnixEpoch()), "...");
  EXPECT_EQ(capture.Append(" done\nnext", absl::UnixEpoch()), " done\nnext");
  EXPECT_EQ(capture.Finish(), "");
  EXPECT_EQ(capture.text(), "Working... done\nnext");
}

TEST(StreamCaptureTest, ProgressIsShownAtMostEveryInterval) {
  StreamCapture capture({});
  absl::Time start = absl::UnixEpoch();
  EXPECT_EQ(capture.Append("\r 1%", start), " 1%");
  EXPECT_EQ(capture.Append("\r 2%", start), "\r 2%");
  EXPECT_EQ(capture.Append("\r 3%", start + absl::Milliseconds(199)), "");
  EXPECT_EQ(capture.Poll(start + absl::Milliseconds(199)), "");
  EXPECT_EQ(capture.Poll(start + absl::Milliseconds(200)), "\r 3%");
  EXPECT_EQ(capture.Append("\r 4%", start + absl::Milliseconds(201)), "");
  EXPECT_EQ(capture.Border(start + absl::Milliseconds(201)), "\r 4%");
  EXPECT_EQ(capture.Append("\r 5%\n", start + absl::Milliseconds(202)), "\r 5%\n");
  EXPECT_EQ(capture.Finish(), "");
  EXPECT_EQ(capture.text(), " 5%\n");
}

TEST(StreamCaptureTest, ThousandsOfProgressStepsStaySmall) {
  std::string bytes;
  for (int i = 0; i <= 2000; ++i) absl::StrAppend(&bytes, "\r", i * 100 / 2000, "%|", std::string(80, '#'), "| ", i, "/2000");
  bytes += "\n";
  Captured captured = Feed(bytes, {}, [] { return 90; });
  EXPECT_EQ(captured.text, "100%|" + std::string(80, '#') + "| 2000/2000\n");
  EXPECT_LT(captured.events.size(), 20u);
  EXPECT_EQ(Fold(captured.live), captured.text);
}

TEST(StreamCaptureTest, TextOfExactlyTheCapIsWholeAndOneByteMoreIsCut) {
  for (size_t piece : {1u, 7u, 1000u, 100'000u}) {
    const std::string text = std::string(1024 - 6, 'a') + "€\nend";
    ASSERT_EQ(text.size(), 1025u);
    Captured at = Feed(absl::string_view(text).substr(1), {.cap_bytes = 1024}, [&] { return piece; });
    EXPECT_EQ(at.text, text.substr(1));
    EXPECT_EQ(at.live, text.substr(1));
    EXPECT_FALSE(at.truncation.has_value());
    Captured above = Feed(text, {.cap_bytes = 1024}, [&] { return piece; });
    ASSERT_TRUE(above.truncation.has_value());
    EXPECT_EQ(above.truncation->head_bytes, 512);
    EXPECT_EQ(above.truncation->tail_bytes, 512);
    EXPECT_EQ(above.truncation->dropped_bytes, 1);
    EXPECT_EQ(above.text, text.substr(0, 512) + "\n… [1 byte left out] …\n" + text.substr(513));
    EXPECT_EQ(above.live, above.text);
  }
}

TEST(StreamCaptureTest, TailSurvivesAFlood) {
  std::string bytes;
  for (int i = 0; i < 300'000; ++i) absl::StrAppend(&bytes, "line ", i, "\n");
  bytes += "END";
  Captured captured = Feed(bytes, {}, [] { return 65'536; });
  EXPECT_TRUE(absl::StartsWith(captured.text, "line 0\n"));
  EXPECT_TRUE(absl::EndsWith(captured.text, "line 299999\nEND"));
  EXPECT_EQ(captured.live, captured.text);
  ASSERT_TRUE(captured.truncation.has_value());
  EXPECT_EQ(captured.truncation->head_bytes + captured.truncation->tail_bytes + captured.truncation->dropped_bytes,
            static_cast<int64_t>(bytes.size()));
  // Nothing is shown between the first half and the end.
  EXPECT_LE(captured.events.size(), 10u);
}

TEST(StreamCaptureTest, OneLineOf64MebibytesIsBounded) {
  const std::string piece(1 << 20, 'z');
  StreamCapture capture({});
  size_t live = 0;
  for (int i = 0; i < 64; ++i) live += capture.Append(piece, absl::UnixEpoch()).size();
  EXPECT_EQ(live, size_t{1} << 19);
  live += capture.Finish().size();
  EXPECT_LE(live, (size_t{1} << 20) + kCutMarkerBytesMax);
  EXPECT_THAT(capture.text(), HasSubstr("\n… [66,060,288 bytes left out] …\n"));
}

TEST(StreamCaptureTest, SecretsVanishFromTextAndLive) {
  auto set = RedactionSet::Create({"s3cr3t-token"});
  ASSERT_THAT(set, IsOk());
  const std::string bytes = "token=s3cr3t-token; again s3cr3t-tokens3cr3t-to";
  for (size_t piece = 1; piece < 20; ++piece) {
    Captured captured = Feed(bytes, {.redact = *set}, [&] { return piece; });
    EXPECT_EQ(captured.text, "token=***; again ***s3cr3t-to");
    EXPECT_EQ(captured.live, captured.text);
  }
}

TEST(StreamCaptureTest, RowRewrittenAfterTheLiveTextClosedComesAgainAtTheEnd) {
  StreamCapture capture({.cap_bytes = 1024});
  std::string live = capture.Append(std::string(600, 'a'), absl::UnixEpoch());
  EXPECT_EQ(live.size(), 512u);
  live += capture.Append("\rX\n", absl::UnixEpoch());
  live += capture.Finish();
  EXPECT_EQ(capture.text(), "X" + std::string(599, 'a') + "\n");
  EXPECT_LE(live.size(), 1024 + kCutMarkerBytesMax);
  EXPECT_THAT(live, HasSubstr("\rX"));
}

// Any split and any timing of the same bytes gives the same text; live texts stay bounded and, folded, say the same.
TEST(StreamCaptureTest, RandomBytesGiveTheSameTextForEverySplit) {
  std::mt19937 random(23);
  auto set = RedactionSet::Create({"abab", "é€é€"});
  ASSERT_THAT(set, IsOk());
  const std::vector<std::string> pieces = {"a", "b", "ab", "\r", "\r", "\n", "é", "€", "😀", "\xFF", "\xC3", "\xE2\x82", "   ", "xyz", "\r\n"};
  int cut = 0, compared = 0;
  for (int round = 0; round < 3000; ++round) {
    StreamCaptureOptions options{.cap_bytes = static_cast<int64_t>(64 + random() % 400)};
    if (random() % 2 == 0) options.redact = *set;
    std::string bytes;
    for (size_t i = random() % 300; i > 0; --i) bytes += pieces[random() % pieces.size()];
    Captured whole = FeedWhole(bytes, options);
    Captured split = Feed(bytes, options, [&] { return 1 + random() % 9; }, absl::Milliseconds(static_cast<int>(random() % 300)));
    EXPECT_EQ(split.text, whole.text);
    EXPECT_EQ(split.truncation.has_value(), whole.truncation.has_value());
    cut += whole.truncation.has_value() ? 1 : 0;
    if (!whole.truncation.has_value() && whole.text.size() * 2 < static_cast<size_t>(options.cap_bytes)) {
      ++compared;
      EXPECT_EQ(Fold(split.live), whole.text) << bytes;
    }
    if (whole.truncation.has_value()) {
      EXPECT_GE(whole.truncation->head_bytes + whole.truncation->tail_bytes, options.cap_bytes - 6);
      EXPECT_GT(whole.truncation->dropped_bytes, 0);
    }
  }
  EXPECT_GT(cut, 100);
  EXPECT_GT(compared, 100);
}

}  // namespace
}  // namespace cellblock::capture
