// Cutting scripts at their cell markers.
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "render/notebook.h"
#include "tests/support/status_matchers.h"

namespace cellblock::render {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<NotebookCell> Split(absl::string_view script) {
  auto cells = SplitPercentCells(script);
  EXPECT_THAT(cells, IsOk());
  return *std::move(cells);
}

TEST(SplitPercentCellsTest, ScriptWithoutMarkersIsOneCellAsItIs) {
  const std::string script = "#!/usr/bin/env python3\n\nprint(1)  # %% not at the start\n";
  auto cells = Split(script);
  ASSERT_EQ(cells.size(), 1u);
  EXPECT_EQ(cells[0].source, script);
  EXPECT_EQ(cells[0].first_line, 1);
}

TEST(SplitPercentCellsTest, CutsAtEveryFormOfMarker) {
  auto cells = Split("import os\n# %%\na = 1\n#%%\n\nb = 2\n\n# %% Title of it\nc = 3\n#%%Load data\nd = 4\n# In[5]:\ne = 5\n# In[ ]:\n\n\nf = 6");
  ASSERT_EQ(cells.size(), 7u);
  const std::vector<std::pair<std::string, int64_t>> expected = {{"import os", 1}, {"a = 1", 3}, {"b = 2", 6}, {"c = 3", 9}, {"d = 4", 11}, {"e = 5", 13}, {"f = 6", 17}};
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(cells[i].source, expected[i].first);
    EXPECT_EQ(cells[i].first_line, expected[i].second);
    EXPECT_EQ(cells[i].kind, CellKind::kCode);
  }
}

TEST(SplitPercentCellsTest, MarkdownAndRawCellsAreNotCode) {
  auto cells = Split("# %% [markdown]\n# # Title\n#\n# text\n# %%\nx\n# %% About [md]\n\"\"\"\ntext\n# %% here too\n\"\"\"\n# %% [raw]\n# r\n");
  ASSERT_EQ(cells.size(), 4u);
  EXPECT_EQ(cells[0].kind, CellKind::kMarkdown);
  EXPECT_EQ(cells[0].source, "# Title\n\ntext");
  EXPECT_TRUE(IsRunnable(cells[1]));
  EXPECT_EQ(cells[2].kind, CellKind::kMarkdown);
  EXPECT_EQ(cells[2].source, "text\n# %% here too");
  EXPECT_EQ(cells[3].kind, CellKind::kRaw);
  EXPECT_EQ(cells[3].source, "r");
}

TEST(SplitPercentCellsTest, MarkdownInAStringLosesItsQuotes) {
  auto cells = Split("# %% [markdown]\n'''\nHello\n'''\n");
  ASSERT_EQ(cells.size(), 1u);
  EXPECT_EQ(cells[0].source, "Hello");
}

TEST(SplitPercentCellsTest, MarkersInsideStringsAreText) {
  const std::string body = "text = \"\"\"one\n# %%\ntwo \\\"\"\" still\n# In[1]:\n\"\"\" + '''\n# %%'''\nother = '\"\"\"'  # \"\"\"";
  auto cells = Split("# %%\n" + body + "\n# %%\nnext");
  ASSERT_EQ(cells.size(), 2u);
  EXPECT_EQ(cells[0].source, body);
  EXPECT_EQ(cells[1].source, "next");
}

TEST(SplitPercentCellsTest, CommentedMagicsAndOtherCommentsAreNoMarkers) {
  EXPECT_EQ(Split("# %%time\nx = 1\n# In[x]\n# In[1] more\n## %%\n  # %%\n# % %\n").size(), 1u);
}

TEST(SplitPercentCellsTest, EmptyCellsAndACommentedPreambleAreLeftOut) {
  auto cells = Split("#!/usr/bin/env python\n# coding: utf-8\n\n# In[1]:\n\n\n# In[2]:\nx\n# %%\n   \n");
  ASSERT_EQ(cells.size(), 1u);
  EXPECT_EQ(cells[0].source, "x");
  EXPECT_EQ(cells[0].first_line, 8);
  EXPECT_THAT(Split(""), IsEmpty());
  EXPECT_THAT(Split(" \n\n"), IsEmpty());
  EXPECT_THAT(Split("# %%"), IsEmpty());
}

TEST(SplitPercentCellsTest, TakesWindowsLinesAndAByteOrderMark) {
  auto cells = Split("\xEF\xBB\xBF# %%\r\na = 1\r\nb = 2\r\n# %%\r\nc\r\n");
  ASSERT_EQ(cells.size(), 2u);
  EXPECT_EQ(cells[0].source, "a = 1\r\nb = 2");
  EXPECT_EQ(cells[1].first_line, 5);
}

TEST(SplitPercentCellsTest, CellCountAtTheMaximumAndOneAbove) {
  std::string script;
  for (size_t i = 0; i < kNotebookCellsMax; ++i) absl::StrAppend(&script, "# %%\nx\n");
  EXPECT_EQ(Split(script).size(), kNotebookCellsMax);
  EXPECT_THAT(SplitPercentCells(script + "# %%\ny\n"), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("more than 10000 cells")));
  EXPECT_THAT(SplitPercentCells(std::string(kNotebookBytesMax + 1, ' ')), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("at most 67108864")));
}

}  // namespace
}  // namespace cellblock::render
