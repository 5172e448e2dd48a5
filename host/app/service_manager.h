// Tells the service manager that started us how we are: the notification protocol of systemd, sd_notify(3), which is one datagram of
// text to a socket. Supervisor; trusts its own environment.
#ifndef CELLBLOCK_APP_SERVICE_MANAGER_H_
#define CELLBLOCK_APP_SERVICE_MANAGER_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace cellblock::app {

// "READY=1", "STOPPING=1", "RELOADING=1", "STATUS=…", "WATCHDOG=1". Does nothing when nobody asked ($NOTIFY_SOCKET).
// Several stand in lines of one text.
void NotifyServiceManager(absl::string_view state);

// What RELOADING=1 is sent with (MONOTONIC_USEC), so that the manager knows which reload is meant.
int64_t MonotonicMicroseconds();

}  // namespace cellblock::app

#endif  // CELLBLOCK_APP_SERVICE_MANAGER_H_
