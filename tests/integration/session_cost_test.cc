// What a session costs that can be counted and not only timed: the pages its worker copies. Tests only.
#include "absl/strings/numbers.h"
#include "sys/memory.h"
#include "tests/support/session_fixture.h"

namespace cellblock {
namespace {

class SessionCostTest : public SessionTest {};

// Each is 2 to 4 µs and 4 KiB of the session's own. 900 were measured; an import at the start, or a heap that is not settled, is some hundred more.
TEST_F(SessionCostTest, AWorkerCopiesFewPagesUntilItsFirstResult) {
  int64_t faults = 0;
  ASSERT_TRUE(absl::SimpleAtoi(Value("__import__('resource').getrusage(0).ru_minflt"), &faults));
  EXPECT_GT(faults, 100);
  EXPECT_LT(faults, 1'200);
}

// The zygote's own forks do without them.
TEST_F(SessionCostTest, HooksOfPreloadedModulesRunAroundForksOfTheSessions) {
  const Record record = Run(R"(
import logging, os, random, threading
order = []
os.register_at_fork(before=lambda: order.append('before'), after_in_child=lambda: order.append('child'))
def drawn_in_child():
    read, write = os.pipe()
    if os.fork() == 0:
        logging.getLogger('x').warning('its lock is free')
        os.write(write, repr((random.random(), order, threading.active_count(), random.getstate() == state)).encode())
        os._exit(0)
    os.wait()
    return eval(os.read(read, 1000))
state = random.getstate()
with logging._lock:
    first = drawn_in_child()
second = drawn_in_child()
print(first[0] != second[0], first[1:], second[1][:3], type(os.register_at_fork).__name__)
)");
  EXPECT_EQ(record.stdout_text, "True (['before', 'child'], 1, False) ['before', 'before', 'child'] builtin_function_or_method\n");
}

TEST_F(SessionCostTest, ASessionThatWaitsIsWrittenToSwap) {
  if (!sys::HasSwap()) GTEST_SKIP() << "missing: swap";
  HostOptions options = TestHostOptions();
  options.page_out_after = absl::Seconds(1);
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Host> host, Host::Create(options));
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(std::unique_ptr<Session> session, host->CreateSession(Policy{}));
  if (!HasCgroup(*session)) GTEST_SKIP() << "missing: cgroups";
  EXPECT_THAT(RunIn(*session, "x = bytes(range(256)) * 400_000"), EndedWell());
  EXPECT_TRUE(Eventually([&] { return session->memory().level == MemoryLevel::kPagedOut; }, absl::Seconds(60)));
  EXPECT_GT(session->memory().swapped_bytes, int64_t{50} << 20);
  EXPECT_LT(session->memory().bytes, int64_t{60} << 20);
  EXPECT_EQ(ValueIn(*session, "x.count(b'\\x00'), x[-1]"), "(400000, 255)");
  EXPECT_EQ(session->memory().level, MemoryLevel::kInUse);
}

TEST_F(SessionCostTest, ASessionWaitsInMemoryUnlessAskedOtherwise) {
  EXPECT_THAT(Run("1"), EndedWell());
  EXPECT_TRUE(Eventually([&] { return session().memory().level == MemoryLevel::kGivenBack; }));
  EXPECT_EQ(session().memory().swapped_bytes, 0);
  HostOptions options = TestHostOptions();
  options.page_out_after = absl::Milliseconds(999);
  EXPECT_THAT(Host::Create(options), StatusIs(absl::StatusCode::kInvalidArgument, testing::HasSubstr("page_out_after")));
}

}  // namespace
}  // namespace cellblock
