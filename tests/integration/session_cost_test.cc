// What a session costs that can be counted and not only timed: the pages its worker copies. Tests only.
#include "absl/strings/numbers.h"
#include "tests/support/session_fixture.h"

namespace cellblock {
namespace {

class SessionCostTest : public SessionTest {};

// Each is 2 to 4 µs and 4 KiB of the session's own. (Files of the system that are mapped are no copies, and not all the same everywhere.)
TEST_F(SessionCostTest, AWorkerCopiesFewPagesUntilItsFirstResult) {
  int64_t faults = 0;
  ASSERT_TRUE(absl::SimpleAtoi(Value("__import__('resource').getrusage(0).ru_minflt"), &faults));
  EXPECT_GT(faults, 100);
  EXPECT_LT(faults, 1'000);
}

// The zygote's own forks do without them.
TEST_F(SessionCostTest, HooksOfPreloadedModulesRunAroundForksOfTheSessions) {
  const Record record = Run(R"(
import logging, os, random, threading, time
order = []
os.register_at_fork(before=lambda: order.append('before'), after_in_child=lambda: order.append('child'))
def in_child():
    read, write = os.pipe()
    if os.fork() == 0:
        logging.getLogger('x').warning('whoever held the lock is not here')
        os.write(write, repr((random.getstate() != state, threading.active_count(), order)).encode())
        os._exit(0)
    os.wait()
    return eval(os.read(read, 1000))
def hold():
    with logging._lock:
        held.set()
        time.sleep(0.3)
state, held = random.getstate(), threading.Event()
threading.Thread(target=hold).start()
held.wait()
print(in_child(), order, type(os.register_at_fork).__name__)
)");
  EXPECT_EQ(record.stdout_text, "(True, 1, ['before', 'child']) ['before'] builtin_function_or_method\n");
}

TEST_F(SessionCostTest, ASessionSaysWhatItHoldsAndWhenItHasGivenBack) {
  EXPECT_THAT(Run("x = b'x' * (50 << 20)"), EndedWell());
  EXPECT_TRUE(Eventually([&] { return session().memory().bytes > int64_t{50} << 20; }));
  EXPECT_TRUE(Eventually([&] { return session().memory().level == MemoryLevel::kGivenBack; }));
  EXPECT_EQ(session().memory().swapped_bytes, 0);
}

}  // namespace
}  // namespace cellblock
