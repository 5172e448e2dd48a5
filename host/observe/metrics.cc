// See metrics.h.
#include "observe/metrics.h"

#include <prometheus/text_serializer.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "observe/process_facts.h"
#include "service/errors.h"

namespace cellblock::observe {
namespace {

using prometheus::ClientMetric;
using prometheus::Labels;
using prometheus::MetricFamily;
using prometheus::MetricType;

// Seconds. A warm call takes a third of a millisecond, a step of a start a few, the longest call that policies allow by default two minutes.
const prometheus::Histogram::BucketBoundaries kSeconds = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300};

// In the order of the enumeration.
constexpr std::array kStatuses = {CallStatus::kOk,       CallStatus::kError,       CallStatus::kExited, CallStatus::kInterrupted, CallStatus::kTimeout,
                                  CallStatus::kCpuLimit, CallStatus::kOutOfMemory, CallStatus::kKilled, CallStatus::kRejected,    CallStatus::kLost};
static_assert(kStatuses.front() == CallStatus::kOk && static_cast<size_t>(kStatuses.back()) + 1 == kStatuses.size());
constexpr std::array kCauses = {service::EndCause::kClosed, service::EndCause::kIdle, service::EndCause::kLifeOver, service::EndCause::kServerStopped,
                              service::EndCause::kLost};
constexpr std::array kRejections = {"queue_full", "too_many_calls", "too_many_sessions", "memory_short"};
constexpr std::array kMethods = {"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"};

const char* CauseName(service::EndCause cause) {
  switch (cause) {
    case service::EndCause::kClosed: return "closed";
    case service::EndCause::kIdle: return "idle";
    case service::EndCause::kLifeOver: return "life_over";
    case service::EndCause::kServerStopped: return "server_stopped";
    case service::EndCause::kLost: return "lost";
  }
  return "other";
}

std::string MethodLabel(absl::string_view method) {
  return std::any_of(kMethods.begin(), kMethods.end(), [&](const char* name) { return method == name; }) ? std::string(method) : "other";
}

// A family that is made when somebody asks, of values that are looked up then.
class Shown {
 public:
  explicit Shown(std::vector<MetricFamily>& families) : families_(families) {}
  void Gauge(const char* name, const char* help, double value, const Labels& labels = {}) { Add(name, help, MetricType::Gauge, labels).gauge.value = value; }
  void Counter(const char* name, const char* help, double value, const Labels& labels = {}) { Add(name, help, MetricType::Counter, labels).counter.value = value; }

 private:
  // Values of one name follow on each other.
  ClientMetric& Add(const char* name, const char* help, MetricType type, const Labels& labels) {
    if (families_.empty() || families_.back().name != name) families_.push_back({name, help, type, {}});
    ClientMetric& metric = families_.back().metric.emplace_back();
    for (const auto& [key, value] : labels) metric.label.push_back({key, value});
    return metric;
  }

  std::vector<MetricFamily>& families_;
};

void ShowMoment(const Moment& now, Shown& shown) {
  auto number = [](int64_t value) { return static_cast<double>(value); };
  const char* const sessions_help = "Sessions by state; changing: being made or ended.";
  shown.Gauge("cellblock_sessions", sessions_help, number(now.load.idle), {{"state", "idle"}});
  shown.Gauge("cellblock_sessions", sessions_help, number(now.load.busy), {{"state", "busy"}});
  shown.Gauge("cellblock_sessions", sessions_help, number(now.load.no_interpreter), {{"state", "no_interpreter"}});
  shown.Gauge("cellblock_sessions", sessions_help, number(now.load.starting_or_ending), {{"state", "changing"}});
  shown.Gauge("cellblock_sessions_max", "Sessions that the server holds at most (--sessions).", number(now.sessions_max));
  shown.Gauge("cellblock_sessions_memory_bytes", "Memory of all live sessions together: as their cgroups count, or as the watch last saw.", number(now.load.memory_bytes));
  shown.Gauge("cellblock_calls_running", "Calls that run.", number(now.load.calls_running));
  shown.Gauge("cellblock_calls_queued", "Calls and other requests that wait for their turn on a session.", number(now.load.calls_waiting));
  shown.Gauge("cellblock_calls_max", "Calls that run or wait at most (--calls).", number(now.calls_max));
  shown.Gauge("cellblock_zygotes", "Live template interpreters that sessions are forked from.", number(now.zygotes));
  shown.Gauge("cellblock_pool_ready", "Workers that wait for a session.", number(now.pool.ready));
  shown.Gauge("cellblock_pool_wanted", "As many of them as the demand asks for.", number(now.pool.wanted));
  shown.Gauge("cellblock_pool_memory_bytes", "What those that wait hold by themselves.", number(now.pool.memory_bytes));
  const char* const sessions_from_help = "Sessions by where their worker came from: ready from the pool, or built for them.";
  shown.Counter("cellblock_pool_sessions_total", sessions_from_help, number(now.pool.handed_out), {{"from", "pool"}});
  shown.Counter("cellblock_pool_sessions_total", sessions_from_help, number(now.pool.built), {{"from", "built"}});
  shown.Counter("cellblock_pool_made_total", "Workers made ahead.", number(now.pool.made));
  shown.Counter("cellblock_pool_discarded_total", "Of these, those that no session got: too old, too many, or ended.", number(now.pool.discarded));
  shown.Gauge("cellblock_http_connections", "Open connections.", number(now.connections));
  shown.Counter("cellblock_http_connections_refused_total", "Connections beyond those that the server holds at most, answered 503.", number(now.connections_refused));
  shown.Gauge("cellblock_journal_content_bytes", "Files that calls made and the journal keeps.", number(now.content_bytes));
  shown.Gauge("cellblock_journal_content_max_bytes", "Of these at most (--keep-bytes).", number(now.content_bytes_max));
  shown.Gauge("cellblock_journal_database_bytes", "The journal's database with its write-ahead log.", number(now.database_bytes));
  shown.Gauge("cellblock_ready", "1 when new sessions can be made, as /readyz.", now.ready ? 1 : 0);
}

// Under the names that every Prometheus client uses.
void ShowProcess(absl::Time started_at, Shown& shown) {
  const ProcessFacts facts = ReadProcessFacts();
  shown.Gauge("process_resident_memory_bytes", "Resident memory of the server itself, without sessions.", static_cast<double>(facts.resident_bytes));
  shown.Gauge("process_virtual_memory_bytes", "Virtual memory of the server itself.", static_cast<double>(facts.virtual_bytes));
  shown.Gauge("process_open_fds", "Open descriptors of the server.", static_cast<double>(facts.open_files));
  shown.Gauge("process_max_fds", "Descriptors that it may open.", static_cast<double>(facts.open_files_max));
  shown.Gauge("process_threads", "Threads of the server.", static_cast<double>(facts.threads));
  shown.Counter("process_cpu_seconds_total", "Processor time of the server itself.", absl::ToDoubleSeconds(facts.cpu));
  shown.Gauge("process_start_time_seconds", "When the server started, in seconds since 1970.", absl::ToDoubleSeconds(started_at - absl::UnixEpoch()));
}

}  // namespace

Metrics::Counters& Metrics::Count(const char* name, const char* help) { return prometheus::BuildCounter().Name(name).Help(help).Register(registry_); }
prometheus::Counter& Metrics::CountAlone(const char* name, const char* help) { return Count(name, help).Add({}); }
Metrics::Histograms& Metrics::Measure(const char* name, const char* help) { return prometheus::BuildHistogram().Name(name).Help(help).Register(registry_); }

Metrics::Metrics(const std::string& version, std::function<Moment()> look)
    : version_(version),
      started_at_(absl::Now()),
      look_(std::move(look)),
      sessions_created_(CountAlone("cellblock_sessions_created_total", "Sessions made.")),
      call_cpu_(CountAlone("cellblock_call_cpu_seconds_total", "Processor time that calls used.")),
      output_bytes_(CountAlone("cellblock_output_bytes_total", "Bytes that code wrote to stdout and stderr, before any cut.")),
      artifacts_(CountAlone("cellblock_artifacts_total", "Files that calls made or changed and the server collected.")),
      artifact_bytes_(CountAlone("cellblock_artifact_bytes_total", "Bytes of these.")),
      sessions_ended_(Count("cellblock_sessions_closed_total", "Sessions ended, by cause.")),
      calls_(Count("cellblock_calls_total", "Calls that ended, by language and by status of the record.")),
      limits_hit_(Count("cellblock_limits_hit_total", "Limits of the policy that calls met, by limit.")),
      denials_(Count("cellblock_denials_total", "What policy refused to code, by kind and rule.")),
      refused_(Count("cellblock_refused_total", "Requests that the service refused, by verb and error code.")),
      rejected_(Count("cellblock_rejected_total", "Of these, those that came too many (429), by reason.")),
      files_(Count("cellblock_files_total", "Files put into sessions, fetched from them, or removed.")),
      file_bytes_(Count("cellblock_file_bytes_total", "Bytes of files put into sessions or fetched from them.")),
      egress_(Count("cellblock_egress_total", "Lookups, connections and requests of code to the network, by protocol and by what policy said.")),
      egress_bytes_(Count("cellblock_egress_bytes_total", "Bytes of these, by direction: out from the code, in to it.")),
      requests_(Count("cellblock_http_requests_total", "Requests answered, by method, route and status code.")),
      request_bytes_(Count("cellblock_http_request_bytes_total", "Bytes of request bodies, by route.")),
      response_bytes_(Count("cellblock_http_response_bytes_total", "Bytes of response bodies, by route.")),
      start_seconds_(Measure("cellblock_session_start_seconds", "How long it took to make a session.")),
      start_step_seconds_(Measure("cellblock_session_start_step_seconds", "How long the steps of making a session took.")),
      call_seconds_(Measure("cellblock_call_duration_seconds", "Wall time of calls, without waiting for their turn.")),
      wait_seconds_(Measure("cellblock_call_wait_seconds", "How long calls waited for their turn.")),
      request_seconds_(Measure("cellblock_http_request_duration_seconds", "From a request's headers to its reply, without sending it, by route.")) {
  ShowZeros();
}

// A series that appears with its first event has no rate for it; what is bounded and matters is there from the start.
void Metrics::ShowZeros() {
  for (auto [language, series] : {std::pair<const char*, CallSeries*>{"python", &python_}, {"bash", &bash_}}) {
    for (const CallStatus status : kStatuses) series->by_status.push_back(&calls_.Add({{"language", language}, {"status", std::string(CallStatusName(status))}}));
    series->seconds = &call_seconds_.Add({{"language", language}}, kSeconds);
  }
  waits_ = &wait_seconds_.Add({}, kSeconds);
  for (const service::EndCause cause : kCauses) sessions_ended_.Add({{"cause", CauseName(cause)}});
  for (const char* reason : kRejections) rejected_.Add({{"reason", reason}});
  for (Counters* bytes : {&file_bytes_, &egress_bytes_}) {
    for (const char* direction : {"in", "out"}) bytes->Add({{"direction", direction}});
  }
}

std::string Metrics::Text() const {
  std::vector<MetricFamily> families;
  Shown shown(families);
  shown.Gauge("cellblock_build_info", "1; the version is its label.", 1, {{"version", version_}});
  ShowMoment(look_(), shown);
  ShowProcess(started_at_, shown);
  for (MetricFamily& family : registry_.Collect()) families.push_back(std::move(family));
  return prometheus::TextSerializer().Serialize(families);
}

Metrics::RequestSeries Metrics::FindSeries(const AnsweredRequest& request) {
  const std::string method = MethodLabel(request.method);
  const std::string route = request.route.empty() ? "none" : routes_.Of(request.route);
  std::lock_guard<std::mutex> lock(series_mutex_);
  RequestSeries& series = request_series_[absl::StrCat(method, " ", route, " ", request.status)];
  if (series.count == nullptr) {
    series.count = &requests_.Add({{"method", method}, {"route", route}, {"code", absl::StrCat(request.status)}});
    series.seconds = &request_seconds_.Add({{"route", route}}, kSeconds);
    series.bytes_in = &request_bytes_.Add({{"route", route}});
    series.bytes_out = &response_bytes_.Add({{"route", route}});
  }
  return series;
}

void Metrics::RequestAnswered(const AnsweredRequest& request) {
  const RequestSeries series = FindSeries(request);
  series.count->Increment();
  series.seconds->Observe(absl::ToDoubleSeconds(request.took));
  series.bytes_in->Increment(static_cast<double>(request.bytes_in));
  series.bytes_out->Increment(static_cast<double>(request.bytes_out));
}

void Metrics::SessionCreated(const service::SessionFacts& session, const service::Origin& origin, absl::Duration took, const StartTimings& steps) {
  sessions_created_.Increment();
  start_seconds_.Add({}, kSeconds).Observe(absl::ToDoubleSeconds(took));
  if (steps.hand_out > absl::ZeroDuration()) return start_step_seconds_.Add({{"step", "hand_out"}}, kSeconds).Observe(absl::ToDoubleSeconds(steps.hand_out));
  const std::pair<const char*, absl::Duration> list[] = {{"cgroup", steps.cgroup}, {"jail", steps.jail},   {"workspace", steps.workspace},
                                                         {"zygote", steps.zygote}, {"fork", steps.fork}, {"lock_down", steps.lock_down}, {"interpreter", steps.interpreter}};
  for (const auto& [step, duration] : list) start_step_seconds_.Add({{"step", step}}, kSeconds).Observe(absl::ToDoubleSeconds(duration));
}

void Metrics::SessionEnded(const service::SessionFacts& session, absl::string_view state, service::EndCause cause, absl::string_view reason) {
  sessions_ended_.Add({{"cause", CauseName(cause)}}).Increment();
}

void Metrics::CallStarted(const service::CallFacts& call) { waits_->Observe(absl::ToDoubleSeconds(call.waited)); }

void Metrics::CallEnded(const service::CallFacts& call, const Record& record) {
  const CallSeries& series = call.language == "bash" ? bash_ : python_;
  series.by_status[static_cast<size_t>(record.status)]->Increment();
  series.seconds->Observe(absl::ToDoubleSeconds(record.receipt.wall));
  call_cpu_.Increment(absl::ToDoubleSeconds(record.receipt.cpu));
  output_bytes_.Increment(static_cast<double>(record.receipt.output_bytes));
  for (const LimitHit& hit : record.receipt.limits_hit) limits_hit_.Add({{"limit", limits_.Of(hit.name)}}).Increment();
  for (const Denial& denial : record.denials) {
    // Of a file that was not collected the rule is a sentence with sizes in it.
    const std::string rule = denial.kind == "artifact" ? "artifacts" : rules_.Of(denial.rule);
    denials_.Add({{"kind", rules_.Of(denial.kind)}, {"rule", rule}}).Increment(static_cast<double>(denial.count));
  }
  for (const Egress& egress : record.egress) {
    egress_.Add({{"protocol", protocols_.Of(egress.protocol)}, {"verdict", egress.allowed ? "allowed" : "refused"}}).Increment();
    egress_bytes_.Add({{"direction", "out"}}).Increment(static_cast<double>(egress.sent_bytes));
    egress_bytes_.Add({{"direction", "in"}}).Increment(static_cast<double>(egress.received_bytes));
  }
  if (record.egress_left_out > 0) egress_.Add({{"protocol", "other"}, {"verdict", "not_listed"}}).Increment(static_cast<double>(record.egress_left_out));
  int64_t bytes = 0;
  for (const Artifact& artifact : record.artifacts) bytes += artifact.size_bytes;
  artifacts_.Increment(static_cast<double>(record.artifacts.size()));
  artifact_bytes_.Increment(static_cast<double>(bytes));
}

void Metrics::Refused(absl::string_view verb, absl::string_view session_id, const service::Origin& origin, const absl::Status& status) {
  const std::string code = codes_.Of(service::CodeOf(status));
  refused_.Add({{"verb", std::string(verb)}, {"code", code}}).Increment();
  if (std::any_of(kRejections.begin(), kRejections.end(), [&](const char* reason) { return code == reason; })) rejected_.Add({{"reason", code}}).Increment();
}

void Metrics::FileMoved(absl::string_view verb, const service::SessionFacts& session, const service::Origin& origin, absl::string_view path, int64_t size_bytes) {
  files_.Add({{"verb", std::string(verb)}}).Increment();
  if (verb == "put_file" || verb == "put_shared_file") file_bytes_.Add({{"direction", "in"}}).Increment(static_cast<double>(size_bytes));
  if (verb == "get_file") file_bytes_.Add({{"direction", "out"}}).Increment(static_cast<double>(size_bytes));
}

}  // namespace cellblock::observe
