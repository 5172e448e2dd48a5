// Which pictures of a call are kept.
#include "app/charts.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/fake_host.h"

namespace cellblock::app {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> Pictures(const Record& record) {
  std::vector<std::string> found;
  for (const Result* result : VisibleResults(record)) {
    for (const Picture& picture : PicturesOf(*result)) found.push_back(absl::StrCat(picture.extension, ":", picture.data));
  }
  return found;
}

TEST(VisibleResultsTest, KeepsEachDisplayInOrder) {
  ExecuteOptions options;
  EXPECT_THAT(Pictures(Playback(options).Image("a").Display("text").Image("b").Image("a").record()),
              ElementsAre("png:a", "png:b", "png:a"));
}

TEST(VisibleResultsTest, UpdateReplacesItsDisplay) {
  ExecuteOptions options;
  Playback play(options);
  play.Image("frame 1", "d").Image("other").Image("frame 2", "d", Event::Type::kUpdate).Image("frame 3", "d", Event::Type::kUpdate);
  EXPECT_THAT(Pictures(play.record()), ElementsAre("png:frame 3", "png:other"));
}

TEST(VisibleResultsTest, UpdateOfNothingShowsNothing) {
  ExecuteOptions options;
  EXPECT_THAT(Pictures(Playback(options).Image("x", "unknown", Event::Type::kUpdate).Image("y", "", Event::Type::kUpdate).record()),
              ElementsAre());
}

TEST(VisibleResultsTest, ClearRemovesAtOnceOrWithTheNextOutput) {
  ExecuteOptions options;
  EXPECT_THAT(Pictures(Playback(options).Image("a").Clear(false).record()), ElementsAre());
  EXPECT_THAT(Pictures(Playback(options).Image("a").Clear(true).record()), ElementsAre("png:a"));
  EXPECT_THAT(Pictures(Playback(options).Image("a").Clear(true).Image("b").record()), ElementsAre("png:b"));
  EXPECT_THAT(Pictures(Playback(options).Image("a").Clear(true).Stdout("tick").record()), ElementsAre());
}

TEST(VisibleResultsTest, IgnoresIndexesBeyondTheResults) {
  Record record;
  Event event;
  event.type = Event::Type::kDisplay;
  event.result = 3;
  record.events.push_back(event);
  EXPECT_TRUE(VisibleResults(record).empty());
}

TEST(PicturesOfTest, TakesEveryImageTypeOfABundle) {
  Result result;
  result.mime = {{"text/plain", "figure"}, {"image/png", "p", false}, {"image/svg+xml", "<svg/>"}};
  const std::vector<Picture> pictures = PicturesOf(result);
  ASSERT_EQ(pictures.size(), 2u);
  EXPECT_EQ(pictures[0].extension, "png");
  EXPECT_EQ(pictures[1].extension, "svg");
}

TEST(PicturesOfTest, KeepsAnInteractiveChartButNotATable) {
  Result table;
  table.mime = {{"text/plain", "a b"}, {"text/html", "<table>"}};
  EXPECT_TRUE(PicturesOf(table).empty());
  Result plot;
  plot.mime = {{"text/plain", "Figure"}, {"application/vnd.plotly.v1+json", "{}", true, true}, {"text/html", "<div>"}};
  ASSERT_EQ(PicturesOf(plot).size(), 1u);
  EXPECT_EQ(PicturesOf(plot)[0].extension, "html");
}

TEST(PicturesOfTest, TellsThePicturesSize) {
  std::string png("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x80\0\0\x01\xE0\x08\x06\0\0\0", 29);
  Result result;
  result.mime = {{"image/png", png, false}};
  EXPECT_EQ(PicturesOf(result)[0].size, "640×480");
  result.mime = {{"image/png", png.substr(0, 20), false}};
  EXPECT_EQ(PicturesOf(result)[0].size, "");
}

}  // namespace
}  // namespace cellblock::app
