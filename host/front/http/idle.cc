// See idle.h.
#include "front/http/idle.h"

#include <sys/socket.h>

namespace cellblock::front {

bool IdleConnections::Add(int fd) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!closed_) waiting_.insert(fd);
  return !closed_;
}

void IdleConnections::Wait::End() {
  if (!may_wait_) return;
  may_wait_ = false;
  std::lock_guard<std::mutex> lock(connections_.mutex_);
  connections_.waiting_.erase(fd_);
}

// The reader is woken by an end of file, behind what has come before (tcp_recvmsg in net/ipv4/tcp.c looks at the queue first).
void IdleConnections::CloseAll() {
  std::lock_guard<std::mutex> lock(mutex_);
  closed_ = true;
  for (const int fd : waiting_) shutdown(fd, SHUT_RD);
}

}  // namespace cellblock::front
