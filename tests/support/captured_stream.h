// A descriptor to write to and look at afterwards, and a folder that vanishes with the test. Tests only.
#ifndef CELLBLOCK_TESTS_SUPPORT_CAPTURED_STREAM_H_
#define CELLBLOCK_TESTS_SUPPORT_CAPTURED_STREAM_H_

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "base/unique_fd.h"
#include "gtest/gtest.h"

namespace cellblock {

class CapturedStream {
 public:
  CapturedStream() : fd_(memfd_create("captured", MFD_CLOEXEC)) {}
  int fd() const { return fd_.get(); }
  std::string text() const {
    struct stat found = {};
    fstat(fd_.get(), &found);
    std::string content(static_cast<size_t>(found.st_size), '\0');
    EXPECT_EQ(pread(fd_.get(), content.data(), content.size(), 0), static_cast<ssize_t>(content.size()));
    return content;
  }

 private:
  UniqueFd fd_;
};

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = "/tmp/cellblock-test-XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~TemporaryFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  // Writes a file, with its folders, and returns its path.
  std::string Write(const std::string& name, const std::string& content) const {
    const std::filesystem::path file = path_ + "/" + name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << content;
    return file.string();
  }
  std::string Read(const std::string& name) const {
    std::ifstream file(path_ + "/" + name, std::ios::binary);
    std::ostringstream content;
    content << file.rdbuf();
    return file ? content.str() : "(missing)";
  }

 private:
  std::string path_;
};

}  // namespace cellblock

#endif  // CELLBLOCK_TESTS_SUPPORT_CAPTURED_STREAM_H_
