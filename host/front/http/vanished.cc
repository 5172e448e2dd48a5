// See vanished.h.
#include "front/http/vanished.h"

#include <poll.h>

#include <vector>

namespace cellblock::front {

uint64_t VanishedClients::Add(int fd) {
  std::lock_guard<std::mutex> lock(mutex_);
  watched_[next_] = {fd, ""};
  return next_++;
}

void VanishedClients::Name(uint64_t number, const std::string& execution_id) {
  std::lock_guard<std::mutex> lock(mutex_);
  watched_[number].execution_id = execution_id;
}

void VanishedClients::Remove(uint64_t number) {
  std::lock_guard<std::mutex> lock(mutex_);
  watched_.erase(number);
}

// A client that closes its sending half counts as gone, as with other servers: over TCP the two look alike. Each call is taken back
// once: a second interrupt would kill what may be ending by itself.
void VanishedClients::Look() {
  std::vector<std::string> gone;
  {
    std::lock_guard<std::mutex> lock(mutex_);  // held, so that no descriptor is closed meanwhile
    std::vector<pollfd> descriptors;
    std::vector<Entry*> entries;
    for (auto& [number, entry] : watched_) {
      if (entry.execution_id.empty()) continue;
      descriptors.push_back({entry.fd, POLLRDHUP, 0});
      entries.push_back(&entry);
    }
    if (descriptors.empty() || poll(descriptors.data(), descriptors.size(), 0) <= 0) return;
    for (size_t i = 0; i < descriptors.size(); ++i) {
      if ((descriptors[i].revents & (POLLRDHUP | POLLHUP | POLLERR)) == 0) continue;
      gone.push_back(std::move(entries[i]->execution_id));
      entries[i]->execution_id.clear();
    }
  }
  for (const std::string& id : gone) cancel_(id);
}

}  // namespace cellblock::front
