// Runs a piece of a test in a process of its own, since locking down cannot be undone, and tells how it ended. Failed EXPECTs in the
// child become the test's failure, with their text. Tests only; the caller must be single-threaded.
#ifndef CELLBLOCK_TESTS_SUPPORT_RUN_IN_CHILD_H_
#define CELLBLOCK_TESTS_SUPPORT_RUN_IN_CHILD_H_

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/log.h"
#include "base/unique_fd.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cellblock {

struct ChildEnd {
  int wait_status = 0;
  bool timed_out = false;
  std::string output;  // standard output and error, the first 64 KiB
};

constexpr absl::Duration kChildTimeout = absl::Seconds(60);
constexpr size_t kChildOutputBytesMax = 64 << 10;
constexpr int kChildFailed = 1;  // exit status of a child whose EXPECTs failed

namespace run_in_child_internal {

// The body sees: standard input /dev/null, output and error a pipe, nothing else open.
[[noreturn]] inline void RunBody(int output_fd, absl::FunctionRef<void()> body) {
  setpgid(0, 0);
  int null = open("/dev/null", O_RDONLY);
  dup2(null, 0);
  dup2(output_fd, 1);
  dup2(output_fd, 2);
  syscall(SYS_close_range, 3U, ~0U, 0U);
  body();
  fflush(nullptr);
  // _exit: the test program's own ends (leak checks, reports) are the parent's affair.
  _exit(::testing::Test::HasFailure() ? kChildFailed : 0);
}

// Reads until the last writer is gone or time is up; false: time is up.
inline bool Drain(int fd, absl::Time deadline, std::string* output) {
  char buffer[4096];
  for (;;) {
    const int64_t left = absl::ToInt64Milliseconds(deadline - absl::Now());
    if (left <= 0) return false;
    pollfd waiting{.fd = fd, .events = POLLIN};
    if (poll(&waiting, 1, static_cast<int>(left)) == 0) return false;
    const ssize_t bytes = read(fd, buffer, sizeof(buffer));
    if (bytes == 0) return true;
    if (bytes < 0 && errno != EINTR) return true;
    if (bytes > 0) output->append(buffer, std::min<size_t>(static_cast<size_t>(bytes), kChildOutputBytesMax - output->size()));
  }
}

}  // namespace run_in_child_internal

inline ChildEnd RunInChild(absl::FunctionRef<void()> body) {
  int ends[2];
  CELLBLOCK_CHECK(pipe2(ends, O_CLOEXEC) == 0);
  UniqueFd read_end(ends[0]), write_end(ends[1]);
  fflush(nullptr);
  const pid_t pid = fork();
  CELLBLOCK_CHECK(pid >= 0);
  if (pid == 0) run_in_child_internal::RunBody(write_end.get(), body);
  setpgid(pid, pid);  // both sides do it, so that it is done whoever comes first
  write_end.Reset();
  ChildEnd end;
  end.timed_out = !run_in_child_internal::Drain(read_end.get(), absl::Now() + kChildTimeout, &end.output);
  if (end.timed_out) kill(-pid, SIGKILL);
  while (waitpid(pid, &end.wait_status, 0) < 0 && errno == EINTR) {
  }
  kill(-pid, SIGKILL);  // grandchildren that it left
  return end;
}

inline void PrintTo(const ChildEnd& end, std::ostream* out) {
  if (end.timed_out) *out << "timed out; ";
  if (WIFEXITED(end.wait_status)) *out << "exited with " << WEXITSTATUS(end.wait_status);
  if (WIFSIGNALED(end.wait_status)) *out << "killed by " << strsignal(WTERMSIG(end.wait_status));
  *out << "; output:\n" << end.output;
}

// The child's body ran to its end and every EXPECT in it held.
MATCHER(Passes, "passes in its child") { return !arg.timed_out && WIFEXITED(arg.wait_status) && WEXITSTATUS(arg.wait_status) == 0; }
MATCHER_P(ExitsWith, code, "") { return !arg.timed_out && WIFEXITED(arg.wait_status) && WEXITSTATUS(arg.wait_status) == code; }
MATCHER_P(DiesOf, signal_number, "") { return !arg.timed_out && WIFSIGNALED(arg.wait_status) && WTERMSIG(arg.wait_status) == signal_number; }

}  // namespace cellblock

#endif  // CELLBLOCK_TESTS_SUPPORT_RUN_IN_CHILD_H_
