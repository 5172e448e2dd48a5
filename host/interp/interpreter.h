// The embedded CPython: start it, tune its heap for forking, call the guest's Python side, turn its errors into plain values.
// Runs in cellblock-guest (zygote and worker); the only room that includes Python.h. One per process, used by one thread.
#ifndef CELLBLOCK_INTERP_INTERPRETER_H_
#define CELLBLOCK_INTERP_INTERPRETER_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "wire/messages.h"

namespace cellblock::interp {

struct InterpreterOptions {
  std::vector<std::string> module_paths;  // after the standard library
  bool fixed_hash_seed = false;
};

// What Python hands out: one of the worker's frames. `wait` asks for the supervisor's acknowledgement.
struct Emission {
  enum class Kind { kDisplay, kUpdate, kClear, kResult, kError, kSync };
  Kind kind = Kind::kSync;
  wire::GuestOutput output;
  wire::GuestError error;
  bool clear_wait = false;
};
using Emit = std::function<void(Emission)>;

class Interpreter {
 public:
  // kInternal with Python's own message when it cannot start.
  static absl::StatusOr<std::unique_ptr<Interpreter>> Create(const InterpreterOptions& options);
  ~Interpreter();  // never finalises Python: the process ends by _exit

  // ---- zygote ----
  absl::Status Preload(const std::vector<std::string>& modules);
  absl::Status WarmUp();
  // Generators of random numbers that no child would reseed: must be empty.
  absl::StatusOr<std::vector<std::string>> UnreviewedGenerators();
  // Sets up what a session that asks for nothing special is told, freezes the collector, gives free memory back, and lets the heap settle,
  // so that a child copies few pages.
  absl::Status Settle(const wire::StartSession& usual);

  // Around fork(2) in the zygote. It runs no Python any more once it serves, and so stays in the state before a fork: its locks taken, to be
  // made anew in each child. Putting them back in between would copy a hundred pages for each, which the child has to keep.
  void BeforeForks();
  void AfterForkInChild();

  // ---- worker ----
  // Again, with what has changed, for a worker that was made ahead of its session.
  absl::Status StartSession(const wire::StartSession& start, Emit emit);
  // Runs a cell that nobody sees and that leaves nothing behind, so that the first one finds its pages copied.
  absl::Status Rehearse();
  // Runs a cell; the guest's Python never raises out of it, and if it does all the same the status says so.
  absl::StatusOr<wire::CellDone> RunCell(const wire::ExecuteCell& cell);
  // Forgets an interrupt that came too late for the last cell.
  void ClearInterrupts();
  // Gives back to the kernel what the allocator holds free, if that is much; some milliseconds. Runs no code of the session's.
  static void GiveMemoryBack();
  // Runs `wait` with the interpreter's lock released, so that threads that user code left behind go on between calls.
  void WaitUnlocked(const std::function<void()>& wait);

 private:
  struct State;
  explicit Interpreter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace cellblock::interp

#endif  // CELLBLOCK_INTERP_INTERPRETER_H_
