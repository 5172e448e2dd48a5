// Drops every capability of the calling process, by raw capset(2) and prctl(2). Runs in the process being locked, after fork: no
// allocation, errno values instead of Status. Trusts nothing.
#ifndef CELLBLOCK_CONFINE_CAPABILITIES_H_
#define CELLBLOCK_CONFINE_CAPABILITIES_H_

namespace cellblock::confine {

// Locks the securebits so that uid 0 means nothing, no change of ids touches capabilities, and none can become ambient. Needs
// CAP_SETPCAP, so it comes before the sets are cleared. 0 or an errno.
int LockSecurebits();
// Empties the bounding set. Needs CAP_SETPCAP. 0, or an errno with the capability in `capability`.
int DropBoundingSet(int* capability);
// Empties the ambient, effective, permitted and inheritable sets. Needs nothing.
int ClearCapabilitySets();

// 0 when no capability is in any of the five sets and the securebits are locked; else ENOTRECOVERABLE, and the capability found
// (-1: securebits).
int ProveNoCapabilities(int* capability);

}  // namespace cellblock::confine

#endif  // CELLBLOCK_CONFINE_CAPABILITIES_H_
