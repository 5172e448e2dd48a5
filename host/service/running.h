// An accepted call until its record is kept. Supervisor; private to the service.
#ifndef CELLBLOCK_SERVICE_RUNNING_H_
#define CELLBLOCK_SERVICE_RUNNING_H_

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

#include "absl/time/time.h"
#include "service/service.h"
#include "store/journal.h"

namespace cellblock::service {

struct Service::Running {
  std::string id;                          // set before others can see it
  LivePtr live;
  Request request;
  Language language = Language::kPython;
  absl::Time accepted_at;
  std::string code;
  bool detached = false;                   // what it shows so far is kept
  bool written = false;                    // the journal knows of it: it can be asked for by its key or its id
  LiveSession::Ticket ticket;
  std::atomic<int64_t> others = 0;         // requests with its key that wait for its answer, or left it detached
  std::mutex mutex;                        // of what follows
  // kTurn: its session does not take interrupts for it yet, or never will; kOver: an interrupt would be the next call's.
  enum class Stage { kWaiting, kTurn, kStarted, kOver } stage = Stage::kWaiting;
  bool cancelled = false;                  // before kStarted: it does not start, or is interrupted as it does
  std::condition_variable done;
  std::string events;                      // so far, as JSON, joined by commas
  bool events_cut = false;                 // there were more
  std::shared_ptr<const absl::StatusOr<CallAnswer>> answer;
};

template <typename T>
absl::StatusOr<T> Service::Noted(absl::string_view verb, absl::string_view session_id, const Request& request, absl::StatusOr<T> result) {
  if (!result.ok()) (void)NotedStatus(verb, session_id, request, result.status());
  return result;
}

}  // namespace cellblock::service

#endif  // CELLBLOCK_SERVICE_RUNNING_H_
