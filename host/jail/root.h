// Builds the read-only root that jails and zygotes share: a small tmpfs with read-only binds of the system's /usr (or of a folder
// that the policy names), the Python environment and the guest, a synthesised /etc and a minimal /dev. Runs in a child of the nest's
// PID 1, in a mount namespace of its own; trusts the supervisor's request.
#ifndef CELLBLOCK_JAIL_ROOT_H_
#define CELLBLOCK_JAIL_ROOT_H_

#include "absl/status/status.h"
#include "wire/messages.h"

namespace cellblock::jail {

// Where things stand inside.
inline constexpr char kEnvironmentPath[] = "/opt/cellblock/env";
inline constexpr char kGuestPath[] = "/opt/cellblock/guest";
inline constexpr char kGuestBinaryPath[] = "/opt/cellblock/libexec/cellblock-guest";
inline constexpr char kWorkspacePath[] = "/workspace";
inline constexpr uint32_t kJailUserId = 1000;

// Replaces the calling process's root for good. Afterwards / is read-only, with empty mount points /workspace, /tmp, /dev/shm and
// the nest's own /proc (the kernel lets a jail mount a new proc only where a whole one is already visible).
absl::Status EnterPreparedRoot(const wire::PrepareRoot& request);

}  // namespace cellblock::jail

#endif  // CELLBLOCK_JAIL_ROOT_H_
