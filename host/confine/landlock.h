// The Landlock layer of one process. Runs in the process being locked, after fork: raw system calls, no allocation, errno values
// instead of Status. Trusts the Spec's paths.
#ifndef CELLBLOCK_CONFINE_LANDLOCK_H_
#define CELLBLOCK_CONFINE_LANDLOCK_H_

#include <cstdint>

#include "confine/confine.h"

namespace cellblock::confine {

// What a ruleset of this ABI handles: exactly the rights that the ABI knows, so that nothing it could refuse is left open.
uint64_t LandlockFileRights(int abi);
uint64_t LandlockNetRights(int abi, bool allow_inet);
uint64_t LandlockScopes(int abi);

// Restricts the calling thread. Needs no_new_privs (or CAP_SYS_ADMIN). 1 ≤ abi ≤ 7. Returns 0 or an errno; `path_index` then
// counts the failing path through read_only_paths, writable_paths, listable_paths, or is -1.
int RestrictByLandlock(const Spec& spec, int abi, int* path_index);

// Does the restriction really refuse? 0 when something that this process may do without Landlock now gives EACCES.
// CheckLandlockProbe must have given 0 before the restriction (it shows that only Landlock can be the refuser).
int CheckLandlockProbe(const Spec& spec);
int ProveLandlock(const Spec& spec);

}  // namespace cellblock::confine

#endif  // CELLBLOCK_CONFINE_LANDLOCK_H_
