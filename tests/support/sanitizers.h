// What cannot be measured in a program that a sanitizer watches. Tests only.
#ifndef CELLBLOCK_TESTS_SUPPORT_SANITIZERS_H_
#define CELLBLOCK_TESTS_SUPPORT_SANITIZERS_H_

#include "gtest/gtest.h"

namespace cellblock {

// ThreadSanitizer keeps shadow memory of several times what the program holds, and a thread of its own.
inline bool IsUnderThreadSanitizer() {
#ifdef __SANITIZE_THREAD__
  return true;
#else
  return false;
#endif
}

}  // namespace cellblock

#define CELLBLOCK_SKIP_UNDER_THREAD_SANITIZER() \
  if (::cellblock::IsUnderThreadSanitizer()) GTEST_SKIP() << "ThreadSanitizer's own memory and thread are in what is measured"

#endif  // CELLBLOCK_TESTS_SUPPORT_SANITIZERS_H_
