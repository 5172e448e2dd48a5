// The record's JSON: exact names, nulls for what is absent, strict whatever the guest put in.
#include "render/record_json.h"

#include <limits>
#include <random>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/render/boost_json.h"

namespace cellblock::render {
namespace {

namespace bj = boost::json;
using ::testing::HasSubstr;
using ::testing::Not;

bj::object Rendered(const Record& record) {
  std::string text = RenderRecordJson(record);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  auto value = ParseStrictly(text);
  EXPECT_TRUE(value.has_value()) << text;
  return value.has_value() ? value->as_object() : bj::object();
}

std::vector<std::string> Keys(const bj::object& object) {
  std::vector<std::string> keys;
  for (const auto& member : object) keys.emplace_back(member.key().data(), member.key().size());
  return keys;
}

Record FullRecord() {
  Record record;
  record.id = "e1";
  record.session_id = "s1";
  record.call = 3;
  record.status = CallStatus::kError;
  record.exit_code = 1;
  record.session_state = SessionState::kRestarted;
  record.started_at = absl::FromUnixMicros(1700000000123456);
  record.stdout_text = "hello \"you\"\n";
  record.results.push_back({.mime = {{.type = "text/plain", .data = "<Figure>"}, {.type = "image/png", .data = std::string("\x89P\0G", 4), .is_text = false},
                                     {.type = "application/json", .data = "{ \"a\": [1] }", .is_json = true}},
                            .metadata_json = "{\"image/png\": {\"width\": 640}}", .display_id = "d1"});
  record.results.push_back({.mime = {{.type = "text/plain", .data = "42"}}, .metadata_json = "{}", .is_value = true});
  record.events.push_back({.type = Event::Type::kStdout, .time = absl::Milliseconds(2), .text = "hello \"you\"\n", .late = true});
  record.events.push_back({.type = Event::Type::kDisplay, .time = absl::Milliseconds(3), .result = 0});
  record.events.push_back({.type = Event::Type::kClear, .time = absl::Milliseconds(4), .wait = true});
  record.events.push_back({.type = Event::Type::kResult, .time = absl::Milliseconds(5), .result = 1});
  record.events.push_back({.type = Event::Type::kError, .time = absl::Milliseconds(6)});
  record.error = ErrorInfo{.name = "ValueError", .value = "bad", .traceback = "Traceback…", .line = 2, .column = 0, .hint = ""};
  record.artifacts.push_back({.id = "a1", .path = "out/p.png", .size_bytes = 10, .mime = "image/png", .sha256 = "ab", .created = false, .call = 3,
                              .image_size = std::make_pair(640, 480), .stored_at = "/var/secret-place/a1"});
  record.receipt.wall = absl::Milliseconds(1500);
  record.receipt.cpu = absl::InfiniteDuration();
  record.receipt.memory_peak_bytes = std::numeric_limits<int64_t>::max();
  record.receipt.limits = {{"memory", "2 GiB"}, {"wall", "120 s"}, {"wall", "1 s"}};
  record.receipt.limits_hit = {{"output", "cut"}};
  record.receipt.layers = {{"seccomp", "enforced", ""}, {"landlock", "off", "no kernel support"}};
  record.denials = {{"file", "/etc/shadow", "files", 2}};
  record.stdout_truncation = StreamTruncation{1, 2, 3};
  return record;
}

TEST(RecordJsonTest, HasTheNamesOfTheApi) {
  bj::object record = Rendered(FullRecord());
  EXPECT_THAT(Keys(record), ::testing::ElementsAre("id", "session_id", "call", "status", "reason", "exit_code", "signal", "session_state", "started_at", "stdout", "stderr",
                                                   "events", "results", "error", "artifacts", "receipt", "denials", "truncation"));
  EXPECT_THAT(Keys(record["receipt"].as_object()),
              ::testing::ElementsAre("wall_seconds", "cpu_seconds", "memory_peak_bytes", "written_bytes", "output_bytes", "egress_bytes", "processes_peak", "processes_killed",
                                     "threads_kept", "limits", "limits_hit", "layers"));
  EXPECT_THAT(Keys(record["error"].as_object()), ::testing::ElementsAre("name", "value", "traceback", "line", "column", "hint"));
}

TEST(RecordJsonTest, TellsOfTheNetworkWhereThereWasSome) {
  Record record = FullRecord();
  record.egress.push_back({.protocol = "https", .host = "api.example.com", .port = 443, .method = "GET", .path = "/v1", .allowed = true, .rule = "network.allow[0]: api.example.com", .status = 200,
                           .sent_bytes = 10, .received_bytes = 20, .time = absl::Milliseconds(3), .wall = absl::Milliseconds(9), .secrets = {"API_KEY"}});
  record.egress.push_back({.protocol = "dns", .host = "evil.example", .rule = "network.allow", .reason = "not among the hosts", .time = absl::Milliseconds(4)});
  record.egress_left_out = 7;
  record.events.push_back({.type = Event::Type::kEgress, .time = absl::Milliseconds(4), .result = 1});
  bj::object rendered = Rendered(record);
  EXPECT_THAT(Keys(rendered["egress"].as_array()[0].as_object()), ::testing::ElementsAre("protocol", "host", "port", "method", "path", "allowed", "rule", "status", "sent_bytes",
                                                                                         "received_bytes", "t_seconds", "wall_seconds", "secrets"));
  EXPECT_THAT(Keys(rendered["egress"].as_array()[1].as_object()),
              ::testing::ElementsAre("protocol", "host", "allowed", "rule", "reason", "sent_bytes", "received_bytes", "t_seconds", "wall_seconds"));
  EXPECT_TRUE(rendered["egress"].as_array()[1].as_object()["wall_seconds"].is_null());
  EXPECT_EQ(rendered["egress_left_out"], 7);
  bj::object event = rendered["events"].as_array().back().as_object();
  EXPECT_EQ(event["type"], "egress");
  EXPECT_EQ(event["index"], 1);
  EXPECT_EQ(event["host"], "evil.example");
}

TEST(RecordJsonTest, HasTheValuesOfTheRecord) {
  bj::object record = Rendered(FullRecord());
  EXPECT_EQ(record["status"], "error");
  EXPECT_EQ(record["session_state"], "restarted");
  EXPECT_EQ(record["exit_code"], 1);
  EXPECT_TRUE(record["signal"].is_null());
  EXPECT_TRUE(record["reason"].is_null());
  EXPECT_EQ(record["started_at"], "2023-11-14T22:13:20.123456Z");
  EXPECT_EQ(record["stdout"], "hello \"you\"\n");
  EXPECT_EQ(record["error"].as_object()["line"], 2);
  EXPECT_TRUE(record["error"].as_object()["column"].is_null());
  EXPECT_TRUE(record["error"].as_object()["hint"].is_null());
  EXPECT_EQ(bj::serialize(record["artifacts"]),
            R"([{"id":"a1","path":"out/p.png","size_bytes":10,"mime":"image/png","sha256":"ab","change":"modified","call":3,"width":640,"height":480}])");
  EXPECT_EQ(bj::serialize(record["denials"]), R"([{"kind":"file","subject":"/etc/shadow","rule":"files","count":2}])");
  EXPECT_EQ(bj::serialize(record["truncation"]), R"({"stdout":{"head_bytes":1,"tail_bytes":2,"dropped_bytes":3},"stderr":null})");
  bj::object& receipt = record["receipt"].as_object();
  EXPECT_EQ(receipt["wall_seconds"], 1.5);
  EXPECT_TRUE(receipt["cpu_seconds"].is_null());
  EXPECT_EQ(receipt["memory_peak_bytes"], std::numeric_limits<int64_t>::max());
  EXPECT_EQ(bj::serialize(receipt["limits"]), R"({"memory":"2 GiB","wall":"120 s"})");
  EXPECT_EQ(bj::serialize(receipt["limits_hit"]), R"([{"name":"output","detail":"cut"}])");
  EXPECT_EQ(bj::serialize(receipt["layers"]), R"([{"name":"seccomp","state":"enforced"},{"name":"landlock","state":"off","detail":"no kernel support"}])");
  EXPECT_THAT(RenderRecordJson(FullRecord()), Not(HasSubstr("secret-place")));
}

TEST(RecordJsonTest, EventsAndResultsCarryBundles) {
  bj::object record = Rendered(FullRecord());
  const std::string figure = R"({"text/plain":"<Figure>","image/png":"iVAARw==","application/json":{"a":[1]}},"metadata":{"image/png":{"width":640}})";
  bj::array& events = record["events"].as_array();
  ASSERT_EQ(events.size(), 5u);
  EXPECT_EQ(bj::serialize(events[0]), R"({"type":"stdout","t_seconds":2E-3,"text":"hello \"you\"\n","late":true})");
  EXPECT_EQ(bj::serialize(events[1]), R"({"type":"display","t_seconds":3E-3,"mime":)" + figure + R"(,"display_id":"d1"})");
  EXPECT_EQ(bj::serialize(events[2]), R"({"type":"clear","t_seconds":4E-3,"wait":true})");
  EXPECT_EQ(bj::serialize(events[3]), R"({"type":"result","t_seconds":5E-3,"mime":{"text/plain":"42"},"metadata":{}})");
  EXPECT_EQ(bj::serialize(events[4]), R"({"type":"error","t_seconds":6E-3,"name":"ValueError","value":"bad","traceback":"Traceback…","line":2,"column":null,"hint":null})");
  bj::array& results = record["results"].as_array();
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(bj::serialize(results[0]), R"({"mime":)" + figure + R"(,"is_value":false,"display_id":"d1"})");
  EXPECT_EQ(bj::serialize(results[1]), R"({"mime":{"text/plain":"42"},"metadata":{},"is_value":true})");
  EXPECT_EQ(ParseStrictly(RenderEventJson(FullRecord().events[1], FullRecord())), bj::value(events[1]));
}

TEST(RecordJsonTest, TypesThatAreWrittenAlikeStandOnce) {
  Record record;
  record.results.push_back({.mime = {{.type = "\xFF", .data = "first"}, {.type = "\xFE", .data = "second"}}, .metadata_json = "{}"});
  EXPECT_EQ(bj::serialize(Rendered(record)["results"]), "[{\"mime\":{\"\uFFFD\":\"first\"},\"metadata\":{},\"is_value\":false}]");
}

TEST(RecordJsonTest, EmptyRecordIsWhole) {
  bj::object record = Rendered(Record());
  EXPECT_EQ(record["status"], "lost");
  EXPECT_TRUE(record["error"].is_null());
  EXPECT_TRUE(record["exit_code"].is_null());
  EXPECT_EQ(bj::serialize(record["events"]), "[]");
  EXPECT_EQ(bj::serialize(record["truncation"]), R"({"stdout":null,"stderr":null})");
}

TEST(RecordJsonTest, EveryNameIsDistinct) {
  std::vector<std::string> names;
  for (CallStatus status : {CallStatus::kOk, CallStatus::kError, CallStatus::kExited, CallStatus::kInterrupted, CallStatus::kTimeout, CallStatus::kCpuLimit,
                            CallStatus::kOutOfMemory, CallStatus::kKilled, CallStatus::kRejected, CallStatus::kLost}) {
    names.emplace_back(CallStatusName(status));
  }
  EXPECT_THAT(names, ::testing::ElementsAre("ok", "error", "exited", "interrupted", "timeout", "cpu_limit", "out_of_memory", "killed", "rejected", "lost"));
}

TEST(RecordJsonTest, HostileContentStaysStrict) {
  std::mt19937 random(8);
  auto junk = [&] {
    std::string bytes;
    for (size_t i = random() % 30; i > 0; --i) bytes.push_back(static_cast<char>(random() % 3 == 0 ? "\"\\{}[],:\n"[random() % 9] : random() % 256));
    return bytes;
  };
  for (int round = 0; round < 2000; ++round) {
    Record record = FullRecord();
    record.stdout_text = junk();
    record.events[0].text = junk();
    record.results[0].mime[2].data = junk();
    record.results[0].mime.push_back({.type = junk(), .data = junk()});
    record.results[0].mime.push_back({.type = "text/plain", .data = "twice"});
    record.results[0].metadata_json = junk();
    record.results[0].display_id = junk();
    record.error->name = junk();
    record.error->traceback = junk();
    record.artifacts[0].path = junk();
    record.denials[0].subject = junk();
    record.events.push_back({.type = Event::Type::kUpdate, .result = 1000});  // an index that leads nowhere
    auto value = ParseStrictly(RenderRecordJson(record));
    ASSERT_TRUE(value.has_value());
    EXPECT_LE(value->as_object()["results"].as_array()[0].as_object()["mime"].as_object().size(), 4u);
  }
}

}  // namespace
}  // namespace cellblock::render
