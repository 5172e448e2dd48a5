// cellblock-guest: the zygote, started by the nest with its control socket as descriptor 3 and the preload list as arguments. The
// only executable that links libpython.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/log.h"
#include "guest/zygote.h"

int main(int argc, char** argv) {
  constexpr int kControl = 3;
  struct stat info;
  if (fstat(kControl, &info) != 0 || !S_ISSOCK(info.st_mode)) {
    std::fprintf(stderr, "cellblock-guest is started by cellblock and does nothing by itself.\n");
    return 2;
  }
  const char* fixed = std::getenv("CELLBLOCK_FIXED_HASH_SEED");
  bool fixed_hash_seed = fixed != nullptr;
  unsetenv("CELLBLOCK_FIXED_HASH_SEED");
  absl::Status status = cellblock::guest::RunZygote(cellblock::UniqueFd(kControl), std::vector<std::string>(argv + 1, argv + argc), fixed_hash_seed);
  if (!absl::IsUnavailable(status)) cellblock::Log(cellblock::LogLevel::kError, status.ToString());
  _exit(absl::IsUnavailable(status) ? 0 : 1);
}
