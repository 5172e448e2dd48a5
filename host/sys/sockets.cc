// See sockets.h.
#include "sys/sockets.h"

#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "sys/files.h"

namespace cellblock::sys {

absl::StatusOr<std::pair<UniqueFd, UniqueFd>> MakeSocketPair(int type) {
  int fds[2];
  if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, fds) != 0) return ErrnoStatus("make a socket pair");
  auto pair = std::make_pair(UniqueFd(fds[0]), UniqueFd(fds[1]));
  if (type != SOCK_SEQPACKET) return pair;
  // A packet must fit the send buffer, which is 208 KiB unless asked for more; the kernel doubles what it is given (socket(7)).
  const int bytes = static_cast<int>(kMessageBytesMax);
  for (int fd : fds) {
    if (setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes)) != 0) return ErrnoStatus("size a socket's buffer");
  }
  return pair;
}

absl::Status SendMessage(int socket, absl::string_view bytes, const std::vector<int>& descriptors) {
  if (bytes.size() > kMessageBytesMax || descriptors.size() > kMessageDescriptorsMax) {
    return absl::ResourceExhaustedError(absl::StrCat("control message of ", bytes.size(), " bytes and ", descriptors.size(),
                                                     " descriptors; at most ", kMessageBytesMax, " and ", kMessageDescriptorsMax));
  }
  iovec part = {const_cast<char*>(bytes.data()), bytes.size()};
  msghdr header = {};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMessageDescriptorsMax)> control = {};
  if (!descriptors.empty()) {
    header.msg_control = control.data();
    header.msg_controllen = CMSG_SPACE(sizeof(int) * descriptors.size());
    cmsghdr* item = CMSG_FIRSTHDR(&header);
    item->cmsg_level = SOL_SOCKET;
    item->cmsg_type = SCM_RIGHTS;
    item->cmsg_len = CMSG_LEN(sizeof(int) * descriptors.size());
    std::memcpy(CMSG_DATA(item), descriptors.data(), sizeof(int) * descriptors.size());
  }
  while (sendmsg(socket, &header, MSG_NOSIGNAL) < 0) {
    if (errno == EINTR) continue;
    if (errno == EPIPE || errno == ECONNRESET) return absl::UnavailableError("the peer process has ended");
    return ErrnoStatus("send a control message");
  }
  return absl::OkStatus();
}

absl::StatusOr<Message> ReceiveMessage(int socket) {
  // Kept per thread: a fresh buffer of this size would cost 64 page faults a message. On the heap: thread-local storage of this
  // size would stand in every thread's stack, also in those that never come here, and a guest's small stacks would not start.
  thread_local const std::unique_ptr<char[]> buffer(new char[kMessageBytesMax]);
  Message message;
  iovec part = {buffer.get(), kMessageBytesMax};
  msghdr header = {};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMessageDescriptorsMax)> control;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  ssize_t count;
  while ((count = recvmsg(socket, &header, MSG_CMSG_CLOEXEC)) < 0) {
    if (errno == EINTR) continue;
    if (errno == ECONNRESET) return absl::UnavailableError("the peer process has ended");
    return ErrnoStatus("receive a control message");
  }
  for (cmsghdr* item = CMSG_FIRSTHDR(&header); item != nullptr; item = CMSG_NXTHDR(&header, item)) {
    if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_RIGHTS) continue;
    size_t fds = (item->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < fds; ++i) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(item) + i * sizeof(int), sizeof(int));
      message.descriptors.emplace_back(fd);
    }
  }
  if (count == 0) return absl::UnavailableError("the peer process has ended");
  if ((header.msg_flags & MSG_TRUNC) != 0) return absl::DataLossError("a control message was cut");
  if ((header.msg_flags & MSG_CTRUNC) != 0) return absl::ResourceExhaustedError("this process has as many files open as it may (ulimit -n), and could not receive another");
  message.bytes.assign(buffer.get(), static_cast<size_t>(count));
  return message;
}

int PollBriskly(absl::Span<pollfd> items, absl::Time brisk_until, absl::Duration wait) {
  static const bool several_processors = sysconf(_SC_NPROCESSORS_ONLN) > 1;
  while (several_processors && absl::Now() < brisk_until) {
    if (int ready = poll(items.data(), items.size(), 0); ready != 0) return ready;
    sched_yield();
  }
  return poll(items.data(), items.size(), static_cast<int>(std::clamp<int64_t>(absl::ToInt64Milliseconds(absl::Ceil(wait, absl::Milliseconds(1))), 0, 1000)));
}

}  // namespace cellblock::sys
