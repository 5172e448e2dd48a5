// A folder for one test's policy files, removed at its end. Tests only.
#ifndef CELLBLOCK_TESTS_UNIT_POLICY_TEMP_DIRECTORY_H_
#define CELLBLOCK_TESTS_UNIT_POLICY_TEMP_DIRECTORY_H_

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/log.h"

namespace cellblock::policy {

class TempDirectory {
 public:
  TempDirectory() {
    std::string pattern = std::filesystem::temp_directory_path() / "policy-test-XXXXXX";
    CELLBLOCK_CHECK(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~TempDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string PathOf(const std::string& name) const { return path_ + "/" + name; }
  // Writes a file, making its folder, and returns its path.
  std::string Write(const std::string& name, const std::string& content) const {
    std::string path = PathOf(name);
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }

 private:
  std::string path_;
};

}  // namespace cellblock::policy

#endif  // CELLBLOCK_TESTS_UNIT_POLICY_TEMP_DIRECTORY_H_
