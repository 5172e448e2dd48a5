// kill(2) for tests: a child that could not be made has the number -1, and kill(-1) goes to every process that the caller may signal.
#ifndef CELLBLOCK_TESTS_SUPPORT_SIGNAL_CHILD_H_
#define CELLBLOCK_TESTS_SUPPORT_SIGNAL_CHILD_H_

#include <signal.h>
#include <sys/types.h>

namespace cellblock {

inline void SignalChild(pid_t child, int signal) {
  if (child > 0) kill(child, signal);
}

}  // namespace cellblock

#endif  // CELLBLOCK_TESTS_SUPPORT_SIGNAL_CHILD_H_
