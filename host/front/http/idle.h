// Connections that wait for their next request. When the server stops they are closed: nobody is served by waiting for them. Supervisor.
// Thread-safe.
#ifndef CELLBLOCK_FRONT_HTTP_IDLE_H_
#define CELLBLOCK_FRONT_HTTP_IDLE_H_

#include <mutex>
#include <set>

namespace cellblock::front {

class IdleConnections {
 public:
  // While it lives, and until End(), the descriptor may be closed for reading; it must stay open. What has come by then is still read.
  class Wait {
   public:
    Wait(IdleConnections& connections, int fd) : connections_(connections), fd_(fd), may_wait_(connections.Add(fd)) {}
    ~Wait() { End(); }
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;
    bool may_wait() const { return may_wait_; }  // false: the server is stopping
    void End();

   private:
    IdleConnections& connections_;
    const int fd_;
    bool may_wait_;
  };

  // Those that wait now and those that will: their reads end.
  void CloseAll();

 private:
  bool Add(int fd);

  std::mutex mutex_;  // of what follows; held while a descriptor is used, so that none is closed meanwhile
  std::set<int> waiting_;
  bool closed_ = false;
};

}  // namespace cellblock::front

#endif  // CELLBLOCK_FRONT_HTTP_IDLE_H_
