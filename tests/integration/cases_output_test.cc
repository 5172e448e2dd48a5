// What users of comparable systems ran into, by the number that the report has in our list: text and values. Tests only.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/support/session_fixture.h"

namespace cellblock {
namespace {

class CasesOutputTest : public SessionTest {};

// Showing a table with times raises.
TEST_F(CasesOutputTest, Case19TablesWithTimesAreShown) {
  Record record = Run("import pandas as pd\npd.DataFrame({'t': [pd.Timestamp('2024-01-01', tz='UTC')]})");
  EXPECT_THAT(record, EndedWell());
  EXPECT_THAT(ValueText(record), testing::HasSubstr("2024-01-01 00:00:00+00:00"));
  EXPECT_THAT(MimeOf(record, 0, "text/html"), testing::HasSubstr("<table"));
}

// NaN, infinity and NA give warnings.
TEST_F(CasesOutputTest, Case20MissingValuesGiveNoWarnings) {
  Record record = Run("import pandas as pd, numpy as np\npd.DataFrame({'x': [0.0, np.nan, np.inf, pd.NA]})");
  EXPECT_THAT(record, EndedWell());
  EXPECT_EQ(record.stderr_text, "");
  EXPECT_THAT(ValueText(record), testing::AllOf(testing::HasSubstr("NaN"), testing::HasSubstr("inf"), testing::HasSubstr("<NA>")));
}

// Output over some 227 KB is cut without a sign.
TEST_F(CasesOutputTest, Case21LargeOutputIsComplete) {
  Record record = Run("import json; text = json.dumps(list(range(80000))); print(text)");
  EXPECT_FALSE(record.stdout_truncation.has_value());
  EXPECT_EQ(absl::StrCat(record.stdout_text.size() - 1), Value("len(text)"));
  EXPECT_THAT(record.stdout_text, testing::EndsWith("79998, 79999]\n"));
}

// The end of a large output is lost.
TEST_F(CasesOutputTest, Case22TheEndOfTheOutputIsKept) {
  Record record = Run("print('x' * (1 << 20)); print('END')");
  EXPECT_THAT(record.stdout_text, testing::EndsWith("END\n"));
  EXPECT_THAT(record, Hit("output"));
  ASSERT_TRUE(record.stdout_truncation.has_value());
  EXPECT_GT(record.stdout_truncation->dropped_bytes, 0);
}

// Bytes that are no UTF-8 raise in the host.
TEST_F(CasesOutputTest, Case23BytesThatAreNoTextAreReplaced) {
  EXPECT_EQ(Run("import os; n = os.write(1, b'ok \\xff\\xfe \\xc3')").stdout_text, "ok \xef\xbf\xbd\xef\xbf\xbd \xef\xbf\xbd");
  Record record = Run("n = os.write(1, b'a' * 65535 + 'é'.encode())");
  EXPECT_EQ(record.stdout_text, std::string(65535, 'a') + "é");
  std::string live;
  ExecuteOptions options;
  options.on_event = [&](const Event& event, const Record&) { live += event.text + "|"; };
  record = Run("import time\nfor b in '数据é'.encode(): os.write(1, bytes([b])); time.sleep(0.02)", options);
  EXPECT_EQ(record.stdout_text, "数据é");
  EXPECT_EQ(live, "数|据|é|");
}

// A lone surrogate hangs the client.
TEST_F(CasesOutputTest, Case24ALoneSurrogateIsPrintedSomehow) {
  Record record = Run("print('\\udcc3')");
  EXPECT_EQ(record.session_state, SessionState::kKept);
  if (record.status == CallStatus::kOk) {
    EXPECT_EQ(record.stdout_text, "\\udcc3\n");
  } else {
    EXPECT_THAT(record, EndedWithError("UnicodeEncodeError"));
  }
  EXPECT_THAT(Run("'\\udcc3'"), EndedWell());
  EXPECT_THAT(Run("raise ValueError('\\udcc3')"), EndedWithError("ValueError"));
  EXPECT_EQ(Value("1"), "1");
}

// Wide tables are cut so that most columns are never seen.
TEST_F(CasesOutputTest, Case37WideTablesShowAllColumns) {
  Record record = Run("import pandas as pd, numpy as np\ndf = pd.DataFrame(np.arange(48).reshape(2, 24), columns=[f'column_{i}' for i in range(24)]); print(df.head())");
  for (int i = 0; i < 24; ++i) EXPECT_THAT(record.stdout_text, testing::HasSubstr(absl::StrCat("column_", i)));
  for (absl::string_view line : absl::StrSplit(record.stdout_text, '\n')) EXPECT_LE(line.size(), 240u);
}

// Each step of a progress bar becomes a line.
TEST_F(CasesOutputTest, Case38ProgressIsFoldedToItsLastState) {
  Record record = Run("import sys\nfor i in range(2000): sys.stderr.write(f'\\rstep {i}')");
  EXPECT_EQ(record.stderr_text, "step 1999");
  record = Run("from tqdm import tqdm\nfor i in tqdm(range(2000)): pass");
  EXPECT_THAT(record.stderr_text, testing::AllOf(testing::HasSubstr("2000/2000"), testing::HasSubstr("100%"), testing::Not(testing::HasSubstr("\r"))));
  EXPECT_LE(record.stderr_text.size(), 300u);
}

// C code that prints more than a pipe holds, with the interpreter's lock, hangs for good.
TEST_F(CasesOutputTest, Case41MuchOutputOfCCodeArrives) {
  Record record = Run("import ctypes\nn = ctypes.PyDLL(None).printf(b'1' * 100000)", WithTimeout(absl::Seconds(20)));
  EXPECT_THAT(record, EndedWell());
  EXPECT_EQ(record.stdout_text, std::string(100'000, '1'));
  EXPECT_EQ(Value("2"), "2");
}

// sys.stdout has no descriptor that a program could take.
TEST_F(CasesOutputTest, Case43ProgramsWriteToOurStream) { EXPECT_EQ(Run("import subprocess, sys\nn = subprocess.run(['echo', 'hi'], stdout=sys.stdout)").stdout_text, "hi\n"); }

// The output of a thread lands in a later cell.
TEST_F(CasesOutputTest, Case45AThreadsOutputIsNeverTakenForAnotherCells) {
  EXPECT_THAT(Run("import threading, time\nstop = False\ndef talk():\n    while not stop: print('thread'); time.sleep(0.02)\nt = threading.Thread(target=talk); t.start()"), EndedWell());
  for (int i = 0; i < 5; ++i) {
    Record record = Run("print('mine'); time.sleep(0.1)");
    for (absl::string_view line : absl::StrSplit(record.stdout_text, '\n', absl::SkipEmpty())) {
      EXPECT_TRUE(line == "mine" || line == "[thread started in call 1] thread") << line;
    }
  }
  EXPECT_THAT(Run("stop = True; t.join()"), EndedWell());
}

}  // namespace
}  // namespace cellblock
