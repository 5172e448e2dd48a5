// Proofs that a process is in its jail and that nothing of the outside came along: other namespaces, another root, one user. Run in the
// process being locked, after fork: no allocation, errno values. Trust what the kernel shows in /proc, which is the jail's own.
#ifndef CELLBLOCK_CONFINE_JAIL_PROOF_H_
#define CELLBLOCK_CONFINE_JAIL_PROOF_H_

#include <array>
#include <cstdint>

#include "confine/confine.h"

namespace cellblock::confine {

// Each of the jail's namespaces is another than the one outside. `which` gets the index of the first that is not (NamespaceName).
int ProveNamespaces(const Outside& outside, int32_t* which);
const char* NamespaceName(int32_t which);

// The root is the prepared one, alone and read-only; nothing lies above it; all that can be written is the session's own /workspace, /tmp
// and /dev/shm (and /proc, whose entries Landlock and the kernel guard); no mount gives set-uid programs their power, hears of mounts
// outside, or shows the root outside but where the spec names it. `line` gets the first bad line of /proc/self/mountinfo, from 1.
int ProveRoot(const Outside& outside, const Spec& spec, int32_t* line);

// The user namespace knows one user and one group, the spec's.
int ProveOneUser(const Spec& spec);

}  // namespace cellblock::confine

#endif  // CELLBLOCK_CONFINE_JAIL_PROOF_H_
