// Notebooks with outputs, as Jupyter would have saved them.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "render/notebook.h"
#include "render/notebook_json.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/render/boost_json.h"
#include "tests/unit/render/notebook_schema.h"
#include "tests/unit/render/random_record.h"

namespace cellblock::render {
namespace {

namespace bj = boost::json;
using Type = Event::Type;

Result Bundle(const std::string& text, const std::string& display_id = "") {
  return {.mime = {{.type = "text/plain", .data = text}}, .metadata_json = "{}", .display_id = display_id};
}

// One cell's outputs after `record`.
std::string Outputs(const Record& record) {
  auto value = ParseStrictly(RenderNotebook({{.source = "x"}}, {record}));
  EXPECT_TRUE(value.has_value());
  return bj::serialize(value->as_object()["cells"].as_array()[0].as_object()["outputs"]);
}

std::vector<NotebookCell> SampleCells() {
  return {{.source = "# Title", .kind = CellKind::kMarkdown}, {.source = "print(1)\n2"}, {.source = "  "}, {.source = "1/0"}, {.source = "never ran"}};
}

std::vector<Record> SampleRecords() {
  Record first;
  first.status = CallStatus::kOk;
  first.call = 1;
  first.results.push_back({.mime = {{.type = "text/plain", .data = "<Figure>"}, {.type = "image/png", .data = std::string("\x89PNG\0", 5), .is_text = false},
                                    {.type = "application/vnd.plotly.v1+json", .data = "{\"data\": []}", .is_json = true}},
                           .metadata_json = "{}"});
  first.results.push_back(Bundle("2"));
  first.results[1].is_value = true;
  first.events = {{.type = Type::kStdout, .text = "1\n"}, {.type = Type::kStderr, .text = "warn\n"}, {.type = Type::kStderr, .text = "more\n"},
                  {.type = Type::kDisplay, .result = 0}, {.type = Type::kResult, .result = 1}};
  Record second;
  second.status = CallStatus::kError;
  second.call = 2;
  second.error = ErrorInfo{.name = "ZeroDivisionError", .value = "division by zero", .traceback = "Traceback:\n  line 1"};
  second.events = {{.type = Type::kError}};
  return {first, second};
}

TEST(RenderNotebookTest, HasCellsOutputsAndNumbers) {
  auto value = ParseStrictly(RenderNotebook(SampleCells(), SampleRecords()));
  ASSERT_TRUE(value.has_value());
  bj::object notebook = value->as_object();
  EXPECT_EQ(notebook["nbformat"], 4);
  EXPECT_EQ(notebook["nbformat_minor"], 5);
  bj::array cells = notebook["cells"].as_array();
  ASSERT_EQ(cells.size(), 5u);
  EXPECT_EQ(bj::serialize(cells[0]), R"({"cell_type":"markdown","id":"cell-1","metadata":{},"source":"# Title"})");
  EXPECT_EQ(bj::serialize(cells[1]),
            R"({"cell_type":"code","id":"cell-2","metadata":{},"source":"print(1)\n2","execution_count":1,"outputs":[)"
            R"({"output_type":"stream","name":"stdout","text":"1\n"},{"output_type":"stream","name":"stderr","text":"warn\nmore\n"},)"
            R"({"output_type":"display_data","data":{"text/plain":"<Figure>","image/png":"iVBORwA=","application/vnd.plotly.v1+json":{"data":[]}},"metadata":{}},)"
            R"({"output_type":"execute_result","data":{"text/plain":"2"},"metadata":{},"execution_count":1}]})");
  EXPECT_EQ(bj::serialize(cells[2]), R"({"cell_type":"code","id":"cell-3","metadata":{},"source":"  ","execution_count":null,"outputs":[]})");
  EXPECT_EQ(bj::serialize(cells[3].as_object()["outputs"]),
            R"([{"output_type":"error","ename":"ZeroDivisionError","evalue":"division by zero","traceback":["Traceback:","  line 1"]}])");
  EXPECT_EQ(bj::serialize(cells[4].as_object()["outputs"]), "[]");
}

TEST(RenderNotebookTest, UpdatesChangeEarlierDisplays) {
  Record record;
  record.status = CallStatus::kOk;
  record.results = {Bundle("old", "d"), Bundle("new", "d"), Bundle("other", "e")};
  record.events = {{.type = Type::kDisplay, .result = 0}, {.type = Type::kDisplay, .result = 2}, {.type = Type::kUpdate, .result = 1}};
  EXPECT_EQ(Outputs(record), R"([{"output_type":"display_data","data":{"text/plain":"new"},"metadata":{}},{"output_type":"display_data","data":{"text/plain":"other"},"metadata":{}}])");
  Record first;
  first.status = CallStatus::kOk;
  first.results = {Bundle("first", "d")};
  first.events = {{.type = Type::kDisplay, .result = 0}};
  Record second;
  second.status = CallStatus::kOk;
  second.results = {Bundle("changed", "d")};
  second.events = {{.type = Type::kUpdate, .result = 0}};
  EXPECT_THAT(RenderNotebook({{.source = "a"}, {.source = "b"}}, {first, second}), ::testing::AllOf(::testing::HasSubstr("changed"), ::testing::Not(::testing::HasSubstr("first"))));
}

TEST(RenderNotebookTest, ClearedOutputIsLeftOut) {
  Record record;
  record.status = CallStatus::kOk;
  record.events = {{.type = Type::kStdout, .text = "a"}, {.type = Type::kClear}, {.type = Type::kStdout, .text = "b"}, {.type = Type::kClear, .wait = true}};
  EXPECT_EQ(Outputs(record), R"([{"output_type":"stream","name":"stdout","text":"b"}])");
  record.events.push_back({.type = Type::kStdout, .text = "c"});
  EXPECT_EQ(Outputs(record), R"([{"output_type":"stream","name":"stdout","text":"c"}])");
}

TEST(RenderNotebookTest, CellEndedFromOutsideSaysSo) {
  Record record;
  record.status = CallStatus::kTimeout;
  record.reason = "The call ran longer than limits.wall, 120 s.";
  EXPECT_EQ(Outputs(record),
            R"([{"output_type":"error","ename":"timeout","evalue":"The call ran longer than limits.wall, 120 s.","traceback":["timeout: The call ran longer than limits.wall, 120 s."]}])");
}

TEST(RenderNotebookTest, OurOwnReaderTakesItBack) {
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(auto cells, ParseNotebook(RenderNotebook(SampleCells(), SampleRecords())));
  ASSERT_EQ(cells.size(), SampleCells().size());
  for (size_t i = 0; i < cells.size(); ++i) {
    EXPECT_EQ(cells[i].source, SampleCells()[i].source);
    EXPECT_EQ(cells[i].kind, SampleCells()[i].kind);
  }
  EXPECT_THAT(ParseNotebook(RenderNotebook({}, {})), IsOk());
}

TEST(RenderNotebookTest, LateTextStandsByItself) {
  Record record;
  record.status = CallStatus::kOk;
  record.events = {{.type = Type::kStdout, .text = "a"}, {.type = Type::kStdout, .text = "of an earlier call", .late = true}, {.type = Type::kStdout, .text = "b"}};
  EXPECT_EQ(Outputs(record),
            R"([{"output_type":"stream","name":"stdout","text":"a"},{"output_type":"stream","name":"stdout","text":"of an earlier call"},{"output_type":"stream","name":"stdout","text":"b"}])");
}

TEST(RenderNotebookTest, AnUpdateBeforeTheDisplayChangesNothing) {
  Record record;
  record.status = CallStatus::kOk;
  record.results = {Bundle("too early", "d"), Bundle("shown", "d")};
  record.events = {{.type = Type::kUpdate, .result = 0}, {.type = Type::kDisplay, .result = 1}};
  EXPECT_THAT(Outputs(record), ::testing::HasSubstr("shown"));
}

// A bundle that passes nbformat's schema, and opens, only if its JSON does not stand as it is.
Record Hostile() {
  Record record;
  record.status = CallStatus::kError;
  record.call = -5;
  const std::string digits(kNotebookDigitsMax + 1, '1');
  record.results.push_back({.mime = {{.type = "text/plain", .data = "{\"a\": 1}", .is_json = true},
                                     {.type = "application/x.json", .data = "[1]", .is_json = true},
                                     {.type = "application/\n+json", .data = "[1]", .is_json = true},
                                     {.type = "application/json", .data = digits, .is_json = true},
                                     {.type = "application/a+json", .data = std::string(200, '[') + std::string(200, ']'), .is_json = true},
                                     {.type = "application/vnd.vega.v5+json", .data = "{\"data\": [NaN]}", .is_json = true}},
                            .metadata_json = "{\"n\": " + digits + "}"});
  record.events = {{.type = Type::kDisplay, .result = 0}, {.type = Type::kResult, .result = 0}};
  return record;
}

TEST(RenderNotebookTest, JsonThatJupyterCannotTakeIsText) {
  const std::string outputs = Outputs(Hostile());
  EXPECT_THAT(outputs, ::testing::HasSubstr(R"("text/plain":"{\"a\": 1}","application/x.json":"[1]","application/\n+json":"[1]","application/json":"111)"));
  EXPECT_THAT(outputs, ::testing::HasSubstr(R"("metadata":{})"));
  ExpectValidNotebook(RenderNotebook({{.source = "x"}}, {Hostile()}));
  Record good = Hostile();
  good.results[0].mime = {{.type = "application/json", .data = std::string(kNotebookDigitsMax, '1'), .is_json = true},
                          {.type = "application/a+json", .data = std::string(kNotebookJsonDepthMax, '[') + std::string(kNotebookJsonDepthMax, ']'), .is_json = true}};
  EXPECT_THAT(RenderNotebook({{.source = "x"}}, {good}), ::testing::AllOf(::testing::HasSubstr("\"application/json\":111"), ::testing::HasSubstr("\"application/a+json\":[[")));
}

TEST(RenderNotebookTest, RandomRecordsGiveValidNotebooks) {
  RandomRecords random(4);
  for (int round = 0; round < 1000; ++round) ExpectValidNotebook(RenderNotebook({{.source = random.Text()}, {.source = "a"}, {.source = "b"}}, {random.Next(), random.Next()}));
}

TEST(RenderNotebookTest, JupytersValidatorTakesIt) {
  if (!HasNbformat()) GTEST_SKIP() << "/usr/bin/python3 has no nbformat package";
  ExpectValidNotebook(RenderNotebook(SampleCells(), SampleRecords()));
  EXPECT_TRUE(NbformatTakes(RenderNotebook(SampleCells(), SampleRecords())));
  EXPECT_TRUE(NbformatTakes(RenderNotebook({{.source = "x"}}, {Hostile()})));
}

}  // namespace
}  // namespace cellblock::render
