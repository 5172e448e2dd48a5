// Puts a finished seccomp filter on the calling thread. Runs in the process being locked, after fork: no allocation, errno values
// instead of Status. Trusts the filter.
#ifndef CELLBLOCK_CONFINE_SECCOMP_INSTALL_H_
#define CELLBLOCK_CONFINE_SECCOMP_INSTALL_H_

#include <linux/filter.h>

#include <vector>

namespace cellblock::confine {

// Needs no_new_privs (or CAP_SYS_ADMIN). 0 or an errno.
int InstallSeccomp(const std::vector<sock_filter>& filter);

}  // namespace cellblock::confine

#endif  // CELLBLOCK_CONFINE_SECCOMP_INSTALL_H_
