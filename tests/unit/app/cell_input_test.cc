// When is what was typed complete?
#include "app/cell_input.h"

#include <unistd.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sys/files.h"
#include "tests/support/status_matchers.h"

namespace cellblock::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Sample {
  const char* code;
  CellState state;
};

TEST(ClassifyTest, KnowsWhatIsOpen) {
  const Sample samples[] = {
      {"1 + 1", CellState::kComplete},
      {"x = 'a # b'", CellState::kComplete},
      {"x = \"it's\"  # don't", CellState::kComplete},
      {"f(", CellState::kOpen},
      {"f(1,\n  2)", CellState::kComplete},
      {"x = [1, (2,", CellState::kOpen},
      {"x = ')'", CellState::kComplete},
      {"f('(')", CellState::kComplete},
      {")", CellState::kComplete},
      {"'''doc", CellState::kOpen},
      {"'''doc\n\nmore'''", CellState::kComplete},
      {"x = \"\"\"a\"\"\" + '''", CellState::kOpen},
      {"x = '''it''s'''", CellState::kComplete},
      {"'unclosed", CellState::kComplete},  // Python's error to report
      {"'a\\\nb'", CellState::kComplete},
      {"'a\\'", CellState::kComplete},
      {"x = 1 + \\", CellState::kOpen},
      {"x = 1 + \\\n 2", CellState::kComplete},
      {"# note \\", CellState::kComplete},
      {"if x:", CellState::kBlock},
      {"if x:  # why", CellState::kBlock},
      {"if x:\n    y", CellState::kBlock},
      {"if x:\n    y\n# note", CellState::kBlock},
      {"if x:\n    y\nelse:", CellState::kBlock},
      {"if x:\n    y\nz", CellState::kComplete},
      {"for i in y: print(i)", CellState::kComplete},
      {"def f(\n  a,\n):", CellState::kBlock},
      {"d = {\n 'a': 1,\n}", CellState::kComplete},
      {"x = y[1:", CellState::kOpen},
      {"@decorator", CellState::kOpen},
      {"@decorator(\n 1)", CellState::kOpen},
      {"@decorator\ndef f():", CellState::kBlock},
      {"async def f():\n    await g()", CellState::kBlock},
      {"%%bash", CellState::kBlock},
      {"%%bash\necho (", CellState::kBlock},
      {"!ls (", CellState::kComplete},
      {"!ls \\", CellState::kOpen},
      {"!ls \\\n  (", CellState::kComplete},
      {"%time f(", CellState::kComplete},
      {"x = 5 % (", CellState::kOpen},
      {"print(f'{x}:')", CellState::kComplete},
      {"s = r'\\\\'", CellState::kComplete},
  };
  for (const Sample& sample : samples) EXPECT_EQ(Classify(sample.code), sample.state) << sample.code;
}

// Lines that a test has written down.
class ScriptedLines : public LineSource {
 public:
  explicit ScriptedLines(std::vector<Line> lines) : lines_(std::move(lines)) {}
  absl::StatusOr<Line> Read(const std::string& prompt) override {
    prompts.push_back(prompt);
    if (next_ == lines_.size()) return Line{Kind::kEnd, ""};
    return lines_[next_++];
  }
  void Remember(const std::string& line) override { remembered.push_back(line); }
  std::vector<std::string> prompts, remembered;

 private:
  std::vector<Line> lines_;
  size_t next_ = 0;
};

std::vector<LineSource::Line> Lines(const std::vector<std::string>& texts) {
  std::vector<LineSource::Line> lines;
  for (const std::string& text : texts) lines.push_back({LineSource::Kind::kLine, text});
  return lines;
}

// All inputs until the end, one string each: ":" commands as they are, "^C" for a cancelled one.
std::vector<std::string> Drain(CellInput& input) {
  std::vector<std::string> found;
  for (int i = 0; i < 100; ++i) {
    absl::StatusOr<Input> next = input.Next(i + 1);
    EXPECT_THAT(next, IsOk());
    if (!next.ok() || next->kind == Input::Kind::kEnd) break;
    found.push_back(next->kind == Input::Kind::kCancelled ? "^C" : next->text);
  }
  return found;
}

TEST(InteractiveInputTest, RunsALineAtOnceAndABlockAfterAnEmptyLine) {
  ScriptedLines lines(Lines({"", "1 + 1", "def f():", "    return 1", "", "f(", "1", ")", ":files", "x"}));
  std::unique_ptr<CellInput> input = MakeInteractiveInput(lines, 1000);
  EXPECT_THAT(Drain(*input), ElementsAre("1 + 1\n", "def f():\n    return 1\n", "f(\n1\n)\n", ":files", "x\n"));
}

TEST(InteractiveInputTest, KeepsEmptyLinesInsideAString) {
  ScriptedLines lines(Lines({"'''a", "", "b'''"}));
  EXPECT_THAT(Drain(*MakeInteractiveInput(lines, 1000)), ElementsAre("'''a\n\nb'''\n"));
}

TEST(InteractiveInputTest, PromptsLikeANotebookAndRemembersLines) {
  ScriptedLines lines(Lines({"if x:", "    y", ""}));
  Drain(*MakeInteractiveInput(lines, 1000));
  EXPECT_THAT(lines.prompts, ElementsAre("In [1]: ", "   ...: ", "   ...: ", "In [2]: "));
  EXPECT_THAT(lines.remembered, ElementsAre("if x:", "    y"));
}

TEST(InteractiveInputTest, CancelGivesTheCellUp) {
  ScriptedLines lines({{LineSource::Kind::kLine, "f("}, {LineSource::Kind::kCancelled, ""}, {LineSource::Kind::kLine, "2"}});
  EXPECT_THAT(Drain(*MakeInteractiveInput(lines, 1000)), ElementsAre("^C", "2\n"));
}

TEST(InteractiveInputTest, EndRunsWhatStandsThere) {
  ScriptedLines lines(Lines({"if x:", "    y"}));
  EXPECT_THAT(Drain(*MakeInteractiveInput(lines, 1000)), ElementsAre("if x:\n    y\n"));
}

TEST(InteractiveInputTest, BoundsACellAtTheEdge) {
  ScriptedLines fits(Lines({std::string(99, 'x')}));
  EXPECT_THAT(MakeInteractiveInput(fits, 100)->Next(1), IsOk());
  ScriptedLines exceeds(Lines({std::string(100, 'x')}));
  EXPECT_THAT(MakeInteractiveInput(exceeds, 100)->Next(1), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("limits.code_size")));
}

TEST(StreamInputTest, EmptyLinesSeparateCells) {
  ScriptedLines lines(Lines({"", "x = 1", "y = 2", "", "", "x + y", "", ":last", "z"}));
  EXPECT_THAT(Drain(*MakeStreamInput(lines, 1000)), ElementsAre("x = 1\ny = 2\n", "x + y\n", ":last", "z\n"));
}

TEST(StreamInputTest, AnEmptyLineInsideABlockDoesNotEndIt) {
  ScriptedLines lines(Lines({"def f():", "    a = 1", "", "    return a", "", "try:", "    f()", "", "except E:", "    pass", "", "f()"}));
  EXPECT_THAT(Drain(*MakeStreamInput(lines, 1000)),
              ElementsAre("def f():\n    a = 1\n\n    return a\n", "try:\n    f()\n\nexcept E:\n    pass\n", "f()\n"));
}

TEST(StreamInputTest, TwoEmptyLinesEndABlock) {
  ScriptedLines lines(Lines({"def f():", "    a", "", "", "    b"}));
  EXPECT_THAT(Drain(*MakeStreamInput(lines, 1000)), ElementsAre("def f():\n    a\n", "    b\n"));
}

TEST(StreamInputTest, ASimpleCellNeedsNoLookAhead) {
  // A program that writes a cell and waits for its answer must get it.
  ScriptedLines lines(Lines({"1 + 1", ""}));
  std::unique_ptr<CellInput> input = MakeStreamInput(lines, 1000);
  EXPECT_THAT(input->Next(1), IsOk());
  EXPECT_EQ(lines.prompts.size(), 2u);
}

TEST(StreamInputTest, KeepsEmptyLinesInsideABracket) {
  ScriptedLines lines(Lines({"x = [", "", "", "1]", "", "y"}));
  EXPECT_THAT(Drain(*MakeStreamInput(lines, 1000)), ElementsAre("x = [\n\n\n1]\n", "y\n"));
}

class StreamLinesTest : public ::testing::Test {
 protected:
  // What a pipe with these bytes gives, "(end)" last.
  std::vector<std::string> Read(const std::string& bytes, size_t line_bytes_max = 100) {
    absl::StatusOr<sys::PipePair> pipe = sys::MakePipe();
    EXPECT_THAT(pipe, IsOk());
    EXPECT_THAT(sys::WriteAll(pipe->write.get(), bytes), IsOk());
    pipe->write.Reset();
    std::unique_ptr<LineSource> lines = MakeStreamLines(pipe->read.get(), line_bytes_max);
    std::vector<std::string> found;
    while (true) {
      absl::StatusOr<LineSource::Line> line = lines->Read("");
      if (!line.ok()) {
        found.push_back(std::string(line.status().message()));
        return found;
      }
      if (line->kind == LineSource::Kind::kEnd) break;
      found.push_back(line->text);
    }
    found.push_back("(end)");
    return found;
  }
};

TEST_F(StreamLinesTest, SplitsLinesOfEveryKind) {
  EXPECT_THAT(Read("a\nb\r\n\nlast"), ElementsAre("a", "b", "", "last", "(end)"));
  EXPECT_THAT(Read(""), ElementsAre("(end)"));
  EXPECT_THAT(Read("\n"), ElementsAre("", "(end)"));
}

TEST_F(StreamLinesTest, BoundsALineAtTheEdge) {
  EXPECT_THAT(Read(std::string(5000, 'x') + "\n", 5000), ElementsAre(std::string(5000, 'x'), "(end)"));
  EXPECT_THAT(Read(std::string(20000, 'x'), 5000), ElementsAre(HasSubstr("a line of more than 5000 bytes")));
}

}  // namespace
}  // namespace cellblock::app
