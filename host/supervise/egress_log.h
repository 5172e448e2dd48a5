// What a call's code wanted from the network, from the egress proxy's notes into the record: as it happens, and counted at the end.
// Supervisor; on the call's thread. The proxy is trusted; the names in its notes are the code's own.
#ifndef CELLBLOCK_SUPERVISE_EGRESS_LOG_H_
#define CELLBLOCK_SUPERVISE_EGRESS_LOG_H_

#include <map>

#include "absl/time/time.h"
#include "cellblock/policy.h"
#include "cellblock/record.h"
#include "supervise/egress.h"
#include "supervise/output_pump.h"

namespace cellblock::supervise {

class EgressLog {
 public:
  // `link`: null for a session without a network: then nothing here does anything. What threads wanted since the last call ended is this
  // call's, told as of its beginning; it comes out of this call's limits too.
  EgressLog(EgressLink* link, const Policy& policy, OutputPump& pump, Record& record);
  int fd() const { return link_ == nullptr || ended_ ? -1 : link_->notes_fd(); }
  void Read();
  // Takes the last notes and the counts into the record: egress_bytes, limits_hit, denials, and a hint for an error that came of them.
  void Finish();

 private:
  void Handle(const wire::EgressNote& note);
  void Refused(const Egress& egress);
  void AddHint();

  EgressLink* link_;
  const Policy& policy_;
  OutputPump& pump_;
  Record& record_;
  int64_t start_nanoseconds_;                // CLOCK_MONOTONIC
  std::map<uint64_t, size_t> open_;          // by the note's id: index into record.egress
  std::string last_reason_;                  // of what was refused or failed last
  bool ended_ = false;                       // the proxy has gone
};

}  // namespace cellblock::supervise

#endif  // CELLBLOCK_SUPERVISE_EGRESS_LOG_H_
