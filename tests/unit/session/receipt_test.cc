// Limits that code survives are said in the receipt.
#include "session/receipt.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cellblock::session {
namespace {

Record WithError(const char* name, const char* value) {
  Record record;
  record.error = ErrorInfo{};
  record.error->name = name;
  record.error->value = value;
  return record;
}

std::vector<std::string> Names(const Record& record) {
  std::vector<std::string> names;
  for (const LimitHit& hit : record.receipt.limits_hit) names.push_back(hit.name);
  return names;
}

TEST(ReceiptTest, NamesTheLimitThatAnErrorComesFrom) {
  const struct {
    const char* name;
    const char* value;
    const char* limit;
  } cases[] = {{"MemoryError", "", "memory"},
               {"numpy._core._exceptions._ArrayMemoryError", "Unable to allocate", "memory"},
               {"OSError", "[Errno 28] No space left on device", "workspace"},
               {"OSError", "[Errno 27] File too large", "file_size"},
               {"RuntimeError", "can't start new thread", "processes"},
               {"BlockingIOError", "[Errno 11] Resource temporarily unavailable", "processes"},
               {"OSError", "[Errno 24] Too many open files", "open_files"}};
  for (const auto& c : cases) {
    Record record = WithError(c.name, c.value);
    AddLimitsHit(Policy{}, {}, {}, record);
    EXPECT_THAT(Names(record), ::testing::ElementsAre(c.limit)) << c.value;
  }
}

TEST(ReceiptTest, AFullTableOfTheWholeMachineIsNoLimitOfTheSession) {
  Record record = WithError("OSError", "[Errno 23] Too many open files in system: 'a'");
  AddLimitsHit(Policy{}, {}, {}, record);
  EXPECT_THAT(Names(record), ::testing::IsEmpty());
}

TEST(ReceiptTest, AFullDiskIsSeenWithoutAnError) {
  Record record;
  supervise::DiskUse disk;
  disk.workspace_full = disk.inodes_full = disk.tmp_full = disk.shm_full = true;
  AddLimitsHit(Policy{}, {}, disk, record);
  EXPECT_THAT(Names(record), ::testing::ElementsAre("workspace", "workspace_files", "tmp", "shm"));
}

TEST(ReceiptTest, ADiskThatWasFullBeforeIsNewsOnlyToACallThatMetIt) {
  supervise::DiskUse tmp, both;
  tmp.tmp_full = both.tmp_full = both.shm_full = true;
  Record record;
  AddLimitsHit(Policy{}, tmp, tmp, record);
  EXPECT_THAT(Names(record), ::testing::IsEmpty());
  record = WithError("OSError", "[Errno 28] No space left on device");
  AddLimitsHit(Policy{}, tmp, tmp, record);
  EXPECT_THAT(Names(record), ::testing::ElementsAre("tmp"));
  record = WithError("OSError", "[Errno 28] No space left on device");
  AddLimitsHit(Policy{}, tmp, both, record);
  EXPECT_THAT(Names(record), ::testing::ElementsAre("shm")) << "which is full only now";
}

TEST(ReceiptTest, AnOrdinaryErrorHitsNothing) {
  Record record = WithError("ValueError", "invalid literal");
  AddLimitsHit(Policy{}, {}, {}, record);
  AddDenials(Policy{}, record);
  EXPECT_TRUE(record.receipt.limits_hit.empty());
  EXPECT_TRUE(record.denials.empty());
}

TEST(ReceiptTest, ADenialNamesItsRule) {
  Record record = WithError("OSError", "[Errno 30] Read-only file system: '/etc/x'");
  AddDenials(Policy{}, record);
  ASSERT_EQ(record.denials.size(), 1u);
  EXPECT_EQ(record.denials[0].kind, "file");
  EXPECT_EQ(record.denials[0].subject, "/etc/x");
  record = WithError("PermissionError", "[Errno 1] Operation not permitted: 'ls'");
  record.error->hint = "Starting programs is off in this policy (languages.subprocesses): do it in Python itself.";
  AddDenials(Policy{}, record);
  ASSERT_EQ(record.denials.size(), 1u);
  EXPECT_EQ(record.denials[0].rule, "languages.subprocesses");
  record = WithError("OSError", "[Errno 38] Function not implemented");
  AddDenials(Policy{}, record);
  ASSERT_EQ(record.denials.size(), 1u);
  EXPECT_EQ(record.denials[0].subject, "[Errno 38] Function not implemented");
  EXPECT_THAT(record.denials[0].rule, ::testing::HasSubstr("isolation.seccomp"));
  record = WithError("gaierror", "[Errno -3] Temporary failure in name resolution");
  AddDenials(Policy{}, record);
  ASSERT_EQ(record.denials.size(), 1u);
  EXPECT_EQ(record.denials[0].kind, "network");
}

TEST(ReceiptTest, WithANetworkOnlyWhatTheProxyCannotSeeIsReadFromTheError) {
  Policy policy;
  policy.network.allow.push_back({.host = "api.example.com"});
  Record record = WithError("gaierror", "[Errno -2] Name or service not known");
  AddDenials(policy, record);
  EXPECT_TRUE(record.denials.empty()) << "the proxy's own log has it";
  record = WithError("OSError", "[Errno 101] Network is unreachable");
  AddDenials(policy, record);
  ASSERT_EQ(record.denials.size(), 1u);
  EXPECT_THAT(record.denials[0].rule, ::testing::HasSubstr("network.allow"));
  EXPECT_THAT(record.error->hint, ::testing::HasSubstr("names"));
}

TEST(ReceiptTest, TheShorterTimeoutIsTheOneThatApplied) {
  auto limits = DescribeLimits(Policy{}, absl::Seconds(3));
  EXPECT_EQ(limits[0].second, "3s");
  EXPECT_EQ(DescribeLimits(Policy{}, absl::Hours(9))[0].second, "2m");
}

}  // namespace
}  // namespace cellblock::session
