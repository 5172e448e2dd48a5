// See arena.h.
#include "interp/arena.h"

#include <Python.h>
#include <sys/mman.h>

#include <cstdint>

namespace cellblock::interp {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kRegionBytes = size_t{384} << 20;  // address space only; the preload of the full set takes about a quarter

char* g_base = nullptr;
char* g_next = nullptr;
char* g_end = nullptr;

void* Allocate(void*, size_t size) {
  size = (size + 4095) & ~size_t{4095};
  if (g_next != nullptr && size <= static_cast<size_t>(g_end - g_next)) {
    void* block = g_next;
    g_next += size;
    return block;
  }
  void* block = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return block == MAP_FAILED ? nullptr : block;
}

void Free(void*, void* block, size_t size) {
  char* address = static_cast<char*>(block);
  if (address >= g_base && address < g_end) {
    madvise(block, size, MADV_DONTNEED);  // the addresses stay ours
  } else {
    munmap(block, size);
  }
}

}  // namespace

void InstallHugePageArenas() {
  void* region = mmap(nullptr, kRegionBytes + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (region == MAP_FAILED) return;
  g_base = reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(region) + kHugePage - 1) & ~(kHugePage - 1));
  g_next = g_base;
  g_end = g_base + kRegionBytes;
  madvise(g_base, kRegionBytes, MADV_HUGEPAGE);  // where the kernel has none, small pages serve
  PyObjectArenaAllocator allocator = {nullptr, Allocate, Free};
  PyObject_SetArenaAllocator(&allocator);
}

void SealHugePageArenas() {
  if (g_next == nullptr) return;
  char* used_end = reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(g_next) + kHugePage - 1) & ~(kHugePage - 1));
  if (used_end < g_end) munmap(used_end, static_cast<size_t>(g_end - used_end));
  g_end = used_end < g_end ? used_end : g_end;
  g_next = nullptr;
}

}  // namespace cellblock::interp
