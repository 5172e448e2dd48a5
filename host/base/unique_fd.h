// Owner of one file descriptor. Every process; trusts nothing. Not thread-safe, like any value.
#ifndef CELLBLOCK_BASE_UNIQUE_FD_H_
#define CELLBLOCK_BASE_UNIQUE_FD_H_

#include <unistd.h>

#include <utility>

namespace cellblock {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) Reset(std::exchange(other.fd_, -1));
    return *this;
  }
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd() { Reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int Release() { return std::exchange(fd_, -1); }
  void Reset(int fd = -1) {
    if (fd_ >= 0) close(fd_);  // Linux releases the descriptor even when close fails: never retried
    fd_ = fd;
  }

 private:
  int fd_ = -1;
};

}  // namespace cellblock

#endif  // CELLBLOCK_BASE_UNIQUE_FD_H_
