// A folder of a test's own, removed with it. Tests only.
#ifndef CELLBLOCK_TESTS_UNIT_STORE_FOLDER_OF_TEST_H_
#define CELLBLOCK_TESTS_UNIT_STORE_FOLDER_OF_TEST_H_

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "gtest/gtest.h"
#include "sys/sha256.h"

namespace cellblock::store {

class FolderOfTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "/store-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    top_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(top_); }

  std::string Write(const std::string& name, const std::string& content) {
    std::ofstream(top_ / name, std::ios::binary) << content;
    return top_ / name;
  }
  static std::string Digest(const std::string& content) {
    sys::Sha256 sha256;
    sha256.Update(content);
    return *sha256.Hex();
  }
  // Runs `answer` with 0, 1, 2, … in a process that is killed after so long; the last number for which it said yes, or -1. It ends at a no.
  static int64_t LastAnsweredBeforeKill(useconds_t microseconds, const std::function<bool(int64_t)>& answer) {
    int answers[2];
    EXPECT_EQ(pipe2(answers, O_CLOEXEC), 0);
    const pid_t child = fork();
    if (child == 0) {
      int64_t i = 0;
      while (answer(i) && write(answers[1], &i, sizeof(i)) == sizeof(i)) ++i;
      _exit(1);
    }
    close(answers[1]);
    usleep(microseconds);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    int64_t last = -1, number;
    while (read(answers[0], &number, sizeof(number)) == sizeof(number)) last = number;
    close(answers[0]);
    return last;
  }
  std::filesystem::path top_;
};

}  // namespace cellblock::store

#endif  // CELLBLOCK_TESTS_UNIT_STORE_FOLDER_OF_TEST_H_
