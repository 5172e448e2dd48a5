// Output of one call: order, bounds, and text that lies about its encoding.
#include "supervise/output_pump.h"

#include <unistd.h>

#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sys/files.h"
#include "tests/support/status_matchers.h"

namespace cellblock::supervise {
namespace {

class OutputPumpTest : public ::testing::Test {
 protected:
  void SetUp() override {
    CELLBLOCK_ASSERT_OK_AND_ASSIGN(output_, sys::MakePipe(O_NONBLOCK));
    CELLBLOCK_ASSERT_OK_AND_ASSIGN(errors_, sys::MakePipe(O_NONBLOCK));
  }
  OutputPump Pump() {
    return OutputPump(policy_, nullptr, [this](const Event& event, const Record&) { live_.push_back(event); }, nullptr, absl::Now(), record_);
  }
  static wire::GuestOutput Text(std::string text) {
    wire::GuestOutput output;
    output.mime = {"text/plain", "t", std::move(text)};
    output.metadata = "{}";
    return output;
  }
  Policy policy_;
  Record record_;
  std::vector<Event> live_;
  sys::PipePair output_, errors_;
};

TEST_F(OutputPumpTest, TextBeforeADisplayComesBeforeIt) {
  OutputPump pump = Pump();
  ASSERT_THAT(sys::WriteAll(output_.write.get(), "before"), IsOk());
  pump.Drain(output_.read.get(), errors_.read.get());
  pump.AddOutput(Event::Type::kDisplay, Text("shown"));
  ASSERT_THAT(sys::WriteAll(output_.write.get(), "after"), IsOk());
  pump.Drain(output_.read.get(), errors_.read.get());
  pump.Finish();
  ASSERT_EQ(record_.events.size(), 3u);
  EXPECT_EQ(record_.events[0].text, "before");
  EXPECT_EQ(record_.events[1].type, Event::Type::kDisplay);
  EXPECT_EQ(record_.results[record_.events[1].result].mime[0].data, "shown");
  EXPECT_EQ(record_.events[2].text, "after");
  EXPECT_EQ(record_.stdout_text, "beforeafter");
  EXPECT_EQ(live_.size(), 3u);
  EXPECT_EQ(record_.receipt.output_bytes, 11);
}

TEST_F(OutputPumpTest, SaysWhenAPipeHasNoWriterLeft) {
  OutputPump pump = Pump();
  EXPECT_TRUE(pump.Drain(output_.read.get(), errors_.read.get()).output);
  output_.write.Reset();
  OutputPump::Open open = pump.Drain(output_.read.get(), errors_.read.get());
  EXPECT_FALSE(open.output);
  EXPECT_TRUE(open.errors);
}

TEST_F(OutputPumpTest, LateTextIsMarkedAndNotPartOfTheCallsOwn) {
  OutputPump pump = Pump();
  pump.AddLate("from before", "");
  pump.Finish();
  ASSERT_EQ(record_.events.size(), 1u);
  EXPECT_TRUE(record_.events[0].late);
  EXPECT_EQ(record_.stdout_text, "");
}

TEST_F(OutputPumpTest, ResultsBeyondCountOrBytesAreLeftOutAndSaid) {
  policy_.limits.results = 2;
  OutputPump pump = Pump();
  for (int i = 0; i < 4; ++i) pump.AddOutput(Event::Type::kDisplay, Text("x"));
  pump.Finish();
  EXPECT_EQ(record_.results.size(), 2u);
  ASSERT_EQ(record_.receipt.limits_hit.size(), 1u);
  EXPECT_EQ(record_.receipt.limits_hit[0].name, "results");
}

TEST_F(OutputPumpTest, ABundleBeyondTheBytesLeftIsLeftOut) {
  policy_.limits.result_bytes = 100;
  OutputPump pump = Pump();
  pump.AddOutput(Event::Type::kDisplay, Text(std::string(101, 'x')));
  pump.AddOutput(Event::Type::kResult, Text("small"));
  pump.Finish();
  ASSERT_EQ(record_.results.size(), 1u);
  EXPECT_TRUE(record_.results[0].is_value);
}

TEST_F(OutputPumpTest, BytesThatAreNoTextAreReplacedEverywhere) {
  OutputPump pump = Pump();
  ASSERT_THAT(sys::WriteAll(output_.write.get(), "ok \xff\n"), IsOk());
  pump.Drain(output_.read.get(), errors_.read.get());
  pump.AddOutput(Event::Type::kResult, Text("\xfe"));
  wire::GuestError error;
  error.name = "E\xff";
  error.line = ~uint64_t{0};
  pump.AddError(error);
  pump.AddError(error);
  pump.Finish();
  EXPECT_EQ(record_.stdout_text, "ok \uFFFD\n");
  EXPECT_EQ(record_.results[0].mime[0].data, "\uFFFD");
  EXPECT_EQ(record_.error->name, "E\uFFFD");
  EXPECT_GE(record_.error->line, 0);
  EXPECT_EQ(record_.events.size(), 3u) << "a second error is not kept";
}

TEST_F(OutputPumpTest, ABundleWithoutTextGetsAnEmptyOne) {
  OutputPump pump = Pump();
  wire::GuestOutput image;
  image.mime = {"image/png", "b", std::string("\x89PNG\xff", 5)};
  pump.AddOutput(Event::Type::kDisplay, image);
  pump.Finish();
  ASSERT_EQ(record_.results[0].mime.size(), 2u);
  EXPECT_EQ(record_.results[0].mime[0].type, "text/plain");
  EXPECT_EQ(record_.results[0].mime[1].data, std::string("\x89PNG\xff", 5)) << "bytes stay bytes";
}

TEST_F(OutputPumpTest, RedactsDataInItsOwnNotation) {
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(auto redact, capture::RedactionSet::Create({"S3CRET-päss", "a&b<c>", "pa\"ss\\word"}));
  OutputPump pump(policy_, redact, nullptr, nullptr, absl::Now(), record_);
  wire::GuestOutput output;
  output.mime = {"application/json", "j", R"({"S3CRET-p\u00e4ss":"pa\"ss\\word"})", "application/vnd.x+json", "j", R"(["S3CRET-p\u00E4ss"])", "text/html", "t", "<td>a&amp;b&lt;c&gt;</td>",
                 "text/plain", "t", R"({'k': 'pa"ss\\word'})", "image/png", "b", "S3CRET-päss"};
  output.metadata = R"({"title":"S3CRET-p\u00e4ss"})";
  output.display_id = std::string(250, 'x') + "S3CRET-päss";
  pump.AddOutput(Event::Type::kResult, std::move(output));
  pump.AddError({.name = "KeyError", .value = R"('pa"ss\\word')"});
  pump.Finish();
  ASSERT_EQ(record_.results.size(), 1u);
  const Result& result = record_.results[0];
  ASSERT_EQ(result.mime.size(), 5u);
  EXPECT_EQ(result.mime[0].data, R"({"***":"***"})");
  EXPECT_EQ(result.mime[1].data, R"(["***"])");
  EXPECT_EQ(result.mime[2].data, "<td>***</td>");
  EXPECT_EQ(result.mime[3].data, "{'k': '***'}");
  EXPECT_EQ(result.mime[4].data, "S3CRET-päss") << "a picture's bytes are no text";
  EXPECT_EQ(result.metadata_json, R"({"title":"***"})");
  EXPECT_EQ(result.display_id, std::string(250, 'x') + "***") << "nothing of it stands at the cut";
  EXPECT_EQ(record_.error->value, "'***'");
}

}  // namespace
}  // namespace cellblock::supervise
