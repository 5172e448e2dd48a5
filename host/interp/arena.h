// Python's object arenas on huge pages while the zygote loads, so that fork copies far fewer page-table entries. cellblock-guest.
#ifndef CELLBLOCK_INTERP_ARENA_H_
#define CELLBLOCK_INTERP_ARENA_H_

namespace cellblock::interp {

// Before Py_Initialize. Falls back to plain mmap when the region cannot be had.
void InstallHugePageArenas();
// Gives back what the preload left of the region: from here on arenas are ordinary mappings, which RLIMIT_DATA counts.
void SealHugePageArenas();

}  // namespace cellblock::interp

#endif  // CELLBLOCK_INTERP_ARENA_H_
