// A jail of one process, without a root or limits of its own, for what looks at jails from outside. Tests only.
#ifndef CELLBLOCK_TESTS_UNIT_SUPERVISE_JAIL_OF_CHILD_H_
#define CELLBLOCK_TESTS_UNIT_SUPERVISE_JAIL_OF_CHILD_H_

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <utility>

#include "gtest/gtest.h"
#include "supervise/helpers.h"
#include "sys/process.h"
#include "tests/support/signal_child.h"

namespace cellblock::supervise {

// Runs `body` in a child, in new user and pid namespaces where `namespaces` says so; the child then waits to be killed.
inline sys::Cloned Child(uint64_t namespaces, const std::function<void()>& body = [] {}) {
  absl::StatusOr<sys::Cloned> child = sys::CloneProcess(namespaces);
  if (!child.ok()) return sys::Cloned();
  if (child->pid == 0) {
    body();
    while (true) pause();
  }
  return *std::move(child);
}

struct JailOfChild {
  explicit JailOfChild(const std::function<void()>& body = [] {}) {
    sys::Cloned init = Child(CLONE_NEWUSER | CLONE_NEWPID, body);
    EXPECT_GT(init.pid, 0) << "this machine does not let this user make user namespaces";
    jail.host_pid = init.pid;
    jail.pidfd = std::move(init.pidfd);
    absl::StatusOr<sys::ProcReader> process = sys::ProcReader::Create(jail.host_pid);
    EXPECT_TRUE(process.ok());
    if (process.ok()) jail.process = *std::move(process);
    jail.pid_namespace = jail.process->PidNamespace().value_or(0);
    EXPECT_NE(jail.pid_namespace, 0u);
  }
  ~JailOfChild() { End(); }
  void End() {
    if (jail.host_pid <= 0) return;
    SignalChild(jail.host_pid, SIGKILL);
    waitpid(jail.host_pid, nullptr, 0);
    jail.host_pid = -1;
  }
  Jail jail;
};

inline bool Ends(const sys::Cloned& child, int timeout_ms) { return sys::WaitForExit(child.pidfd.get(), timeout_ms).ok(); }
inline void EndChild(const sys::Cloned& child) {
  SignalChild(child.pid, SIGKILL);
  waitpid(child.pid, nullptr, 0);
}

}  // namespace cellblock::supervise

#endif  // CELLBLOCK_TESTS_UNIT_SUPERVISE_JAIL_OF_CHILD_H_
