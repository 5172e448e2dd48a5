// See io_threads.h.
#include "front/http/io_threads.h"

#include <boost/asio/post.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/log.h"

namespace cellblock::front {
namespace {

// Waits for sockets and answers what does not block. With a second one each request would wake threads that find nothing to do.
constexpr size_t kFreeThreads = 1;

}  // namespace

IoThreads::IoThreads(int64_t blocked_max) : work_(boost::asio::make_work_guard(context_)), blocked_max_(blocked_max) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (size_t i = 0; i < kFreeThreads + 1; ++i) CELLBLOCK_CHECK(SpawnLocked());  // whatever the machine gives later, one may block
}

IoThreads::~IoThreads() { Stop(); }

// By hand, since std::thread tells by an exception that the machine gives no more.
bool IoThreads::SpawnLocked() {
  auto run = [](void* self) -> void* {
    static_cast<IoThreads*>(self)->Run();
    return nullptr;
  };
  pthread_t thread;
  if (pthread_create(&thread, nullptr, run, this) != 0) return false;
  threads_.push_back(thread);
  return true;
}

void IoThreads::Run() {
  while (context_.run_one() > 0) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (stopped_ || FreeLocked() <= kFreeThreads) continue;
    ++parked_;
    unpark_.wait(lock, [this] { return wanted_ > 0 || stopped_; });
    --parked_;
    if (wanted_ > 0) --wanted_;
  }
}

// Those that wait for sockets or are about to, with the one that asks.
size_t IoThreads::FreeLocked() const { return threads_.size() - static_cast<size_t>(blocked_) - (parked_ - wanted_); }

std::optional<IoThreads::Blocking> IoThreads::TryBlock() {
  std::lock_guard<std::mutex> lock(mutex_);
  return TryBlockLocked();
}

std::optional<IoThreads::Blocking> IoThreads::TryBlockLocked() {
  if (blocked_ >= blocked_max_ || stopped_) return std::nullopt;
  if (FreeLocked() <= kFreeThreads) {  // the one that blocks is among them
    if (parked_ > wanted_) {
      ++wanted_;
      unpark_.notify_one();
    } else if (!SpawnLocked()) {
      return std::nullopt;
    }
  }
  ++blocked_;
  return Blocking(this);
}

void IoThreads::Unblock() {
  std::lock_guard<std::mutex> lock(mutex_);
  --blocked_;
  if (backlog_.empty()) return;
  boost::asio::post(context_, [this, work = std::move(backlog_.front())]() mutable { Background(std::move(work)); });
  backlog_.pop_front();
}

// One lock over the try and the wait: with two, the last thread that blocks could end in between, and nobody would look again.
std::optional<IoThreads::Blocking> IoThreads::TryBlockOrKeep(std::function<void()>& work) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::optional<Blocking> blocking = TryBlockLocked();
  if (!blocking.has_value() && !stopped_) backlog_.push_back(std::move(work));
  return blocking;
}

void IoThreads::Background(std::function<void()> work) {
  boost::asio::post(context_, [this, work = std::move(work)]() mutable {
    if (const std::optional<Blocking> blocking = TryBlockOrKeep(work); blocking.has_value()) work();
  });
}

void IoThreads::Stop() {
  std::vector<pthread_t> threads;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopped_ = true;
    threads.swap(threads_);
    backlog_.clear();
    unpark_.notify_all();
  }
  work_.reset();
  context_.stop();
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
}

}  // namespace cellblock::front
