// Which policies share ready workers, how many are wanted, and which options are refused. Tests only.
#include "session/pool.h"

#include <functional>
#include <limits>

#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace cellblock::session {
namespace {

const absl::Time kStart = absl::FromUnixSeconds(1'000'000);

Policy Changed(const std::function<void(Policy&)>& change) {
  Policy policy;
  change(policy);
  return policy;
}

TEST(KindOfTest, PoliciesThatDifferInWhatIsSetLateShareOne) {
  const std::function<void(Policy&)> changes[] = {
      [](Policy& p) { p.name = "other"; },
      [](Policy& p) { p.limits.wall = absl::Seconds(1); },
      [](Policy& p) { p.limits.cpu = absl::Seconds(1); },
      [](Policy& p) { p.limits.cpus = 2; },
      [](Policy& p) { p.limits.cpu_weight = 5; },
      [](Policy& p) { p.limits.memory_bytes = int64_t{512} << 20; },
      [](Policy& p) { p.limits.processes = 7; },
      [](Policy& p) { p.limits.open_files = 99; },
      [](Policy& p) { p.limits.output_bytes = 4096; },
      [](Policy& p) { p.limits.result_bytes = 1 << 20; },
      [](Policy& p) { p.session.idle = absl::Seconds(5); },
      [](Policy& p) { p.artifacts.files = 1; },
      [](Policy& p) { p.languages.bash = false; },
      [](Policy& p) { p.python.figure_dpi = 50; },
      [](Policy& p) { p.determinism.seed = 5; },
      [](Policy& p) { p.determinism.time_zone = "Asia/Tokyo"; },
      [](Policy& p) { p.keep_processes = true; },
      [](Policy& p) { p.environment = {{"A", "b"}}; },
      [](Policy& p) { p.redact = {"secret"}; },
  };
  for (const auto& change : changes) EXPECT_EQ(KindOf(Changed(change)), KindOf(Policy{})) << &change - changes;
}

TEST(KindOfTest, PoliciesThatDifferInWhatAWorkerIsBornWithDoNot) {
  const std::function<void(Policy&)> changes[] = {
      [](Policy& p) { p.limits.workspace_bytes = 1 << 20; },
      [](Policy& p) { p.limits.workspace_files = 16; },
      [](Policy& p) { p.limits.tmp_bytes = 1 << 20; },
      [](Policy& p) { p.limits.shm_bytes = 1 << 20; },
      [](Policy& p) { p.files.mounts = {{"/srv", "/srv"}}; },
      [](Policy& p) { p.files.directory = "/srv/root"; },
      [](Policy& p) { p.languages.subprocesses = false; },
      [](Policy& p) { p.python.preload = {"numpy"}; },
      [](Policy& p) { p.determinism.fixed_hash_seed = true; },
      [](Policy& p) { p.determinism.locale = "C"; },
      [](Policy& p) { p.isolation.landlock = Requirement::kOff; },
      [](Policy& p) { p.isolation.extra_syscalls = {"ptrace"}; },
      [](Policy& p) { p.network.allow = {{.host = "example.com"}}; },
      [](Policy& p) { p.network.call_bytes = 4096; },
  };
  for (const auto& change : changes) EXPECT_FALSE(KindOf(Changed(change)) == KindOf(Policy{})) << &change - changes;
}

TEST(DemandTest, DoublesWhenThereWasNoneToGiveUpToTheMost) {
  Demand demand(1, 6);
  EXPECT_EQ(demand.Target(kStart), 1);
  int64_t expected[] = {1, 2, 4, 6, 6};  // for the first of all nothing can have been ready
  for (int64_t target : expected) {
    demand.Asked(-1, kStart);
    EXPECT_EQ(demand.Target(kStart), target);
  }
}

TEST(DemandTest, FallsByWhatWasNeverNeeded) {
  Demand demand(1, 16);
  for (int i = 0; i < 4; ++i) demand.Asked(-1, kStart);
  ASSERT_EQ(demand.Target(kStart), 8);
  demand.Asked(5, kStart + absl::Seconds(1));  // three of eight were in use at once
  EXPECT_EQ(demand.Target(kStart + kShrinkAfter), 3);
  EXPECT_EQ(demand.Target(kStart + 2 * kShrinkAfter), 1) << "nobody asked any more";
}

TEST(DemandTest, KeepsTheLeastHoweverLongNobodyAsks) {
  Demand demand(2, 16), none(0, 4);
  EXPECT_EQ(demand.Target(kStart + absl::Hours(5)), 2);
  none.Asked(-1, kStart);
  EXPECT_EQ(none.Target(kStart), 1) << "from nothing it has to begin somewhere";
  EXPECT_EQ(none.Target(kStart + kShrinkAfter), 0);
}

TEST(PoolOptionsTest, TakesWhatIsInRangeAndNamesWhatIsNot) {
  EXPECT_THAT(CheckPoolOptions({}), IsOk());
  EXPECT_THAT(CheckPoolOptions({.ready_max = 1024, .ready_min = 1024, .refills_per_second = 10'000, .age_max = absl::Hours(24), .memory_bytes_max = int64_t{16} << 40}), IsOk());
  EXPECT_THAT(CheckPoolOptions({.ready_max = 1, .ready_min = 0, .refills_per_second = 0.1, .age_max = absl::Seconds(1), .memory_bytes_max = 1 << 20}), IsOk());
  const std::pair<const char*, PoolOptions> wrong[] = {
      {"ready_max", {.ready_max = 1025}},
      {"ready_max", {.ready_max = -1}},
      {"ready_min", {.ready_max = 3, .ready_min = 4}},
      {"ready_min", {.ready_max = 3, .ready_min = -1}},
      {"refills_per_second", {.refills_per_second = 0}},
      {"refills_per_second", {.refills_per_second = std::numeric_limits<double>::quiet_NaN()}},
      {"age_max", {.age_max = absl::Milliseconds(999)}},
      {"age_max", {.age_max = absl::InfiniteDuration()}},
      {"memory_bytes_max", {.memory_bytes_max = (1 << 20) - 1}},
  };
  for (const auto& [name, options] : wrong) EXPECT_THAT(CheckPoolOptions(options), StatusIs(absl::StatusCode::kInvalidArgument, testing::HasSubstr(name)));
}

}  // namespace
}  // namespace cellblock::session
