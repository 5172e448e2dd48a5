// Ctrl-C, SIGTERM and SIGHUP while calls run, and SIGPIPE always. Supervisor; one SignalWatch a process. Handlers are installed, signals
// never blocked or ignored: both would be inherited through exec by the helper processes, a handler is not.
#ifndef CELLBLOCK_APP_SIGNALS_H_
#define CELLBLOCK_APP_SIGNALS_H_

#include <signal.h>

#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "base/unique_fd.h"

namespace cellblock::app {

// A write to a closed pipe then fails with EPIPE and does not end the process.
void SurviveClosedPipes();

// From Create() to its end the process survives SIGINT, SIGTERM and SIGHUP: each is handed to the current handler, on a thread of the
// watch. Without a handler they are dropped.
class SignalWatch {
 public:
  using Handler = std::function<void(int signal)>;

  // A signal that comes while there is no handler does nothing.
  static absl::StatusOr<std::unique_ptr<SignalWatch>> Create(Handler handler = nullptr);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  // Once it returns, the former handler does not run any more.
  void SetHandler(Handler handler);

 private:
  SignalWatch() = default;
  void Loop();

  UniqueFd read_end_;
  UniqueFd write_end_;
  std::vector<struct sigaction> former_;
  std::mutex mutex_;
  Handler handler_;
  std::thread thread_;
};

// What to do about a signal that comes while a call runs.
enum class SignalAction {
  kInterrupt,  // the first Ctrl-C: the cell gets KeyboardInterrupt, the session lives on
  kKill,       // the second: the worker is killed
  kAbandon,    // one more: the program ends at once, its helpers with it
  kEnd,        // SIGTERM, SIGHUP: interrupt, then end the program; again: at once
};

// Counts the signals of one call.
class SignalPolicy {
 public:
  SignalAction Decide(int signal);
  void Reset() { interrupts_ = ends_ = 0; }

 private:
  int interrupts_ = 0;
  int ends_ = 0;
};

}  // namespace cellblock::app

#endif  // CELLBLOCK_APP_SIGNALS_H_
