// Many sessions, some of which end badly: descriptors, processes and memory of the supervisor must not grow.
#include <dirent.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "sys/proc_reader.h"
#include "tests/support/session_fixture.h"

namespace cellblock {
namespace {

absl::Duration SoakTime() {
  const char* seconds = std::getenv("CELLBLOCK_SOAK_SECONDS");
  return absl::Seconds(seconds == nullptr ? 20 : std::atoi(seconds));
}

size_t OpenDescriptors() {
  size_t count = 0;
  DIR* listing = opendir("/proc/self/fd");
  while (readdir(listing) != nullptr) ++count;
  closedir(listing);
  return count;
}

class SoakTest : public SessionTest {
 protected:
  // One session's life; `turn` decides how it ends.
  void OneLife(int turn) {
    Policy policy;
    policy.limits.wall_grace = absl::Milliseconds(300);
    std::unique_ptr<Session> session = NewSession(policy);
    ASSERT_NE(session, nullptr);
    EXPECT_THAT(RunIn(*session, "x = 1\nopen('f.txt', 'w').write('hello')"), EndedWell());
    switch (turn % 6) {
      case 0:
        EXPECT_EQ(ValueIn(*session, "x + 1"), "2");
        break;
      case 1:
        EXPECT_EQ(RunIn(*session, "import os; os._exit(3)").session_state, SessionState::kGone);
        break;
      case 2:
        EXPECT_EQ(RunIn(*session, "while True: pass", WithTimeout(absl::Milliseconds(200))).status, CallStatus::kTimeout);
        break;
      case 3:
        EXPECT_THAT(RunIn(*session, "import subprocess; p = [subprocess.Popen(['sleep', '100']) for _ in range(5)]"), EndedWell());
        break;
      case 4:
        EXPECT_EQ(RunIn(*session, "import os; os.write(3, b'garbage' * 100)").session_state, SessionState::kGone);
        break;
      default:
        EXPECT_THAT(session->Restart(), IsOk());
        EXPECT_EQ(RunIn(*session, "x").error->name, "NameError");
    }
  }

  // Four side by side, each ending in another way.
  void FourLives(int turn) {
    std::vector<std::thread> side_by_side;
    for (int i = 0; i < 4; ++i) side_by_side.emplace_back([this, own = turn + i] { OneLife(own); });
    for (std::thread& thread : side_by_side) thread.join();
  }
};

constexpr size_t kDescriptorsOfSlack = 4;  // opened once, when first needed; a leak would be of hundreds

TEST_F(SoakTest, ThousandsOfSessionsLeaveNothingBehind) {
  for (int turn = 0; turn < 12; turn += 4) FourLives(turn);  // buffers and caches reach their size
  size_t descriptors = OpenDescriptors();
  size_t processes = DescendantsOf(getpid()).size();
  CELLBLOCK_ASSERT_OK_AND_ASSIGN(sys::ProcReader self, sys::ProcReader::Create(getpid()));
  int64_t resident = self.ReadUsage().resident;
  absl::Time until = absl::Now() + SoakTime();
  int lives = 0;
  while (absl::Now() < until && !HasFailure()) {
    FourLives(lives);
    lives += 4;
  }
  RecordProperty("sessions", lives);
  EXPECT_GT(lives, 0);
  EXPECT_TRUE(Eventually([&] { return DescendantsOf(getpid()).size() <= processes; })) << DescendantsOf(getpid()).size() << " processes, " << processes << " at first";
  EXPECT_LE(OpenDescriptors(), descriptors + kDescriptorsOfSlack);
  // An allocator's slack is no leak; a kilobyte for each session is.
  EXPECT_LE(self.ReadUsage().resident - resident, (int64_t{16} << 20) + int64_t{lives} * 256);
}

}  // namespace
}  // namespace cellblock
