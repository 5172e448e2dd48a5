// Unix sockets between our own processes: pairs, and messages that carry descriptors. Every process. Descriptors from a worker
// are never accepted: its channel is read with plain recv(2), so the kernel drops any that were passed (unix(7)).
#ifndef CELLBLOCK_SYS_SOCKETS_H_
#define CELLBLOCK_SYS_SOCKETS_H_

#include <poll.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "base/unique_fd.h"

namespace cellblock::sys {

inline constexpr size_t kMessageBytesMax = 256 * 1024;   // of one control message: above what a RunProgram request may carry
inline constexpr size_t kMessageDescriptorsMax = 96;     // a session's rules: one for each of 65 rules with authorities and of 16 secrets

// SOCK_SEQPACKET keeps message borders; SOCK_STREAM for the worker's channel. Both ends close-on-exec.
absl::StatusOr<std::pair<UniqueFd, UniqueFd>> MakeSocketPair(int type);

struct Message {
  std::string bytes;
  std::vector<UniqueFd> descriptors;
};

// Blocking. kUnavailable when the peer has gone.
absl::Status SendMessage(int socket, absl::string_view bytes, const std::vector<int>& descriptors = {});
// kUnavailable at end of file; kResourceExhausted for a cut message.
absl::StatusOr<Message> ReceiveMessage(int socket);

// poll(2), which until `brisk_until` looks again and again instead of sleeping, where the machine has several processors: a process
// that answers within some 100 µs does so sooner than a sleeping processor wakes. Whoever else wants the processor gets it between
// two looks. Sleeps for at most a second, so callers loop.
int PollBriskly(absl::Span<pollfd> items, absl::Time brisk_until, absl::Duration wait);
inline constexpr absl::Duration kBrisk = absl::Microseconds(200);

}  // namespace cellblock::sys

#endif  // CELLBLOCK_SYS_SOCKETS_H_
