// A folder of a test's own, removed with it. Tests only.
#ifndef CELLBLOCK_TESTS_UNIT_STORE_FOLDER_OF_TEST_H_
#define CELLBLOCK_TESTS_UNIT_STORE_FOLDER_OF_TEST_H_

#include <stdlib.h>

#include <filesystem>
#include <fstream>
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
  std::filesystem::path top_;
};

}  // namespace cellblock::store

#endif  // CELLBLOCK_TESTS_UNIT_STORE_FOLDER_OF_TEST_H_
