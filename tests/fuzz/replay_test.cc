// Replays a fuzz target's seeds, and simple mutations of them, where libFuzzer is not at hand. Linked with one target each.
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace cellblock {
namespace {

constexpr int kMutationsPerSeed = 200;
constexpr size_t kSeedBytesMax = 1 << 20;

std::vector<std::filesystem::path> Seeds() {
  std::vector<std::filesystem::path> seeds;
  std::istringstream folders(CELLBLOCK_FUZZ_SEEDS);
  for (std::string folder; std::getline(folders, folder, ':');) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.is_regular_file()) seeds.push_back(entry.path());
    }
  }
  std::sort(seeds.begin(), seeds.end());
  return seeds;
}

std::string Read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// From a heap block of exactly the size, so that AddressSanitizer sees a read beyond its end.
void RunTarget(const std::string& input) {
  std::vector<uint8_t> bytes(input.begin(), input.end());
  bytes.shrink_to_fit();
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

std::string Mutate(std::string text, const std::string& other, std::mt19937& random) {
  for (unsigned changes = 1 + random() % 4; changes > 0; --changes) {
    size_t at = text.empty() ? 0 : random() % text.size();
    size_t length = 1 + random() % 16;
    switch (random() % 6) {
      case 0:
        if (!text.empty()) text[at] = static_cast<char>(text[at] ^ (1 << random() % 8));
        break;
      case 1:
        if (!text.empty()) text[at] = static_cast<char>(random() % 256);
        break;
      case 2:
        text.erase(at, length);
        break;
      case 3:
        text.insert(at, text.substr(at, length));
        break;
      case 4:
        text.resize(at);
        break;
      default:
        if (!other.empty()) text.insert(at, other.substr(random() % other.size(), length));
        break;
    }
  }
  return text;
}

class ReplayTest : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(ReplayTest, SurvivesTheSeedAndItsMutations) {
  std::string seed = Read(GetParam());
  ASSERT_LE(seed.size(), kSeedBytesMax) << "keep seeds small";
  RunTarget(seed);
  std::vector<std::filesystem::path> seeds = Seeds();
  std::mt19937 random(static_cast<unsigned>(seed.size()));  // the same mutations every time
  for (int i = 0; i < kMutationsPerSeed; ++i) RunTarget(Mutate(seed, Read(seeds[random() % seeds.size()]), random));
}

TEST(EmptyInputTest, IsSurvived) { RunTarget(""); }

INSTANTIATE_TEST_SUITE_P(Seeds, ReplayTest, ::testing::ValuesIn(Seeds()), [](const auto& seed) {
  std::string name = seed.param.stem();
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name + "_" + std::to_string(seed.index);
});

}  // namespace
}  // namespace cellblock
