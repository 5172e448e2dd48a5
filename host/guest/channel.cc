// See channel.h.
#include "guest/channel.h"

#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "sys/files.h"

namespace cellblock::guest {
namespace {

std::atomic<bool> g_open = false;

// In a child that user code forked: it must neither answer for the worker nor keep its channel open.
void CloseInChild() {
  if (g_open.exchange(false)) close(kChannelFd);
}

}  // namespace

Channel::Channel(size_t code_bytes_max) : parser_(code_bytes_max) {
  g_open = true;
  pthread_atfork(nullptr, nullptr, CloseInChild);
}

bool Channel::IsReadableWithin(int milliseconds) {
  pollfd item = {kChannelFd, POLLIN, 0};
  return parser_.buffered_bytes() > 0 || !g_open || poll(&item, 1, milliseconds) != 0;
}

absl::StatusOr<wire::Frame> Channel::Receive() {
  std::array<char, 65536> chunk;
  while (true) {
    CELLBLOCK_ASSIGN_OR_RETURN(std::optional<wire::Frame> frame, parser_.Next());
    if (frame.has_value()) return *std::move(frame);
    if (!g_open) return absl::UnavailableError("no channel in a forked child");
    ssize_t count = recv(kChannelFd, chunk.data(), chunk.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return sys::ErrnoStatus("receive a frame");
    if (count == 0) return absl::UnavailableError("the supervisor has gone");
    parser_.Append(absl::string_view(chunk.data(), static_cast<size_t>(count)));
  }
}

absl::Status Channel::Send(wire::FrameType type, uint64_t nonce, absl::string_view body) {
  if (!g_open) return absl::UnavailableError("no channel in a forked child");
  std::string bytes = std::move(held_);
  held_.clear();
  bytes += wire::EncodeFrame(type, nonce, body);
  absl::string_view rest = bytes;
  while (!rest.empty()) {
    ssize_t count = send(kChannelFd, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return sys::ErrnoStatus("send a frame");
    rest.remove_prefix(static_cast<size_t>(count));
  }
  return absl::OkStatus();
}

absl::Status Channel::SendAndWait(wire::FrameType type, uint64_t nonce, absl::string_view body) {
  CELLBLOCK_RETURN_IF_ERROR(Send(type, nonce, body));
  CELLBLOCK_ASSIGN_OR_RETURN(wire::Frame answer, Receive());
  if (answer.type != wire::FrameType::kAck) return absl::InternalError("expected an acknowledgement");
  return absl::OkStatus();
}

}  // namespace cellblock::guest
