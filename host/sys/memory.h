// How much memory the machine has left. Supervisor.
#ifndef CELLBLOCK_SYS_MEMORY_H_
#define CELLBLOCK_SYS_MEMORY_H_

#include <cstdint>

namespace cellblock::sys {

// From /proc/meminfo (proc(5)). Both 0 where that cannot be read.
struct MachineMemory {
  int64_t total_bytes = 0;
  int64_t available_bytes = 0;   // without swapping, by the kernel's estimate
};
MachineMemory ReadMachineMemory();

bool HasSwap();  // one system call

}  // namespace cellblock::sys

#endif  // CELLBLOCK_SYS_MEMORY_H_
