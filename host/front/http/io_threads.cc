// See io_threads.h.
#include "front/http/io_threads.h"

#include <boost/asio/post.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/log.h"

namespace cellblock::front {
namespace {

constexpr size_t kFreeThreads = 2;  // one waits for sockets, one answers what does not block

}  // namespace

IoThreads::IoThreads(int64_t blocked_max) : work_(boost::asio::make_work_guard(context_)), blocked_max_(blocked_max) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (size_t i = 0; i < kFreeThreads; ++i) SpawnLocked();
}

IoThreads::~IoThreads() { Stop(); }

void IoThreads::SpawnLocked() {
  threads_.emplace_back([this] { context_.run(); });
}

std::optional<IoThreads::Blocking> IoThreads::TryBlock() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (blocked_ >= blocked_max_ || stopped_) return std::nullopt;
  ++blocked_;
  // Threads that were needed once stay: they sleep.
  if (threads_.size() < static_cast<size_t>(blocked_) + kFreeThreads) SpawnLocked();
  return Blocking(this);
}

void IoThreads::Unblock() {
  std::lock_guard<std::mutex> lock(mutex_);
  --blocked_;
  if (backlog_.empty()) return;
  boost::asio::post(context_, [this, work = std::move(backlog_.front())]() mutable { Background(std::move(work)); });
  backlog_.erase(backlog_.begin());
}

void IoThreads::Background(std::function<void()> work) {
  boost::asio::post(context_, [this, work = std::move(work)]() mutable {
    if (const std::optional<Blocking> blocking = TryBlock(); blocking.has_value()) return work();
    std::lock_guard<std::mutex> lock(mutex_);
    if (!stopped_) backlog_.push_back(std::move(work));
  });
}

void IoThreads::Stop() {
  std::vector<std::thread> threads;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopped_ = true;
    threads.swap(threads_);
    backlog_.clear();
  }
  work_.reset();
  context_.stop();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace cellblock::front
