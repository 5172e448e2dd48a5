// The session's side of the way out: its loopback device with the addresses that stand for allowed names, and the sockets on which the
// egress proxy, outside, hears what the session's code wants. Runs in cellblock-init as a jail's PID 1, before any user code.
#ifndef CELLBLOCK_JAIL_NETWORK_H_
#define CELLBLOCK_JAIL_NETWORK_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/unique_fd.h"

namespace cellblock::jail {

// Sets lo up with 198.18.0.1/15, which makes the whole range local: RFC 2544 keeps it for benchmarks, so nobody's host is there. There
// is no other device and no other route, so that every other address is unreachable at once. Then listens: the resolver by UDP and TCP
// (port 53 of 198.18.0.1), the HTTP proxy (its port 3128), and each of `ports` on all addresses. The sockets are in that order; they
// stay in this network namespace wherever they are passed. Needs CAP_NET_ADMIN and CAP_NET_BIND_SERVICE in it.
absl::StatusOr<std::vector<UniqueFd>> EnterNetwork(const std::vector<std::string>& ports);

// Puts the files that clients look for into the jail: /etc/resolv.conf, and where there are certificates kCertificatesPath, the system's
// and they. Read-only for everybody inside, on a small file system of their own.
absl::Status MountNetworkFiles(const std::string& certificates);

}  // namespace cellblock::jail

#endif  // CELLBLOCK_JAIL_NETWORK_H_
