// What users of comparable systems ran into, by the number that the report has in our list: charts. Tests only.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tests/support/session_fixture.h"

namespace cellblock {
namespace {

class CasesChartsTest : public SessionTest {
 protected:
  void SetUp() override { EXPECT_THAT(Run("import matplotlib.pyplot as plt"), EndedWell()); }
  size_t Images(absl::string_view code) {
    Record record = Run(code);
    EXPECT_THAT(record, EndedWell()) << code;
    EXPECT_EQ(record.stderr_text, "") << code;
    return CountMime(record, "image/png");
  }
};

// No writable folder for the font cache.
TEST_F(CasesChartsTest, Case08TheCacheFolderCanBeWritten) {
  Record record = Run("import matplotlib.pyplot as plt, matplotlib, os; d = matplotlib.get_cachedir(); os.makedirs(d, exist_ok=True); open(os.path.join(d, 'x'), 'w').close()");
  EXPECT_THAT(record, EndedWell());
  EXPECT_EQ(record.stderr_text, "");
}

// A warning of the cache stands in front of every error.
TEST_F(CasesChartsTest, Case09AnErrorStandsAlone) {
  std::unique_ptr<Session> fresh = NewSession();
  Record record = RunIn(*fresh, "import matplotlib; 1/0");
  EXPECT_THAT(record, EndedWithError("ZeroDivisionError"));
  EXPECT_EQ(record.stderr_text, "");
  EXPECT_THAT(ErrorOf(record).traceback, testing::StartsWith("Traceback"));
}

// Only the first of several figures comes out.
TEST_F(CasesChartsTest, Case12FourFiguresGiveFourImagesInOrder) {
  Record record = Run("for i in range(4):\n    plt.figure(figsize=(1 + i, 1)); plt.plot([1, 2])");
  ASSERT_EQ(record.results.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(MimeOf(record, i, "image/png").substr(0, 4), "\x89PNG");
    EXPECT_THAT(MimeOf(record, i, "text/plain"), testing::HasSubstr(absl::StrCat("Figure size ", 100 * (i + 1), "x100")));
  }
}

// A figure appears twice.
TEST_F(CasesChartsTest, Case13EachFigureIsShownOnce) {
  EXPECT_EQ(Images("fig, ax = plt.subplots()\nax.plot([1, 2])\nfig"), 1u);
  EXPECT_EQ(Images("plt.plot([1, 2]); plt.show(); plt.show()"), 1u);
  EXPECT_EQ(Images("plt.plot([1, 2]); plt.savefig('a.png'); plt.show()"), 1u);
  EXPECT_EQ(Images("fig, ax = plt.subplots(); ax.plot([1]); display(fig)"), 1u);
}

// A helper that returns its figure is drawn twice.
TEST_F(CasesChartsTest, Case14AReturnedFigureIsShownOnce) { EXPECT_EQ(Images("def p():\n    f = plt.figure(); plt.plot([1]); return f\np()"), 1u); }

// Figures pile up from call to call.
TEST_F(CasesChartsTest, Case15FiguresEndWithTheirCell) {
  for (int i = 0; i < 10; ++i) EXPECT_THAT(Run("f = plt.figure()"), EndedWell());
  EXPECT_EQ(Value("plt.get_fignums()"), "[]");
  EXPECT_EQ(Images("f = plt.figure(); plt.plot([1])"), 1u);
}

// A figure that was drawn before an error is lost, or shows up in the next cell.
TEST_F(CasesChartsTest, Case16AFigureBeforeAnErrorIsFinished) {
  Record record = Run("plt.plot([0, 2], [0, 2]); raise ValueError");
  EXPECT_THAT(record, EndedWithError("ValueError"));
  EXPECT_EQ(CountMime(record, "image/png"), 1u);
  EXPECT_EQ(Images("plt.plot([3, 1]); plt.show()"), 1u);
}

// Labels in other scripts are boxes.
TEST_F(CasesChartsTest, Case17OtherScriptsAreDrawn) {
  EXPECT_EQ(Images("plt.title('销售额 売上 매출 Ελληνικά Русский ∑ → ₂'); plt.show()"), 1u);
  // Were the letters boxes, these would be the same picture.
  EXPECT_NE(MimeOf(Run("plt.figure(figsize=(1, 1)); plt.title('销'); plt.show()"), 0, "image/png"), MimeOf(Run("plt.figure(figsize=(1, 1)); plt.title('售'); plt.show()"), 0, "image/png"));
}

// Warnings of missing glyphs flood the output.
TEST_F(CasesChartsTest, Case18AFontThatIsNotThereCostsAtMostALine) {
  Record record = Run("plt.rcParams['font.family'] = 'SimHei'; plt.title('销售 \\u2212 1'); plt.show()");
  EXPECT_THAT(record, EndedWell());
  EXPECT_EQ(CountMime(record, "image/png"), 1u);
  EXPECT_LE(std::count(record.stderr_text.begin(), record.stderr_text.end(), '\n'), 1) << record.stderr_text;
}

}  // namespace
}  // namespace cellblock
