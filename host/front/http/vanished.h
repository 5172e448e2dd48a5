// Calls whose clients wait on a connection: when the other end has gone away, the call is taken back. Looked at from time to time, all
// in one poll(2), so that a short call pays nothing for it. Supervisor. Thread-safe.
#ifndef CELLBLOCK_FRONT_HTTP_VANISHED_H_
#define CELLBLOCK_FRONT_HTTP_VANISHED_H_

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace cellblock::front {

class VanishedClients {
 public:
  explicit VanishedClients(std::function<void(const std::string& execution_id)> cancel) : cancel_(std::move(cancel)) {}

  // While it lives the descriptor is watched, once Began() has said for which call.
  class Watch {
   public:
    Watch(VanishedClients& clients, int fd) : clients_(clients), number_(clients.Add(fd)) {}
    ~Watch() { clients_.Remove(number_); }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    void Began(const std::string& execution_id) { clients_.Name(number_, execution_id); }

   private:
    VanishedClients& clients_;
    const uint64_t number_;
  };

  void Look();  // several times a second

 private:
  struct Entry {
    int fd = -1;
    std::string execution_id;
  };
  uint64_t Add(int fd);
  void Name(uint64_t number, const std::string& execution_id);
  void Remove(uint64_t number);

  const std::function<void(const std::string&)> cancel_;
  std::mutex mutex_;                // of what follows
  std::map<uint64_t, Entry> watched_;
  uint64_t next_ = 0;
};

}  // namespace cellblock::front

#endif  // CELLBLOCK_FRONT_HTTP_VANISHED_H_
