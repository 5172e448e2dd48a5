// Transcripts as notebooks: every kind of call, valid whatever was shown, and never longer than they may be.
#include <string>

#include "absl/strings/str_cat.h"
#include "capture/utf8.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "render/record_json.h"
#include "render/record_parse.h"
#include "render/transcript.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/render/boost_json.h"
#include "tests/unit/render/notebook_schema.h"
#include "tests/unit/render/sample_transcript.h"

namespace cellblock::render {
namespace {

namespace bj = boost::json;
using ::testing::HasSubstr;
using ::testing::Not;

bj::array CellsOf(const std::string& notebook) {
  ExpectValidNotebook(notebook);
  auto value = ParseStrictly(notebook);
  return value.has_value() ? value->at("cells").as_array() : bj::array();
}

std::string OutputsOf(const bj::value& cell) { return bj::serialize(cell.at("outputs")); }

TEST(TranscriptNotebookTest, ACallIsACellWithItsOutputsAndFacts) {
  bj::array cells = CellsOf(RenderTranscriptNotebook(SampleTranscript()));
  ASSERT_EQ(cells.size(), 7u);
  EXPECT_EQ(bj::serialize(cells[0]),
            R"({"cell_type":"code","id":"cell-1","metadata":{"cellblock":{"language":"python","started_at":"2023-11-14T22:13:20.000000Z","call":1,"status":"ok","session_state":"kept",)"
            R"("wall_seconds":1.5E0,"artifacts":[{"id":"a1","path":"out/p.png"}]}},"source":"plot()\n42\n","execution_count":1,"outputs":[)"
            R"({"output_type":"stream","name":"stdout","text":"hello\n"},)"
            R"({"output_type":"display_data","data":{"text/plain":"<Figure>","image/png":"iVBORwA="},"metadata":{}},)"
            R"({"output_type":"execute_result","data":{"text/plain":"42"},"metadata":{},"execution_count":1}]})");
  EXPECT_EQ(OutputsOf(cells[2]), R"([{"output_type":"error","ename":"ValueError","evalue":"bad","traceback":["Traceback:","ValueError: bad"]}])");
}

TEST(TranscriptNotebookTest, BashStandsBelowItsMagic) {
  bj::array cells = CellsOf(RenderTranscriptNotebook(SampleTranscript()));
  EXPECT_EQ(cells[1].at("source"), "%%bash\nls '*'\nexit 3\n");
  EXPECT_EQ(cells[1].at("execution_count"), 2);
  EXPECT_EQ(cells[1].at("metadata").at("cellblock").at("language"), "bash");
}

TEST(TranscriptNotebookTest, CallsThatDidNotEndSaySo) {
  bj::array cells = CellsOf(RenderTranscriptNotebook(SampleTranscript()));
  EXPECT_TRUE(cells[4].at("execution_count").is_null());
  EXPECT_EQ(OutputsOf(cells[4]), R"([{"output_type":"error","ename":"rejected","evalue":"The queue is full.","traceback":["rejected: The queue is full."]}])");
  EXPECT_EQ(cells[5].at("execution_count"), 5);
  EXPECT_EQ(OutputsOf(cells[5]), R"([{"output_type":"error","ename":"lost","evalue":"The supervisor ended.","traceback":["lost: The supervisor ended."]}])");
  EXPECT_TRUE(cells[6].at("execution_count").is_null());
  EXPECT_EQ(OutputsOf(cells[6]), R"([{"output_type":"stream","name":"stderr","text":"[It still runs.]\n"}])");
  Transcript unknown{.calls = {{.code = "x"}}};
  EXPECT_THAT(RenderTranscriptNotebook(unknown), HasSubstr("How this call ended is not known."));
}

TEST(TranscriptNotebookTest, MetadataNameTheSession) {
  auto value = ParseStrictly(RenderTranscriptNotebook(SampleTranscript()));
  ASSERT_TRUE(value.has_value());
  EXPECT_EQ(value->at("metadata").at("title"), "Session s-1");
  EXPECT_EQ(bj::serialize(value->at("metadata").at("cellblock")), R"({"session_id":"s-1","policy":"default","calls":7,"calls_left_out":0})");
}

TEST(TranscriptNotebookTest, RecordsFromTheJournalGiveTheSame) {
  Transcript parsed = SampleTranscript();
  for (TranscriptCall& call : parsed.calls) {
    if (!call.record.has_value()) continue;
    CELLBLOCK_ASSERT_OK_AND_ASSIGN(call.record, ParseRecordJson(RenderRecordJson(*call.record)));
  }
  EXPECT_EQ(RenderTranscriptNotebook(parsed), RenderTranscriptNotebook(SampleTranscript()));
  EXPECT_EQ(RenderTranscriptScript(parsed), RenderTranscriptScript(SampleTranscript()));
  EXPECT_EQ(RenderTranscriptMarkdown(parsed), RenderTranscriptMarkdown(SampleTranscript()));
}

TEST(TranscriptNotebookTest, AnyCallsGiveAValidNotebookThatOurReaderTakesBack) {
  RandomRecords random(21);
  for (int round = 0; round < 500; ++round) {
    const Transcript transcript = RandomTranscript(random, random.Below(5));
    const std::string notebook = RenderTranscriptNotebook(transcript);
    ExpectValidNotebook(notebook);
    CELLBLOCK_ASSERT_OK_AND_ASSIGN(auto cells, ParseNotebook(notebook));
    ASSERT_EQ(cells.size(), transcript.calls.size());
    for (size_t i = 0; i < cells.size(); ++i) {
      const std::string code = capture::ToValidUtf8(transcript.calls[i].code);
      EXPECT_EQ(cells[i].source, transcript.calls[i].language == Language::kBash ? "%%bash\n" + code : code);
    }
  }
}

TEST(TranscriptNotebookTest, OutputsThatDoNotFitAreLeftOutAndCounted) {
  Transcript transcript = SampleTranscript();
  transcript.calls.resize(2);
  transcript.calls[0].record->events[0].text = std::string(kTranscriptBytesMin, 'x');
  const std::string notebook = RenderTranscriptNotebook(transcript, kTranscriptBytesMin);
  EXPECT_LE(notebook.size(), kTranscriptBytesMin);
  bj::array cells = CellsOf(notebook);
  ASSERT_EQ(cells.size(), 2u);
  EXPECT_THAT(OutputsOf(cells[0]), HasSubstr("iVBORwA="));  // what fits stays
  EXPECT_THAT(OutputsOf(cells[0]), HasSubstr("[1 output of this call (16434 bytes) left out: a transcript has at most 16384 bytes.]"));
  EXPECT_THAT(OutputsOf(cells[1]), Not(HasSubstr("left out")));
}

TEST(TranscriptNotebookTest, CallsThatDoNotFitAreLeftOutAndCounted) {
  Transcript transcript;
  for (int i = 0; i < 20; ++i) transcript.calls.push_back({.code = std::string(1000, 'x'), .record = Ended(i + 1, CallStatus::kOk)});
  transcript.calls_left_out = 5;
  const std::string notebook = RenderTranscriptNotebook(transcript, kTranscriptBytesMin);
  EXPECT_LE(notebook.size(), kTranscriptBytesMin);
  bj::array cells = CellsOf(notebook);
  ASSERT_GT(cells.size(), 2u);
  const int64_t left_out = 25 - (static_cast<int64_t>(cells.size()) - 1);
  EXPECT_EQ(cells.back().at("cell_type"), "markdown");
  EXPECT_THAT(Text(cells.back().at("source")), HasSubstr(absl::StrCat(left_out, " later calls left out")));
  EXPECT_EQ(ParseStrictly(notebook)->at("metadata").at("cellblock").at("calls_left_out"), left_out);
}

TEST(TranscriptNotebookTest, CallCountAtTheMaximumAndOneAbove) {
  Transcript transcript;
  transcript.calls.resize(kTranscriptCallsMax, {.code = "x"});
  EXPECT_THAT(RenderTranscriptNotebook(transcript), Not(HasSubstr("left out:")));
  transcript.calls.push_back({.code = "y"});
  EXPECT_THAT(RenderTranscriptNotebook(transcript), HasSubstr("1 later call left out"));
  EXPECT_THAT(ParseNotebook(RenderTranscriptNotebook(transcript)), IsOk());
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(auto cells, SplitPercentCells(RenderTranscriptScript(transcript)));
  EXPECT_EQ(cells.size(), kTranscriptCallsMax + 2);
}

TEST(TranscriptNotebookTest, ArtifactsBeyondTheMaximumAreCounted) {
  Transcript transcript{.calls = {FigureCall()}};
  transcript.calls[0].record->artifacts.resize(kTranscriptListMax + 3);
  auto facts = CellsOf(RenderTranscriptNotebook(transcript))[0].at("metadata").at("cellblock");
  EXPECT_EQ(facts.at("artifacts").as_array().size(), kTranscriptListMax);
  EXPECT_EQ(facts.at("artifacts_left_out"), 3);
}

TEST(TranscriptNotebookTest, NoFormIsLongerThanItMayBe) {
  RandomRecords random(22);
  for (int round = 0; round < 30; ++round) {
    const Transcript transcript = RandomTranscript(random, 60);
    for (size_t bytes_max : {size_t{1}, kTranscriptBytesMin, size_t{40'000}}) {
      const size_t limit = std::max(bytes_max, kTranscriptBytesMin);
      const std::string notebook = RenderTranscriptNotebook(transcript, bytes_max);
      EXPECT_LE(notebook.size(), limit);
      ExpectValidNotebook(notebook);
      EXPECT_LE(RenderTranscriptMarkdown(transcript, bytes_max).size(), limit);
      const std::string script = RenderTranscriptScript(transcript, bytes_max);
      EXPECT_LE(script.size(), limit);
      EXPECT_THAT(SplitPercentCells(script), IsOk());
    }
  }
}

TEST(TranscriptNotebookTest, JupytersValidatorTakesIt) {
  if (!HasNbformat()) GTEST_SKIP() << "/usr/bin/python3 has no nbformat package";
  RandomRecords random(23);
  EXPECT_TRUE(NbformatTakes(RenderTranscriptNotebook(SampleTranscript())));
  EXPECT_TRUE(NbformatTakes(RenderTranscriptNotebook(RandomTranscript(random, 200))));
  EXPECT_TRUE(NbformatTakes(RenderTranscriptNotebook(RandomTranscript(random, 200), kTranscriptBytesMin)));
}

}  // namespace
}  // namespace cellblock::render
