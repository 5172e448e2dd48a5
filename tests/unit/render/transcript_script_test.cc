// Transcripts as scripts: readable where code allows it, Python in any case, and every code comes back.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "capture/utf8.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "render/notebook.h"
#include "render/transcript.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/render/boost_json.h"
#include "tests/unit/render/sample_transcript.h"

namespace cellblock::render {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// What a script of this one call says below its marker.
std::string Body(const std::string& code, const std::optional<Record>& record = Ended(1, CallStatus::kOk)) {
  const std::string script = RenderTranscriptScript({.calls = {{.code = code, .record = record}}});
  const std::string marker = script.substr(script.find("\n# %% ") + 1);
  return marker.substr(marker.find('\n') + 1);
}

std::string WithoutBlankEnds(std::string code) {
  while (!code.empty() && absl::ascii_isspace(static_cast<unsigned char>(code.back()))) code.pop_back();
  const size_t text = code.find_first_not_of(" \t\n\r\v\f");
  const size_t newline = text == std::string::npos ? text : code.substr(0, text).rfind('\n');
  return newline == std::string::npos ? code : code.substr(newline + 1);
}

// Hard codes: each must come back, and each script must be Python.
const char* const kHard[] = {
    "x = 1\n# %%\ny = 2\n",
    "# %% [markdown]\n# text",
    "# In[3]:\nx",
    "text = '''\n# %%\n'''\n",
    "text = \"\"\"\n# %%\n# In[1]:\n\"\"\"",
    "s = 'it''s'  # '''",
    "%%time\nx = '''open",
    "%%html\n<b title=\"\"\">\n'''",
    "%matplotlib inline\nimport os",
    "files = !ls *.csv",
    "a, b = %timeit -o pass",
    "df.head?",
    "?print",
    "!echo \"'''\"",
    "await asyncio.sleep(0)",
    "async with a as b:\n    pass",
    "async def f():\n    await g()\n\nawait f()",
    "\n\n   \nx = 1\n\n\n",
    "",
    " \n ",
    "a = 1\r\nb = 2\r\n",
    "a = 1\rb = 2",
    "print('\x0c \x1b[31m \x7f')",
    "print('é 😀 \xe2\x80\xa8')",
    "\xEF\xBB\xBFx = 1",
    "get_ipython().run_cell((\n    \"x\"\n));",
    "get_ipython().run_cell((\n    \"x\"\n))",
    "x = 1 \\\n",
    "# only a comment",
    "class A:\n    'it'\n\n\n    def f(self): return \"\"\"a\n\"\"\"",
};

TEST(TranscriptScriptTest, ReadsAsAScriptInCells) {
  Transcript transcript = SampleTranscript();
  transcript.calls.resize(2);
  transcript.calls_left_out = 3;
  EXPECT_EQ(RenderTranscriptScript(transcript),
            "# %% [markdown]\n# # Session s-1\n#\n# Policy default, 2 calls. To run it: `ipython` and this file's name, or cell by cell. What plain Python\n"
            "# would not take (bash, magics) is quoted for `get_ipython().run_cell`.\n"
            "\n# %% call 1, 2023-11-14T22:13:20Z, ok\nplot()\n42\n"
            "\n# %% call 2, error\nget_ipython().run_cell((\n    \"%%bash\\n\"\n    \"ls '*'\\n\"\n    \"exit 3\\n\"\n));\n"
            "\n# %% [markdown]\n# 3 later calls left out: a transcript has at most 9998 calls and 67108864 bytes.\n");
}

TEST(TranscriptScriptTest, MarkersSayHowCallsEnded) {
  const std::string script = RenderTranscriptScript(SampleTranscript());
  for (const char* marker : {"\n# %% call 4, timeout\n", "\n# %% a call without a number, rejected, never ran\n", "\n# %% call 5, lost\n", "\n# %% a call without a number, end unknown: It still runs.\n"}) {
    EXPECT_THAT(script, HasSubstr(marker));
  }
  const std::string noted = RenderTranscriptScript({.calls = {{.code = "x", .note = "see [markdown]\n# %% y"}}});
  EXPECT_THAT(noted, HasSubstr("end unknown: see (markdown) # %% y\nx\n"));
}

TEST(TranscriptScriptTest, PlainPythonStandsAsItIs) {
  for (const char* code : {"x = 1", "text = '''\n# %%\n'''", "print('what?')", "a = b % c\nd != e", "x = '100 %'", "async def f():\n    await g()", "# a comment?", "n = \"%d\" % 5"}) {
    EXPECT_EQ(Body(code), absl::StrCat(code, "\n"));
  }
}

TEST(TranscriptScriptTest, WhatIsNoPythonIsQuoted) {
  EXPECT_EQ(Body("%time x\ny"), "get_ipython().run_cell((\n    \"%time x\\n\"\n    \"y\"\n));\n");
  for (const char* code : {"!ls", "  !ls", "x = !ls", "x.y = %time f()", "df?", "?df", "np.*load*?", "await f()", "for x in y:\n    await x", "async for x in y: pass"}) {
    EXPECT_THAT(Body(code), HasSubstr("run_cell((")) << code;
  }
  Record record = Ended(1, CallStatus::kError);
  record.error = ErrorInfo{.name = "SyntaxError"};
  EXPECT_THAT(Body("x = = 1", record), HasSubstr("run_cell(("));
  record.error->name = "ValueError";
  EXPECT_THAT(Body("x = f(1)", record), Not(HasSubstr("run_cell((")));
}

TEST(TranscriptScriptTest, WhatPythonReadsOtherwiseIsQuoted) {
  EXPECT_THAT(Body(std::string("x = '\0'", 7)), HasSubstr("\\x00"));
  EXPECT_THAT(Body("a = 1\rb = 2"), HasSubstr("\"a = 1\\rb = 2\""));
  EXPECT_THAT(Body("a = 1\r\nb = 2"), Not(HasSubstr("run_cell((")));
  EXPECT_THAT(Body("\xEF\xBB\xBFx = 1"), HasSubstr("run_cell(("));
}

TEST(TranscriptScriptTest, EveryCodeComesBack) {
  RandomRecords random(31);
  for (int round = 0; round < 3000; ++round) {
    Transcript transcript = RandomTranscript(random, 1 + random.Below(4));
    transcript.calls.push_back({.code = kHard[static_cast<size_t>(round) % std::size(kHard)]});
    transcript.calls.push_back({.code = "last = 1"});
    CELLBLOCK_ASSERT_OK_AND_ASSIGN(auto cells, SplitPercentCells(RenderTranscriptScript(transcript)));
    ASSERT_EQ(cells.size(), transcript.calls.size() + 1);
    EXPECT_EQ(cells[0].kind, CellKind::kMarkdown);
    for (size_t i = 0; i < transcript.calls.size(); ++i) {
      const NotebookCell& cell = cells[i + 1];
      const std::string code = capture::ToValidUtf8(transcript.calls[i].code);
      EXPECT_EQ(cell.kind, CellKind::kCode);
      if (transcript.calls[i].language == Language::kBash) {
        EXPECT_EQ(cell.source, "%%bash\n" + code);
      } else if (cell.source != code) {
        EXPECT_EQ(cell.source, WithoutBlankEnds(code));
      }
    }
  }
}

TEST(TranscriptScriptTest, QuotedLinesKeepTheirNumbers) {
  const std::string script = RenderTranscriptScript({.calls = {{.code = "a = 1"}, {.code = "%time b\nc\n"}}});
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(auto cells, SplitPercentCells(script));
  ASSERT_EQ(cells.size(), 3u);
  EXPECT_EQ(cells[2].source, "%time b\nc\n");
  int64_t line = 1;
  for (size_t at = 0; at < script.find("%time b"); ++at) line += script[at] == '\n' ? 1 : 0;
  EXPECT_EQ(cells[2].first_line, line);
}

// Parses the script in Python and compares what run_cell would be given.
TEST(TranscriptScriptTest, PythonTakesTheScriptAndReadsTheQuotesAsWeDo) {
  Transcript transcript;
  for (const char* code : kHard) transcript.calls.push_back({.language = Language::kBash, .code = code});
  std::string all_bytes;
  for (int byte = 0; byte < 256; ++byte) all_bytes.push_back(static_cast<char>(byte));
  transcript.calls.push_back({.language = Language::kBash, .code = all_bytes});
  for (const char* code : kHard) {
    if (std::string(code) != "x = 1 \\\n") transcript.calls.push_back({.code = code});  // only Python can tell that it is none
  }
  const std::string base = absl::StrCat(::testing::TempDir(), "cellblock-transcript-", getpid());
  std::ofstream(base + ".py") << RenderTranscriptScript(transcript);
  const std::string command = absl::StrCat(
      "/usr/bin/python3 -I -c 'import ast, json, sys; tree = ast.parse(open(sys.argv[1], \"rb\").read()); "
      "json.dump([n.args[0].value for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr == \"run_cell\"], open(sys.argv[2], \"w\"))' '",
      base, ".py' '", base, ".json'");
  ASSERT_EQ(std::system(command.c_str()), 0);
  std::ifstream in(base + ".json");
  auto quotes = ParseStrictly(std::string(std::istreambuf_iterator<char>(in), {}));
  std::remove((base + ".py").c_str());
  std::remove((base + ".json").c_str());
  ASSERT_TRUE(quotes.has_value());
  size_t bash = 0;
  for (const TranscriptCall& call : transcript.calls) {
    if (call.language != Language::kBash) continue;
    ASSERT_LT(bash, quotes->as_array().size());
    EXPECT_EQ(Text(quotes->as_array()[bash++]), "%%bash\n" + capture::ToValidUtf8(call.code));
  }
}

TEST(TranscriptScriptTest, CallsThatDoNotFitAreLeftOut) {
  Transcript transcript;
  for (int i = 0; i < 20; ++i) transcript.calls.push_back({.code = std::string(1000, 'x')});
  const std::string script = RenderTranscriptScript(transcript, kTranscriptBytesMin);
  EXPECT_LE(script.size(), kTranscriptBytesMin);
  EXPECT_THAT(script, HasSubstr(" later calls left out: a transcript has at most 9998 calls and 16384 bytes."));
}

}  // namespace
}  // namespace cellblock::render
