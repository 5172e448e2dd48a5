// Runs calls of one session with everything a person at a terminal expects of it: live output, Ctrl-C, what ended it, what it left in the
// output folder. Shared by run and repl. Supervisor.
#ifndef CELLBLOCK_APP_CALL_RUNNER_H_
#define CELLBLOCK_APP_CALL_RUNNER_H_

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "app/console.h"
#include "app/output_folder.h"
#include "app/signals.h"
#include "cellblock/host.h"

namespace cellblock::app {

struct CallRunnerOptions {
  OutputFolder* output_folder = nullptr;  // none: nothing is kept
  SignalWatch* signals = nullptr;         // none: signals are not watched (tests)
  bool show_output = true;                // false: the record alone will tell
  // Ends the process at once (Context::exit_now), for someone who presses Ctrl-C a third time.
  std::function<void(int exit_code)> exit_now;
  // A signal that came while nothing ran, on the watcher's thread. Without it, such a Ctrl-C asks for the end of the program.
  std::function<void(int signal)> on_idle_signal;
};

class CallRunner {
 public:
  CallRunner(Session& session, Console& console, CallRunnerOptions options);
  ~CallRunner();
  CallRunner(const CallRunner&) = delete;
  CallRunner& operator=(const CallRunner&) = delete;

  absl::StatusOr<Record> Run(absl::string_view code, ExecuteOptions options);

  // The signal that asked for the end of the program: SIGTERM, SIGHUP, or a Ctrl-C between two calls. 0: none.
  int end_signal() const;
  // The running or last call was interrupted from the keyboard: however it ended then, it ended by that.
  bool interrupted() const;
  // Something could not be saved in the output folder.
  bool save_failed() const { return save_failed_; }
  // Charts and files that a call made while there was no output folder.
  int64_t charts_not_kept() const { return charts_not_kept_; }
  int64_t files_not_kept() const { return static_cast<int64_t>(files_not_kept_.size()); }

  // As the watcher thread calls it.
  void OnSignal(int signal);

 private:
  void KeepOutputs(const Record& record);

  Session& session_;
  Console& console_;
  const CallRunnerOptions options_;
  bool save_failed_ = false;
  int64_t charts_not_kept_ = 0;
  std::set<std::string> files_not_kept_;

  mutable std::mutex mutex_;
  bool running_ = false;
  bool interrupted_ = false;
  int end_signal_ = 0;
  SignalPolicy signal_policy_;
};

}  // namespace cellblock::app

#endif  // CELLBLOCK_APP_CALL_RUNNER_H_
