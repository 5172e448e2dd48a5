// Reading .ipynb files: versions, forms of source, and errors that say where.
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "render/notebook.h"
#include "tests/support/status_matchers.h"

namespace cellblock::render {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

std::string Notebook(const std::string& cells, const std::string& rest = R"("nbformat": 4, "nbformat_minor": 5)") {
  return "{\"cells\": [" + cells + "], " + rest + "}";
}
std::string CodeCell(const std::string& source_json) { return R"({"cell_type": "code", "metadata": {}, "outputs": [], "source": )" + source_json + "}"; }

TEST(ParseNotebookTest, ReadsCellsInOrderWithBothFormsOfSource) {
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(auto cells, ParseNotebook(Notebook(
      CodeCell(R"(["import math\n", "math.pi"])") + "," + CodeCell(R"("x = 'é \u00e9 \ud83d\ude00'\nx")") + R"(,{"cell_type": "markdown", "source": ["# Title\n", "text"]},)"
      R"({"source": "raw", "cell_type": "raw"},)" + CodeCell("[]"))));
  ASSERT_EQ(cells.size(), 5u);
  EXPECT_EQ(cells[0].source, "import math\nmath.pi");
  EXPECT_EQ(cells[1].source, "x = 'é é 😀'\nx");
  EXPECT_EQ(cells[2].kind, CellKind::kMarkdown);
  EXPECT_EQ(cells[2].source, "# Title\ntext");
  EXPECT_EQ(cells[3].kind, CellKind::kRaw);
  EXPECT_EQ(cells[4].source, "");
  EXPECT_TRUE(IsRunnable(cells[0]));
  EXPECT_FALSE(IsRunnable(cells[2]));
  EXPECT_FALSE(IsRunnable(cells[4]));
}

TEST(ParseNotebookTest, IsNotFooledByOutputsAndMetadata) {
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(auto cells, ParseNotebook(Notebook(
      R"({"outputs": [{"cell_type": "raw", "source": ["no"], "cells": [{"source": "no"}], "nbformat": 1}], "attachments": {"source": "no"}, "source": "yes", "metadata": {"source": ["no"], "cell_type": "x"}, "cell_type": "code"})",
      R"("metadata": {"cells": [1], "nbformat": 9, "kernelspec": {"language": "python", "name": "python3"}, "language_info": {"name": "python"}}, "nbformat_minor": 2, "nbformat": 4)")));
  ASSERT_EQ(cells.size(), 1u);
  EXPECT_EQ(cells[0].source, "yes");
}

TEST(ParseNotebookTest, ReadsNbformat3) {
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(auto cells, ParseNotebook(R"({"metadata": {"name": ""}, "nbformat": 3, "nbformat_minor": 0, "worksheets": [{"cells": [
      {"cell_type": "heading", "level": 1, "source": ["Title"]}, {"cell_type": "code", "input": ["print 1\n", "2"], "language": "python", "outputs": []}], "metadata": {}}]})"));
  ASSERT_EQ(cells.size(), 2u);
  EXPECT_EQ(cells[0].kind, CellKind::kMarkdown);
  EXPECT_EQ(cells[1].source, "print 1\n2");
}

TEST(ParseNotebookTest, SyntaxErrorsSayWhere) {
  EXPECT_THAT(ParseNotebook("{\n \"cells\": [\n  oops\n ]}"), StatusIs(kInvalid, AllOf(HasSubstr("line 3, column 3"), HasSubstr("not JSON"))));
  EXPECT_THAT(ParseNotebook("{\"é\": oops}"), StatusIs(kInvalid, HasSubstr("line 1, column 7")));
  EXPECT_THAT(ParseNotebook("{\"cells\": ["), StatusIs(kInvalid, HasSubstr("ends in the middle")));
  EXPECT_THAT(ParseNotebook(""), StatusIs(kInvalid, HasSubstr("ends in the middle")));
  EXPECT_THAT(ParseNotebook(Notebook("") + " x"), StatusIs(kInvalid, HasSubstr("something follows the end")));
  EXPECT_THAT(ParseNotebook("{\"a\": NaN, \"nbformat\": 4}"), StatusIs(kInvalid, HasSubstr("line 1, column 7: NaN is not JSON")));
  for (const char* half : {"\\ud800", "\\udc00", "\\ud800x", "\\uDBffx", "\\ud800\\n", "\\\\\\ud800", "\\ud800\\u0041", "\\ud800\\ud800"}) {
    EXPECT_THAT(ParseNotebook(absl::StrCat("{\n\"a\": \"", half, "\", \"nbformat\": 4}")),
                StatusIs(kInvalid, AllOf(HasSubstr("line 2, column "), HasSubstr("half of a surrogate pair")))) << half;
  }
  EXPECT_THAT(ParseNotebook("{\"a\": \"\\\\ud800\n\"}"), StatusIs(kInvalid, HasSubstr("not JSON")));  // a backslash, then the letters ud800
  EXPECT_THAT(ParseNotebook("{\"a\": \"\\ud83d\\ude00\", \"nbformat\": 4, \"cells\": []}"), IsOk());  // the twin: a whole pair
  EXPECT_THAT(ParseNotebook("{\"a\": \"\xFF\"}"), StatusIs(kInvalid, HasSubstr("not JSON")));
}

TEST(ParseNotebookTest, WrongShapesSayWhichCell) {
  EXPECT_THAT(ParseNotebook("[]"), StatusIs(kInvalid, HasSubstr("not a notebook")));
  EXPECT_THAT(ParseNotebook("3"), StatusIs(kInvalid, HasSubstr("not a notebook")));
  EXPECT_THAT(ParseNotebook("\"x\""), StatusIs(kInvalid, HasSubstr("not a notebook")));
  EXPECT_THAT(ParseNotebook("{}"), StatusIs(kInvalid, HasSubstr("no \"nbformat\"")));
  EXPECT_THAT(ParseNotebook(R"({"cells": {}, "nbformat": 4})"), StatusIs(kInvalid, HasSubstr("\"cells\" is not a list")));
  EXPECT_THAT(ParseNotebook(R"({"cells": "x", "nbformat": 4})"), StatusIs(kInvalid, HasSubstr("\"cells\" is not a list")));
  EXPECT_THAT(ParseNotebook(R"({"cells": 5, "nbformat": 4})"), StatusIs(kInvalid, HasSubstr("\"cells\" is not a list")));
  EXPECT_THAT(ParseNotebook(Notebook(CodeCell("\"a\"") + ", 7")), StatusIs(kInvalid, HasSubstr("cell 2 is not an object")));
  EXPECT_THAT(ParseNotebook(Notebook("\"a\"")), StatusIs(kInvalid, HasSubstr("cell 1 is not an object")));
  EXPECT_THAT(ParseNotebook(Notebook(R"({"source": "a"})")), StatusIs(kInvalid, HasSubstr("cell 1 has no \"cell_type\"")));
  EXPECT_THAT(ParseNotebook(Notebook(R"({"cell_type": "sql", "source": "a"})")), StatusIs(kInvalid, HasSubstr("unknown \"cell_type\" \"sql\"")));
  EXPECT_THAT(ParseNotebook(Notebook(CodeCell("7"))), StatusIs(kInvalid, HasSubstr("source of cell 1 is neither")));
  EXPECT_THAT(ParseNotebook(Notebook(CodeCell("{}"))), StatusIs(kInvalid, HasSubstr("source of cell 1 is neither")));
  EXPECT_THAT(ParseNotebook(Notebook(CodeCell("[\"a\", null]"))), StatusIs(kInvalid, HasSubstr("source of cell 1")));
  EXPECT_THAT(ParseNotebook(Notebook(CodeCell("[[]]"))), StatusIs(kInvalid, HasSubstr("source of cell 1 is not a string")));
}

TEST(ParseNotebookTest, RefusesOtherVersionsAndLanguages) {
  EXPECT_THAT(ParseNotebook(Notebook("", R"("nbformat": 2)")), StatusIs(kInvalid, HasSubstr("nbformat 2 is not known")));
  EXPECT_THAT(ParseNotebook(Notebook("", R"("nbformat": 5)")), StatusIs(kInvalid, HasSubstr("nbformat 5 is not known")));
  EXPECT_THAT(ParseNotebook(Notebook("", R"("nbformat": 4, "nbformat_minor": 9)")), IsOk());
  EXPECT_THAT(ParseNotebook(Notebook("", R"("nbformat": 4, "metadata": {"kernelspec": {"language": "R"}})")), StatusIs(kInvalid, HasSubstr("language is \"R\"")));
  EXPECT_THAT(ParseNotebook(Notebook("", R"("nbformat": 4, "metadata": {"language_info": {"name": "julia"}})")), StatusIs(kInvalid, HasSubstr("\"julia\"")));
}

TEST(ParseNotebookTest, CellCountAtTheMaximumAndOneAbove) {
  std::string cells;
  for (size_t i = 0; i < kNotebookCellsMax; ++i) absl::StrAppend(&cells, i > 0 ? "," : "", CodeCell("\"1\""));
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(auto at, ParseNotebook(Notebook(cells)));
  EXPECT_EQ(at.size(), kNotebookCellsMax);
  EXPECT_THAT(ParseNotebook(Notebook(cells + "," + CodeCell("\"1\""))), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("more than 10000 cells")));
}

TEST(ParseNotebookTest, SizeAtTheMaximumAndOneAbove) {
  std::string text = Notebook(CodeCell("\"1\""));
  text += std::string(kNotebookBytesMax - text.size(), ' ');
  EXPECT_THAT(ParseNotebook(text), IsOk());
  EXPECT_THAT(ParseNotebook(text + " "), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("67108865 bytes; at most 67108864")));
}

TEST(ParseNotebookTest, DepthIsBounded) {
  auto nested = [](size_t depth) { return Notebook("", "\"nbformat\": 4, \"x\": " + std::string(depth, '[') + std::string(depth, ']')); };
  EXPECT_THAT(ParseNotebook(nested(255)), IsOk());
  EXPECT_THAT(ParseNotebook(nested(256)), StatusIs(kInvalid, HasSubstr("nests deeper than 256")));
  EXPECT_THAT(ParseNotebook(std::string(1'000'000, '[')), StatusIs(kInvalid, HasSubstr("a list, not a notebook")));
  EXPECT_THAT(ParseNotebook("{\"a\":" + std::string(1'000'000, '[')), StatusIs(kInvalid, HasSubstr("nests deeper")));
}

TEST(ParseNotebookTest, LongKeysAndValuesAreNotKept) {
  const std::string longest(1 << 20, 'k');
  EXPECT_THAT(ParseNotebook(Notebook("", "\"" + longest + "\": \"" + longest + "\", \"nbformat\": 4")), IsOk());
  auto status = ParseNotebook(Notebook("{\"cell_type\": \"" + longest + "\"}"));
  EXPECT_THAT(status, StatusIs(kInvalid, HasSubstr("unknown \"cell_type\"")));
  EXPECT_LT(status.status().message().size(), 400u);
}

}  // namespace
}  // namespace cellblock::render
