// What the exit code of `cellblock` says, in one place; `cellblock --help` prints the same table. Supervisor; trusts the record.
#ifndef CELLBLOCK_APP_EXIT_CODES_H_
#define CELLBLOCK_APP_EXIT_CODES_H_

#include "absl/status/status.h"
#include "app/console.h"
#include "cellblock/policy.h"
#include "cellblock/record.h"

namespace cellblock::app {

inline constexpr int kExitOk = 0;
inline constexpr int kExitUserError = 1;  // the code failed: an exception, exit() with another code than 0, bash ended non-zero
inline constexpr int kExitUsage = 2;      // wrong options; a source, file or policy that cannot be read; a language that is off
inline constexpr int kExitLimit = 3;      // a limit ended it, or it was killed
inline constexpr int kExitHost = 4;       // this machine or this installation could not run it, or save or print what it made
inline constexpr int kExitHangUp = 129;   // from here as shells count: 128 + the signal that ended us
inline constexpr int kExitInterrupted = 130;
inline constexpr int kExitPipeClosed = 141;
inline constexpr int kExitTerminated = 143;

// How one call's ending is told. The guest's own exit code is not passed through, since 2, 3, 4 and 130 have their meaning here;
// it stands in the record and on standard error. `policy` and `language`: what a call that was not started is judged by.
int ExitCodeFor(const Record& record, const Policy& policy, Language language);

// For a standard output that takes nothing more (Console::stdout_closed).
int ExitCodeOfLostOutput(const Console& console);

// For the signal that ended the program: SIGINT, SIGHUP, SIGTERM.
int ExitCodeOfSignal(int signal);

// For a request the host did not carry out. `limit_reached`: what kResourceExhausted means at this point of the work.
int ExitCodeFor(const absl::Status& status, int limit_reached);

}  // namespace cellblock::app

#endif  // CELLBLOCK_APP_EXIT_CODES_H_
