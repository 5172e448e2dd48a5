// See process_facts.h.
#include "observe/process_facts.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "sys/files.h"

namespace cellblock::observe {
namespace {

constexpr size_t kProcFileBytesMax = 4096;

int64_t CountOfEntries(const char* folder) {
  std::error_code error;
  int64_t count = 0;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) ++count;
  return count;
}

int64_t NumberAt(const std::vector<std::string>& fields, size_t index) {
  int64_t value = 0;
  return index < fields.size() && absl::SimpleAtoi(fields[index], &value) ? value : 0;
}

}  // namespace

ProcessFacts ReadProcessFacts() {
  ProcessFacts facts;
  const int64_t page = sysconf(_SC_PAGESIZE);
  if (const auto statm = sys::ReadFile("/proc/self/statm", kProcFileBytesMax); statm.ok()) {
    const std::vector<std::string> fields = absl::StrSplit(*statm, ' ');
    facts.virtual_bytes = NumberAt(fields, 0) * page;
    facts.resident_bytes = NumberAt(fields, 1) * page;
  }
  facts.open_files = CountOfEntries("/proc/self/fd") - 1;  // without the one that counts
  facts.threads = CountOfEntries("/proc/self/task");
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) facts.open_files_max = static_cast<int64_t>(limit.rlim_cur);
  rusage usage = {};
  if (getrusage(RUSAGE_SELF, &usage) == 0) facts.cpu = absl::DurationFromTimeval(usage.ru_utime) + absl::DurationFromTimeval(usage.ru_stime);
  return facts;
}

}  // namespace cellblock::observe
