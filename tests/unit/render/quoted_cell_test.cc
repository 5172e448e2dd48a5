// Code as Python strings and back: exact, and nothing else is taken for it.
#include "render/quoted_cell.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "capture/utf8.h"
#include "gtest/gtest.h"
#include "render/notebook.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/render/random_record.h"

namespace cellblock::render {
namespace {

TEST(QuotedCellTest, WritesOneStringALine) {
  EXPECT_EQ(QuoteCell("%%bash\necho \"\\x\"\t\r\n"), "get_ipython().run_cell((\n    \"%%bash\\n\"\n    \"echo \\\"\\\\x\\\"\\t\\r\\n\"\n));\n");
  EXPECT_EQ(QuoteCell(""), "get_ipython().run_cell((\n    \"\"\n));\n");
  EXPECT_EQ(QuoteCell("é\x7F\xFF"), "get_ipython().run_cell((\n    \"é\\x7f\uFFFD\"\n));\n");
}

TEST(QuotedCellTest, OnlyExactQuotesAreTaken) {
  const std::string quoted = "get_ipython().run_cell((\n    \"a\\n\"\n    \"b\"\n));";
  EXPECT_EQ(UnquoteCell(quoted), "a\nb");
  for (const char* other : {"get_ipython().run_cell((\n));", "get_ipython().run_cell((\n    \"a\"\n    \"b\"\n));", "get_ipython().run_cell((\n    \"a\\q\"\n));",
                            "get_ipython().run_cell((\n    \"a\n\"\n));", "get_ipython().run_cell((\n    \"\\x6\"\n));", "get_ipython().run_cell((\n    \"\\x61\"\n));",
                            "get_ipython().run_cell((\n    \"a\"\n)); x", "get_ipython().run_cell((", ""}) {
    EXPECT_EQ(UnquoteCell(other), std::nullopt) << other;
  }
  EXPECT_EQ(UnquoteCell(quoted + "\n"), std::nullopt);
}

TEST(QuotedCellTest, EveryCodeComesBackAndHidesFromTheSplitter) {
  RandomRecords random(51);
  for (int round = 0; round < 3000; ++round) {
    const std::string code = capture::ToValidUtf8(random.Text());
    const std::string quoted = QuoteCell(code);
    ASSERT_EQ(UnquoteCell(absl::string_view(quoted).substr(0, quoted.size() - 1)), code);
    CELLBLOCK_ASSERT_OK_AND_ASSIGN(auto cells, SplitPercentCells(absl::StrCat("# %%\n", quoted, "\n# %%\nnext\n")));
    ASSERT_EQ(cells.size(), 2u);
    EXPECT_EQ(cells[0].source, code);
    EXPECT_EQ(cells[0].first_line, 3);
    EXPECT_EQ(cells[1].source, "next");
  }
}

}  // namespace
}  // namespace cellblock::render
