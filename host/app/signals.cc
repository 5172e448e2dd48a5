// See signals.h.
#include "app/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <utility>

#include "base/status_macros.h"
#include "sys/files.h"

namespace cellblock::app {
namespace {

constexpr std::array<int, 3> kWatched = {SIGINT, SIGTERM, SIGHUP};

// The one thing that a handler can reach. Set before the handlers are installed, cleared after they are removed.
std::atomic<int> g_signal_pipe{-1};

void Forward(int signal) {
  const int saved_errno = errno;
  const unsigned char byte = static_cast<unsigned char>(signal);
  // Full pipe: thousands of signals wait already, one more changes nothing.
  [[maybe_unused]] const ssize_t written = write(g_signal_pipe.load(), &byte, 1);
  errno = saved_errno;
}

void DoNothing(int) {}

}  // namespace

void SurviveClosedPipes() {
  struct sigaction action = {};
  action.sa_handler = DoNothing;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGPIPE, &action, nullptr);
}

absl::StatusOr<std::unique_ptr<SignalWatch>> SignalWatch::Create(Handler handler) {
  if (g_signal_pipe.load() >= 0) return absl::FailedPreconditionError("signals are watched already");
  std::unique_ptr<SignalWatch> watch(new SignalWatch());
  watch->handler_ = std::move(handler);
  CELLBLOCK_ASSIGN_OR_RETURN(sys::PipePair pipe, sys::MakePipe());
  watch->read_end_ = std::move(pipe.read);
  watch->write_end_ = std::move(pipe.write);
  CELLBLOCK_RETURN_IF_ERROR(sys::SetNonBlocking(watch->write_end_.get(), true));
  g_signal_pipe.store(watch->write_end_.get());

  struct sigaction action = {};
  action.sa_handler = Forward;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (int signal : kWatched) {
    struct sigaction former = {};
    sigaction(signal, nullptr, &former);
    watch->former_.push_back(former);
    // Started with the signal ignored (nohup, a shell's background job): so it stays.
    if (former.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  }
  watch->thread_ = std::thread([raw = watch.get()] { raw->Loop(); });
  return watch;
}

SignalWatch::~SignalWatch() {
  for (size_t i = 0; i < former_.size(); ++i) sigaction(kWatched[i], &former_[i], nullptr);
  g_signal_pipe.store(-1);
  write_end_.Reset();  // the loop reads end of file
  if (thread_.joinable()) thread_.join();
}

void SignalWatch::SetHandler(Handler handler) {
  std::lock_guard<std::mutex> lock(mutex_);
  handler_ = std::move(handler);
}

void SignalWatch::Loop() {
  while (true) {
    unsigned char byte = 0;
    const ssize_t count = read(read_end_.get(), &byte, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    std::lock_guard<std::mutex> lock(mutex_);
    if (handler_) handler_(byte);
  }
}

SignalAction SignalPolicy::Decide(int signal) {
  if (signal != SIGINT) return ++ends_ > 1 ? SignalAction::kAbandon : SignalAction::kEnd;
  ++interrupts_;
  return interrupts_ == 1 ? SignalAction::kInterrupt : interrupts_ == 2 ? SignalAction::kKill : SignalAction::kAbandon;
}

}  // namespace cellblock::app
