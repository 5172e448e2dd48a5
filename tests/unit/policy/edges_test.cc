// Every number of a policy at both ends of its range, and one step beyond, through the loader. The numbers are written out here once
// more, so that a range can't move unseen.
#include <map>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "policy/load/load.h"
#include "policy/schema.h"
#include "policy/value.h"
#include "tests/support/status_matchers.h"

namespace cellblock::policy {
namespace {

using ::testing::HasSubstr;

struct Edge {
  const char* below;  // empty: a negative number, refused as such
  const char* min;
  const char* max;
  const char* above;
  const char* others = "";  // keys of the same group that the edge needs, so that it collides with no other limit
};

const std::map<std::string, Edge>& Edges() {
  static const auto* const edges = new std::map<std::string, Edge>{
      {"limits.wall", {"99ms", "100ms", "24h", "86400001ms"}},
      {"limits.wall_grace", {"", "0s", "60s", "60001ms"}},
      {"limits.cpu", {"99ms", "100ms", "24h", "86400001ms"}},
      {"limits.cpus", {"0", "1", "1024", "1025"}},
      {"limits.cpu_weight", {"0", "1", "10000", "10001"}},
      {"limits.memory", {"67108863", "64MiB", "16TiB", "17592186044417"}},
      {"limits.processes", {"0", "1", "32768", "32769"}},
      {"limits.open_files", {"15", "16", "1048576", "1048577"}},
      {"limits.workspace", {"1048575", "1MiB", "16TiB", "17592186044417"}},
      {"limits.workspace_files", {"15", "16", "10000000", "10000001"}},
      {"limits.tmp", {"1048575", "1MiB", "16TiB", "17592186044417"}},
      {"limits.shm", {"1048575", "1MiB", "16TiB", "17592186044417"}},
      {"limits.file_size", {"4095", "4KiB", "16TiB", "17592186044417"}},
      {"limits.output", {"1023", "1KiB", "1GiB", "1073741825"}},
      {"limits.result_size", {"65535", "64KiB", "1GiB", "1073741825"}},
      {"limits.results", {"0", "1", "10000", "10001"}},
      {"limits.code_size", {"1023", "1KiB", "64MiB", "67108865"}},
      {"session.idle", {"999ms", "1s", "720h", "2592000001ms", ", life: 720h"}},
      {"session.life", {"999ms", "1s", "720h", "2592000001ms", ", idle: 1s"}},
      {"session.queue", {"", "0", "1000", "1001"}},
      {"artifacts.size", {"", "0", "1TiB", "1099511627777"}},
      {"artifacts.file_size", {"", "0", "1TiB", "1099511627777"}},
      {"artifacts.files", {"", "0", "100000", "100001"}},
      {"artifacts.full_output", {"", "0", "1TiB", "1025GiB"}},
      {"artifacts.depth", {"0", "1", "64", "65"}},
      {"python.table_width", {"79", "80", "10000", "10001"}},
      {"python.table_columns", {"4", "5", "1000", "1001"}},
      {"python.figure_dpi", {"29", "30", "600", "601"}},
      {"network.call_bytes", {"1023", "1KiB", "1TiB", "1099511627777"}},
      {"network.rate", {"1023", "1KiB", "16GiB", "17179869185"}},
      {"network.connections", {"0", "1", "1024", "1025"}},
      {"network.requests", {"0", "1", "1000000", "1000001"}},
      {"network.idle", {"999ms", "1s", "1h", "3600001ms"}},
  };
  return *edges;
}

// A short call limit, so that the shortest session is still longer than a call.
absl::StatusOr<LoadedPolicy> LoadEdge(const std::string& path, const Edge& edge, absl::string_view value) {
  std::string text = absl::StrCat(GroupOf(path), ": {", LastPartOf(path), ": ", value, edge.others, "}\n");
  if (path == "session.life") absl::StrAppend(&text, "limits: {wall: 1s}\n");
  return LoadPolicyText(text, "p.yaml", "");
}

TEST(EdgesTest, AcceptsBothEndsAndRefusesOneStepBeyond) {
  for (const auto& [path, edge] : Edges()) {
    std::string position = absl::StrCat("p.yaml:1:", GroupOf(path).size() + 3 + LastPartOf(path).size() + 3, ": ", path, ": ");
    EXPECT_THAT(LoadEdge(path, edge, edge.min), IsOk()) << path;
    EXPECT_THAT(LoadEdge(path, edge, edge.max), IsOk()) << path;
    EXPECT_THAT(LoadEdge(path, edge, edge.above), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(position))) << path;
    EXPECT_THAT(LoadEdge(path, edge, edge.above), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is above the most, "))) << path;
    absl::string_view below = edge.below;
    EXPECT_THAT(LoadEdge(path, edge, below.empty() ? "-1" : below),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(below.empty() ? "\"-1\" is negative" : "is below the least, ")))
        << path;
  }
}

TEST(EdgesTest, CoversEveryNumber) {
  for (const Key& key : Schema()) {
    bool has_range = absl::StrContains(RangeText(key), "–") && key.path != "determinism.seed";
    EXPECT_EQ(Edges().count(std::string(key.path)), has_range ? 1u : 0u) << key.path;
  }
}

TEST(EdgesTest, SeedTakesAll64Bits) {
  EXPECT_EQ(LoadPolicyText("determinism: {seed: 0}\n", "p.yaml", "")->policy.determinism.seed, 0u);
  EXPECT_EQ(LoadPolicyText("determinism: {seed: 18446744073709551615}\n", "p.yaml", "")->policy.determinism.seed, 18446744073709551615u);
  EXPECT_THAT(LoadPolicyText("determinism: {seed: -1}\n", "p.yaml", ""),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("p.yaml:1:21: determinism.seed: \"-1\" is negative")));
}

}  // namespace
}  // namespace cellblock::policy
