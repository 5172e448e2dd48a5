// See service_manager.h.
#include "app/service_manager.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#include <cstddef>

#include "base/unique_fd.h"

namespace cellblock::app {

void NotifyServiceManager(absl::string_view state) {
  const char* path = getenv("NOTIFY_SOCKET");
  sockaddr_un address = {};
  if (path == nullptr || (path[0] != '/' && path[0] != '@') || strlen(path) >= sizeof(address.sun_path)) return;
  address.sun_family = AF_UNIX;
  memcpy(address.sun_path, path, strlen(path));
  if (path[0] == '@') address.sun_path[0] = '\0';  // an abstract name
  const UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const socklen_t size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + strlen(path));
  [[maybe_unused]] ssize_t sent = sendto(socket.get(), state.data(), state.size(), MSG_NOSIGNAL, reinterpret_cast<sockaddr*>(&address), size);
}

int64_t MonotonicMicroseconds() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000;
}

}  // namespace cellblock::app
