// See capabilities.h.
#include "confine/capabilities.h"

#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "confine/proof.h"

namespace cellblock::confine {
namespace {

// The kernel's sets have 64 bits; which of them exist is asked by prctl, which answers EINVAL beyond the last.
constexpr int kCapabilitiesMax = 64;

constexpr unsigned long kSecurebits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED |
                                      SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;

struct Sets {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
};

}  // namespace

int LockSecurebits() { return prctl(PR_SET_SECUREBITS, kSecurebits, 0, 0, 0) == 0 ? 0 : errno; }

int DropBoundingSet(int* capability) {
  for (int cap = 0; cap < kCapabilitiesMax; ++cap) {
    *capability = cap;
    int present = prctl(PR_CAPBSET_READ, cap, 0, 0, 0);
    if (present < 0) break;  // EINVAL: beyond the last one
    if (present == 1 && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) != 0) return errno;
  }
  *capability = -1;
  return 0;
}

int ClearCapabilitySets() {
  if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0) return errno;
  Sets none;
  return syscall(SYS_capset, &none.header, none.data) == 0 ? 0 : errno;
}

int ProveNoCapabilities(int* capability) {
  *capability = -1;
  int bits = prctl(PR_GET_SECUREBITS, 0, 0, 0, 0);
  if (bits < 0 || (static_cast<unsigned long>(bits) & kSecurebits) != kSecurebits) return kNotProven;
  Sets now;
  if (syscall(SYS_capget, &now.header, now.data) != 0) return errno;
  for (int cap = 0; cap < kCapabilitiesMax; ++cap) {
    const __user_cap_data_struct& word = now.data[cap / 32];
    bool held = ((word.effective | word.permitted | word.inheritable) >> (cap % 32)) & 1;
    bool bounding = prctl(PR_CAPBSET_READ, cap, 0, 0, 0) == 1;
    bool ambient = prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, cap, 0, 0) == 1;
    if (held || bounding || ambient) {
      *capability = cap;
      return kNotProven;
    }
  }
  return 0;
}

}  // namespace cellblock::confine
