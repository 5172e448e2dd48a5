// See memory.h.
#include "sys/memory.h"

#include <sys/sysinfo.h>

#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "sys/files.h"

namespace cellblock::sys {

MachineMemory ReadMachineMemory() {
  MachineMemory memory;
  const std::string text = ReadFile("/proc/meminfo", 65536).value_or("");
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    int64_t* to = absl::ConsumePrefix(&line, "MemTotal:") ? &memory.total_bytes : absl::ConsumePrefix(&line, "MemAvailable:") ? &memory.available_bytes : nullptr;
    int64_t kilobytes = 0;
    if (to != nullptr && absl::SimpleAtoi(absl::StripSuffix(line, "kB"), &kilobytes)) *to = kilobytes * 1024;
  }
  return memory;
}

bool HasSwap() {
  struct sysinfo info;
  return sysinfo(&info) == 0 && info.totalswap > 0;
}

}  // namespace cellblock::sys
