// The threads of the server: they wait for sockets, and one that must block in a call is replaced by another as it does so. A request is
// answered on the thread that read it, so that a call costs no hand-over. Supervisor. Thread-safe.
#ifndef CELLBLOCK_FRONT_HTTP_IO_THREADS_H_
#define CELLBLOCK_FRONT_HTTP_IO_THREADS_H_

#include <pthread.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace cellblock::front {

class IoThreads {
 public:
  // `blocked_max`: how many threads may be blocked at once; a few more than that exist at most.
  explicit IoThreads(int64_t blocked_max);
  ~IoThreads();                            // as Stop()

  boost::asio::io_context& context() { return context_; }

  // While it lives its thread may block. Not to be had when as many block as may, or the machine gives no thread to take its place.
  class Blocking {
   public:
    Blocking(Blocking&& other) noexcept : threads_(std::exchange(other.threads_, nullptr)) {}
    ~Blocking() {
      if (threads_ != nullptr) threads_->Unblock();
    }

   private:
    friend class IoThreads;
    explicit Blocking(IoThreads* threads) : threads_(threads) {}
    IoThreads* threads_;
  };
  std::optional<Blocking> TryBlock();

  // Runs it on one of the threads, which may block; waits for one when as many block as may.
  void Background(std::function<void()> work);

  // Ends the threads when what they do is done; what waits is dropped.
  void Stop();

 private:
  std::optional<Blocking> TryBlockLocked();
  std::optional<Blocking> TryBlockOrKeep(std::function<void()>& work);
  void Unblock();
  bool SpawnLocked();                      // false: the machine gives no more
  void Run();                              // of each thread
  size_t FreeLocked() const;

  boost::asio::io_context context_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  const int64_t blocked_max_;
  std::mutex mutex_;                       // of what follows
  std::vector<pthread_t> threads_;
  std::condition_variable unpark_;
  size_t parked_ = 0, wanted_ = 0;         // threads that are spare, and how many of them were called back and have not noticed yet
  int64_t blocked_ = 0;
  std::deque<std::function<void()>> backlog_;  // of Background, first come first
  bool stopped_ = false;
};

}  // namespace cellblock::front

#endif  // CELLBLOCK_FRONT_HTTP_IO_THREADS_H_
