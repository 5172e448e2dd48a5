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

// Failed EXPECTs of the running test so far.
inline int FailureCount() {
  const ::testing::TestInfo* test = ::testing::UnitTest::GetInstance()->current_test_info();
  int failures = 0;
  for (int i = 0; test != nullptr && i < test->result()->total_part_count(); ++i) failures += test->result()->GetTestPartResult(i).failed();
  return failures;
}

namespace run_in_child_internal {

// The body sees: standard input /dev/null, output and error a pipe, nothing else open, a session of its own.
[[noreturn]] inline void RunBody(int output_fd, absl::FunctionRef<void()> body) {
  setsid();  // a process group to kill, and no terminal to reach
  int null = open("/dev/null", O_RDONLY);
  dup2(null, 0);
  dup2(output_fd, 1);
  dup2(output_fd, 2);
  syscall(SYS_close_range, 3U, ~0U, 0U);
  const int failures = FailureCount();  // the parent's, which the fork has copied
  body();
  fflush(nullptr);
  // _exit: the test program's own ends (leak checks, reports) are the parent's affair.
  _exit(FailureCount() > failures ? kChildFailed : 0);
}

// Reads what is there; false: all writers are gone.
inline bool ReadSome(int fd, std::string* output) {
  char buffer[4096];
  const ssize_t bytes = read(fd, buffer, sizeof(buffer));
  if (bytes > 0) output->append(buffer, std::min<size_t>(static_cast<size_t>(bytes), kChildOutputBytesMax - output->size()));
  return bytes > 0 || (bytes < 0 && errno == EINTR);
}

// Reads until the process is gone, or time is up (false). What it left running may still hold the pipe.
inline bool ReadUntilExit(int fd, int pidfd, absl::Time deadline, std::string* output) {
  pollfd waiting[2] = {{.fd = pidfd, .events = POLLIN, .revents = 0}, {.fd = fd, .events = POLLIN, .revents = 0}};
  for (;;) {
    const int64_t left = absl::ToInt64Milliseconds(deadline - absl::Now());
    if (left <= 0) return false;
    if (poll(waiting, 2, static_cast<int>(left)) <= 0) continue;
    if (waiting[1].revents != 0 && !ReadSome(fd, output)) waiting[1].fd = -1;
    if (waiting[0].revents != 0) return true;
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
  write_end.Reset();
  UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  CELLBLOCK_CHECK(pidfd.valid());
  ChildEnd end;
  end.timed_out = !run_in_child_internal::ReadUntilExit(read_end.get(), pidfd.get(), absl::Now() + kChildTimeout, &end.output);
  if (end.timed_out) kill(pid, SIGKILL);
  kill(-pid, SIGKILL);  // grandchildren that it left; before it is reaped, while the group's number is surely its own
  while (waitpid(pid, &end.wait_status, 0) < 0 && errno == EINTR) {
  }
  while (run_in_child_internal::ReadSome(read_end.get(), &end.output)) {
  }
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
