// The server's metrics: counters and histograms of what it is told as an observer, gauges of what it finds when somebody asks. They are
// handed out in Prometheus' text format; docs/operations.md lists them. Supervisor. Thread-safe.
//
// No label holds what a client or a guest chose: routes are patterns, codes and rules come from our own tables, and each label that is
// not an enumeration is bounded (bounded_label.h).
#ifndef CELLBLOCK_OBSERVE_METRICS_H_
#define CELLBLOCK_OBSERVE_METRICS_H_

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "observe/answered_request.h"
#include "observe/bounded_label.h"
#include "service/observer.h"
#include "service/service.h"

namespace cellblock::observe {

// What there is at the moment of asking.
struct Moment {
  service::Load load;
  int64_t sessions_max = 0, calls_max = 0;
  int64_t zygotes = 0;
  PoolUsage pool;
  int64_t connections = 0, connections_refused = 0;
  int64_t content_bytes = 0, content_bytes_max = 0;  // of the journal
  int64_t database_bytes = 0;
  bool ready = false;
};

class Metrics : public service::Observer {
 public:
  // `look` is called for each Text(), and waits for nothing.
  Metrics(const std::string& version, std::function<Moment()> look);

  std::string Text() const;

  void RequestAnswered(const AnsweredRequest& request);
  void SessionCreated(const service::SessionFacts& session, const service::Origin& origin, absl::Duration took, const StartTimings& steps) override;
  void SessionEnded(const service::SessionFacts& session, absl::string_view state, service::EndCause cause, absl::string_view reason) override;
  void CallStarted(const service::CallFacts& call) override;
  void CallEnded(const service::CallFacts& call, const Record& record) override;
  void Refused(absl::string_view verb, absl::string_view session_id, const service::Origin& origin, const absl::Status& status) override;
  void FileMoved(absl::string_view verb, const service::SessionFacts& session, const service::Origin& origin, absl::string_view path, int64_t size_bytes) override;

 private:
  using Counters = prometheus::Family<prometheus::Counter>;
  using Histograms = prometheus::Family<prometheus::Histogram>;
  // Series that every call or request adds to: found once, since finding one costs a microsecond.
  struct CallSeries {
    std::vector<prometheus::Counter*> by_status;  // in the order of CallStatus
    prometheus::Histogram* seconds = nullptr;
  };
  struct RequestSeries {
    prometheus::Counter *count = nullptr, *bytes_in = nullptr, *bytes_out = nullptr;
    prometheus::Histogram* seconds = nullptr;
  };
  Counters& Count(const char* name, const char* help);
  prometheus::Counter& CountAlone(const char* name, const char* help);  // without labels
  Histograms& Measure(const char* name, const char* help);
  void ShowZeros();
  RequestSeries FindSeries(const AnsweredRequest& request);

  const std::string version_;
  const absl::Time started_at_;
  const std::function<Moment()> look_;
  BoundedLabel rules_{32}, codes_{64}, limits_{32}, routes_{64}, protocols_{8};
  prometheus::Registry registry_;  // of what follows
  prometheus::Counter &sessions_created_, &call_cpu_, &output_bytes_, &artifacts_, &artifact_bytes_;
  Counters &sessions_ended_, &calls_, &limits_hit_, &denials_, &refused_, &rejected_;
  Counters &files_, &file_bytes_, &egress_, &egress_bytes_;
  Counters &requests_, &request_bytes_, &response_bytes_;
  Histograms &start_seconds_, &start_step_seconds_, &call_seconds_, &wait_seconds_, &request_seconds_;
  CallSeries python_, bash_;
  prometheus::Histogram* waits_ = nullptr;
  std::mutex series_mutex_;        // of what follows
  std::map<std::string, RequestSeries> request_series_;  // by method, route and status: as many as the labels' bounds allow
};

}  // namespace cellblock::observe

#endif  // CELLBLOCK_OBSERVE_METRICS_H_
