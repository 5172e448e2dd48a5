// Proofs that a lock holds, each by asking the kernel anew. Run in the process being locked, after fork: no allocation, errno
// values instead of Status. Trust nothing that the steps before them returned.
#ifndef CELLBLOCK_CONFINE_PROOF_H_
#define CELLBLOCK_CONFINE_PROOF_H_

#include <cerrno>
#include <cstdint>

namespace cellblock::confine {

// The errno of a proof that failed: no system call of these steps answers it by itself.
constexpr int kNotProven = ENOTRECOVERABLE;

// One thread, by /proc/self/task. `threads` gets the number found.
int ProveSingleThread(int32_t* threads);

// Real, effective, saved and file-system ids are all as asked.
int ProveIds(uint32_t uid, uint32_t gid);

int ProveNoNewPrivileges();

// No descriptor above `highest` is open, but `proc_fd`, an open /proc/self/fd. `found` gets the first stray one.
int ProveDescriptors(int proc_fd, int highest, int32_t* found);

// The filter is on and answers: a call that would work without it is refused with the errno that the tables give it.
int ProveSeccomp();

}  // namespace cellblock::confine

#endif  // CELLBLOCK_CONFINE_PROOF_H_
