// What one call puts out, merged in order into its record: two streams read from pipes that the supervisor owns, and the frames
// of the guest. Bounded by the policy's limits. Supervisor; every byte is the guest's and hostile. Not thread-safe.
#ifndef CELLBLOCK_SUPERVISE_OUTPUT_PUMP_H_
#define CELLBLOCK_SUPERVISE_OUTPUT_PUMP_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "capture/event_log.h"
#include "capture/stream_capture.h"
#include "cellblock/host.h"
#include "cellblock/policy.h"
#include "cellblock/record.h"
#include "wire/messages.h"

namespace cellblock::supervise {

// Gets all the text of a stream that is longer than limits.output, in order.
using WholeText = std::function<void(Event::Type stream, absl::string_view text)>;

class OutputPump {
 public:
  // `record` and `policy` must outlive the pump. `redact` and `on_whole_text` may be null.
  OutputPump(const Policy& policy, std::shared_ptr<const capture::RedactionSet> redact, std::function<void(const Event&, const Record&)> on_event, const WholeText& on_whole_text,
             absl::Time start, Record& record);

  // Text that an earlier call's threads or processes wrote since it ended.
  void AddLate(absl::string_view output, absl::string_view errors);
  // Reads what stands in the two non-blocking pipes, at most kDrainBytesMax of each. A negative descriptor is skipped. False when a
  // pipe has no writer any more.
  struct Open {
    bool output = true;
    bool errors = true;
  };
  Open Drain(int output_fd, int errors_fd);
  void Poll();  // shows progress text that was held back

  void AddOutput(Event::Type type, wire::GuestOutput output);  // kDisplay, kUpdate, kResult
  void AddError(wire::GuestError error);
  void AddClear(bool wait);
  void AddEgress(Egress egress);  // its texts are cleaned here
  std::string Clean(absl::string_view text) const;  // valid UTF-8, redacted
  // Ends the streams and moves texts, events and truncations into the record.
  void Finish();

 private:
  static constexpr int64_t kDrainBytesMax = int64_t{16} << 20;

  bool DrainOne(int fd, Event::Type type, capture::StreamCapture& stream);
  void Emit(Event event, bool keep);
  void EmitText(Event::Type type, const std::string& text, bool late);
  void Borders();
  std::string CleanJson(absl::string_view json) const;
  std::string CleanUpTo(size_t bytes_max, absl::string_view text) const;

  const Policy& policy_;
  std::shared_ptr<const capture::RedactionSet> redact_;
  std::function<void(const Event&, const Record&)> on_event_;
  absl::Time start_;
  Record& record_;
  capture::StreamCapture output_;
  capture::StreamCapture errors_;
  capture::EventLog events_;
  int64_t result_bytes_ = 0;
  int64_t results_dropped_ = 0;
};

}  // namespace cellblock::supervise

#endif  // CELLBLOCK_SUPERVISE_OUTPUT_PUMP_H_
