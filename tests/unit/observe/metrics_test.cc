// Metrics: what they count, and that no label grows without a bound.
#include "observe/metrics.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "service/errors.h"

namespace cellblock::observe {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Moment NoMoment() { return {}; }

service::CallFacts Call(absl::string_view language = "python") {
  service::CallFacts call;
  call.language = language;
  call.waited = absl::Milliseconds(3);
  return call;
}

// The lines of the text that begin so.
size_t CountLines(const std::string& text, absl::string_view prefix) {
  size_t count = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) count += line.substr(0, prefix.size()) == prefix ? 1 : 0;
  return count;
}

TEST(MetricsTest, ShowsWhatCanHappenBeforeItHas) {
  const std::string text = Metrics("1.2.3", NoMoment).Text();
  for (const char* line : {"cellblock_build_info{version=\"1.2.3\"} 1", "cellblock_calls_total{language=\"python\",status=\"out_of_memory\"} 0", "cellblock_sessions_closed_total{cause=\"idle\"} 0",
                           "cellblock_rejected_total{reason=\"queue_full\"} 0", "cellblock_sessions{state=\"idle\"} 0", "# HELP cellblock_calls_total ", "# TYPE cellblock_calls_total counter"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(MetricsTest, ShowsTheMomentOfAsking) {
  Moment now;
  Metrics metrics("1", [&now] { return now; });
  now.load.busy = 2;
  now.load.memory_bytes = int64_t{3} << 30;
  now.load.calls_waiting = 7;
  now.zygotes = 1;
  now.pool = {.ready = 4, .wanted = 5, .memory_bytes = 1 << 20, .handed_out = 6, .built = 7, .made = 8, .discarded = 9};
  now.ready = true;
  const std::string text = metrics.Text();
  for (const char* line : {"cellblock_sessions{state=\"busy\"} 2\n", "cellblock_sessions_memory_bytes 3221225472\n", "cellblock_calls_queued 7\n", "cellblock_zygotes 1\n", "cellblock_pool_ready 4\n", "cellblock_pool_wanted 5\n", "cellblock_pool_memory_bytes 1048576\n", "cellblock_pool_sessions_total{from=\"pool\"} 6\n",
                           "cellblock_pool_sessions_total{from=\"built\"} 7\n", "cellblock_pool_made_total 8\n", "cellblock_pool_discarded_total 9\n", "cellblock_ready 1\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  for (const char* family : {"process_resident_memory_bytes ", "process_open_fds ", "process_threads "}) {
    EXPECT_THAT(text, HasSubstr(absl::StrCat("\n", family)));
    EXPECT_THAT(text, Not(HasSubstr(absl::StrCat("\n", family, "0\n"))));
  }
}

TEST(MetricsTest, CountsCallsByStatusWithTheirCost) {
  Metrics metrics("1", NoMoment);
  Record record;
  record.status = CallStatus::kTimeout;
  record.receipt.wall = absl::Seconds(2);
  record.receipt.cpu = absl::Milliseconds(1500);
  record.receipt.output_bytes = 10;
  record.receipt.limits_hit = {{"wall", "2s passed"}};
  record.denials = {{"network", "example.com", "network: off", 3}, {"artifact", "a.bin", "a.bin is larger than 1 MiB", 1}};
  record.artifacts.resize(2);
  record.artifacts[0].size_bytes = 100;
  record.egress.resize(2);
  record.egress[0].protocol = record.egress[1].protocol = "https";
  record.egress[0].allowed = true;
  record.egress[0].sent_bytes = 70;
  record.egress[0].received_bytes = 3000;
  record.egress_left_out = 5;
  metrics.CallStarted(Call("bash"));
  metrics.CallEnded(Call("bash"), record);
  const std::string text = metrics.Text();
  for (const char* line : {"cellblock_calls_total{language=\"bash\",status=\"timeout\"} 1", "cellblock_call_cpu_seconds_total 1.5", "cellblock_output_bytes_total 10", "cellblock_limits_hit_total{limit=\"wall\"} 1",
                           "cellblock_denials_total{kind=\"network\",rule=\"network: off\"} 3", "cellblock_denials_total{kind=\"artifact\",rule=\"artifacts\"} 1", "cellblock_artifacts_total 2",
                           "cellblock_artifact_bytes_total 100", "cellblock_call_duration_seconds_bucket{language=\"bash\",le=\"1\"} 0", "cellblock_call_duration_seconds_bucket{language=\"bash\",le=\"2.5\"} 1",
                           "cellblock_egress_total{protocol=\"https\",verdict=\"allowed\"} 1", "cellblock_egress_total{protocol=\"https\",verdict=\"refused\"} 1",
                           "cellblock_egress_total{protocol=\"other\",verdict=\"not_listed\"} 5", "cellblock_egress_bytes_total{direction=\"out\"} 70", "cellblock_egress_bytes_total{direction=\"in\"} 3000",
                           "cellblock_call_wait_seconds_count 1"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_THAT(text, Not(HasSubstr("example.com")));
}

TEST(MetricsTest, CountsSessionsByCauseWithTheStepsOfTheirStart) {
  Metrics metrics("1", NoMoment);
  StartTimings steps;
  steps.jail = absl::Milliseconds(4);
  metrics.SessionCreated({}, {}, absl::Milliseconds(20), steps);
  metrics.SessionEnded({}, "expired", service::EndCause::kLifeOver, "its life of 1h (session.life) was over");
  const std::string text = metrics.Text();
  for (const char* line : {"cellblock_sessions_created_total 1", "cellblock_sessions_closed_total{cause=\"life_over\"} 1", "cellblock_session_start_seconds_count 1",
                           "cellblock_session_start_step_seconds_sum{step=\"jail\"} 0.004", "cellblock_session_start_step_seconds_count{step=\"lock_down\"} 1", "cellblock_session_start_step_seconds_count{step=\"interpreter\"} 1"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(MetricsTest, CountsRefusalsByCodeAndThoseThatCameTooMany) {
  Metrics metrics("1", NoMoment);
  metrics.Refused("execute", "s-1", {}, service::Error(absl::StatusCode::kResourceExhausted, "queue_full", "…"));
  metrics.Refused("create_session", "", {}, service::Error(absl::StatusCode::kNotFound, "unknown_policy", "…"));
  const std::string text = metrics.Text();
  for (const char* line : {"cellblock_refused_total{code=\"queue_full\",verb=\"execute\"} 1", "cellblock_refused_total{code=\"unknown_policy\",verb=\"create_session\"} 1",
                           "cellblock_rejected_total{reason=\"queue_full\"} 1"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_EQ(CountLines(text, "cellblock_rejected_total{"), 4u);
}

TEST(MetricsTest, CountsFilesAndTheirBytes) {
  Metrics metrics("1", NoMoment);
  metrics.FileMoved("put_file", {}, {}, "secret-name.csv", 1000);
  metrics.FileMoved("get_file", {}, {}, "secret-name.csv", 10);
  metrics.FileMoved("remove_file", {}, {}, "secret-name.csv", 0);
  const std::string text = metrics.Text();
  for (const char* line : {"cellblock_file_bytes_total{direction=\"in\"} 1000", "cellblock_file_bytes_total{direction=\"out\"} 10", "cellblock_files_total{verb=\"remove_file\"} 1"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_THAT(text, Not(HasSubstr("secret-name")));
}

TEST(MetricsTest, BoundsEveryLabelWhateverComes) {
  Metrics metrics("1", NoMoment);
  for (int i = 0; i < 1000; ++i) {
    AnsweredRequest request;
    const std::string odd = absl::StrCat("ODD", i);
    request.method = odd;
    request.status = 404;
    metrics.RequestAnswered(request);
    Record record;
    record.status = CallStatus::kOk;
    record.denials = {{"file", "x", absl::StrCat("rule ", i), 1}};
    record.receipt.limits_hit = {{absl::StrCat("limit", i), ""}};
    metrics.CallEnded(Call(), record);
    metrics.Refused("execute", odd, {}, service::Error(absl::StatusCode::kNotFound, absl::StrCat("code_", i), "…"));
  }
  const std::string text = metrics.Text();
  EXPECT_THAT(text, HasSubstr("cellblock_http_requests_total{code=\"404\",method=\"other\",route=\"none\"} 1000"));
  EXPECT_LE(CountLines(text, "cellblock_denials_total{"), 33u);
  EXPECT_LE(CountLines(text, "cellblock_limits_hit_total{"), 33u);
  EXPECT_LE(CountLines(text, "cellblock_refused_total{"), 65u);
  EXPECT_THAT(text, HasSubstr("cellblock_limits_hit_total{limit=\"other\"}"));
}

TEST(BoundedLabelTest, CutsAndCleansAndEndsInOther) {
  BoundedLabel label(2);
  EXPECT_EQ(label.Of("a\nb\xff"), "a?b?");
  EXPECT_EQ(label.Of(std::string(1000, 'x')), std::string(BoundedLabel::kBytesMax, 'x'));
  EXPECT_EQ(label.Of("third"), "other");
  EXPECT_EQ(label.Of("a\nb\xff"), "a?b?");
}

}  // namespace
}  // namespace cellblock::observe
