// What users of comparable systems ran into, by the number that the report has in our list: state of a session and its files. Tests
// only.
#include "absl/strings/str_cat.h"
#include "sys/files.h"
#include "tests/support/session_fixture.h"

namespace cellblock {
namespace {

class CasesStateTest : public SessionTest {};

// Reading from standard input hangs the interpreter.
TEST_F(CasesStateTest, Case28ReadingInputEndsAtOnce) {
  Record record = Run("input('x')", WithTimeout(absl::Seconds(20)));
  EXPECT_THAT(record, EndedWithError("EOFError"));
  EXPECT_NE(ErrorOf(record).hint, "");
  EXPECT_EQ(Value("import sys; sys.stdin.read()"), "''");
  EXPECT_THAT(Run("import getpass; getpass.getpass()", WithTimeout(absl::Seconds(20))), EndedWithError("EOFError"));
}

// exit(0) is shown as a failure.
TEST_F(CasesStateTest, Case29ExitEndsTheCellWithItsCode) {
  EXPECT_THAT(Run("x = 1"), EndedWell());
  Record record = Run("import sys; sys.exit(0)");
  EXPECT_THAT(record, Ended(CallStatus::kExited, SessionState::kKept));
  EXPECT_EQ(record.exit_code, 0);
  record = Run("exit(3)");
  EXPECT_THAT(record, Ended(CallStatus::kExited, SessionState::kKept));
  EXPECT_EQ(record.exit_code, 3);
  EXPECT_EQ(Value("x"), "1");
}

// exit() ends the interpreter.
TEST_F(CasesStateTest, Case30ExitKeepsTheSession) {
  EXPECT_THAT(Run("x=1"), EndedWell());
  for (const char* code : {"exit()", "quit()", "exit", "raise SystemExit", "import sys; sys.exit('a message')"}) EXPECT_EQ(Run(code).session_state, SessionState::kKept) << code;
  EXPECT_EQ(Value("x"), "1");
}

// Code guarded by __name__ does not run.
TEST_F(CasesStateTest, Case31TheMainModuleIsMain) { EXPECT_EQ(Run("if __name__ == '__main__': print('in')").stdout_text, "in\n"); }

// Functions do not see the names of the cell around them.
TEST_F(CasesStateTest, Case32FunctionsSeeTopLevelNames) {
  EXPECT_EQ(Value("x=5\ndef d(): return x*2\nd(), [x*i for i in (1,2)]"), "(10, [5, 10])");
}

// asyncio.run fails because a loop runs already.
TEST_F(CasesStateTest, Case33BothWaysOfAsyncioWork) {
  EXPECT_THAT(Run("import asyncio; asyncio.run(asyncio.sleep(0))"), EndedWell());
  EXPECT_EQ(Value("async def f(): return 42\nawait f()"), "42");
  EXPECT_THAT(Run("asyncio.run(asyncio.sleep(0)); await asyncio.sleep(0)"), testing::AnyOf(EndedWell(), EndedWithError("RuntimeError")));
  EXPECT_EQ(Value("await f()"), "42");
}

// File names with spaces and accents are refused.
TEST_F(CasesStateTest, Case34FileNamesOfAnyScriptWork) {
  for (const char* name : {"Données – été (1).csv", "数据.csv", "a'b.csv", "📊.csv"}) {
    EXPECT_THAT(Put(session(), name, "a\n1\n"), IsOk());
    EXPECT_EQ(Value(absl::StrCat("import os, pandas as pd; name = \"", name, "\"; name in os.listdir(), int(pd.read_csv(name).a[0])")), "(True, 1)") << name;
  }
}

// A second upload of the same name breaks every later call.
TEST_F(CasesStateTest, Case35ASecondUploadReplacesTheFirst) {
  EXPECT_THAT(Put(session(), "a.csv", "1"), IsOk());
  EXPECT_EQ(Value("open('a.csv').read()"), "'1'");
  EXPECT_THAT(Put(session(), "a.csv", "2"), IsOk());
  EXPECT_EQ(Value("open('a.csv').read()"), "'2'");
}

// Of several uploads only the first is there later.
TEST_F(CasesStateTest, Case36AllUploadsStay) {
  for (const char* name : {"a", "b", "c"}) EXPECT_THAT(Put(session(), name, "x"), IsOk());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Value("import os; sorted(os.listdir())"), "['a', 'b', 'c']");
}

// The folder of outputs is replaced by a link to the host's root.
TEST_F(CasesStateTest, Case69ALinkInPlaceOfAFolderIsNotFollowed) {
  EXPECT_THAT(Run("import os, shutil; os.mkdir('art'); open('art/a', 'w').write('x')"), EndedWell());
  Record record = Run("shutil.rmtree('art'); os.symlink('/', 'art'); os.symlink('/etc/passwd', 'passwd')");
  EXPECT_THAT(record, EndedWell());
  EXPECT_TRUE(record.artifacts.empty());
  EXPECT_THAT(Run("os.rmdir('/workspace')"), testing::AnyOf(EndedWithError("OSError"), EndedWithError("PermissionError")));
  record = Run("os.remove('art'); os.mkdir('art'); open('art/b', 'w').write('y')");
  EXPECT_THAT(PathsOf(record.artifacts), testing::ElementsAre("art/b"));
}

// Code saves to another folder and the file is not found.
TEST_F(CasesStateTest, Case75WellKnownFoldersAreTheWorkspace) {
  Record record = Run("import matplotlib.pyplot as plt\nplt.plot([1]); plt.savefig('a.png')\nopen('/mnt/data/b.csv', 'w').write('x')\nopen('/home/user/d.txt', 'w').write('x')\nopen('/tmp/c', 'w').write('x')");
  EXPECT_THAT(PathsOf(record.artifacts), testing::ElementsAre("a.png", "b.csv", "d.txt"));
  EXPECT_EQ(Value("import os; os.getcwd(), os.path.expanduser('~')"), "('/workspace', '/workspace')");
}

}  // namespace
}  // namespace cellblock
