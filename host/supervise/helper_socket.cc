// HelperSocket: see helpers.h.
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/status_macros.h"
#include "supervise/helpers.h"
#include "sys/files.h"

namespace cellblock::supervise {
namespace {

constexpr absl::Duration kExitPoll = absl::Milliseconds(5);

absl::Status WaitReadable(int fd, absl::Time deadline) {
  absl::Time start = absl::Now();
  while (true) {
    pollfd item = {fd, POLLIN, 0};
    int ready = sys::PollBriskly(absl::MakeSpan(&item, 1), std::min(deadline, start + sys::kBrisk), deadline - absl::Now());
    if (ready > 0) return absl::OkStatus();
    if (ready < 0 && errno != EINTR) return sys::ErrnoStatus("wait for a helper process");
    if (ready == 0 && absl::Now() >= deadline) return absl::DeadlineExceededError("a helper process does not answer");
  }
}

}  // namespace

absl::Status HelperSocket::ReceiveOne(absl::Time deadline, std::optional<sys::Message>* reply) {
  CELLBLOCK_RETURN_IF_ERROR(WaitReadable(socket_.get(), deadline));
  CELLBLOCK_ASSIGN_OR_RETURN(sys::Message message, sys::ReceiveMessage(socket_.get()));
  if (wire::MessageType(message.bytes) != wire::ProcessExited::kType) {
    *reply = std::move(message);
    return absl::OkStatus();
  }
  CELLBLOCK_ASSIGN_OR_RETURN(wire::ProcessExited exited, wire::DecodeMessage<wire::ProcessExited>(message.bytes));
  if (forgotten_.erase(exited.id) == 0) exits_[exited.id] = exited;
  return absl::OkStatus();
}

absl::StatusOr<sys::Message> HelperSocket::ReceiveAnswer(absl::Time deadline) {
  std::optional<sys::Message> answer;
  while (!answer.has_value()) CELLBLOCK_RETURN_IF_ERROR(ReceiveOne(deadline, &answer));
  return *std::move(answer);
}

absl::StatusOr<sys::Message> HelperSocket::ReceiveReply(absl::Time deadline, uint64_t* value) {
  absl::StatusOr<sys::Message> answer = ReceiveAnswer(deadline);
  absl::StatusOr<wire::Reply> reply = answer.ok() ? wire::DecodeMessage<wire::Reply>(answer->bytes) : absl::StatusOr<wire::Reply>(answer.status());
  if (absl::IsResourceExhausted(reply.status())) return reply.status();  // read whole, but for its descriptors: the next answer is the next request's
  if (!reply.ok()) {
    shutdown(socket_.get(), SHUT_RDWR);
    return reply.status();
  }
  CELLBLOCK_RETURN_IF_ERROR(wire::StatusOf(*reply));
  if (value != nullptr) *value = reply->value;
  return answer;
}

absl::StatusOr<sys::Message> HelperSocket::Ask(absl::string_view request, const std::vector<int>& descriptors, absl::Duration deadline, uint64_t* value) {
  std::lock_guard<std::mutex> lock(mutex_);
  CELLBLOCK_RETURN_IF_ERROR(sys::SendMessage(socket_.get(), request, descriptors));
  return ReceiveReply(absl::Now() + deadline, value);
}

absl::StatusOr<sys::Message> HelperSocket::Greeting(absl::Duration deadline, uint64_t* value) {
  std::lock_guard<std::mutex> lock(mutex_);
  return ReceiveReply(absl::Now() + deadline, value);
}

absl::Status HelperSocket::Tell(absl::string_view message) {
  std::lock_guard<std::mutex> lock(mutex_);
  return sys::SendMessage(socket_.get(), message);
}

absl::StatusOr<wire::ProcessExited> HelperSocket::WaitForExit(uint64_t id, absl::Duration deadline) {
  absl::Time until = absl::Now() + deadline;
  while (true) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      std::optional<sys::Message> reply;
      absl::Status received = exits_.count(id) > 0 ? absl::OkStatus() : ReceiveOne(absl::InfinitePast(), &reply);
      if (reply.has_value()) return absl::InternalError("a helper process answered what nobody asked");
      auto found = exits_.find(id);
      if (found != exits_.end()) {
        wire::ProcessExited exited = found->second;
        exits_.erase(found);
        return exited;
      }
      if (!received.ok() && (!absl::IsDeadlineExceeded(received) || absl::Now() >= until)) return received;
    }
    // Without the lock: others go on asking, and may be the ones who read this end.
    (void)WaitReadable(socket_.get(), std::min(until, absl::Now() + kExitPoll));
  }
}

std::optional<wire::ProcessExited> HelperSocket::PollForExit(uint64_t id) {
  absl::StatusOr<wire::ProcessExited> exited = WaitForExit(id, absl::ZeroDuration());
  if (!exited.ok()) return std::nullopt;
  return *exited;
}

void HelperSocket::Forget(uint64_t id) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (exits_.erase(id) == 0) forgotten_.insert(id);
}

}  // namespace cellblock::supervise
