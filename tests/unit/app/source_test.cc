// What `cellblock run` is given to run.
#include "app/source.h"

#include <unistd.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sys/files.h"
#include "tests/support/captured_stream.h"
#include "tests/support/status_matchers.h"

namespace cellblock::app {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kCodeMax = 1 << 20;

class SourceTest : public ::testing::Test {
 protected:
  absl::StatusOr<Source> Load(const std::string& name, const std::string& content, int64_t code_bytes_max = kCodeMax) {
    SourceChoices choices;
    choices.path = folder_.Write(name, content);
    return LoadSource(choices, -1, code_bytes_max);
  }
  static std::vector<std::string> Codes(const absl::StatusOr<Source>& source) {
    EXPECT_THAT(source, IsOk());
    std::vector<std::string> codes;
    if (source.ok()) {
      for (const SourceCell& cell : source->cells) codes.push_back(cell.code);
    }
    return codes;
  }
  TemporaryFolder folder_;
};

TEST_F(SourceTest, AScriptIsOneCellAsItIs) {
  const absl::StatusOr<Source> source = Load("report.py", "import x\n\n\nx.y()\n");
  EXPECT_THAT(Codes(source), ElementsAre("import x\n\n\nx.y()\n"));
  EXPECT_EQ(source->file_name, "report.py");
  EXPECT_EQ(source->language, Language::kPython);
}

TEST_F(SourceTest, MarkersMakeCells) {
  const absl::StatusOr<Source> source = Load("cells.py", "# %%\na\n# %% [markdown]\n# text\n# %%\n\n# %% b\nb\n");
  EXPECT_THAT(Codes(source), ElementsAre(HasSubstr("a"), HasSubstr("b")));
  EXPECT_EQ(source->cells[0].first_line, 2);
  EXPECT_EQ(source->cells[1].first_line, 8);
  EXPECT_EQ(source->file_name, "");
}

TEST_F(SourceTest, ANotebooksCodeCellsRun) {
  const absl::StatusOr<Source> source = Load("n.ipynb", R"({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [
      {"cell_type": "markdown", "metadata": {}, "source": "# Title"},
      {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": null, "source": ["x = 1\n", "x"]},
      {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": null, "source": ""}]})");
  EXPECT_THAT(Codes(source), ElementsAre("x = 1\nx"));
  EXPECT_EQ(source->cells[0].first_line, 0);
}

TEST_F(SourceTest, SaysWhatIsWrongWithANotebook) {
  EXPECT_THAT(Load("n.ipynb", "not json"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("n.ipynb: ")));
  EXPECT_THAT(Load("n.ipynb", ""), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("n.ipynb: ")));
  SourceChoices choices;
  choices.path = folder_ / "n.ipynb";
  choices.language = Language::kBash;
  EXPECT_THAT(LoadSource(choices, -1, kCodeMax), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("%%bash")));
}

TEST_F(SourceTest, AnEmptyScriptIsAScript) {
  EXPECT_THAT(Codes(Load("e.py", "")), ElementsAre(""));
  EXPECT_THAT(Codes(Load("m.py", "\xEF\xBB\xBF")), ElementsAre(""));
  EXPECT_THAT(Codes(Load("c.py", "# %%\n\n# %%\n")), IsEmpty());
}

TEST_F(SourceTest, FindsOutTheLanguage) {
  EXPECT_EQ(Load("a.sh", "ls")->language, Language::kBash);
  EXPECT_EQ(Load("a.bash", "ls")->language, Language::kBash);
  EXPECT_EQ(Load("a.PY", "1")->language, Language::kPython);
  EXPECT_EQ(Load("noending", "1")->language, Language::kPython);
  EXPECT_EQ(Load("tool", "#!/usr/bin/env bash\nls")->language, Language::kBash);
  EXPECT_EQ(Load("tool2", "#!/bin/sh -e\nls")->language, Language::kBash);
  EXPECT_EQ(Load("tool3", "#!/usr/bin/python3\n1")->language, Language::kPython);
  EXPECT_EQ(Load("tool4", "#!/usr/share/x\n1")->language, Language::kPython);
  SourceChoices choices;
  choices.path = folder_ / "a.sh";
  choices.language = Language::kPython;
  EXPECT_EQ(LoadSource(choices, -1, kCodeMax)->language, Language::kPython);
}

TEST_F(SourceTest, BashKeepsItsMarkersAndLosesWindowsLineEnds) {
  const absl::StatusOr<Source> source = Load("a.sh", "# %%\r\nls\r\n");
  EXPECT_THAT(Codes(source), ElementsAre("# %%\nls\n"));
  EXPECT_THAT(source->note, HasSubstr("Windows"));
}

TEST_F(SourceTest, ReadsStandardInput) {
  CapturedStream in;
  EXPECT_THAT(sys::WriteAll(in.fd(), "1 + 1\r\n"), IsOk());
  lseek(in.fd(), 0, SEEK_SET);
  SourceChoices choices;
  choices.path = "-";
  const absl::StatusOr<Source> source = LoadSource(choices, in.fd(), kCodeMax);
  EXPECT_THAT(Codes(source), ElementsAre("1 + 1\n"));
  EXPECT_EQ(source->file_name, "");
  EXPECT_EQ(source->name, "standard input");
}

TEST_F(SourceTest, TakesCodeFromTheCommandLine) {
  SourceChoices choices;
  choices.code = "1 + 1";
  EXPECT_THAT(Codes(LoadSource(choices, -1, kCodeMax)), ElementsAre("1 + 1"));
}

TEST_F(SourceTest, BoundsAScriptAtTheEdge) {
  EXPECT_THAT(Load("fits.py", std::string(1000, '#'), 1000), IsOk());
  EXPECT_THAT(Load("big.py", std::string(1001, '#'), 1000),
              StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr("big.py"), HasSubstr("limits.code_size"))));
  SourceChoices choices;
  choices.code = std::string(1001, '#');
  EXPECT_THAT(LoadSource(choices, -1, 1000), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("limits.code_size")));
}

TEST_F(SourceTest, BoundsEachCellOfANotebook) {
  const auto notebook = [](size_t bytes) {
    return absl::StrCat(
        R"({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"cell_type": "code", "metadata": {}, "outputs": [],
        "execution_count": null, "source": ")",
        std::string(bytes, 'x'), R"("}]})");
  };
  EXPECT_THAT(Load("n.ipynb", notebook(1000), 1000), IsOk());  // the file itself is larger than that
  EXPECT_THAT(Load("n.ipynb", notebook(1001), 1000),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("cell 1 is larger than 1000 bytes")));
}

TEST_F(SourceTest, SaysWhatIsNoSource) {
  SourceChoices choices;
  choices.path = folder_ / "none.py";
  EXPECT_THAT(LoadSource(choices, -1, kCodeMax), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("No such file")));
  choices.path = folder_.path();
  EXPECT_THAT(LoadSource(choices, -1, kCodeMax), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is a folder")));
  EXPECT_THAT(Load("sales.csv", "a,b\n"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--file")));
  EXPECT_THAT(Load("x.py", "caf\xE9"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("x.py:1: byte 0xe9")));
}

}  // namespace
}  // namespace cellblock::app
