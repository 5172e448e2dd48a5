// cellblock-egress: the one process through which a session's network traffic leaves, and the one that holds secrets. The supervisor
// starts it with its socket as descriptor 3; it locks itself down before it hears of any session.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/status_macros.h"
#include "base/unique_fd.h"
#include "confine/confine.h"
#include "egress/server.h"
#include "sys/files.h"
#include "sys/sockets.h"
#include "wire/messages.h"
#include "wire/network.h"

namespace cellblock::egress {
namespace {

constexpr int kControlFd = 3;

absl::Status LockDown(const sys::Message& message) {
  CELLBLOCK_ASSIGN_OR_RETURN(wire::StartEgress request, wire::DecodeMessage<wire::StartEgress>(message.bytes));
  if (message.descriptors.size() != 1) return absl::InvalidArgumentError("the system call filter is missing");
  CELLBLOCK_ASSIGN_OR_RETURN(confine::Spec spec, confine::DecodeSpec(request.spec));
  CELLBLOCK_ASSIGN_OR_RETURN(std::vector<sock_filter> filter, confine::ReadSeccompProgram(message.descriptors[0].get()));
  // The filter's own descriptor is closed by then: the proof counts what is open.
  const_cast<UniqueFd&>(message.descriptors[0]).Reset();
  return confine::ReportStatus(confine::EnterConfinement(spec, filter, kControlFd), spec);
}

int Main() {
  signal(SIGPIPE, SIG_IGN);
  UniqueFd control(kControlFd);
  absl::StatusOr<sys::Message> message = sys::ReceiveMessage(control.get());
  if (!message.ok()) {
    std::fputs("cellblock-egress is started by cellblock, not by hand\n", stderr);
    return 2;
  }
  absl::Status locked = LockDown(*message);
  if (!sys::SendMessage(control.get(), wire::EncodeMessage(wire::ReplyFor(locked))).ok() || !locked.ok()) return 1;
  Serve(std::move(control));
  return 0;
}

}  // namespace
}  // namespace cellblock::egress

int main() { return cellblock::egress::Main(); }
