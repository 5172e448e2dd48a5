// A workspace and an artifact store in a temporary folder, and a collector over them. Tests only.
#ifndef CELLBLOCK_TESTS_UNIT_ARTIFACT_WORKSPACE_FIXTURE_H_
#define CELLBLOCK_TESTS_UNIT_ARTIFACT_WORKSPACE_FIXTURE_H_

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "artifact/collector.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace cellblock::artifact {

class WorkspaceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "cellblock-artifact-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    top_ = name;
    ASSERT_EQ(mkdir(In("").c_str(), 0755), 0);
    ASSERT_EQ(mkdir(StorePath().c_str(), 0700), 0);
    CELLBLOCK_ASSERT_OK_AND_ASSIGN(ArtifactStore store, ArtifactStore::Open(StorePath()));
    store_.emplace(std::move(store));
  }
  void TearDown() override {
    std::error_code ignored;
    std::filesystem::remove_all(top_, ignored);
  }

  std::string In(const std::string& path) const { return top_ + "/workspace" + (path.empty() ? "" : "/" + path); }
  std::string StorePath() const { return top_ + "/store"; }
  void Write(const std::string& path, const std::string& content) const {
    std::ofstream file(In(path), std::ios::binary);
    file << content;
    ASSERT_TRUE(file.flush().good()) << path;
  }
  static std::string Read(const std::string& path) {
    std::ostringstream content;
    content << std::ifstream(path, std::ios::binary).rdbuf();
    return content.str();
  }

  Collector MakeCollector(ArtifactLimits limits = {}, int64_t workspace_files = 50'000) {
    auto collector = Collector::Create(UniqueFd(open(In("").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
                                       {.limits = std::move(limits), .workspace_files = workspace_files}, &*store_, &sniffer_);
    EXPECT_THAT(collector, IsOk());
    return *std::move(collector);
  }
  // What `change` leaves behind, collected.
  template <typename Change>
  Collection CollectAfter(Change change, ArtifactLimits limits = {}, int64_t workspace_files = 50'000) {
    Collector collector = MakeCollector(std::move(limits), workspace_files);
    auto before = collector.TakeSnapshot();
    EXPECT_THAT(before, IsOk());
    change();
    auto collection = collector.Collect(*before, 1);
    EXPECT_THAT(collection, IsOk());
    return *std::move(collection);
  }
  static std::vector<std::string> Paths(const Collection& collection) {
    std::vector<std::string> paths;
    for (const Artifact& artifact : collection.artifacts) paths.push_back(artifact.path);
    return paths;
  }
  size_t StoredFiles() const {
    auto range = std::filesystem::directory_iterator(StorePath());
    return static_cast<size_t>(std::distance(begin(range), end(range)));
  }

  std::string top_;
  std::optional<ArtifactStore> store_;
  MimeSniffer sniffer_;
};

}  // namespace cellblock::artifact

#endif  // CELLBLOCK_TESTS_UNIT_ARTIFACT_WORKSPACE_FIXTURE_H_
