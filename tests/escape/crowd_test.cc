// A hundred sessions attacked at once: every call is answered in time, the supervisor stays small, and nothing is left of any. Tests only.
#include <fcntl.h>

#include <array>
#include <atomic>
#include <barrier>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "sys/files.h"
#include "tests/escape/hostile_cell.h"
#include "tests/support/helper_processes.h"
#include "tests/support/left_behind.h"

namespace cellblock {
namespace {

constexpr size_t kSessions = 100;
constexpr int64_t kSupervisorBytesMax = int64_t{64} << 20;
constexpr absl::Duration kWall = absl::Seconds(5);
constexpr absl::Duration kTogether = absl::Seconds(60);  // a hundred on two processors, which others use as well

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;  // its shadow is not the supervisor's memory
#else
constexpr bool kSanitized = false;
#endif

// Each kind of attack: on memory, processes, descriptors, files, output, the channel, the clock, other sessions, and by dying.
constexpr std::array<const char*, 20> kMix = {"output_flood",     "output_flood_of_lines", "event_flood",     "frame_flood",   "frame_garbage",
                                              "frame_huge_length", "channel_descriptors",   "channel_closed",  "fork_bomb",     "threads_without_end",
                                              "memory_of_children", "memory_of_shm",        "memory_of_heap",  "inode_fill",    "descriptors_without_end",
                                              "endless_c_code",    "deaf_to_signals",       "stopped",         "signal_everybody", "segmentation_fault"};

// A line of /proc/self/status, in bytes.
int64_t StatusBytes(absl::string_view key) {
  const std::string status = sys::ReadFile("/proc/self/status", 65536).value_or("");
  for (absl::string_view line : absl::StrSplit(status, '\n')) {
    std::vector<absl::string_view> words = absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    int64_t kilobytes;
    if (words.size() == 3 && words[0] == key && absl::SimpleAtoi(words[1], &kilobytes)) return kilobytes * 1024;
  }
  ADD_FAILURE() << key;
  return 0;
}

// From here on, the peak is counted anew (proc(5), clear_refs).
bool ForgetPeak() {
  UniqueFd fd(open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC));
  return fd.valid() && sys::WriteAll(fd.get(), "5").ok();
}

class CrowdTest : public SessionTest {
 protected:
  static std::vector<HostileCell> Mix() {
    std::vector<HostileCell> mix;
    const std::vector<HostileCell> all = LoadHostileCells(std::string(CELLBLOCK_TEST_SOURCE) + "/tests/escape/cells");
    for (const char* name : kMix) {
      for (const HostileCell& cell : all) {
        if (cell.name == name) mix.push_back(cell);
      }
    }
    return mix;
  }

  // One attack, begun when all are ready.
  void Attack(const HostileCell& cell, std::barrier<>& all_ready) {
    absl::StatusOr<Policy> policy = cell.LoadPolicyOf("policy");
    EXPECT_THAT(policy, IsOk());
    std::unique_ptr<Session> session = NewSession(policy.value_or(Policy()));
    all_ready.arrive_and_wait();
    ExecuteOptions options = WithTimeout(std::min(cell.timeout(), kWall));
    options.language = cell.is_bash ? Language::kBash : Language::kPython;
    options.arguments = {"hostile"};
    const absl::Time start = absl::Now();
    const Record record = RunIn(*session, cell.code, options);
    const absl::Duration took = absl::Now() - start;
    // What became of it may differ from a call alone: a flood meets the clock before its own limit; and where all sessions are one user
    // outside, the kernel refuses what it counts by user (descriptors on their way through sockets).
    std::string status(CallStatusName(record.status).data(), CallStatusName(record.status).size());
    if (record.status != CallStatus::kTimeout && record.status != CallStatus::kError) {
      EXPECT_THAT(cell.Alternatives("status", "ok"), testing::Contains(status)) << cell.name << "\n" << testing::PrintToString(record);
    }
    if (took > kWall + policy->limits.wall_grace + absl::Seconds(2)) late_.fetch_add(1);
  }

  std::atomic<int> late_ = 0;
};

TEST_F(CrowdTest, AHundredSessionsAttackedAtOnceLeaveTheSupervisorSmallAndClean) {
  const std::vector<HostileCell> mix = Mix();
  ASSERT_EQ(mix.size(), kMix.size());
  EXPECT_EQ(Value("21 * 2"), "42");
  RunBash("true");
  End();
  ASSERT_TRUE(Eventually([] { return WorkerProcesses().empty() && JailInitProcesses().empty(); }));
  const LeftBehind before = CountLeftBehind();
  const int64_t resident = StatusBytes("VmRSS:");
  const bool anew = ForgetPeak();
  const absl::Time start = absl::Now();
  {
    std::barrier<> all_ready(kSessions);
    std::vector<std::thread> attackers;
    for (size_t i = 0; i < kSessions; ++i) attackers.emplace_back([&, i] { Attack(mix[i % mix.size()], all_ready); });
    for (std::thread& attacker : attackers) attacker.join();
  }
  const absl::Duration took = absl::Now() - start;
  const int64_t peak = StatusBytes("VmHWM:");
  RecordProperty("seconds", static_cast<int>(absl::ToInt64Seconds(took)));
  RecordProperty("resident_before_bytes", absl::StrCat(resident));
  RecordProperty("peak_bytes", absl::StrCat(peak));
  RecordProperty("late", late_.load());
  printf("%zu sessions in %s; peak %lld KiB, %lld KiB before; %d later than their limit, grace and 2 s\n", kSessions, absl::FormatDuration(took).c_str(), static_cast<long long>(peak >> 10),
         static_cast<long long>(resident >> 10), late_.load());
  EXPECT_LE(took, kTogether);
  if (anew && !kSanitized) {
    EXPECT_LE(peak, kSupervisorBytesMax);
  }
  EXPECT_TRUE(Eventually([&] { return CountLeftBehind() == before; })) << CountLeftBehind() << "; before: " << before;
  EXPECT_EQ(Value("21 * 2"), "42");
}

}  // namespace
}  // namespace cellblock
